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
	out := Blocks{m, k}
	bo := out.Size()
	p := Piece{Fetch: Fetch{Blocks: Blocks{n, k}, Lo: make([]int64, k)}, Dilation: w.BaseDilation}
	if bo > 0 {
		p.Live = ceilDiv(m, bo)
	}
	p.Need = (bo-1)*w.Stride + (w.Size-1)*w.Dilation + 1
	if bo*w.Stride%w.BaseDilation == 0 && p.aligned(w, bo) {
		return p
	}
	p.shifted(w, bo)
	return p
}

// aligned is the form in which the elements lie alike in the windows of all devices, so that the local op keeps the dilation. It
// returns false where no element is read at all.
func (p *Piece) aligned(w ir.Window, bo int64) bool {
	d := w.BaseDilation
	for i := range p.Lo {
		p.Lo[i] = ceilDiv(int64(i)*bo*w.Stride-w.Low, d)
	}
	first := -w.Low // where the window of device 0 begins
	p.Low = p.Lo[0]*d - first
	p.Rows = floorDiv(first+p.Need-1, d) - p.Lo[0] + 1
	p.High = p.Need - p.Low - ((p.Rows-1)*d + 1)
	return p.Rows > 0
}

// shifted is the form in which the first element lies elsewhere in the window of every device.
func (p *Piece) shifted(w ir.Window, bo int64) {
	d := w.BaseDilation
	p.At, p.Rows = make([]int64, p.K), 0
	for i := range p.Lo {
		first := int64(i)*bo*w.Stride - w.Low
		p.Lo[i] = floorDiv(first, d)
		p.At[i] = first - p.Lo[i]*d
		p.Rows = max(p.Rows, floorDiv(first+p.Need-1, d)-p.Lo[i]+1)
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
