package transpose

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// rules hold the transposes of local ops: each adds the cotangents of the operands, given that of the result
// (specification: shardmap.md section 4.7).
var rules map[ir.Kind]func(t *transposer, op ir.OpID, g ir.ValueID)

func init() {
	rules = map[ir.Kind]func(t *transposer, op ir.OpID, g ir.ValueID){
		ir.OpAdd: (*transposer).sum, ir.OpSubtract: (*transposer).sum, ir.OpNegate: (*transposer).same,
		ir.OpMultiply: (*transposer).multiply, ir.OpDivide: (*transposer).divide, ir.OpSelect: (*transposer).choose,
		ir.OpConvert: (*transposer).convert, ir.OpReducePrecision: (*transposer).same,
		ir.OpReshape: (*transposer).reshape, ir.OpTranspose: (*transposer).permute, ir.OpBroadcastInDim: (*transposer).broadcast,
		ir.OpReverse: (*transposer).same, ir.OpReduce: (*transposer).reduce, ir.OpReduceWindow: (*transposer).reduceWindow,
		ir.OpDotGeneral: (*transposer).dot, ir.OpConvolution: (*transposer).convolution, ir.OpSlice: (*transposer).slice,
		ir.OpPad: (*transposer).pad, ir.OpConcatenate: (*transposer).concatenate, ir.OpDynamicSlice: (*transposer).dynamicSlice,
		ir.OpDynamicUpdateSlice: (*transposer).dynamicUpdateSlice, ir.OpGather: (*transposer).gather, ir.OpScatter: (*transposer).scatter,
	}
}

// same is the rule of ops that are their own transposes.
func (t *transposer) same(op ir.OpID, g ir.ValueID) {
	t.add(t.m.Operand(op, 0), t.b.Local(t.m.Kind(op), t.m.OpAttrs(op), g))
}

// only says whether no operand but the ones of those numbers is linear; if not, the op is refused.
func (t *transposer) only(op ir.OpID, numbers ...int) bool {
	for i, v := range t.m.Operands(op) {
		if t.linear[v] && !slices.Contains(numbers, i) {
			t.nonlinear(op)
			return false
		}
	}
	return true
}

// homogeneous says whether all operands in places from to to are linear or zero; if not, the op is refused.
func (t *transposer) homogeneous(op ir.OpID, from, to int) bool {
	for _, v := range t.m.Operands(op)[from:to] {
		if !t.linear[v] && !t.isZero(v) {
			t.affine(op, v)
			return false
		}
	}
	return true
}

func (t *transposer) sum(op ir.OpID, g ir.ValueID) {
	if !t.homogeneous(op, 0, 2) {
		return
	}
	x, y := t.m.Operand(op, 0), t.m.Operand(op, 1)
	t.add(x, g)
	if t.m.Kind(op) == ir.OpSubtract && t.linear[y] {
		g = t.b.Unary(ir.OpNegate, g)
	}
	t.add(y, g)
}

func (t *transposer) multiply(op ir.OpID, g ir.ValueID) {
	x, y := t.m.Operand(op, 0), t.m.Operand(op, 1)
	switch {
	case t.linear[x] && t.linear[y] || t.m.ValueType(x).DType == dtype.I1:
		t.nonlinear(op)
	case t.linear[x]:
		t.add(x, t.b.Binary(ir.OpMultiply, g, t.value(y)))
	default:
		t.add(y, t.b.Binary(ir.OpMultiply, t.value(x), g))
	}
}

func (t *transposer) divide(op ir.OpID, g ir.ValueID) {
	x := t.m.Operand(op, 0)
	switch {
	case !t.only(op, 0):
	case !isFloat(t.m, x): // a quotient of integers is rounded
		t.nonlinear(op)
	default:
		t.add(x, t.b.Binary(ir.OpDivide, g, t.value(t.m.Operand(op, 1))))
	}
}

