package localform

import (
	"slices"

	"autoshard/ir"
)

// Padding is what a pad puts before, behind and between the elements of each dimension.
type Padding struct{ Low, High, Interior []int64 }

// PaddingOf returns that of the local op of a pad that is given pieces.
func PaddingOf(m *ir.Module, op ir.OpID, pieces []Piece) Padding {
	ints := func(name string) []int64 { return slices.Clone(m.OpAttrs(op).Ints(name)) }
	p := Padding{ints("edge_padding_low"), ints("edge_padding_high"), ints("interior_padding")}
	for i := range pieces {
		d := pieces[i].Dim
		p.Low[d], p.High[d], p.Interior[d] = pieces[i].Sliding()
		p.Interior[d]--
	}
	return p
}

// Idle says whether the pad gives its operand back.
func (p *Padding) Idle() bool {
	return !slices.ContainsFunc(slices.Concat(p.Low, p.High, p.Interior), func(n int64) bool { return n != 0 })
}
