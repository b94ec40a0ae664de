package everyop

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var reductionOps = family{
	ir.OpReduce: (*drawing).reduce, ir.OpMap: (*drawing).mapped, ir.OpSort: (*drawing).sort, ir.OpChloTopK: (*drawing).topK,
	ir.OpChloScan: (*drawing).scan,
}

// reducer draws an op that combines two elements of a type in any order, and what the elements may be. Sums and products of floats of less
// than 16 bits are left out, as every system rounds them when it likes. Where the order is given the last element may win, too.
func (d *drawing) reducer(e dtype.Type, ordered bool) (ir.Kind, class) {
	kinds, of := []ir.Kind{ir.OpMaximum, ir.OpMinimum}, anything
	switch {
	case e.Kind() == dtype.Bool:
		kinds = append(kinds, ir.OpAdd, ir.OpMultiply, ir.OpAnd, ir.OpOr, ir.OpXor)
	case isInteger(e):
		kinds = append(kinds, ir.OpAdd, ir.OpAdd, ir.OpMultiply, ir.OpAnd, ir.OpOr, ir.OpXor)
	case isComplex(e):
		kinds = []ir.Kind{ir.OpAdd}
	case e.Bits() >= 16:
		kinds = append(kinds, ir.OpAdd, ir.OpAdd, ir.OpMultiply)
	}
	if ordered {
		kinds = append(kinds, ir.OpUnregistered)
	}
	k := pick(d, kinds, "reducer")
	if isInexact(e) && (k == ir.OpAdd || k == ir.OpMultiply) {
		if of = whole; !isComplex(e) && !ordered && d.odds("rounded", 2) {
			of = positive
		}
	}
	return k, of
}

// neutral returns the element that a reduction begins with: one that changes nothing, as systems may use it any number of times.
func neutral(k ir.Kind, e dtype.Type) *tensor.Tensor {
	x := tensor.New(e, nil)
	ones := tensor.Convert(tensor.FromInts(dtype.I8, nil, 1), e)
	switch k {
	case ir.OpMultiply:
		return &ones
	case ir.OpMaximum, ir.OpMinimum:
		x.Data = slices.Clone(ir.Extreme(e, k == ir.OpMinimum))
	case ir.OpAnd:
		x = tensor.Not(x)
	}
	return &x
}

// combine gives an op the region that combines accumulators with elements, each pair with its op.
func (d *drawing) combine(op ir.OpID, with []ir.Kind, inputs []ir.ValueID) {
	args := lists.Map(inputs, func(v ir.ValueID) ir.TypeID { return d.m.TensorType(d.typeOf(v)) })
	n := len(args)
	b, values := d.region(op, d.m.NumRegions(op)-1, slices.Concat(args, args)...)
	end(b, lists.Of(n, func(i int) ir.ValueID {
		if with[i] == ir.OpUnregistered {
			return values[n+i]
		}
		return b.Op1(with[i], args[i], nil, values[i], values[n+i])
	})...)
}

// reducible says whether all systems agree on maxima and sums of a type.
func reducible(e dtype.Type) bool { return !Lacking(e) }

// reducing draws a reduction with some attributes, of which each element takes so many.
func (d *drawing) reducing(k ir.Kind, a ir.Attrs, dims []int64, terms int64) {
	var inputs, inits []ir.ValueID
	var with []ir.Kind
	rounded := false
	for range d.between(1, 2, "operands") {
		e := d.drawType(reducible)
		by, of := d.reducer(e, false)
		rounded = rounded || of != anything
		with = append(with, by)
		inputs, inits = append(inputs, d.input(e, dims, of)), append(inits, d.given(neutral(by, e)))
	}
	op := d.emitOp(k, 1, a, slices.Concat(inputs, inits)...)
	d.combine(op, with, inputs)
	if rounded {
		d.rounds(op, terms)
	}
}

func (d *drawing) reduce(k ir.Kind) {
	dims := d.shape(0, 4)
	along := lists.Filter(d.permutation(len(dims)), func(int64) bool { return d.odds("reduced", 2) })
	if d.odds("the place of the greatest", 4) {
		d.argmax(k, dims, along)
		return
	}
	d.reducing(k, attrs("dimensions", ir.Ints(along)), dims, lists.Product(lists.Pick(dims, along)))
}

// argmax draws a reduction of numbers and their places, the first of which counts among equal ones.
func (d *drawing) argmax(k ir.Kind, dims, along []int64) {
	e := d.drawType(func(e dtype.Type) bool { return isInteger(e) || isFloat(e) && !Lacking(e) })
	t, places, i1 := d.m.TensorType(e), d.m.TensorType(dtype.I32), d.m.TensorType(dtype.I1)
	at := d.integers(dtype.I32, lists.Range[int64](int(lists.Product(dims))), dims...)
	last := tensor.FromInts(dtype.I32, nil, 1<<30)
	op := d.emitOp(k, 1, attrs("dimensions", ir.Ints(along)), d.input(e, dims, plain), at, d.given(neutral(ir.OpMaximum, e)), d.given(&last))
	b, v := d.region(op, 0, t, places, t, places)
	more, same := b.Op1(ir.OpCompare, i1, ir.CompareAttrs("GT", e), v[0], v[2]), b.Op1(ir.OpCompare, i1, ir.CompareAttrs("EQ", e), v[0], v[2])
	first := b.Op1(ir.OpCompare, i1, ir.CompareAttrs("LT", dtype.I32), v[1], v[3])
	stays := b.Op1(ir.OpOr, i1, nil, more, b.Op1(ir.OpAnd, i1, nil, same, first))
	end(b, b.Op1(ir.OpSelect, t, nil, stays, v[0], v[2]), b.Op1(ir.OpSelect, places, nil, stays, v[1], v[3]))
}

