package plan

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/rule"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// brute prices every way to cut a program along whole axes: every placement on the dimensions of the inputs and on the factors of
// each op, and every layout in which a result may be kept. It shares with the planner what a program of a choice is and costs,
// and nothing of how choices are enumerated or compared.
type brute struct {
	*planner
	pricer    *collectives.Planner
	narrow    bool
	decisions [][]choiceOf
	m         *ir.Module // with the shardings of the choices
	cuts      collectives.Assignment
	priced    []priced
}

// choiceOf is one way to decide about an input, an op and its result, or a result of the function.
type choiceOf struct {
	value    ir.ValueID // 0 for none
	sharding ir.ShardingID
	result   int // of the function, where there is no value
	op       ir.OpID
	factors  collectives.Factors
}

// priced is a program of one way.
type priced struct {
	picoseconds, peak int64
	way               int
}

// newBrute collects the choices. In narrow ones a result that its op may make in any layout, and that is not returned as the user wrote,
// is kept as it is made, reduced or scattered where it is partial, and not in every layout.
func newBrute(p *planner, narrow bool) *brute {
	m := p.module.Clone()
	b := &brute{planner: p, narrow: narrow, pricer: collectives.NewPlanner(p.model, m.Mesh(p.mesh).Axes), m: m,
		cuts: make(collectives.Assignment, m.NumOps())}
	f := m.MainFunc()
	for _, arg := range m.BlockArgs(f.Body) {
		b.decide(b.kept(arg, nil, false))
	}
	b.block(f.Body, narrow)
	for i, pin := range f.ResultShardings {
		if pin == 0 || p.state[i] >= 0 {
			continue
		}
		var ways []choiceOf
		for _, id := range b.allowed(m.Operand(m.LastOp(f.Body), i), pin) {
			ways = append(ways, choiceOf{result: i, sharding: id})
		}
		b.decide(ways)
	}
	return b
}

func (b *brute) decide(ways []choiceOf) { b.decisions = append(b.decisions, ways) }

// block collects the choices of a block's ops.
func (b *brute) block(block ir.BlockID, narrow bool) {
	m := b.m
	for op := range m.Ops(block) {
		switch k := m.Kind(op); {
		case k.IsTerminator():
		case k == ir.OpWhile:
			for _, v := range m.Results(op) {
				b.decide(b.kept(v, nil, false))
			}
			b.block(m.RegionBlock(op, 0), narrow)
			b.block(m.RegionBlock(op, 1), narrow)
		case k == ir.OpConstant || k == ir.OpIota:
			b.decide(b.kept(m.Result(op, 0), nil, false))
		default:
			b.decide(b.computed(op, narrow))
		}
	}
}

// computed returns every way to cut an op, each with every way to keep its result.
func (b *brute) computed(op ir.OpID, narrow bool) []choiceOf {
	m, v := b.m, b.m.Result(op, 0)
	r := rule.Computing(m, op)
	if r == nil {
		return b.kept(v, &collectives.Layout{Dims: make([][]subaxis.Ref, len(m.Shape(v)))}, false)
	}
	parts, reduction := rule.Shardable(m, op, r)
	sends := func(f int32) bool { return slices.Contains(r.Permutation, f) || slices.Contains(r.NeedReplication, f) }
	narrow = narrow && !b.returned(v) && !slices.ContainsFunc(r.Results[0], func(factors []int32) bool {
		return !slices.ContainsFunc(factors, func(f int32) bool { return parts[f] > 1 && !sends(f) })
	})
	var out []choiceOf
	for _, factors := range b.placements(r.Sizes) {
		cut := func(f int) bool { return parts[f]%subaxis.Product(factors[f]) != 0 }
		_, made, ok := collectives.Project(r, factors, reduction)
		if !ok || slices.ContainsFunc(indices(factors), cut) {
			continue
		}
		for _, c := range b.kept(v, &made[0], narrow) {
			c.op, c.factors = op, factors
			out = append(out, c)
		}
	}
	return out
}

// returned says whether a value is a result that the user gave a sharding.
func (b *brute) returned(v ir.ValueID) bool {
	f := b.module.MainFunc()
	at := slices.Index(b.module.Operands(b.module.LastOp(f.Body)), v)
	return at >= 0 && f.ResultShardings[at] != 0
}

func indices[T any](list []T) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}

// placements returns every way to put each axis of the mesh on a place that it divides together with those before it, or on none.
func (b *brute) placements(sizes []int64) []collectives.Factors {
	out := []collectives.Factors{make(collectives.Factors, len(sizes))}
	mesh := &b.m.Mesh(b.mesh).Mesh
	for axis := range mesh.Axes {
		for _, before := range slices.Clone(out) {
			for at, size := range sizes {
				if axes := append(slices.Clone(before[at]), mesh.Full(axis)); size%subaxis.Product(axes) == 0 {
					with := slices.Clone(before)
					with[at] = axes
					out = append(out, with)
				}
			}
		}
	}
	return out
}

