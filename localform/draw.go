package localform

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Draw is how random numbers are numbered by the counter of a generator, along the first dimension that has more than one row: blocks of a
// multiple of Unit rows are drawn like whole tensors, each Unit of them with Steps values of the counter (specification: localforms.md
// section 3.13).
type Draw struct {
	Dim         int
	Unit, Steps int64
	All         int64 // values of the counter that all numbers take
}

// Drawn returns it for a generator whose algorithm is known; false where blocks are drawn otherwise than parts of the whole. shape is
// that of the whole numbers.
func Drawn(m *ir.Module, op ir.OpID, shape []int64) (Draw, bool) {
	d := Draw{}
	for d.Dim < len(shape) && shape[d.Dim] == 1 {
		d.Dim++
	}
	if d.Dim == len(shape) {
		return d, false
	}
	n, row, words := shape[d.Dim], lists.Product(shape[d.Dim+1:]), int64(max(1, m.ValueType(m.Result(op, 1)).DType.Bytes()/4))
	switch m.OpAttrs(op).Str("rng_algorithm") {
	case "PHILOX": // four words for each value of the counter
		d.Unit = 4 / subaxis.GCD(4, row*words)
		d.Steps, d.All = d.Unit*row*words/4, ceilDiv(n*row*words, 4)
		return d, true
	case "THREE_FRY": // two words, of numbers that are neighbours along one dimension
		h := halved(shape)
		switch {
		case words == 2:
			d.Unit, d.Steps, d.All = 1, row, n*row
		case h == d.Dim:
			d.Unit, d.Steps, d.All = 2, row, ceilDiv(n, 2)*row
			return d, n%2 == 0
		default:
			d.Unit, d.Steps = 1, row/shape[h]*ceilDiv(shape[h], 2)
			d.All = n * d.Steps
		}
		return d, true
	}
	return d, false
}

// halved returns the dimension along which THREE_FRY draws two numbers at once: the first that is even, else the first of the largest.
func halved(shape []int64) int {
	h := 0
	for d, n := range shape {
		if n%2 == 0 {
			return d
		}
		if n > shape[h] {
			h = d
		}
	}
	return h
}

// Parts returns the greatest number of blocks into which the dimension can be cut so; every other number divides it.
func (d *Draw) Parts(n int64) int64 {
	if n%d.Unit != 0 {
		return 1
	}
	return n / d.Unit
}
