package propagate

import (
	"slices"
	"strconv"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// origin says who asked for an axis of a value.
type origin struct {
	mesh ir.MeshID
	axis subaxis.Ref
	name string // such as "input: 0" or "constraint_2"
}

// origins holds the origins of the axes of every value, in the order in which they became known. The first one to
// say something about an axis of a value wins (source: shardy.md section 6.2).
type origins struct {
	m    *ir.Module
	of   map[ir.ValueID][]origin
	self map[ir.ValueID][]string // the names under which a value is an origin itself
}

// newOrigins names the constraints, the manual computations, the arguments and the results, and starts with the axes
// that these ask for.
func newOrigins(m *ir.Module) *origins {
	o := &origins{m: m, of: map[ir.ValueID][]origin{}, self: map[ir.ValueID][]string{}}
	constraints, computations := 0, 0
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) == ir.OpSdyShardingConstraint {
			o.startConstraint(op, constraintOrigin+strconv.Itoa(constraints))
			constraints++
		}
	})
	walkPost(m, m.Body(), func(op ir.OpID) {
		if m.Kind(op) == ir.OpSdyManualComputation {
			o.startComputation(op, computationOrigin+strconv.Itoa(computations))
			computations++
		}
	})
	for f := range m.Definitions() {
		o.startFunc(f)
	}
	return o
}

func (o *origins) startConstraint(op ir.OpID, name string) {
	m := o.m
	m.SetAttrs(op, m.OpAttrs(op).With(originNameAttr, ir.StringAttr(name)))
	o.start(m.Result(op, 0), m.Sharding(m.Result(op, 0)), name)
	o.self[m.Result(op, 0)] = append(o.self[m.Result(op, 0)], name)
	if home := dataflow.Home(m, m.Operand(op, 0)); home != 0 {
		o.start(home, dataflow.OwnerSharding(m, home), name)
	}
}

func (o *origins) startComputation(op ir.OpID, name string) {
	m := o.m
	m.SetAttrs(op, m.OpAttrs(op).With(originNameAttr, ir.StringAttr(name)))
	for i, arg := range m.BlockArgs(m.RegionBlock(op, 0)) {
		input := name + computationInput + strconv.Itoa(i)
		if !o.startOwner(arg, input) {
			continue
		}
		if home := dataflow.Home(m, m.Operand(op, i)); home != 0 {
			o.start(home, dataflow.OwnerSharding(m, home), input)
		}
	}
	for i, v := range m.Results(op) {
		o.startOwner(v, name+computationOutput+strconv.Itoa(i))
	}
}

// startOwner starts the edge of an owner, if it has one, with the axes that the computation itself asks for there.
func (o *origins) startOwner(owner ir.ValueID, name string) bool {
	edge := o.m.EdgeOf(owner)
	if edge == 0 {
		return false
	}
	home := o.m.Result(edge, 0)
	o.start(home, o.m.Sharding(owner), name)
	o.self[home] = append(o.self[home], name)
	return true
}

func (o *origins) startFunc(f ir.FuncID) {
	m := o.m
	for i, v := range m.BlockArgs(m.Func(f).Body) {
		name := inputOrigin + strconv.Itoa(i)
		o.start(v, m.Sharding(v), name)
		o.self[v] = append(o.self[v], name)
	}
	last := m.LastOp(m.Func(f).Body)
	if last == 0 || !m.Kind(last).IsTerminator() {
		return
	}
	for i := range min(m.NumOperands(last), len(m.Func(f).ResultShardings)) {
		if home := dataflow.Home(m, m.Operand(last, i)); home != 0 {
			o.start(home, m.Func(f).ResultShardings[i], outputOrigin+strconv.Itoa(i))
		}
	}
}

func (o *origins) start(v ir.ValueID, id ir.ShardingID, name string) {
	if id == 0 {
		return
	}
	s := o.m.ShardingOf(id)
	for _, d := range s.Dims {
		for _, a := range d.Axes {
			o.add(v, origin{s.Mesh, a, name})
		}
	}
}

func (o *origins) add(v ir.ValueID, of origin) {
	if !slices.ContainsFunc(o.of[v], func(p origin) bool { return o.key(p) == o.key(of) }) {
		o.of[v] = append(o.of[v], of)
	}
}

