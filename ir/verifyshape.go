package ir

import (
	"slices"

	"autoshard/ir/dtype"
)

// shapeChecks are the rules of ops that move elements (specification: stablehlo.md sections 2.3 and 2.15).
var shapeChecks = map[Kind]func(*verifier, OpID) error{
	OpIota:               checkIota,
	OpPartitionId:        checkID,
	OpReplicaId:          checkID,
	OpBroadcast:          checkBroadcast,
	OpBroadcastInDim:     checkBroadcastInDim,
	OpReshape:            checkReshape,
	OpBitcastConvert:     checkBitcast,
	OpTranspose:          checkTranspose,
	OpReverse:            checkReverse,
	OpSlice:              checkSlice,
	OpDynamicSlice:       checkDynamicSlice,
	OpDynamicUpdateSlice: checkDynamicUpdateSlice,
	OpPad:                checkPad,
	OpConcatenate:        checkConcatenate,
	OpGetDimensionSize:   checkGetDimensionSize,
	OpSetDimensionSize:   checkSetDimensionSize,
}

// ints returns a list of integers among the attributes of an op, and whether it is there.
func (v *verifier) ints(op OpID, name string) ([]int64, bool) {
	list, ok := v.m.Attr(op, name).(Ints)
	return list, ok
}

func missing(name string) error { return badAttr("requires attribute '%s'", name) }

// unique says whether a list has no number twice.
func unique(list []int64) bool {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return len(slices.Compact(sorted)) == len(list)
}

// within says whether all numbers of a list lie in [0, n).
func within(list []int64, n int) bool {
	return !slices.ContainsFunc(list, func(d int64) bool { return d < 0 || d >= int64(n) })
}

func checkIota(v *verifier, op OpID) error {
	out := v.out(op, 0)
	if classOf(out)&boolElem != 0 {
		return badType("result #0 must be a tensor of integer or float or complex values, but got '%s'", v.outText(op, 0))
	}
	if !out.IsStatic() {
		return badType("result must have a static shape, but got '%s'", v.outText(op, 0))
	}
	if out.Rank() == 0 {
		return badType("does not support scalars")
	}
	if d := v.m.OpAttrs(op).Int("iota_dimension", -1); d < 0 || d >= int64(out.Rank()) {
		return badAttr("iota dimension cannot go beyond the output rank or be negative")
	}
	return nil
}

func checkID(v *verifier, op OpID) error { return v.infers(op, 0, elemOf(dtype.UI32), nil) }

func checkBroadcast(v *verifier, op OpID) error {
	sizes, ok := v.ints(op, "broadcast_sizes")
	if !ok {
		return missing("broadcast_sizes")
	}
	for _, s := range sizes {
		if s < 0 {
			return badAttr("broadcast with negative dimension size %d", s)
		}
	}
	return v.infers(op, 0, v.in(op, 0), append(slices.Clone(sizes), v.in(op, 0).Dims...))
}

