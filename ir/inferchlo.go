package ir

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// inferBroadcastBinary checks an op that broadcasts its operands first: trailing dimensions with trailing dimensions, or
// those of the operand of lower rank with the dimensions that broadcast_dimensions says.
func inferBroadcastBinary(f *inference) error {
	if err := f.checkClasses(); err != nil {
		return err
	}
	x, y := f.operand(0), f.operand(1)
	if !sameElem(x, y) {
		return badType("mismatched operand types: '%s' vs '%s'", f.text(0), f.text(1))
	}
	large, small := x, y
	if y.Rank() > x.Rank() {
		large, small = y, x
	}
	at, ok := f.ints("broadcast_dimensions")
	if !ok {
		at = trailing(large.Rank(), small.Rank())
	}
	if len(at) != small.Rank() || !within(at, large.Rank()) || !unique(at) {
		return badAttr("broadcast_dimensions must be one dimension of the larger operand for each of the smaller one, but got %v", at)
	}
	dims, err := broadcastShape(large.Dims, small.Dims, at)
	if err != nil {
		return err
	}
	switch f.kind {
	case OpChloBroadcastCompare:
		return f.result(elemOf(dtype.I1), dims)
	case OpChloBroadcastComplex:
		return f.result(complexOf(x.DType), dims)
	}
	return f.result(x, dims)
}

// trailing returns the last n of so many dimensions.
func trailing(rank, n int) []int64 {
	return lists.Of(n, func(d int) int64 { return int64(rank - n + d) })
}

// broadcastShape returns the shape of two operands, of which the one of lower rank has its dimensions at those of the
// other.
func broadcastShape(large, small, at []int64) ([]int64, error) {
	dims := append([]int64{}, large...)
	for i, d := range at {
		n, ok := broadcastSize(dims[d], small[i])
		if !ok {
			return nil, badType("operands cannot be broadcast: dimension %d has sizes %d and %d", d, dims[d], small[i])
		}
		dims[d] = n
	}
	return dims, nil
}

// inferBroadcastSelect checks a select whose branches are broadcast to one shape, and to that of the predicate unless it
// is a scalar.
func inferBroadcastSelect(f *inference) error {
	pred, yes, no := f.operand(0), f.operand(1), f.operand(2)
	if classOf(pred) != boolElem {
		return badType("operand #0 must be tensor of bool values, but got '%s'", f.text(0))
	}
	if !sameElem(yes, no) {
		return badType("mismatched operand types: '%s' vs '%s'", f.text(1), f.text(2))
	}
	var dims []int64
	for _, t := range []*Type{yes, no, pred} {
		large, small := dims, t.Dims
		if len(small) > len(large) {
			large, small = small, large
		}
		var err error
		if dims, err = broadcastShape(large, small, trailing(len(large), len(small))); err != nil {
			return err
		}
	}
	return f.result(yes, dims)
}

// broadcastSize returns the size of a dimension that two operands share.
func broadcastSize(a, b int64) (int64, bool) {
	switch {
	case a == b, b == 1:
		return a, true
	case a == 1:
		return b, true
	case a == Dynamic || b == Dynamic:
		return Dynamic, true
	}
	return 0, false
}

// inferTopK checks that the last dimension of both results has size k.
func inferTopK(f *inference) error {
	x, k := f.operand(0), f.attrs.Int("k", -1)
	if x.Rank() < 1 {
		return badType("operand's rank must be at least 1")
	}
	dims := append([]int64{}, x.Dims...)
	last := &dims[len(dims)-1]
	if k < 0 || *last != Dynamic && *last < k {
		return badAttr("operand's last dimension must be at least %d", k)
	}
	*last = k
	f.result(x, dims)
	return f.result(elemOf(dtype.I32), dims)
}

// inferScan checks the inputs and carries of a scan against its results: outputs have the scanned dimension, carries come
// out as they went in.
func inferScan(f *inference) error {
	body, ok := f.body(0)
	if !ok {
		return nil
	}
	if len(body.args) != len(f.operands) {
		return badOp("takes %d operands, but its body %d", len(f.operands), len(body.args))
	}
	d := f.attrs.Int("dimension", -1)
	size, carries, err := f.scanned(body, d)
	if err != nil {
		return err
	}
	outputs := len(body.results) - carries
	for i, id := range body.results {
		t := f.m.TypeOf(id)
		switch {
		case i >= outputs:
			f.same(id)
		case d < 0 || d > int64(t.Rank()):
			return badAttr("scan dimension of result %d is out of bounds: %d of rank %d", i, d, t.Rank()+1)
		default:
			f.result(t, slices.Insert(slices.Clone(t.Dims), int(d), size))
		}
	}
	return nil
}

// scanned returns how many steps a scan has, which is the size of dimension d of the operands that are not carries, and
// how many operands are carries.
func (f *inference) scanned(body signature, d int64) (size int64, carries int, err error) {
	size = Dynamic
	for i, id := range body.args {
		x, arg := f.operand(i), f.m.TypeOf(id)
		if sameElem(x, arg) && sameShape(x.Dims, arg.Dims) {
			carries++
			continue
		}
		if d < 0 || d >= int64(x.Rank()) {
			return 0, 0, badAttr("scan dimension of operand %d is out of bounds: %d of rank %d", i, d, x.Rank())
		}
		if !agree(size, x.Dims[d]) {
			return 0, 0, badType("scanned operands have sizes %d and %d", size, x.Dims[d])
		}
		size = x.Dims[d]
	}
	return size, carries, nil
}
