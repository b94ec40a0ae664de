package estimate

import (
	"context"

	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/fusion"
	"autoshard/shardmap"
)

// Step is the predicted cost of one step of a per-device program.
type Step struct {
	Compute     int64   // picoseconds in local ops
	Collectives []int64 // picoseconds of each collective of the program, all its runs together
	Peak        int64   // most bytes alive at once on one device
}

// Total returns the picoseconds of the step: local ops and collectives run one after the other, but for the permutes of
// rings, which count only as far as they are not hidden.
func (s *Step) Total() int64 { return s.Compute + s.Communication() }

// Communication returns the picoseconds of all collectives.
func (s *Step) Communication() int64 { return sum(s.Collectives) }

// mostPicoseconds is the longest step that is counted: eleven days.
const mostPicoseconds = 1_000_000_000_000_000_000

// Program predicts the cost of one step. Errors are the context's, and of class diag.ErrTooLarge where that takes more than is counted.
func (md *Model) Program(ctx context.Context, p *shardmap.Program) (Step, error) {
	priced, err := md.read(ctx, p)
	if err != nil {
		return Step{}, err
	}
	m := p.Module
	var step Step
	sent := int64(0)
	for i := range p.Collectives {
		c := &p.Collectives[i]
		before := sent
		if sent, err = add(m, c.Op, sent, priced.sent[c.Op], c.Runs); err != nil {
			return Step{}, err
		}
		step.Collectives = append(step.Collectives, sent-before)
	}
	if step.Compute, err = md.block(ctx, m, m.Func(p.Main).Body, priced); err != nil {
		return Step{}, err
	}
	step.Peak, err = peak(ctx, m, p.Main, priced.Values)
	return step, err
}

// reading is what is known of a program before its local ops are priced.
type reading struct {
	fusion.Values
	free  map[ir.OpID]bool  // ops that are priced elsewhere
	sent  map[ir.OpID]int64 // picoseconds that each collective adds to one run
	index map[ir.OpID]int   // of each collective in the program's list
}

// read prices the collectives of a program and finds what else is no op of its own.
func (md *Model) read(ctx context.Context, p *shardmap.Program) (*reading, error) {
	m := p.Module
	r := &reading{Values: fusion.Of(m), free: map[ir.OpID]bool{}, sent: map[ir.OpID]int64{}, index: map[ir.OpID]int{}}
	for i := range p.Rings {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		settle(m, &p.Rings[i], r.Values)
		for op, ps := range md.sends(m, &p.Mesh, &p.Rings[i], r.Fused) {
			r.sent[op] = ps
		}
	}
	for i := range p.Rings {
		for _, op := range p.Rings[i].Ops {
			r.free[op] = inProduct(m.Kind(op))
		}
	}
	for i := range p.Collectives {
		c := &p.Collectives[i]
		r.free[c.Op], r.index[c.Op] = true, i
		if _, ok := r.sent[c.Op]; !ok {
			r.sent[c.Op] = md.collective(m, c)
		}
	}
	return r, nil
}

// block sums the local ops of a block, loops as often as they run.
func (md *Model) block(ctx context.Context, m *ir.Module, b ir.BlockID, r *reading) (total int64, err error) {
	for op := range m.Ops(b) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if r.free[op] || m.Kind(op).IsTerminator() {
			continue
		}
		ps, runs, err := md.bodies(ctx, m, op, r)
		if err == nil {
			total, err = add(m, op, total, ps, runs)
		}
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}

// bodies returns what an op takes, or one round of a loop, which runs some times, or the dearest of branches.
func (md *Model) bodies(ctx context.Context, m *ir.Module, op ir.OpID, r *reading) (ps, runs int64, err error) {
	if !m.Kind(op).HasBodies() {
		return md.Op(m, op, shapes(m, m.Operands(op)), shapes(m, m.ResultValues(op)), r.Fused), 1, nil
	}
	loop := m.Kind(op) == ir.OpWhile
	for i := range m.NumRegions(op) {
		inner, err := md.block(ctx, m, m.RegionBlock(op, i), r)
		if err != nil {
			return 0, 0, err
		}
		if loop {
			ps += inner
		} else {
			ps = max(ps, inner)
		}
	}
	if loop {
		return ps, ir.Trips(m, op), nil
	}
	return ps, 1, nil
}

