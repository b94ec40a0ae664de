package localform

import (
	"slices"

	"autoshard/ir"
)

// selectAndScatter reads of both operands what windows see that touch the own block of the result, and what goes to where they choose.
func (s *sizes) selectAndScatter() (all []Dim) {
	for i, w := range ir.Windows(s.m, s.op) {
		if w.Size == 1 && w.Stride == 1 && w.Low == 0 && w.High == 0 {
			continue
		}
		d := Dim{In: i, Inputs: []int{0, 1}, N: []int64{s.operand(0)[i], s.operand(1)[i]}, Out: i, Kernel: -1, M: s.result()[i], window: w}
		d.pieces = func(k int64) []Piece {
			first, windows := d.touching(k)
			begin := make([]int64, k)
			for i := range begin {
				begin[i] = first[i]*w.Stride - w.Low
			}
			seen := Fetch{Blocks: Blocks{d.N[0], k}, Lo: begin, Rows: (windows-1)*w.Stride + w.Size, Live: k}
			given := Fetch{Blocks: Blocks{d.N[1], k}, Lo: first, Rows: windows, Live: k}
			return []Piece{{Fetch: seen, Dilation: 1}, {Fetch: given, Dilation: 1}}
		}
		all = append(all, d)
	}
	return all
}

// touching returns by position the first window that touches a block of the result, and how many touch one at most.
func (d *Dim) touching(k int64) (first []int64, windows int64) {
	b, w := Blocks{d.M, k}.Size(), d.window
	first = make([]int64, k)
	for i := range k {
		first[i] = ceilDiv(i*b+w.Low-w.Size+1, w.Stride)
		windows = max(windows, floorDiv(i*b+b-1+w.Low, w.Stride)-first[i]+1)
	}
	return first, max(windows, 1)
}

// Reaches says whether windows reach over the ends of the dimension that they slide over.
func (d *Dim) Reaches() bool {
	w, windows := d.window, d.N[len(d.N)-1]
	return w.Low > 0 || (windows-1)*w.Stride-w.Low+w.Size > d.N[0]
}

// Kept is what every device keeps of what it computes for the windows that touch its block: Rows from At[i] on, after Low rows were put
// before that and High rows behind that no window touches.
type Kept struct {
	Rows, Low, High int64
	At              []int64
	computed        int64
}

// Copies returns the rows that each local op reads and writes in memory that puts rows around what is computed, and takes out what is
// kept.
func (k *Kept) Copies() (rows []int64) {
	if k.Low+k.High > 0 {
		rows = append(rows, 2*k.computed+k.Low+k.High)
	}
	if k.Low+k.computed+k.High != k.Rows {
		rows = append(rows, 2*k.Rows)
	}
	return rows
}

// Kept returns it for k devices.
func (d *Dim) Kept(k int64) Kept {
	seen := d.pieces(k)[0]
	kept := Kept{Rows: Blocks{d.M, k}.Size(), At: make([]int64, k), computed: seen.Rows}
	for i := range kept.At {
		kept.At[i] = int64(i)*kept.Rows - seen.Lo[i]
	}
	kept.Low = max(0, -slices.Min(kept.At))
	kept.High = max(0, slices.Max(kept.At)+kept.Rows-seen.Rows)
	for i := range kept.At {
		kept.At[i] += kept.Low
	}
	return kept
}