// kept returns every way to keep a value that its op makes in a layout, which is nil for one that may be made in any: in every
// layout, and along each axis along which it is partial reduced or scattered to a dimension.
func (b *brute) kept(v ir.ValueID, made *collectives.Layout, narrow bool) []choiceOf {
	var all []ir.ShardingID
	var pin ir.ShardingID
	if b.written(v) {
		pin = b.module.Sharding(v)
	} else if result := slices.Index(b.state, b.m.Index(v)); b.m.DefiningOp(v) == 0 && result >= 0 {
		pin = b.module.MainFunc().ResultShardings[result]
	}
	if made != nil {
		all = b.ends(made, v, pin)
	}
	if !narrow || len(all) == 0 {
		for _, id := range b.allowed(v, pin) {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	out := make([]choiceOf, len(all))
	for i, id := range all {
		out[i] = choiceOf{value: v, sharding: id}
	}
	return out
}

// allowed returns the layouts of a value that a pin allows, 0 for none.
func (b *brute) allowed(v ir.ValueID, pin ir.ShardingID) []ir.ShardingID {
	var out []ir.ShardingID
	for _, dims := range b.placements(b.m.Shape(v)) {
		if l := (collectives.Layout{Dims: dims}); b.respects(&l, pin) {
			out = append(out, b.m.InternSharding(l.Sharding(b.mesh)))
		}
	}
	return out
}

// ends returns the layouts in which a result that is partial along some axes ends without further steps.
func (b *brute) ends(made *collectives.Layout, v ir.ValueID, pin ir.ShardingID) []ir.ShardingID {
	ends := []collectives.Layout{{Dims: made.Dims}}
	for _, axis := range made.Unreduced {
		for _, l := range slices.Clone(ends) {
			for d := range l.Dims {
				scattered := collectives.Layout{Dims: slices.Clone(l.Dims)}
				scattered.Dims[d] = append(slices.Clone(l.Dims[d]), axis)
				if scattered.Divides(b.m.Shape(v)) {
					ends = append(ends, scattered)
				}
			}
		}
	}
	var out []ir.ShardingID
	for i := range ends {
		if b.respects(&ends[i], pin) {
			out = append(out, b.m.InternSharding(ends[i].Sharding(b.mesh)))
		}
	}
	return out
}

// respects says whether a layout keeps what the user wrote: closed dimensions exactly, open ones at least as written.
func (b *brute) respects(l *collectives.Layout, pin ir.ShardingID) bool {
	if pin == 0 {
		return true
	}
	for d, want := range b.module.ShardingOf(pin).Dims {
		have := l.Dims[d]
		if want.Closed && len(have) > len(want.Axes) || len(have) < len(want.Axes) || !slices.Equal(have[:len(want.Axes)], want.Axes) {
			return false
		}
	}
	return true
}

// ways returns how many ways there are, or a number above the limit if there are more.
func (b *brute) ways(limit int) int {
	n := 1
	for _, ways := range b.decisions {
		if n *= len(ways); n > limit {
			break
		}
	}
	return n
}

// enumerate prices every way.
func (b *brute) enumerate(ctx context.Context, t testing.TB) {
	for way := range b.ways(1 << 30) {
		b.choose(way)
		for _, l := range b.programs(ctx, t) {
			b.priced = append(b.priced, priced{l.step.Total(), l.step.Peak, way})
		}
	}
}

// choose decides as the number of a way says.
func (b *brute) choose(way int) {
	m, f := b.m, b.m.MainFunc()
	body := f.Body
	var pinned []choiceOf
	for _, ways := range b.decisions {
		c := &ways[way%len(ways)]
		way /= len(ways)
		if c.value == 0 {
			pinned = append(pinned, *c)
			continue
		}
		m.SetSharding(c.value, c.sharding)
		if c.op != 0 {
			b.cuts[c.op] = c.factors
		}
	}
	for i := range f.ResultShardings {
		if f.ResultShardings[i] = m.Sharding(m.Operand(m.LastOp(body), i)); b.state[i] >= 0 {
			f.ResultShardings[i] = m.Sharding(m.BlockArgs(body)[b.state[i]])
		}
	}
	for _, c := range pinned {
		f.ResultShardings[c.result] = c.sharding
	}
}

// programs returns the programs of the way that is chosen: with shared copies and without, with products that overlap with
// collectives and without, and with merged collectives and without.
func (b *brute) programs(ctx context.Context, t testing.TB) []*lowered {
	var out []*lowered
	for _, reach := range []int{collectives.Anywhere, 0} {
		plain := *b.planner
		plain.Without = rewrites.Of(rewrites.CollectiveMatmul, rewrites.MergeCollectives)
		l, err := plain.lower(ctx, b.m, b.cuts, b.pricer, reach)
		if err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(b.m, mlir.PrintOptions{}))
		}
		out = append(out, l)
		rings := *l
		if err := b.overlap(ctx, &rings); err != nil {
			t.Fatal(err)
		}
		if rings.program != l.program {
			out = append(out, &rings)
		}
	}
	for _, l := range out[:len(out):len(out)] {
		for most := int64(mostMerged); most >= leastMerged; most /= 8 {
			merged, err := b.merged(ctx, l, b.model.Joins(l.program), most)
			if err != nil {
				t.Fatal(err)
			}
			if merged == nil {
				break
			}
			out = append(out, merged)
		}
	}
	return out
}

// fastest returns the fastest program that fits a limit; there is one.
func (b *brute) fastest(limit int64) priced {
	fits := slices.DeleteFunc(slices.Clone(b.priced), func(p priced) bool { return p.peak > limit })
	return slices.MinFunc(fits, func(p, q priced) int { return cmp.Compare(p.picoseconds, q.picoseconds) })
}

// smallest returns the program that holds the fewest bytes.
func (b *brute) smallest() priced {
	return slices.MinFunc(b.priced, func(p, q priced) int { return cmp.Compare(p.peak, q.peak) })
}