func (t *transposer) choose(op ir.OpID, g ir.ValueID) {
	if !t.only(op, 1, 2) || !t.homogeneous(op, 1, 3) {
		return
	}
	p, x, y := t.m.Operand(op, 0), t.m.Operand(op, 1), t.m.Operand(op, 2)
	zero := t.b.Constant(t.m.ValueType(g).DType, t.m.Shape(g), 0)
	which := t.value(p)
	if len(t.m.Shape(which)) == 0 && len(t.m.Shape(g)) > 0 {
		which = t.b.Broadcast(which, t.m.Shape(g))
	}
	if t.linear[x] {
		t.add(x, t.b.Select(which, g, zero))
	}
	if t.linear[y] {
		t.add(y, t.b.Select(which, zero, g))
	}
}

func (t *transposer) convert(op ir.OpID, g ir.ValueID) {
	x := t.m.Operand(op, 0)
	from, to := t.m.ValueType(x).DType, t.m.ValueType(t.m.Result(op, 0)).DType
	if from.Kind() != to.Kind() || from.Kind() != dtype.Float && from.Bits() > to.Bits() {
		t.nonlinear(op)
		return
	}
	t.add(x, t.b.Convert(g, from))
}

func (t *transposer) reshape(op ir.OpID, g ir.ValueID) {
	x := t.m.Operand(op, 0)
	t.add(x, t.b.Reshape(g, t.m.Shape(x)...))
}

func (t *transposer) permute(op ir.OpID, g ir.ValueID) {
	t.add(t.m.Operand(op, 0), t.b.Transpose(g, lists.Inverse(t.m.OpAttrs(op).Ints("permutation"))...))
}

// broadcast sums over the dimensions along which the operand was repeated.
func (t *transposer) broadcast(op ir.OpID, g ir.ValueID) {
	x := t.m.Operand(op, 0)
	in, out := t.m.Shape(x), t.m.Shape(g)
	places := t.m.OpAttrs(op).Ints("broadcast_dimensions")
	var over []int64
	for d := range int64(len(out)) {
		if k := slices.Index(places, d); k < 0 || in[k] == 1 && out[d] != 1 {
			over = append(over, d)
		}
	}
	if len(over) > 0 {
		g = t.b.Reduce(ir.OpAdd, g, over...)
	}
	var kept, order []int64 // operand dimensions in the order in which they stand in g, and those that were summed away
	for _, d := range slices.Sorted(slices.Values(places)) {
		if k := slices.Index(places, d); !slices.Contains(over, d) {
			kept = append(kept, int64(k))
		}
	}
	for k := range in {
		if n := slices.Index(kept, int64(k)); n >= 0 {
			order = append(order, int64(n))
		}
	}
	if !slices.IsSorted(order) {
		g = t.b.Transpose(g, order...)
	}
	if g != 0 && !slices.Equal(t.m.Shape(g), in) {
		g = t.b.Reshape(g, in...)
	}
	t.add(x, g)
}

// adds says whether the op's region adds its two arguments.
func adds(m *ir.Module, op ir.OpID) bool { return folded(m, op) == ir.OpAdd }

func (t *transposer) reduce(op ir.OpID, g ir.ValueID) {
	if t.m.NumOperands(op) != 2 || !adds(t.m, op) {
		t.nonlinear(op)
		return
	}
	if !t.homogeneous(op, 0, 2) {
		return
	}
	x, init := t.m.Operand(op, 0), t.m.Operand(op, 1)
	in := t.m.Shape(x)
	if t.linear[init] {
		t.add(init, t.total(g))
	}
	if t.linear[x] {
		t.add(x, t.b.Broadcast(g, in, lists.Others(len(in), t.m.OpAttrs(op).Ints("dimensions"))...))
	}
}

// total returns the sum of all elements.
func (t *transposer) total(g ir.ValueID) ir.ValueID {
	if rank := len(t.m.Shape(g)); rank > 0 {
		return t.b.Reduce(ir.OpAdd, g, lists.Range[int64](rank)...)
	}
	return g
}