// mapped draws a map of up to three operands, whose body chains ops that are exact.
func (d *drawing) mapped(k ir.Kind) {
	x := d.any(isAny, 0, 3)
	t := d.m.Type(x)
	e := d.typeOf(x)
	operands := []ir.ValueID{x}
	for range d.between(0, 2, "more") {
		operands = append(operands, d.like(t))
	}
	scalar := d.m.TensorType(e)
	body := d.m.DetachedBlock()
	args := lists.Map(operands, func(ir.ValueID) ir.ValueID { return d.m.AddBlockArg(body, scalar) })
	b := d.m.BuilderAtEnd(body)
	v := d.step(b, args[0], args[0])
	for _, y := range args[1:] {
		v = d.step(b, v, y)
	}
	out := t
	if d.odds("compared", 2) {
		v = b.Op1(ir.OpCompare, d.m.TensorType(dtype.I1), ir.CompareAttrs(pick(d, []string{"EQ", "NE"}, "direction"), e), v, args[0])
		out = d.m.TensorType(dtype.I1, d.m.Shape(x)...)
	}
	end(b, v)
	op := d.made(d.b.OpRegions(k, []ir.TypeID{out}, attrs("dimensions", ir.Ints(lists.Range[int64](len(d.m.Shape(x))))), 1, operands...))
	d.m.AttachBlock(d.m.Regions(op)[0], body)
}

// sort draws a sort by the first operand, in an order that is total, or by the second one where the first are equal.
func (d *drawing) sort(k ir.Kind) {
	x := d.fresh(func(e dtype.Type) bool { return !isComplex(e) }, 1, 3)
	operands := []ir.ValueID{x}
	for range d.between(0, 2, "more") {
		operands = append(operands, d.input(d.drawType(func(e dtype.Type) bool { return !isComplex(e) }), d.m.Shape(x), anything))
	}
	rank := int64(len(d.m.Shape(x)))
	a := attrs("dimension", d.m.I64(d.between(-rank, rank-1, "dimension")))
	if len(operands) > 1 || d.odds("stable", 2) {
		a = a.With("is_stable", ir.BoolAttr(true))
	}
	op := d.emitOp(k, 1, a, operands...)
	var args []ir.TypeID
	for _, v := range operands {
		args = append(args, d.m.TensorType(d.typeOf(v)), d.m.TensorType(d.typeOf(v)))
	}
	b, v := d.region(op, 0, args...)
	before := d.precedes(b, v[0], v[1])
	if len(operands) > 1 && d.odds("two keys", 2) {
		i1 := d.m.TensorType(dtype.I1)
		equal := b.Op1(ir.OpCompare, i1, totalOrder("EQ", d.typeOf(x)), v[0], v[1])
		before = b.Op1(ir.OpSelect, i1, nil, equal, d.precedes(b, v[2], v[3]), before)
	}
	end(b, before)
}

// precedes writes that one element comes before another.
func (d *drawing) precedes(b *ir.Builder, x, y ir.ValueID) ir.ValueID {
	direction := pick(d, []string{"LT", "GT"}, "order")
	return b.Op1(ir.OpCompare, d.m.TensorType(dtype.I1), totalOrder(direction, d.typeOf(x)), x, y)
}

// totalOrder returns the attributes of a comparison in which NaNs have a place, too.
func totalOrder(direction string, e dtype.Type) ir.Attrs {
	a := ir.CompareAttrs(direction, e)
	if isFloat(e) {
		a = a.With("compare_type", ir.EnumAttr{Dialect: "stablehlo", Enum: "comparison_type", Value: "TOTALORDER"})
	}
	return a
}

func (d *drawing) topK(k ir.Kind) {
	x := d.fresh(func(e dtype.Type) bool { return isInteger(e) || isFloat(e) }, 1, 3)
	dims := d.m.Shape(x)
	a := attrs("k", d.m.I64(d.between(0, dims[len(dims)-1], "k")))
	if d.odds("stability is said", 2) {
		a = a.With("is_stable", ir.BoolAttr(true))
	}
	d.emit(k, a, x)
}

// scan draws running sums or maxima along a dimension: outputs are what is carried, and what comes in.
func (d *drawing) scan(k ir.Kind) {
	dims := d.shape(1, 3)
	at := d.between(0, int64(len(dims))-1, "dimension")
	e := d.drawType(reducible)
	by, of := d.reducer(e, false)
	slice := d.m.TensorType(e, slices.Delete(slices.Clone(dims), int(at), int(at)+1)...)
	operands := []ir.ValueID{d.input(e, dims, of), d.input(e, d.m.TypeOf(slice).Dims, of)}
	segments := func() *ir.DenseArray {
		return &ir.DenseArray{Elem: d.m.ScalarType(dtype.I32), Data: []byte{1, 0, 0, 0, 1, 0, 0, 0}}
	}
	a := attrs("dimension", d.m.I64(at), "operandSegmentSizes", segments(), "resultSegmentSizes", segments())
	if d.odds("backwards", 2) {
		a = a.With("is_reverse", ir.BoolAttr(true))
	}
	op := d.made(d.b.OpRegions(k, []ir.TypeID{d.m.TensorType(e, dims...), slice}, a, 1, operands...))
	b, v := d.region(op, 0, slice, slice)
	next := b.Op1(by, slice, nil, v[1], v[0])
	end(b, next, next)
	if of != anything {
		d.rounds(op, dims[at])
	}
}
