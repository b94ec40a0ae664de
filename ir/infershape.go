package ir

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

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

func inferID(f *inference) error { return f.result(elemOf(dtype.UI32), nil) }

func inferBroadcast(f *inference) error {
	sizes := f.attrs.Ints("broadcast_sizes")
	for _, s := range sizes {
		if s < 0 {
			return badAttr("broadcast with negative dimension size %d", s)
		}
	}
	return f.result(f.operand(0), append(slices.Clone(sizes), f.operand(0).Dims...))
}

func inferTranspose(f *inference) error {
	x := f.operand(0)
	perm := f.attrs.Ints("permutation")
	if len(perm) != x.Rank() {
		return badAttr("TransposeOp operand rank %d does not match permutation size %d", x.Rank(), len(perm))
	}
	if !within(perm, x.Rank()) || !unique(perm) {
		return badAttr("attribute permutation must be a permutation of %v but got %v", lists.Range[int64](len(perm)), perm)
	}
	return f.result(x, lists.Pick(x.Dims, perm))
}

func inferReverse(f *inference) error {
	x := f.operand(0)
	dims := f.attrs.Ints("dimensions")
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
	return f.same(f.operands[0])
}

func inferSlice(f *inference) error {
	x := f.operand(0)
	start, limit, strides := f.attrs.Ints("start_indices"), f.attrs.Ints("limit_indices"), f.attrs.Ints("strides")
	if len(start) != x.Rank() || len(limit) != x.Rank() || len(strides) != x.Rank() {
		return badAttr("the number of elements in start_indices (%d), limit_indices (%d) and strides (%d) does not match the rank of the "+
			"operand (%d)",
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
	return f.result(x, dims)
}

// startIndices checks the operands from one on: one scalar for each dimension, all of one integer type.
func (f *inference) startIndices(from, rank int) error {
	n := len(f.operands) - from
	if n != rank {
		return badOp("has mismatched number of start indices (%d) and the rank of operand (%d)", n, rank)
	}
	for i := from; i < from+n; i++ {
		t := f.operand(i)
		if len(t.Dims) != 0 || classOf(t)&intElem == 0 {
			return badType("operand #%d must be a 0D tensor of integers, but got '%s'", i, f.text(i))
		}
		if t.DType != f.operand(from).DType {
			return badType("start indices must have same element type: '%s' vs '%s'", f.text(from), f.text(i))
		}
	}
	return nil
}

func inferDynamicSlice(f *inference) error {
	x := f.operand(0)
	sizes := f.attrs.Ints("slice_sizes")
	if len(sizes) != x.Rank() {
		return badAttr("has mismatched number of slice sizes (%d) and rank of operand (%d)", len(sizes), x.Rank())
	}
	if err := f.startIndices(1, x.Rank()); err != nil {
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
	return f.result(x, sizes)
}

func inferDynamicUpdateSlice(f *inference) error {
	x, update := f.operand(0), f.operand(1)
	if !sameElem(x, update) {
		return badType("operand and update should have the same element type: '%s' vs '%s'", f.text(0), f.text(1))
	}
	if x.Rank() != update.Rank() {
		return badType("update rank does not match operand rank: %d vs %d", update.Rank(), x.Rank())
	}
	if err := f.startIndices(2, x.Rank()); err != nil {
		return err
	}
	for d := range x.Dims {
		if x.Dims[d] != Dynamic && update.Dims[d] != Dynamic && update.Dims[d] > x.Dims[d] {
			return badType("expects size at dimension %d of update to be in range [0, %d]. Got: %d", d, x.Dims[d], update.Dims[d])
		}
	}
	return f.same(f.operands[0])
}

func inferPad(f *inference) error {
	x, value := f.operand(0), f.operand(1)
	if len(value.Dims) != 0 {
		return badType("padding value type should be a rank-0 tensor, is rank %d", len(value.Dims))
	}
	if !sameElem(x, value) {
		return badType("requires the same element type for all operands and results: '%s' vs '%s'", f.text(0), f.text(1))
	}
	low, high, interior := f.attrs.Ints("edge_padding_low"), f.attrs.Ints("edge_padding_high"), f.attrs.Ints("interior_padding")
	if len(low) != x.Rank() || len(high) != x.Rank() || len(interior) != x.Rank() {
		return badAttr("edge_padding length (%d, %d) and interior_padding length (%d) must match operand rank (%d)",
			len(low), len(high), len(interior), x.Rank())
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
	return f.result(x, dims)
}

func inferConcatenate(f *inference) error {
	first := f.operand(0)
	d := f.attrs.Int("dimension", -1)
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
	for i := 1; i < len(f.operands); i++ {
		t := f.operand(i)
		if !sameElem(t, first) {
			return badType("requires the same element type for all operands and results: '%s' vs '%s'", f.text(0), f.text(i))
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
				return badType("shapes of operand (0) and (%d) are not compatible at non-concat index %d: '%s' vs '%s'", i, k, f.text(0), f.text(i))
			case dims[k] == Dynamic:
				dims[k] = t.Dims[k]
			}
		}
	}
	return f.result(first, dims)
}

func (f *inference) sizeDimension() error {
	if d := f.attrs.Int("dimension", -1); d < 0 || d >= int64(f.operand(0).Rank()) {
		return badAttr("requires dimension attribute in range [0, %d); found (%d)", f.operand(0).Rank(), d)
	}
	return nil
}

func inferGetDimensionSize(f *inference) error {
	if err := f.sizeDimension(); err != nil {
		return err
	}
	return f.result(elemOf(dtype.I32), nil)
}

// inferSetDimensionSize is the rule of an op that makes the size of a dimension one that only the run knows.
func inferSetDimensionSize(f *inference) error {
	if err := f.sizeDimension(); err != nil {
		return err
	}
	if size := f.operand(1); len(size.Dims) != 0 || size.DType != dtype.I32 {
		return badType("size operand should be of rank-0 and of type i32, but got '%s'", f.text(1))
	}
	return f.result(f.operand(0), f.withSize(0, f.attrs.Int("dimension", 0), Dynamic))
}
