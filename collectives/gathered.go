package collectives

import (
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// Gathered is a dimension of an operand that lies in blocks and is brought to every device as a whole, because its op cannot be
// computed on blocks of it, or not as cheaply.
type Gathered struct {
	Op      ir.OpID
	Operand int
	Dim     int
	Axes    []subaxis.Ref // along which it is gathered
	Bytes   int64         // that a device receives each time
	Times   int64         // in a step: the op may be in a loop
	Why     string
}

// FindGathered returns what is gathered in a module whose values all have their shardings, for ops with those factors, because of what
// [rule.Shardable] says of an op, or because to sort in place would be dearer. The only error is the context's.
func FindGathered(ctx context.Context, m *ir.Module, a Assignment) (all []Gathered, err error) {
	main, ok := m.Main()
	if !ok {
		return nil, ctx.Err()
	}
	g := &gatherer{m, a, rule.NewComputingCache(), make([]layouts, m.NumOps())}
	err = m.WalkContext(ctx, m.Func(main).Body, func(op ir.OpID) {
		if k := m.Kind(op); k.IsTerminator() || places(k) || dataflow.Has(k) || m.ManualAround(op) != 0 {
			return
		}
		for i, v := range m.Operands(op) {
			if isTensor(m, v) {
				all = append(all, g.gathered(op, i)...)
			}
		}
	})
	return all, err
}

// places says whether ops of a kind only say where a value lies.
func places(k ir.Kind) bool {
	return k == ir.OpSdyShardingConstraint || k == ir.OpSdyReshard || k == ir.OpSdyPropagationBarrier || k == ir.OpSdyShardingGroup
}

// gatherer looks for what is gathered.
type gatherer struct {
	m     *ir.Module
	a     Assignment
	rules *rule.Cache // of how ops are computed
	known []layouts   // by op
}

// layouts are those in which an op that is cut reads its operands and makes its results.
type layouts struct{ operands, results []Layout }

// layouts returns those of an op. How partial results combine does not matter here.
func (g *gatherer) layouts(op ir.OpID) *layouts {
	l := &g.known[op]
	if l.results == nil {
		l.operands, l.results, _ = Project(g.rules.Of(g.m, op), g.a[op], 0)
	}
	return l
}

// gathered returns the dimensions of one operand that are gathered for an op.
func (g *gatherer) gathered(op ir.OpID, i int) (all []Gathered) {
	m := g.m
	v, at := m.Operand(op, i), op
	for while, ok := carriedAround(m, v); ok; while, ok = carriedAround(m, v) {
		v, at = m.Operand(while, m.Index(v)), while
	}
	cut := g.cut(v)
	if len(slices.Concat(cut...)) == 0 {
		return nil
	}
	needed := wholes(m, []ir.ValueID{v})[0]
	if g.a[op] != nil {
		needed = g.layouts(op).operands[i]
	}
	kept := slices.Concat(needed.Dims...)
	whole := (&ir.Type{Kind: ir.TensorKind, DType: m.ValueType(v).DType, Dims: needed.LocalDims(m.Shape(v))}).Bytes()
	for d, axes := range cut {
		if len(subaxis.Difference(axes, kept)) == 0 {
			continue
		}
		for _, o := range g.obstacles(op, i, d, axes) {
			if gone := subaxis.Difference(o.axes, kept); len(gone) > 0 {
				all = append(all, Gathered{op, i, d, gone, whole - whole/subaxis.Product(gone), rounds(m, at), o.why})
			}
		}
	}
	return all
}

// cut returns the axes that cut each dimension of a value where it is kept, or else as the op that makes it does.
func (g *gatherer) cut(v ir.ValueID) [][]subaxis.Ref {
	m := g.m
	out := make([][]subaxis.Ref, len(m.Shape(v)))
	if op := m.DefiningOp(v); op != 0 && g.a[op] != nil {
		copy(out, g.layouts(op).results[m.Index(v)].Dims)
	}
	if id := dataflow.ShardingOf(m, v); id != 0 {
		for d, kept := range m.ShardingOf(id).Dims {
			if len(kept.Axes) > 0 {
				out[d] = kept.Axes
			}
		}
	}
	return out
}

// obstacle is why an op cannot be cut along axes.
type obstacle struct {
	axes []subaxis.Ref
	why  string
}

// obstacles returns what keeps an op from being cut by the axes of one dimension of an operand.
func (g *gatherer) obstacles(op ir.OpID, i, d int, axes []subaxis.Ref) (all []obstacle) {
	m, r := g.m, g.rules.Of(g.m, op)
	switch {
	case len(axes) == 0:
		return nil
	case r == nil:
		return []obstacle{{axes, "no sharding rule says how to cut it"}}
	}
	dim := r.Operands[i][d]
	for f, part := range splitAxes(axes, dim, r.Sizes, m.Shape(m.Operand(op, i))[d]) {
		if n := subaxis.Product(part); n > 1 {
			why := rule.Obstacle(m, op, r, dim[f], n)
			if why == "" && m.Kind(op) == ir.OpSort && slices.Contains(r.Permutation, dim[f]) {
				why = "that costs less than sorting in place"
			}
			if why != "" {
				all = append(all, obstacle{part, why})
			}
		}
	}
	return all
}

// rounds returns how often an op runs in a step.
func rounds(m *ir.Module, op ir.OpID) int64 {
	n := int64(1)
	for op = m.ParentOp(op); op != 0; op = m.ParentOp(op) {
		if m.Kind(op) == ir.OpWhile {
			n *= max(1, ir.Trips(m, op))
		}
	}
	return n
}
