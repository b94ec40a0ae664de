package shardmap

import (
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
	"autoshard/subaxis"
)

// sort lets the devices along a dimension that is cut be a sorting network: each sorts its block, and in every round those that meet
// exchange what they have, sort that, and keep the first or the last half of it (specification: localforms.md section 3.8). Elements
// that the comparator takes for equal keep their order: it is told to look at their numbers in the whole dimension then. The dimension is
// counted from the first: XLA for CPU may not sort along one counted from the last (docs/numerics.md).
func (l *lowerer) sort(op ir.OpID) error {
	m := l.m
	s := localform.Sorted(m, op, l.counts)
	m.SetAttrs(op, m.OpAttrs(op).With("dimension", m.I64(int64(s.Dim))))
	axes := l.axes(m.Operand(op, 0), s.Dim)
	l.results(op)
	if len(axes) == 0 {
		return nil
	}
	n := &network{fetcher: fetcher{lowerer: l, b: m.BuilderBefore(op), op: op, dim: s.Dim, axes: axes}, Sort: s, number: -1}
	n.values = slices.Clone(m.Operands(op))
	added := !s.Total && s.Index < 0
	switch {
	case added:
		n.number = len(s.Keys)
		n.values = slices.Insert(n.values, n.number, n.numbers())
	case !s.Total:
		n.number = s.Index
	}
	n.added = added
	n.values = n.sorted(n.values)
	for _, round := range localform.Network(subaxis.Product(axes)) {
		n.meet(round)
	}
	if added {
		n.values = slices.Delete(n.values, n.number, n.number+1)
	}
	for i, v := range m.ResultValues(op) {
		m.SetSharding(n.values[i], m.Sharding(v))
		m.ReplaceUses(v, n.values[i])
		l.p.Move(v, n.values[i])
	}
	m.Erase(op)
	return nil
}

// counts says whether a value of a program that is lowered this far numbers the elements of a dimension of the whole tensor.
func (l *lowerer) counts(v ir.ValueID, d int) bool {
	if along, ok := l.numbering[v]; ok {
		return along == d
	}
	return len(l.axes(v, d)) == 0 && localform.Counts(l.m)(v, d)
}

// network sorts along a dimension that is cut.
type network struct {
	fetcher
	localform.Sort
	values []ir.ValueID // what is sorted
	number int          // which of them numbers the elements, where that decides about equal ones; -1 where nothing does
	added  bool         // whether the op does not have it
}

// numbers emits the number of every element of the block in the whole dimension.
func (n *network) numbers() ir.ValueID {
	m, dims := n.m, n.m.Shape(n.values[0])
	rows := dims[n.dim]
	e := localform.NumberType(rows * subaxis.Product(n.axes))
	t := m.TensorType(e, dims...)
	count := n.b.Op1(ir.OpIota, t, ir.MakeAttrs(ir.Named("iota_dimension", m.I64(int64(n.dim)))))
	return n.b.Op1(ir.OpAdd, t, nil, count, n.broadcast(n.b, n.offset(n.b, n.axes, rows, e), dims))
}

// sorted emits the sort of values on this device.
func (n *network) sorted(values []ir.ValueID) []ir.ValueID {
	m := n.m
	attrs := m.OpAttrs(n.op).With("is_stable", ir.BoolAttr(true))
	op := n.b.OpRegions(ir.OpSort, lists.Map(values, m.Type), attrs, 1, values...)
	from, to := m.RegionBlock(n.op, 0), m.AddBlock(m.Regions(op)[0])
	var args []ir.ValueID
	for _, v := range values {
		t := m.TensorType(m.ValueType(v).DType)
		args = append(args, m.AddBlockArg(to, t), m.AddBlockArg(to, t))
	}
	given := args
	if n.added {
		given = slices.Delete(slices.Clone(args), 2*n.number, 2*n.number+2)
	}
	in := m.BuilderAtEnd(to)
	before := n.before(in, from, given)
	if n.number >= 0 {
		left, right := args[2*n.number], args[2*n.number+1]
		less := in.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs("LT", m.ValueType(left).DType), left, right)
		if n.Keys != nil {
			before = n.tied(in, before, less)
		} else {
			for i := range len(given) / 2 {
				given[2*i], given[2*i+1] = given[2*i+1], given[2*i]
			}
			behind := in.Op1(ir.OpNot, m.TensorType(dtype.I1), nil, n.before(in, from, given))
			before = n.both(in, ir.OpOr, before, n.both(in, ir.OpAnd, behind, less))
		}
	}
	in.Op(ir.OpStablehloReturn, nil, nil, before)
	return m.ResultValues(op)
}

// before emits whether the comparator puts one element before another, whose parts are given in turn.
func (n *network) before(in *ir.Builder, from ir.BlockID, given []ir.ValueID) ir.ValueID {
	copies := map[ir.ValueID]ir.ValueID{}
	for i, arg := range n.m.BlockArgs(from) {
		copies[arg] = given[i]
	}
	n.m.CloneInto(in, from, copies)
	v := n.m.Operand(n.m.LastOp(from), 0)
	if copied, ok := copies[v]; ok {
		return copied
	}
	return v
}

func (n *network) both(in *ir.Builder, kind ir.Kind, x, y ir.ValueID) ir.ValueID {
	return in.Op1(kind, n.m.TensorType(dtype.I1), nil, x, y)
}

// tied emits what a comparison by keys says, or, where all of them are equal, another value, in the form of one key more
// ([ir.SortKeys]).
func (n *network) tied(in *ir.Builder, v, equal ir.ValueID) ir.ValueID {
	m, op := n.m, n.m.DefiningOp(v)
	if m.Kind(op) == ir.OpOr {
		rest := m.DefiningOp(m.Operand(op, 1))
		more := n.tied(in, m.Operand(rest, 1), equal)
		return n.both(in, ir.OpOr, m.Operand(op, 0), n.both(in, ir.OpAnd, m.Operand(rest, 0), more))
	}
	same := in.Op1(ir.OpCompare, m.TensorType(dtype.I1), m.OpAttrs(op).With("comparison_direction",
		ir.CompareAttrs("EQ", dtype.I32).Get("comparison_direction")), m.Operands(op)...)
	return n.both(in, ir.OpOr, v, n.both(in, ir.OpAnd, same, equal))
}

// meet emits one round.
func (n *network) meet(round localform.Meeting) {
	m, rows := n.m, n.m.Shape(n.values[0])[n.dim]
	k := subaxis.Product(n.axes)
	at, meets := make([]int64, k), make([]int64, k)
	for _, pair := range round {
		at[pair[1]], meets[pair[0]], meets[pair[1]] = rows, 1, 1
	}
	joined := lists.Map(n.values, func(v ir.ValueID) ir.ValueID {
		out := n.b.Op1(ir.OpShardMapPpermute, m.Type(v), n.along(n.axes).With("perm", Perm(round.Pairs())), v)
		n.record(out, collectives.Permute, n.axes, v, n.op)
		n.p.Collectives[len(n.p.Collectives)-1].Fetch = round.Pairs()
		return n.joined([]ir.ValueID{v, out})
	})
	halves := lists.Map(n.sorted(joined), func(v ir.ValueID) ir.ValueID { return n.part(v, at, rows) })
	if slices.Contains(meets, 0) {
		met := n.b.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs("EQ", dtype.I32), n.look(meets), n.b.Integer(dtype.I32, 1))
		for i, half := range halves {
			halves[i] = n.b.Op1(ir.OpSelect, m.Type(half), nil, met, half, n.values[i])
		}
	}
	n.values = halves
}
