package tensor

import (
	"cmp"
	"math"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// SortKey is an operand whose elements are compared. Floats compare with -0 equal to +0 and all NaN equal and last,
// which is what JAX's comparator does, or with TotalOrder as Compare has it. Descending turns the order around,
// NaN included.
type SortKey struct {
	Operand    int
	Descending bool
	TotalOrder bool
}

// Comparator is the region of sort: Body takes the scalars left 0, right 0, left 1, right 1, … and returns i1,
// whether left comes first. With Keys the operands named are compared, the first one first, and Body is not called.
type Comparator struct {
	Keys []SortKey
	Body Body
}

// Sort sorts all inputs, which have one shape, along dimension dim in the order of comparator; dim may count from
// the end. It is stable. A comparator that is no order leaves the elements in some order.
func Sort(inputs []Tensor, dim int64, comparator Comparator) ([]Tensor, error) {
	rank := int64(inputs[0].Rank())
	if dim < 0 {
		dim += rank
	}
	var perm, inverse []int64 // dim last
	for d := range rank {
		if d != dim {
			perm = append(perm, d)
		}
	}
	perm = append(perm, dim)
	inverse = make([]int64, rank)
	for k, d := range perm {
		inverse[d] = int64(k)
	}
	lines := lists.Map(inputs, func(x Tensor) Tensor { return Transpose(x, perm) })
	order, err := comparator.order(lines, int(inputs[0].Shape[dim]))
	if err != nil {
		return nil, err
	}
	outs := make([]Tensor, len(inputs))
	for i, x := range lines {
		outs[i] = Transpose(pick(x, x.Shape, order), inverse)
	}
	return outs, nil
}

// pick returns a tensor of the elements of x at the given offsets.
func pick(x Tensor, shape []int64, offsets []int32) Tensor {
	out := newUnset(x.DType, shape)
	if x.DType.Bytes() == 4 {
		dst, src := view[uint32](out), view[uint32](x)
		for i, from := range offsets {
			dst[i] = src[from]
		}
		return out
	}
	width := x.DType.Bytes()
	for i, from := range offsets {
		copy(out.Data[i*width:(i+1)*width], x.Data[int(from)*width:])
	}
	return out
}

// order returns the offsets of the elements of each line of n elements in sorted order.
func (c Comparator) order(lines []Tensor, n int) ([]int32, error) {
	offsets := lists.Range[int32](lines[0].Len())
	if n == 0 {
		return offsets, nil
	}
	keys := lists.Map(c.Keys, func(key SortKey) []int64 { return key.values(lines[key.Operand]) })
	if len(keys) == 1 {
		orderBy(keys[0], offsets, n)
		return offsets, nil
	}
	compare := func(a, b int32) int {
		for _, key := range keys {
			if c := cmp.Compare(key[a], key[b]); c != 0 {
				return c
			}
		}
		return 0
	}
	var err error
	if len(c.Keys) == 0 {
		compare = c.bodyOrder(lines, &err)
	}
	for lo := 0; lo < len(offsets) && err == nil; lo += n {
		slices.SortStableFunc(offsets[lo:lo+n], compare)
	}
	return offsets, err
}

// orderBy sorts the offsets of lines of n elements by keys, and equal ones as they are.
func orderBy(keys []int64, offsets []int32, n int) {
	type keyed struct {
		key int64
		at  int32
	}
	line := make([]keyed, n)
	for lo := 0; lo < len(offsets); lo += n {
		for i := range line {
			line[i] = keyed{keys[lo+i], int32(lo + i)}
		}
		slices.SortFunc(line, func(a, b keyed) int {
			switch {
			case a.key < b.key:
				return -1
			case a.key > b.key:
				return 1
			}
			return int(a.at - b.at)
		})
		for i := range line {
			offsets[lo+i] = line[i].at
		}
	}
}

// bodyOrder compares by running the region; after an error everything is equal.
func (c Comparator) bodyOrder(lines []Tensor, failed *error) func(a, b int32) int {
	before := func(a, b int32) bool {
		args := make([]Tensor, 0, 2*len(lines))
		for _, x := range lines {
			args = append(args, x.at(int(a)), x.at(int(b)))
		}
		out, err := c.Body(args)
		if err != nil {
			*failed = err
			return false
		}
		return out[0].Data[0] != 0
	}
	return func(a, b int32) int {
		switch {
		case *failed != nil:
			return 0
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return 0
	}
}

// values maps elements to integers of the key's order.
func (k SortKey) values(x Tensor) []int64 {
	var keys []int64
	switch {
	case x.DType == dtype.UI64:
		for _, v := range Elems[uint64](x) {
			keys = append(keys, int64(v^1<<63))
		}
	case x.DType.Kind() != dtype.Float:
		keys = slices.Clone(x.Ints())
	default:
		values := slices.Clone(x.Floats())
		if !k.TotalOrder {
			canonical(values)
		}
		keys = totalKeys64(values)
	}
	if k.Descending {
		for i, v := range keys {
			keys[i] = ^v
		}
	}
	return keys
}

// canonical makes all zeros +0 and all NaN the positive quiet one.
func canonical(values []float64) {
	for i, v := range values {
		switch {
		case v == 0:
			values[i] = 0
		case v != v:
			values[i] = math.Float64frombits(0x7FF8000000000000)
		}
	}
}

// TopK returns the k largest elements along the last dimension in descending total order, with NaN the greatest,
// ties by lower index, and their indices as i32.
func TopK(x Tensor, k int64) (values, index Tensor) {
	n := x.Shape[x.Rank()-1]
	shape := slices.Clone(x.Shape)
	shape[x.Rank()-1] = k
	sorted, _ := Comparator{Keys: []SortKey{{Descending: true, TotalOrder: true}}}.order([]Tensor{x}, int(n))
	var chosen []int32
	index = New(dtype.I32, shape)
	at := Elems[int32](index)
	for lo := int64(0); lo < int64(len(sorted)); lo += n {
		for _, offset := range sorted[lo : lo+k] {
			at[len(chosen)] = offset - int32(lo)
			chosen = append(chosen, offset)
		}
	}
	return pick(x, shape, chosen), index
}
