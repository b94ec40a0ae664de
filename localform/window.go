package localform

import (
	"slices"

	"autoshard/ir"
)

// Piece is what an op reads of one operand along one dimension: a fetch, and what the local op does with what it brings.
type Piece struct {
	Fetch
	Operand, Dim int
	// The local op slides over the fetched rows with Low and High rows of the fill around them and Dilation-1 between them. It sees
	// Need rows from At[i] on, if At is not nil: then low, high and dilation are made explicit before.
	Low, High, Dilation int64
	At                  []int64
	Need                int64
}

// Local returns the rows of the operand that the local op is given.
func (p *Piece) Local() int64 {
	if p.At != nil {
		return p.Need
	}
	return p.Rows
}

// slide returns what k devices read of n elements, each to compute its part of the m places of a window.
func slide(w ir.Window, n, m, k int64) Piece {
	bo := Blocks{m, k}.Size()
	live := int64(0)
	if bo > 0 {
		live = ceilDiv(m, bo)
	}
	need := (bo-1)*w.Stride + (w.Size-1)*w.Dilation + 1
	return span(affine(-w.Low, bo*w.Stride, k), need, w.BaseDilation, n, live)
}

// under returns what k devices read of n elements, each to compute all m places of its part of a window, whose elements may stand in
// reverse. The window has to divide evenly.
func under(w ir.Window, reversed bool, n, m, k int64) Piece {
	part := w.Size / k
	first := affine(-w.Low, part*w.Dilation, k)
	if reversed {
		first = affine((w.Size-part)*w.Dilation-w.Low, -part*w.Dilation, k)
	}
	need := (m-1)*w.Stride + (part-1)*w.Dilation + 1
	return span(first, need, w.BaseDilation, n, k)
}

// span returns what devices read of n elements that lie a dilation apart, of which each sees positions from its first one on.
func span(first []int64, need, dilation, n, live int64) Piece {
	k := int64(len(first))
	p := Piece{Fetch: Fetch{Blocks: Blocks{n, k}, Lo: make([]int64, k), Live: live}, Dilation: dilation, Need: need}
	if !p.aligned(first) {
		p.shifted(first)
	}
	return p
}

// aligned is the form in which the elements lie alike in the windows of all devices, so that the local op keeps the dilation. It
// returns false where they do not, or no element is read at all.
func (p *Piece) aligned(first []int64) bool {
	d := p.Dilation
	for i, at := range first {
		p.Lo[i] = ceilDiv(at, d)
		if (at-first[0])%d != 0 {
			return false
		}
	}
	p.Low = p.Lo[0]*d - first[0]
	p.Rows = floorDiv(first[0]+p.Need-1, d) - p.Lo[0] + 1
	p.High = p.Need - p.Low - ((p.Rows-1)*d + 1)
	return p.Rows > 0
}

// shifted is the form in which the first element lies elsewhere in the window of every device.
func (p *Piece) shifted(first []int64) {
	d := p.Dilation
	p.At, p.Rows = make([]int64, p.K), 0
	for i, at := range first {
		p.Lo[i] = floorDiv(at, d)
		p.At[i] = at - p.Lo[i]*d
		p.Rows = max(p.Rows, floorDiv(at+p.Need-1, d)-p.Lo[i]+1)
	}
	p.Low, p.High = 0, max(0, slices.Max(p.At)+p.Need-((p.Rows-1)*d+1))
}

// Sliding returns the padding and the base dilation of the local op.
func (p *Piece) Sliding() (low, high, dilation int64) {
	if p.At != nil {
		return 0, 0, 1
	}
	return p.Low, p.High, p.Dilation
}
