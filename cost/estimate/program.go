package estimate

import (
	"autoshard/cost"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Step is the predicted cost of one step of a per-device program.
type Step struct {
	Compute     int64   // picoseconds in local ops
	Collectives []int64 // picoseconds of each collective of the program, all its runs together
	Peak        int64   // most bytes alive at once on one device
}

// Total returns the picoseconds of the step: local ops and collectives run one after the other.
func (s *Step) Total() int64 { return s.Compute + s.Communication() }

// Communication returns the picoseconds of all collectives.
func (s *Step) Communication() int64 { return sum(s.Collectives) }

// Program predicts the cost of one step.
func (md *Model) Program(p *shardmap.Program) Step {
	m := p.Module
	fused := Fused(m)
	var step Step
	collective := map[ir.OpID]bool{}
	for i := range p.Collectives {
		c := &p.Collectives[i]
		collective[c.Op] = true
		step.Collectives = append(step.Collectives, md.collective(c, &p.Mesh)*c.Runs)
	}
	body := m.Func(p.Main).Body
	step.Compute = md.block(m, body, collective, fused)
	step.Peak = peak(m, p.Main, fused)
	return step
}

// block sums the local ops of a block, loops as often as they run.
func (md *Model) block(m *ir.Module, b ir.BlockID, collective map[ir.OpID]bool, fused []bool) int64 {
	total := int64(0)
	for op := range m.Ops(b) {
		if collective[op] || m.Kind(op).IsTerminator() {
			continue
		}
		if !m.Kind(op).HasBodies() {
			total += md.Op(m, op, shapes(m, m.Operands(op)), shapes(m, m.ResultValues(op)), fused)
			continue
		}
		inside, runs := int64(0), int64(1)
		for i := range m.NumRegions(op) {
			inner := md.block(m, m.RegionBlock(op, i), collective, fused)
			if m.Kind(op) == ir.OpWhile {
				inside += inner
			} else {
				inside = max(inside, inner)
			}
		}
		if m.Kind(op) == ir.OpWhile {
			if trips, ok := ir.TripCount(m, op); ok {
				runs = trips
			}
		}
		total += inside * runs
	}
	return total
}

func shapes(m *ir.Module, values []ir.ValueID) [][]int64 {
	out := make([][]int64, len(values))
	for i, v := range values {
		out[i] = m.Shape(v)
	}
	return out
}

// peak returns the most bytes alive at once (cost.md section 5.4). Arguments of loop bodies share the buffers of the
// loop's results. Inputs live to the end unless they are donated.
func peak(m *ir.Module, main ir.FuncID, fused []bool) int64 {
	body := m.Func(main).Body
	l := ir.NewLiveness(m, body)
	var buffers []cost.Buffer
	add := func(v ir.ValueID, lo, hi int32) {
		if m.ValueType(v).Kind == ir.TensorKind && !fused[v] {
			buffers = append(buffers, cost.Buffer{Def: lo, Last: hi - 1, Bytes: m.ValueType(v).Bytes()})
		}
	}
	for i, arg := range m.BlockArgs(body) {
		lo, hi := l.Interval(arg)
		attrs := m.Func(main).ArgAttrs[i]
		if attrs.Get("tf.aliasing_output") == nil && !attrs.Bool("jax.buffer_donor") {
			hi = l.Len() + 1
		}
		add(arg, lo, hi)
	}
	addResults(m, body, l, add)
	return cost.Peak(buffers, nil).Bytes
}

func addResults(m *ir.Module, b ir.BlockID, l *ir.Liveness, add func(v ir.ValueID, lo, hi int32)) {
	for op := range m.Ops(b) {
		for _, v := range m.Results(op) {
			lo, hi := l.Interval(v)
			add(v, lo, hi)
		}
		if m.Kind(op).HasBodies() {
			for i := range m.NumRegions(op) {
				addResults(m, m.RegionBlock(op, i), l, add)
			}
		}
	}
}