func checkBroadcastInDim(v *verifier, op OpID) error {
	x, out := v.in(op, 0), v.out(op, 0)
	dims, ok := v.ints(op, "broadcast_dimensions")
	if !ok {
		return missing("broadcast_dimensions")
	}
	if err := broadcastDims(dims, x, out); err != nil {
		return err
	}
	if !out.IsStatic() && out.Encoding == "" {
		return badType("result must be statically shaped, but got '%s'", v.outText(op, 0))
	}
	if !sameElem(x, out) {
		return badType("requires the same element type for operand and result: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	return nil
}

func broadcastDims(dims []int64, x, out *Type) error {
	if len(dims) != x.Rank() {
		return badAttr("broadcast_dimensions size (%d) does not match operand rank (%d)", len(dims), x.Rank())
	}
	if !unique(dims) {
		return badAttr("broadcast_dimensions should not have duplicates")
	}
	for i, d := range dims {
		if d < 0 || d >= int64(out.Rank()) {
			return badAttr("broadcast_dimensions contains invalid value %d for result with rank %d", d, out.Rank())
		}
		if n := x.Dims[i]; n != Dynamic && n != 1 && !agree(n, out.Dims[d]) {
			return badType("size of operand dimension %d (%d) is not equal to 1 or size of result dimension %d (%d)", i, n, d, out.Dims[d])
		}
	}
	return nil
}

func checkReshape(v *verifier, op OpID) error {
	x, out := v.in(op, 0), v.out(op, 0)
	if !out.IsStatic() {
		return badType("result must be statically shaped, but got '%s'", v.outText(op, 0))
	}
	if !sameElem(x, out) {
		return badType("requires the same element type for operand and result: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	if x.IsStatic() && x.Elements() != out.Elements() {
		return badType("number of output elements (%d) doesn't match expected number of elements (%d)", out.Elements(), x.Elements())
	}
	return nil
}

func checkBitcast(v *verifier, op OpID) error {
	x, out := v.in(op, 0), v.out(op, 0)
	if x.quantized() || out.quantized() {
		return nil
	}
	if (classOf(x) == complexElem) != (classOf(out) == complexElem) {
		return badType("cannot convert between real and complex types, but got: '%s' and '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	a, b := int64(x.DType.Bits()), int64(out.DType.Bits())
	wide, narrow, wideDims, narrowDims := a, b, x.Dims, out.Dims
	if a < b {
		wide, narrow, wideDims, narrowDims = b, a, out.Dims, x.Dims
	}
	if wide == narrow {
		if !sameShape(x.Dims, out.Dims) {
			return badType("operand and result shapes must match: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
		}
		return nil
	}
	if wide%narrow != 0 || len(narrowDims) != len(wideDims)+1 || !sameShape(narrowDims[:len(wideDims)], wideDims) ||
		!agree(narrowDims[len(wideDims)], wide/narrow) {
		return badType("requires compatible bit widths and shapes: '%s' and '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	return nil
}

func checkTranspose(v *verifier, op OpID) error {
	x := v.in(op, 0)
	perm, ok := v.ints(op, "permutation")
	if !ok {
		return missing("permutation")
	}
	if len(perm) != x.Rank() {
		return badAttr("TransposeOp operand rank %d does not match permutation size %d", x.Rank(), len(perm))
	}
	if !within(perm, x.Rank()) || !unique(perm) {
		all := make([]int64, len(perm))
		for i := range all {
			all[i] = int64(i)
		}
		return badAttr("attribute permutation must be a permutation of %v but got %v", all, perm)
	}
	dims := make([]int64, len(perm))
	for i, p := range perm {
		dims[i] = x.Dims[p]
	}
	return v.infers(op, 0, x, dims)
}

func checkReverse(v *verifier, op OpID) error {
	x := v.in(op, 0)
	dims, ok := v.ints(op, "dimensions")
	if !ok {
		return missing("dimensions")
	}
	if !unique(dims) {
		return badAttr("dimensions should be unique. Got: %v", dims)
	}
	for _, d := range dims {
		if d < 0 {
			return badAttr("all dimensions should be non-negative. Got dimension: %d", d)
		}
		if d >= int64(x.Rank()) {
			return badAttr("all dimensions should be between [0, %d). Got dimension: %d", x.Rank(), d)
		}
	}
	return v.infers(op, 0, x, x.Dims)
}

func checkSlice(v *verifier, op OpID) error {
	x := v.in(op, 0)
	start, ok1 := v.ints(op, "start_indices")
	limit, ok2 := v.ints(op, "limit_indices")
	strides, ok3 := v.ints(op, "strides")
	if !ok1 || !ok2 || !ok3 {
		return badAttr("requires attributes 'start_indices', 'limit_indices' and 'strides'")
	}
	if len(start) != x.Rank() || len(limit) != x.Rank() || len(strides) != x.Rank() {
		return badAttr("the number of elements in start_indices (%d), limit_indices (%d) and strides (%d) does not match the rank of the operand (%d)",
			len(start), len(limit), len(strides), x.Rank())
	}
	dims := make([]int64, x.Rank())
	for d := range dims {
		switch {
		case start[d] < 0:
			return badAttr("negative start index %d in dimension %d", start[d], d)
		case x.Dims[d] != Dynamic && limit[d] > x.Dims[d]:
			return badAttr("limit index %d is larger than dimension size %d in dimension %d", limit[d], x.Dims[d], d)
		case start[d] > limit[d]:
			return badAttr("start index %d is larger than limit index %d in dimension %d", start[d], limit[d], d)
		case strides[d] <= 0:
			return badAttr("stride must be positive but got %d in dimension %d", strides[d], d)
		}
		n := limit[d] - start[d]
		dims[d] = n / strides[d]
		if n%strides[d] != 0 {
			dims[d]++
		}
	}
	return v.infers(op, 0, x, dims)
}

// startIndices checks the operands from one on: one scalar for each dimension, all of one integer type.
func (v *verifier) startIndices(op OpID, from, rank int) error {
	n := v.m.NumOperands(op) - from
	if n != rank {
		return badOp("has mismatched number of start indices (%d) and the rank of operand (%d)", n, rank)
	}
	for i := from; i < from+n; i++ {
		t := v.in(op, i)
		if len(t.Dims) != 0 || classOf(t)&intElem == 0 {
			return badType("operand #%d must be a 0D tensor of integers, but got '%s'", i, v.inText(op, i))
		}
		if t.DType != v.in(op, from).DType {
			return badType("start indices must have same element type: '%s' vs '%s'", v.inText(op, from), v.inText(op, i))
		}
	}
	return nil
}

func checkDynamicSlice(v *verifier, op OpID) error {
	x := v.in(op, 0)
	sizes, ok := v.ints(op, "slice_sizes")
	if !ok {
		return missing("slice_sizes")
	}
	if len(sizes) != x.Rank() {
		return badAttr("has mismatched number of slice sizes (%d) and rank of operand (%d)", len(sizes), x.Rank())
	}
	if err := v.startIndices(op, 1, x.Rank()); err != nil {
		return err
	}
	for d, s := range sizes {
		if s < 0 {
			return badAttr("has negative size index to dynamic slice: %d", s)
		}
		if x.Dims[d] != Dynamic && s > x.Dims[d] {
			return badAttr("slice size %d is greater than dimension size %d in dimension %d of operand", s, x.Dims[d], d)
		}
	}
	return v.infers(op, 0, x, sizes)
}

func checkDynamicUpdateSlice(v *verifier, op OpID) error {
	x, update := v.in(op, 0), v.in(op, 1)
	if !sameElem(x, update) {
		return badType("operand and update should have the same element type: '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	if x.Rank() != update.Rank() {
		return badType("update rank does not match operand rank: %d vs %d", update.Rank(), x.Rank())
	}
	if err := v.startIndices(op, 2, x.Rank()); err != nil {
		return err
	}
	for d := range x.Dims {
		if x.Dims[d] != Dynamic && update.Dims[d] != Dynamic && update.Dims[d] > x.Dims[d] {
			return badType("expects size at dimension %d of update to be in range [0, %d]. Got: %d", d, x.Dims[d], update.Dims[d])
		}
	}
	return v.infers(op, 0, x, x.Dims)
}

func checkPad(v *verifier, op OpID) error {
	x, value := v.in(op, 0), v.in(op, 1)
	if len(value.Dims) != 0 {
		return badType("padding value type should be a rank-0 tensor, is rank %d", len(value.Dims))
	}
	if !sameElem(x, value) {
		return badType("requires the same element type for all operands and results: '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	low, ok1 := v.ints(op, "edge_padding_low")
	high, ok2 := v.ints(op, "edge_padding_high")
	interior, ok3 := v.ints(op, "interior_padding")
	if !ok1 || !ok2 || !ok3 {
		return badAttr("requires attributes 'edge_padding_low', 'edge_padding_high' and 'interior_padding'")
	}
	if len(low) != x.Rank() || len(high) != x.Rank() || len(interior) != x.Rank() {
		return badAttr("edge_padding length (%d, %d) and interior_padding length (%d) must match operand rank (%d)", len(low), len(high), len(interior), x.Rank())
	}
	dims := make([]int64, x.Rank())
	for d, n := range x.Dims {
		if interior[d] < 0 {
			return badAttr("interior padding cannot be negative: %d", interior[d])
		}
		if n == Dynamic {
			dims[d] = Dynamic
			continue
		}
		dims[d] = low[d] + n + max(n-1, 0)*interior[d] + high[d]
		if dims[d] < 0 {
			return badAttr("padding result in negative size for dimension %d", d)
		}
	}
	return v.infers(op, 0, x, dims)
}

func checkConcatenate(v *verifier, op OpID) error {
	m, first := v.m, v.in(op, 0)
	d := m.OpAttrs(op).Int("dimension", -1)
	if d < 0 {
		return badAttr("dimension %d is negative", d)
	}
	if first.Rank() == 0 {
		return badType("rank-0 values cannot be concatenated")
	}
	if d >= int64(first.Rank()) {
		return badAttr("dimension %d is out-of-bounds for input rank %d", d, first.Rank())
	}
	dims := slices.Clone(first.Dims)
	for i := 1; i < m.NumOperands(op); i++ {
		t := v.in(op, i)
		if !sameElem(t, first) {
			return badType("requires the same element type for all operands and results: '%s' vs '%s'", v.inText(op, 0), v.inText(op, i))
		}
		if t.Rank() != first.Rank() {
			return badType("operands (0) and (%d) do not match rank: %d vs %d", i, first.Rank(), t.Rank())
		}
		for k := range dims {
			switch {
			case int64(k) == d && (dims[k] == Dynamic || t.Dims[k] == Dynamic):
				dims[k] = Dynamic
			case int64(k) == d:
				dims[k] += t.Dims[k]
			case !agree(dims[k], t.Dims[k]):
				return badType("shapes of operand (0) and (%d) are not compatible at non-concat index %d: '%s' vs '%s'", i, k, v.inText(op, 0), v.inText(op, i))
			case dims[k] == Dynamic:
				dims[k] = t.Dims[k]
			}
		}
	}
	return v.infers(op, 0, first, dims)
}

func (v *verifier) sizeDimension(op OpID) error {
	if d := v.m.OpAttrs(op).Int("dimension", -1); d < 0 || d >= int64(v.in(op, 0).Rank()) {
		return badAttr("requires dimension attribute in range [0, %d); found (%d)", v.in(op, 0).Rank(), d)
	}
	return nil
}

func checkGetDimensionSize(v *verifier, op OpID) error {
	if err := v.sizeDimension(op); err != nil {
		return err
	}
	return v.infers(op, 0, elemOf(dtype.I32), nil)
}

func checkSetDimensionSize(v *verifier, op OpID) error {
	if err := v.sizeDimension(op); err != nil {
		return err
	}
	if size := v.in(op, 1); len(size.Dims) != 0 || size.DType != dtype.I32 {
		return badType("size operand should be of rank-0 and of type i32, but got '%s'", v.inText(op, 1))
	}
	x, out := v.in(op, 0), v.out(op, 0)
	if !sameElem(x, out) || x.Rank() != out.Rank() {
		return badType("result '%s' must have the element type and rank of the operand '%s'", v.outText(op, 0), v.inText(op, 0))
	}
	return nil
}
