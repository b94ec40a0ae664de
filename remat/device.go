package remat

import (
	"context"

	"autoshard/cost/estimate"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/padding"
	"autoshard/shardmap"
)

// Device is a partitioned module as one device holds it, with what its ops take.
type Device struct {
	module *ir.Module // every value has the type of a device's block
	mesh   ir.MeshID
	model  *estimate.Model
	sent   map[ir.OpID]int64 // picoseconds of each collective
}

// NewDevice returns that of a module with explicit collectives. What each of these takes is given in picoseconds; others are not made
// again.
func NewDevice(m *ir.Module, mesh ir.MeshID, model *estimate.Model, sent map[ir.OpID]int64) *Device {
	d := &Device{module: m.Clone(), mesh: mesh, model: model, sent: sent}
	d.module.Walk(d.module.MainFunc().Body, d.carry)
	for v := ir.ValueID(1); int(v) < d.module.NumValues(); v++ {
		if s := d.module.Sharding(v); s != 0 && d.module.ValueType(v).Kind == ir.TensorKind {
			d.module.SetType(v, d.module.WithDims(d.module.Type(v), d.module.ShardingOf(s).LocalDims(d.module.Shape(v))))
		}
	}
	return d
}

// carry gives the arguments of a loop's regions the shardings of its operands, which the text of a program does not hold.
func (d *Device) carry(loop ir.OpID) {
	if d.module.Kind(loop) != ir.OpWhile {
		return
	}
	for r := range d.module.NumRegions(loop) {
		for i, arg := range d.module.BlockArgs(d.module.RegionBlock(loop, r)) {
			if d.module.Sharding(arg) == 0 {
				d.module.SetSharding(arg, d.module.Sharding(d.module.Operand(loop, i)))
			}
		}
	}
}

// canRepeat says whether an op of the module may run twice: it makes one tensor of others, in memory of its own, the same each time. What
// pads an input is no op of a device, which is given the padded block.
func (d *Device) canRepeat(op ir.OpID) bool {
	m, k := d.module, d.module.Kind(op)
	if m.NumResults(op) != 1 || m.NumOperands(op) == 0 || m.ValueType(m.Result(op, 0)).Kind != ir.TensorKind || m.Rewritten(op, 0) != 0 {
		return false
	}
	_, sends := d.sent[op]
	switch k {
	case ir.OpOptimizationBarrier, ir.OpCustomCall, ir.OpSdyManualComputation, ir.OpRng:
		return false
	}
	return !k.HasBodies() && k.IsPure() && sends == k.Communicates() && !padding.AtBoundary(m, op)
}

// price returns the picoseconds that an op takes.
func (d *Device) price(op ir.OpID, fused []bool) int64 {
	if ps, ok := d.sent[op]; ok {
		return ps
	}
	shapes := func(values []ir.ValueID) [][]int64 { return lists.Map(values, d.module.Shape) }
	return d.model.Op(d.module, op, shapes(d.module.Operands(op)), shapes(d.module.ResultValues(op)), fused)
}

// view is what a device holds where it makes values again.
type view struct {
	*Device
	*written
	held   *estimate.Memory
	number map[ir.OpID]int32 // in program order
	curve  []int64           // bytes at each op
	peak   int64
	at     int32
}

// see writes a choice into a copy of the module, and works out what that holds. The only error is the context's.
func (d *Device) see(ctx context.Context, c *Choice) (*view, error) {
	v := &view{Device: d, written: write(d.module.Clone(), c), number: map[ir.OpID]int32{}}
	m := v.written.m
	held, err := d.hold(ctx, m)
	if err != nil {
		return nil, err
	}
	v.held = held
	for n, op := range held.Ops {
		v.number[op] = int32(n)
	}
	v.peak, v.at = held.Peak()
	v.at = min(v.at, int32(len(held.Ops)-1))
	changes := make([]int64, len(held.Ops)+2)
	for _, l := range held.Lives {
		if l.Last >= l.Def {
			changes[l.Def] += l.Bytes
			changes[min(int(l.Last)+1, len(changes)-1)] -= l.Bytes
		}
	}
	v.curve = changes[:len(held.Ops)]
	for n := 1; n < len(v.curve); n++ {
		v.curve[n] += v.curve[n-1]
	}
	return v, nil
}

// hold works out what a device holds that runs a module of its blocks.
func (d *Device) hold(ctx context.Context, m *ir.Module) (*estimate.Memory, error) {
	main, _ := m.Main()
	return d.model.Memory(ctx, &shardmap.Program{Module: m, Main: main, Mesh: m.Mesh(d.mesh).Mesh})
}

// excess adds up by how much a device exceeds a limit, over all ops of the module as it was, the ops that make copies included.
func (v *view) excess(limit int64) (sum int64) {
	most := int64(0)
	for n := len(v.held.Ops) - 1; n >= 0; n-- {
		op := v.held.Ops[n]
		if int(op) < v.module.NumOps() { // what makes copies for it stands before it
			sum += most
			most = 0
		}
		most = max(most, v.curve[n]-limit)
	}
	return sum + most
}

// takes returns the picoseconds of all ops that make values again.
func (v *view) takes() (ps int64) {
	for _, op := range v.repeated {
		ps += v.price(op, v.Fused)
	}
	return ps
}
