package plan

import (
	"slices"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/subaxis"
)

// shardings visits the shardings of values and results, with their ranks and what has them, and puts what is returned in their place. It
// ends at the first error.
func (f *findings) shardings(visit func(id ir.ShardingID, rank int, at func() answer.Place) (ir.ShardingID, error)) error {
	m := f.Module
	for v := range m.FuncValues() {
		id, err := visit(m.Sharding(v), len(m.ValueType(v).Dims), func() answer.Place { return f.Place(v) })
		if err != nil {
			return err
		}
		m.SetSharding(v, id)
	}
	main := m.MainFunc()
	for i, id := range main.ResultShardings {
		id, err := visit(id, len(m.TypeOf(main.ResultTypes[i]).Dims), func() answer.Place { return f.Result(i) })
		if err != nil {
			return err
		}
		main.ResultShardings[i] = id
	}
	return nil
}

// callbacks takes from callbacks into Python the one device that the model calls their function for: every device calls it, and has what it
// returns. It notes that once for each such device.
func (f *findings) callbacks() {
	m := f.Module
	calls := newTally[int64]()
	m.Walk(m.Body(), func(op ir.OpID) {
		if !isCallback(m, op) {
			return
		}
		ids, _ := m.Attr(op, "sdy.sharding").(ir.ShardingsAttr) // of one without results
		for _, v := range m.Results(op) {
			ids = append(ids, m.Sharding(v))
		}
		i := slices.IndexFunc(ids, func(id ir.ShardingID) bool { return id != 0 && m.Mesh(m.ShardingOf(id).Mesh).IsMaximal() })
		if i < 0 {
			return
		}
		device := m.Mesh(m.ShardingOf(ids[i]).Mesh).DeviceIDs[0]
		m.SetAttrs(op, m.OpAttrs(op).Without("sdy.sharding"))
		for _, v := range m.Results(op) {
			m.SetSharding(v, 0)
		}
		calls.note(device, op)
	})
	for _, device := range calls.keys {
		f.Add(lint.SingleDevice, calls.first[device], "", "the model has device %d alone make %s in Python: every device makes them",
			device, diag.Count(calls.count[device], "call of a function", "calls of functions"))
	}
}

// hosted notes what the model keeps in memory of the host - inputs, outputs and values, once for each kind of memory - and what it computes
// there.
func (f *findings) hosted() {
	m, main := f.Module, f.Module.MainFunc()
	kinds := newTally[string]()
	note := func(op ir.OpID, kind string) {
		if kind != "" && kind != "device" {
			kinds.note(kind, op)
		}
	}
	for a := range m.AttrDicts(main.Op) {
		note(main.Op, a.Str("mhlo.memory_kind"))
	}
	computed := newTally[string]()
	m.Walk(main.Body, func(op ir.OpID) {
		note(op, m.MemoryKind(op))
		if where := m.OpAttrs(op).Frontend().Str("_xla_compute_type"); where != "" {
			computed.note(where, op)
		}
	})
	for _, kind := range kinds.keys {
		f.Add(lint.HostMemory, kinds.first[kind], "", "the model keeps %s in %s memory: a plan counts that as held by devices, and copies as "+
			"free", diag.Count(kinds.count[kind], "value", "values"), kind)
	}
	for _, where := range computed.keys {
		f.Add(lint.HostCompute, computed.first[where], "", "the model computes %s on the %s: a plan counts them as done by devices, and cuts "+
			"them", diag.Count(computed.count[where], "operation", "operations"), where)
	}
}

// placed has every device hold what the model places on one alone, whole: that device is among them, and all of them run one program. It
// notes each such value. The error is of class diag.ErrInvalid, for a device that the mesh does not have.
func (f *findings) placed(mesh ir.MeshID) error {
	m := f.Module
	f.callbacks()
	f.hosted()
	return f.shardings(func(id ir.ShardingID, rank int, at func() answer.Place) (ir.ShardingID, error) {
		if id == 0 || !m.Mesh(m.ShardingOf(id).Mesh).IsMaximal() {
			return id, nil
		}
		p, one, all := at(), m.Mesh(m.ShardingOf(id).Mesh), m.Mesh(mesh)
		if device := one.DeviceIDs[0]; device >= all.Devices() {
			return 0, diag.Invalid(diag.BadMesh, m.OpPos(p.Op), "%s is placed on device %d, by mesh @%s; the %d devices of @%s are 0 to %d",
				p.What, device, one.Name, all.Devices(), all.Name, all.Devices()-1)
		}
		f.Add(lint.SingleDevice, p.Op, p.Name, "%s is placed on device %d alone, by mesh @%s: it counts as whole on every device",
			p.What, one.DeviceIDs[0], one.Name)
		return m.Replicated(mesh, rank, true), nil
	})
}

// gatheredBytes of each device are what orders of devices are compared by: enough that what a gather takes before it sends hardly counts.
const gatheredBytes = 16 << 20

// scattered notes the axes along which the order of a mesh's devices makes gathers slower, by a tenth, than the order of their numbers
// would. The error is that of [estimate.New].
func (f *findings) scattered(hw cost.Hardware, mesh ir.MeshID, priced *estimate.Model) error {
	decl := f.Module.Mesh(mesh)
	if decl.DeviceIDs == nil {
		return nil
	}
	inOrder, err := estimate.New(hw, subaxis.Mesh{Axes: decl.Axes})
	if err != nil {
		return err
	}
	for _, axis := range decl.All() {
		takes := func(model *estimate.Model) float64 {
			return float64(model.Price(collectives.AllGather, []subaxis.Ref{axis}, gatheredBytes))
		}
		if ratio := takes(priced) / takes(inOrder); ratio > 1.1 {
			f.Add(lint.DeviceOrder, decl.Op, "", "in the order in which @%s lists its devices a gather along %s takes %.1f times as long as in "+
				"that of their numbers", decl.Name, decl.Format(axis), ratio)
		}
	}
	return nil
}
