package ir

import "slices"

// Contraction pairs the dimensions of two operands that have letters, each once: those that both have are batched where keep holds,
// and contracted where it does not. It returns the dimensions of the product and the letters of its result: those that are
// batched, and those that one operand has alone.
func Contraction(x, y []byte, keep func(byte) bool) (d DotDims, letters []byte) {
	var free []byte
	for i, l := range x {
		j := slices.Index(y, l)
		switch {
		case j < 0:
			free = append(free, l)
		case keep(l):
			d.LhsBatch, d.RhsBatch = append(d.LhsBatch, int64(i)), append(d.RhsBatch, int64(j))
			letters = append(letters, l)
		default:
			d.LhsContract, d.RhsContract = append(d.LhsContract, int64(i)), append(d.RhsContract, int64(j))
		}
	}
	for _, l := range y {
		if !slices.Contains(x, l) {
			free = append(free, l)
		}
	}
	return d, append(letters, free...)
}
