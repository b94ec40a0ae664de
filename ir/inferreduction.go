package ir

import (
	"cmp"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// scalarArgs checks that a region takes scalars of those element types, or of wider ones.
func (f *inference) scalarArgs(region int, elems []*Type) error {
	body, ok := f.body(region)
	if !ok {
		return nil
	}
	if len(body.args) != len(elems) {
		return badOp("region #%d must take %d parameters, but takes %d parameter(s)", region, len(elems), len(body.args))
	}
	for i, id := range body.args {
		t := f.m.TypeOf(id)
		if !t.isScalar() {
			return badType("parameter #%d of region #%d must be a scalar, but got '%s'", i, region, f.m.FormatType(id))
		}
		if !promotes(elems[i], t) {
			return badType("parameter #%d of region #%d has type '%s', which does not fit the element type of its operand, %s", i, region,
				f.m.FormatType(id), elems[i].DType)
		}
	}
	return nil
}

// promotes says whether values of one element type can be handed to a region that works in another: the same type, or
// a wider one of the same class.
func promotes(from, to *Type) bool {
	if from.Quant != 0 || to.Quant != 0 || from.DType == to.DType {
		return true
	}
	return classOf(from) == classOf(to) && from.DType.Bits() <= to.DType.Bits()
}

// returnsScalars checks the number of results of a region and that they are scalars.
func (f *inference) returnsScalars(region, n int) error {
	body, ok := f.body(region)
	if !ok {
		return nil
	}
	if len(body.results) != n {
		return badOp("reduction-region #%d must return %d values, but returns %d", region, n, len(body.results))
	}
	for i, id := range body.results {
		t := f.m.TypeOf(id)
		if !t.isScalar() {
			return badType("result #%d of region #%d must be a scalar, but got '%s'", i, region, f.m.FormatType(id))
		}
		if i < len(body.args) && !sameElem(t, f.m.TypeOf(body.args[i])) {
			return badType("the reduction-region's result type at index %d differs from the op's corresponding init-value type: '%s' vs '%s'", i,
				f.m.FormatType(id), f.m.FormatType(body.args[i]))
		}
	}
	return nil
}

// returnsPredicate checks that a region returns whether something holds.
func (f *inference) returnsPredicate(region int, problem string) error {
	body, ok := f.body(region)
	if ok && (len(body.results) != 1 || body.results[0] != f.m.TensorType(dtype.I1)) {
		return badType("%s", problem)
	}
	return nil
}

// reducer checks a body that takes n accumulators and n elements and returns n accumulators.
func (f *inference) reducer(inputs, inits []*Type) error {
	return cmp.Or(f.scalarArgs(0, slices.Concat(inits, inputs)), f.returnsScalars(0, len(inits)))
}

// reduced adds results of one shape with the elements that the body accumulates, without a body those of the init values.
func (f *inference) reduced(inits []*Type, dims []int64) error {
	body, ok := f.body(0)
	for i, elem := range inits {
		if ok {
			elem = f.m.TypeOf(body.args[i])
		}
		f.result(elem, dims)
	}
	return nil
}

// inputsAndInits returns the two halves of the operands: tensors of one shape, and scalars.
func (f *inference) inputsAndInits() (inputs, inits []*Type, err error) {
	total := len(f.operands)
	if total%2 != 0 {
		return nil, nil, badOp("expects as many init values as inputs, but has %d operands", total)
	}
	n := total / 2
	for i := range n {
		inputs, inits = append(inputs, f.operand(i)), append(inits, f.operand(n+i))
		if !sameShape(f.operand(0).Dims, f.operand(i).Dims) {
			return nil, nil, badType("expects all inputs to have compatible shapes. Shape at input-index %d is not compatible: '%s' vs '%s'", i,
				f.text(i), f.text(0))
		}
		if len(f.operand(n+i).Dims) != 0 {
			return nil, nil, badType("init value #%d must be a scalar, but got '%s'", i, f.text(n+i))
		}
		if !promotes(f.operand(i), f.operand(n+i)) {
			return nil, nil, badType("the element-types of input #%d and init value #%d must fit: '%s' vs '%s'", i, i, f.text(i), f.text(n+i))
		}
	}
	return inputs, inits, nil
}

func inferReduce(f *inference) error {
	inputs, inits, err := f.inputsAndInits()
	if err != nil {
		return err
	}
	reduced := f.attrs.Ints("dimensions")
	rank := inputs[0].Rank()
	if !within(reduced, rank) {
		return badAttr("out-of-bounds dimension in %v, expected to be in the input-tensor rank: [0, %d)", reduced, rank)
	}
	if !unique(reduced) {
		return badAttr("duplicate reduction dimension: %v", reduced)
	}
	if err := f.reducer(inputs, inits); err != nil {
		return err
	}
	return f.reduced(inits, lists.Pick(inputs[0].Dims, lists.Others(rank, reduced)))
}

func inferReduceWindow(f *inference) error {
	inputs, inits, err := f.inputsAndInits()
	if err != nil {
		return err
	}
	sizes := f.attrs.Ints("window_dimensions")
	if len(sizes) != inputs[0].Rank() {
		return badAttr("expects window-dimensions size == input rank, but got window-dimensions size: %d and input: '%s'", len(sizes), f.text(0))
	}
	for i, s := range sizes {
		if s <= 0 {
			return badAttr("expects window to have positive value for %d-th window dimension, but got %d", i, s)
		}
	}
	windows, err := f.windows(sizes, "window_strides", "base_dilations", "window_dilations")
	if err != nil {
		return err
	}
	if err := f.reducer(inputs, inits); err != nil {
		return err
	}
	dims := make([]int64, len(sizes))
	for d, w := range windows {
		dims[d] = w.Places(inputs[0].Dims[d])
	}
	return f.reduced(inits, dims)
}

func inferSelectAndScatter(f *inference) error {
	x, source, init := f.operand(0), f.operand(1), f.operand(2)
	sizes, _ := f.ints("window_dimensions")
	if len(sizes) != x.Rank() {
		return badAttr("expects window-dimensions size == operand rank, but got window-dimensions size: %d and operand-type: '%s'",
			len(sizes), f.text(0))
	}
	if source.Rank() != x.Rank() || len(init.Dims) != 0 {
		return badType("expects a source of rank %d and a scalar init value, but got '%s' and '%s'", x.Rank(), f.text(1), f.text(2))
	}
	windows, err := f.windows(sizes, "window_strides", "", "")
	if err != nil {
		return err
	}
	for d, w := range windows {
		if w.Size <= 0 || !agree(w.Places(x.Dims[d]), source.Dims[d]) {
			return badType("expects source-type to be compatible with the windows over '%s', but got '%s': size %d, not %d, in dimension %d",
				f.text(0),
				f.text(1), w.Places(x.Dims[d]), source.Dims[d], d)
		}
	}
	return cmp.Or(
		f.scalarArgs(0, []*Type{x, x}),
		f.returnsPredicate(0, "expects the return-type of select-region to be tensor<i1>"),
		f.scalarArgs(1, []*Type{source, source}),
		f.returnsScalars(1, 1),
		f.sized(x, x.Dims))
}

func inferSort(f *inference) error {
	rank := int64(f.operand(0).Rank())
	if d := f.attrs.Int("dimension", -1); d < -rank || d >= rank {
		return badAttr("dimension attribute must be in range [-%d, %d), but found %d", rank, rank, d)
	}
	for i := range f.operands {
		if !sameShape(f.operand(0).Dims, f.operand(i).Dims) {
			return badType("requires the same shape for all operands and results: '%s' vs '%s'", f.text(0), f.text(i))
		}
	}
	return cmp.Or(f.comparator(), inferAllSame(f))
}

// comparator checks a body that takes two elements of each operand and says whether the first ones come first.
func (f *inference) comparator() error {
	body, ok := f.body(0)
	if !ok {
		return nil
	}
	if want := 2 * len(f.operands); len(body.args) != want {
		return badOp("comparator block should have %d arguments, but has %d", want, len(body.args))
	}
	for i, id := range body.args {
		if t := f.m.TypeOf(id); !t.isScalar() || !sameElem(t, f.operand(i/2)) {
			return badType("comparator block argument #%d should be a scalar of the type of operand #%d, but got '%s'", i, i/2, f.m.FormatType(id))
		}
	}
	return f.returnsPredicate(0, "comparator must return tensor<i1>")
}

// inferMap is the rule of an op whose body says the elements of the result: without one they do not follow.
func inferMap(f *inference) error {
	x := f.operand(0)
	dims := f.attrs.Ints("dimensions")
	if len(dims) != x.Rank() {
		return badAttr("applied to a subset of dimensions currently not supported: operand dimensions = %d, requested map dimensions size = %d",
			x.Rank(), len(dims))
	}
	for i, d := range dims {
		if d != int64(i) {
			return badAttr("requires monotonically increasing dimension numbers, but got: %v", dims)
		}
	}
	body, ok := f.body(0)
	if !ok {
		return nil
	}
	if len(body.args) != len(f.operands) {
		return badOp("expects number of operands to match the arity of map computation, but got: %d and %d", len(f.operands), len(body.args))
	}
	for i, id := range body.args {
		if !sameShape(x.Dims, f.operand(i).Dims) {
			return badType("requires the same shape for all operands and results: '%s' vs '%s'", f.text(0), f.text(i))
		}
		if t := f.m.TypeOf(id); !t.isScalar() || !sameElem(t, f.operand(i)) {
			return badType("computation argument #%d must be a scalar of the type of operand #%d, but got '%s'", i, i, f.m.FormatType(id))
		}
	}
	if len(body.results) != 1 || !f.m.TypeOf(body.results[0]).isScalar() {
		return badType("computation must return a single scalar")
	}
	return f.result(f.m.TypeOf(body.results[0]), x.Dims)
}