// arrive gives an axis that came from one value to another the origin that it has there: that of the axis itself,
// else the origin of an axis that contains it or is contained in it.
func (o *origins) arrive(from, to ir.ValueID, mesh ir.MeshID, axis subaxis.Ref) {
	list := o.of[from]
	i := slices.IndexFunc(list, func(p origin) bool { return p.axis == axis })
	if i < 0 {
		i = slices.IndexFunc(list, func(p origin) bool {
			return p.axis.Axis == axis.Axis && (p.axis.Contains(axis) || axis.Contains(p.axis))
		})
	}
	if i >= 0 {
		o.add(to, origin{mesh, axis, list[i].name})
	}
}

// save writes the origins into the module: on arguments and results of functions, constraints, edges and other ops.
func (o *origins) save() {
	m := o.m
	perOp := map[ir.OpID][]ir.Attr{}
	values := make([]ir.ValueID, 0, len(o.of))
	for v := range o.of {
		values = append(values, v)
	}
	slices.Sort(values)
	for _, v := range values {
		op := m.DefiningOp(v)
		switch {
		case op != 0 && m.OpBlock(op) == 0:
			continue // erased
		case op == 0:
			o.saveArg(v)
			if parent := m.BlockOp(m.ArgBlock(v)); m.FuncOf(parent) == 0 && perOp[parent] == nil {
				perOp[parent] = earlierOrigins(m, parent)
			}
		case m.Kind(op) == ir.OpSdyShardingConstraint || m.Kind(op) == ir.OpSdyDataFlowEdge:
			m.SetAttrs(op, m.OpAttrs(op).With(originsAttr, o.dict(v, o.self[v])))
		default:
			if perOp[op] == nil {
				perOp[op] = earlierOrigins(m, op)
			}
			perOp[op][m.Index(v)] = o.dict(v, nil)
		}
		o.saveResult(v)
	}
	for op, list := range perOp {
		m.SetAttrs(op, m.OpAttrs(op).With(originsAttr, ir.ArrayAttr(list)))
	}
}

// earlierOrigins returns the origins of the results of an op that an earlier pass left, empty ones where there are none.
func earlierOrigins(m *ir.Module, op ir.OpID) []ir.Attr {
	if list, ok := m.Attr(op, originsAttr).(ir.ArrayAttr); ok && len(list) == m.NumResults(op) {
		return slices.Clone(list)
	}
	return slices.Repeat([]ir.Attr{ir.DictAttr(nil)}, m.NumResults(op))
}

func (o *origins) saveArg(v ir.ValueID) {
	if f := o.m.FuncOf(o.m.BlockOp(o.m.ArgBlock(v))); f != 0 {
		attrs := &o.m.Func(f).ArgAttrs[o.m.Index(v)]
		*attrs = attrs.With(originsAttr, o.dict(v, o.self[v]))
	}
}

// saveResult writes the origins of a value that a function returns to the result, to one of them if there are several.
func (o *origins) saveResult(v ir.ValueID) {
	m := o.m
	for use := range m.Uses(v) {
		if m.Kind(use.Op) != ir.OpReturn {
			continue
		}
		if f := m.FuncOf(m.ParentOp(use.Op)); f != 0 {
			attrs := &m.Func(f).ResultAttrs[use.Index]
			*attrs = attrs.With(originsAttr, o.dict(v, []string{outputOrigin + strconv.Itoa(use.Index)}))
			return
		}
	}
}

// dict returns the origins of a value as a dictionary; names of the holder itself become "self".
func (o *origins) dict(v ir.ValueID, self []string) ir.DictAttr {
	var entries []ir.NamedAttr
	for _, p := range o.of[v] {
		name := p.name
		if slices.Contains(self, name) {
			name = selfOrigin
		}
		entries = append(entries, ir.NamedAttr{Name: o.key(p), Value: ir.StringAttr(name)})
	}
	return ir.DictAttr(ir.MakeAttrs(entries...))
}

// key returns an axis as a key of a dictionary, the same for all meshes: x or x:(1)2.
func (o *origins) key(p origin) string {
	mesh := o.m.Mesh(p.mesh)
	key := mesh.Axes[p.axis.Axis].Name
	if !mesh.IsFull(p.axis) {
		key += ":(" + strconv.Itoa(int(p.axis.Pre)) + ")" + strconv.Itoa(int(p.axis.Size))
	}
	return key
}