// add adds what an op takes that runs some times.
func add(m *ir.Module, op ir.OpID, total, ps, runs int64) (int64, error) {
	if ps == 0 || runs <= (mostPicoseconds-total)/ps {
		return total + ps*runs, nil
	}
	at, ok := m.FilePos(m.OpLoc(op))
	if !ok {
		at = m.OpPos(op)
	}
	return 0, diag.TooLarge(diag.InputTooLarge, at, "a step takes more than eleven days, which is not counted: this takes %s, %s over; "+
		"hand in fewer rounds of a loop, or one", diag.Seconds(float64(ps)/1e12), diag.Count(int(runs), "time", "times"))
}

func shapes(m *ir.Module, values []ir.ValueID) [][]int64 {
	out := make([][]int64, len(values))
	for i, v := range values {
		out[i] = m.Shape(v)
	}
	return out
}

// Held is a value of a per-device program that is in memory where the program needs most.
type Held struct {
	Value ir.ValueID
	Bytes int64
}

// Peak returns what a per-device program holds where it needs the most memory, the largest first.
func Peak(p *shardmap.Program) []Held {
	h, _ := held(context.Background(), p.Module, p.Main, fusion.Of(p.Module)) // which never ends
	return lists.Map(cost.Peak(h.buffers, nil).Live, func(i int) Held { return Held{h.values[i], h.buffers[i].Bytes} })
}

// peak returns the most bytes alive at once (cost.md section 5.4).
func peak(ctx context.Context, m *ir.Module, main ir.FuncID, fused fusion.Values) (int64, error) {
	h, err := held(ctx, m, main, fused)
	if err != nil {
		return 0, err
	}
	return cost.Peak(h.buffers, nil).Bytes, nil
}

// held returns the buffers of a program, and of the values in each the one that is there longest. Values that are written in the place of
// others share their buffers. Inputs live to the end unless they are donated.
func held(ctx context.Context, m *ir.Module, main ir.FuncID, fused fusion.Values) (*holding, error) {
	f := m.Func(main)
	donated := func(arg ir.ValueID) bool { return f.ArgAttrs[m.Index(arg)].Donated() }
	l := ir.NewLiveness(m, f.Body)
	l.Through(fused.OnTheFly())
	h := &holding{m: m, unheld: fused.Unheld, at: map[ir.ValueID]int{}}
	h.place, h.over = l.InPlace(donated, fused.Unheld)
	for _, arg := range m.BlockArgs(f.Body) {
		lo, hi := l.Interval(arg)
		if !donated(arg) {
			hi = l.Len() + 1
		}
		h.add(arg, lo, hi)
	}
	return h, h.addResults(ctx, f.Body, l)
}

// holding is the memory of a program.
type holding struct {
	m       *ir.Module
	unheld  []bool
	place   []ir.ValueID
	over    []bool             // by value: it is written over another one that is not needed any more
	at      map[ir.ValueID]int // the buffer of each value
	buffers []cost.Buffer
	values  []ir.ValueID // by buffer
	longest []int32      // how long that is there
	shared  []bool       // by buffer: several values are in it, one after the other
}

// add puts a value into memory, or into the memory of what it is written over.
func (h *holding) add(v ir.ValueID, lo, hi int32) {
	if h.m.ValueType(v).Kind != ir.TensorKind || h.unheld[v] {
		return
	}
	into := v
	for h.place[into] != 0 && !h.unheld[h.place[into]] {
		into = h.place[into]
	}
	i, ok := h.at[into]
	if !ok {
		i = len(h.buffers)
		h.buffers = append(h.buffers, cost.Buffer{Def: lo, Last: hi - 1, Bytes: h.m.ValueType(v).Bytes()})
		h.values, h.longest, h.shared = append(h.values, v), append(h.longest, hi-lo), append(h.shared, false)
	}
	h.at[v], h.at[into], h.shared[i] = i, i, ok
	b := &h.buffers[i]
	if b.Def, b.Last = min(b.Def, lo), max(b.Last, hi-1); hi-lo > h.longest[i] {
		h.values[i], h.longest[i] = v, hi-lo
	}
}

func (h *holding) addResults(ctx context.Context, b ir.BlockID, l *ir.Liveness) error {
	for op := range h.m.Ops(b) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, v := range h.m.Results(op) {
			lo, hi := l.Interval(v)
			if h.over[v] {
				lo++ // where its op runs, what it is written over counts
			}
			h.add(v, lo, hi)
		}
		if h.m.Kind(op).HasBodies() {
			for i := range h.m.NumRegions(op) {
				if err := h.addResults(ctx, h.m.RegionBlock(op, i), l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
