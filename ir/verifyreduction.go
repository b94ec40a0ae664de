package ir

import (
	"slices"

	"autoshard/ir/dtype"
)

// reductionChecks are the rules of ops that fold elements by a region (specification: stablehlo.md section 2.15).
var reductionChecks = map[Kind]func(*verifier, OpID) error{
	OpReduce:           checkReduce,
	OpReduceWindow:     checkReduceWindow,
	OpSelectAndScatter: checkSelectAndScatter,
	OpSort:             checkSort,
	OpMap:              checkMap,
}

// scalarArgs checks that a region takes n scalars and returns what want says: the element types of the scalars.
func (v *verifier) scalarArgs(op OpID, region int, elems []*Type) error {
	m := v.m
	args := m.BlockArgs(m.RegionBlock(op, region))
	if len(args) != len(elems) {
		return badOp("region #%d must take %d parameters, but takes %d parameter(s)", region, len(elems), len(args))
	}
	for i, a := range args {
		t := m.ValueType(a)
		if !t.isRanked() || t.Rank() != 0 {
			return badType("parameter #%d of region #%d must be a scalar, but got '%s'", i, region, m.FormatType(m.Type(a)))
		}
		if !promotes(elems[i], t) {
			return badType("parameter #%d of region #%d has type '%s', which does not fit the element type of its operand, %s", i, region,
				m.FormatType(m.Type(a)), elems[i].DType)
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
func (v *verifier) returnsScalars(op OpID, region, n int) error {
	m := v.m
	last := m.LastOp(m.RegionBlock(op, region))
	if last == 0 || m.NumOperands(last) != n {
		have := 0
		if last != 0 {
			have = m.NumOperands(last)
		}
		return badOp("reduction-region #%d must return %d values, but returns %d", region, n, have)
	}
	args := m.BlockArgs(m.RegionBlock(op, region))
	for i := range n {
		t := m.ValueType(m.Operand(last, i))
		if !t.isRanked() || t.Rank() != 0 {
			return badType("result #%d of region #%d must be a scalar, but got '%s'", i, region, m.FormatType(m.Type(m.Operand(last, i))))
		}
		if i < len(args) && !sameElem(t, m.ValueType(args[i])) {
			return badType("the reduction-region's result type at index %d differs from the op's corresponding init-value type: '%s' vs '%s'", i,
				m.FormatType(m.Type(m.Operand(last, i))), m.FormatType(m.Type(args[i])))
		}
	}
	return nil
}

// reducer checks a body that takes n accumulators and n elements and returns n accumulators.
func (v *verifier) reducer(op OpID, inputs, inits []*Type) error {
	elems := append(slices.Clone(inits), inputs...)
	if err := v.scalarArgs(op, 0, elems); err != nil {
		return err
	}
	return v.returnsScalars(op, 0, len(inits))
}

// inputsAndInits returns the two halves of the operands: tensors of one shape, and scalars.
func (v *verifier) inputsAndInits(op OpID) (inputs, inits []*Type, err error) {
	total := v.m.NumOperands(op)
	if total%2 != 0 {
		return nil, nil, badOp("expects as many init values as inputs, but has %d operands", total)
	}
	n := total / 2
	for i := range n {
		inputs, inits = append(inputs, v.in(op, i)), append(inits, v.in(op, n+i))
		if !sameShape(v.in(op, 0).Dims, v.in(op, i).Dims) {
			return nil, nil, badType("expects all inputs to have compatible shapes. Shape at input-index %d is not compatible: '%s' vs '%s'", i,
				v.inText(op, i), v.inText(op, 0))
		}
		if len(v.in(op, n+i).Dims) != 0 {
			return nil, nil, badType("init value #%d must be a scalar, but got '%s'", i, v.inText(op, n+i))
		}
		if !promotes(v.in(op, i), v.in(op, n+i)) {
			return nil, nil, badType("the element-types of input #%d and init value #%d must fit: '%s' vs '%s'", i, i, v.inText(op, i), v.inText(op, n+i))
		}
	}
	if v.m.NumResults(op) != n {
		return nil, nil, badOp("must have %d results, one for each input, but has %d", n, v.m.NumResults(op))
	}
	return inputs, inits, nil
}

func checkReduce(v *verifier, op OpID) error {
	inputs, inits, err := v.inputsAndInits(op)
	if err != nil {
		return err
	}
	reduced, ok := v.ints(op, "dimensions")
	if !ok {
		return missing("dimensions")
	}
	rank := inputs[0].Rank()
	if !within(reduced, rank) {
		return badAttr("out-of-bounds dimension in %v, expected to be in the input-tensor rank: [0, %d)", reduced, rank)
	}
	if !unique(reduced) {
		return badAttr("duplicate reduction dimension: %v", reduced)
	}
	if err := v.reducer(op, inputs, inits); err != nil {
		return err
	}
	var dims []int64
	for d, n := range inputs[0].Dims {
		if !slices.Contains(reduced, int64(d)) {
			dims = append(dims, n)
		}
	}
	args := v.m.BlockArgs(v.m.RegionBlock(op, 0))
	for i := range inputs {
		if err := v.infers(op, i, v.m.ValueType(args[i]), dims); err != nil {
			return err
		}
	}
	return nil
}

func checkReduceWindow(v *verifier, op OpID) error {
	inputs, inits, err := v.inputsAndInits(op)
	if err != nil {
		return err
	}
	sizes, ok := v.ints(op, "window_dimensions")
	if !ok {
		return missing("window_dimensions")
	}
	if len(sizes) != inputs[0].Rank() {
		return badAttr("expects window-dimensions size == input rank, but got window-dimensions size: %d and input: '%s'", len(sizes), v.inText(op, 0))
	}
	for i, s := range sizes {
		if s <= 0 {
			return badAttr("expects window to have positive value for %d-th window dimension, but got %d", i, s)
		}
	}
	windows, err := v.windows(op, sizes, "window_strides", "base_dilations", "window_dilations")
	if err != nil {
		return err
	}
	if err := v.reducer(op, inputs, inits); err != nil {
		return err
	}
	dims := make([]int64, len(sizes))
	for d, w := range windows {
		dims[d] = w.outSize(inputs[0].Dims[d])
	}
	args := v.m.BlockArgs(v.m.RegionBlock(op, 0))
	for i := range inputs {
		if err := v.infers(op, i, v.m.ValueType(args[i]), dims); err != nil {
			return err
		}
	}
	return nil
}

func checkSelectAndScatter(v *verifier, op OpID) error {
	m := v.m
	x, source, init := v.in(op, 0), v.in(op, 1), v.in(op, 2)
	sizes, _ := v.ints(op, "window_dimensions")
	if len(sizes) != x.Rank() {
		return badAttr("expects window-dimensions size == operand rank, but got window-dimensions size: %d and operand-type: '%s'", len(sizes), v.inText(op, 0))
	}
	if source.Rank() != x.Rank() || len(init.Dims) != 0 {
		return badType("expects a source of rank %d and a scalar init value, but got '%s' and '%s'", x.Rank(), v.inText(op, 1), v.inText(op, 2))
	}
	windows, err := v.windows(op, sizes, "window_strides", "", "")
	if err != nil {
		return err
	}
	for d, w := range windows {
		if w.size <= 0 || !agree(w.outSize(x.Dims[d]), source.Dims[d]) {
			return badType("expects source-type to be compatible with the windows over '%s', but got '%s': size %d, not %d, in dimension %d", v.inText(op, 0),
				v.inText(op, 1), w.outSize(x.Dims[d]), source.Dims[d], d)
		}
	}
	if err := v.scalarArgs(op, 0, []*Type{x, x}); err != nil {
		return err
	}
	last := m.LastOp(m.RegionBlock(op, 0))
	if m.NumOperands(last) != 1 || m.Type(m.Operand(last, 0)) != m.TensorType(dtype.I1) {
		return badType("expects the return-type of select-region to be tensor<i1>")
	}
	if err := v.scalarArgs(op, 1, []*Type{source, source}); err != nil {
		return err
	}
	if err := v.returnsScalars(op, 1, 1); err != nil {
		return err
	}
	return v.infers(op, 0, v.out(op, 0), x.Dims)
}

func checkSort(v *verifier, op OpID) error {
	m := v.m
	n := m.NumOperands(op)
	if m.NumResults(op) != n {
		return badOp("must have %d results, one for each input, but has %d", n, m.NumResults(op))
	}
	rank := int64(v.in(op, 0).Rank())
	if d := m.OpAttrs(op).Int("dimension", -1); d < -rank || d >= rank {
		return badAttr("dimension attribute must be in range [-%d, %d), but found %d", rank, rank, d)
	}
	var elems []*Type
	for i := range n {
		if !sameShape(v.in(op, 0).Dims, v.in(op, i).Dims) {
			return badType("requires the same shape for all operands and results: '%s' vs '%s'", v.inText(op, 0), v.inText(op, i))
		}
		if err := v.infers(op, i, v.in(op, i), v.in(op, i).Dims); err != nil {
			return err
		}
		elems = append(elems, v.in(op, i), v.in(op, i))
	}
	args := m.BlockArgs(m.RegionBlock(op, 0))
	if len(args) != len(elems) {
		return badOp("comparator block should have %d arguments, but has %d", len(elems), len(args))
	}
	for i, a := range args {
		if t := m.ValueType(a); !t.isRanked() || t.Rank() != 0 || !sameElem(t, elems[i]) {
			return badType("comparator block argument #%d should be a scalar of the type of operand #%d, but got '%s'", i, i/2, m.FormatType(m.Type(a)))
		}
	}
	last := m.LastOp(m.RegionBlock(op, 0))
	if m.NumOperands(last) != 1 || m.Type(m.Operand(last, 0)) != m.TensorType(dtype.I1) {
		return badType("comparator must return tensor<i1>")
	}
	return nil
}

func checkMap(v *verifier, op OpID) error {
	m := v.m
	dims, ok := v.ints(op, "dimensions")
	if !ok {
		return missing("dimensions")
	}
	if len(dims) != v.in(op, 0).Rank() {
		return badAttr("applied to a subset of dimensions currently not supported: operand dimensions = %d, requested map dimensions size = %d",
			v.in(op, 0).Rank(), len(dims))
	}
	for i, d := range dims {
		if d != int64(i) {
			return badAttr("requires monotonically increasing dimension numbers, but got: %v", dims)
		}
	}
	args := m.BlockArgs(m.RegionBlock(op, 0))
	if len(args) != m.NumOperands(op) {
		return badOp("expects number of operands to match the arity of map computation, but got: %d and %d", m.NumOperands(op), len(args))
	}
	for i, a := range args {
		if !sameShape(v.in(op, 0).Dims, v.in(op, i).Dims) {
			return badType("requires the same shape for all operands and results: '%s' vs '%s'", v.inText(op, 0), v.inText(op, i))
		}
		if t := m.ValueType(a); !t.isRanked() || t.Rank() != 0 || !sameElem(t, v.in(op, i)) {
			return badType("computation argument #%d must be a scalar of the type of operand #%d, but got '%s'", i, i, m.FormatType(m.Type(a)))
		}
	}
	last := m.LastOp(m.RegionBlock(op, 0))
	if m.NumOperands(last) != 1 || !m.ValueType(m.Operand(last, 0)).isRanked() || m.ValueType(m.Operand(last, 0)).Rank() != 0 {
		return badType("computation must return a single scalar")
	}
	return v.infers(op, 0, m.ValueType(m.Operand(last, 0)), v.in(op, 0).Dims)
}
