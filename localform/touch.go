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
		n := []int64{s.operand(0)[i], s.operand(1)[i]}
		d := Dim{In: i, Inputs: []int{0, 1}, N: n, Out: i, Kernel: -1, M: s.result()[i], window: w}
		d.pieces = func(k int64) []Piece {
			t := d.touching(k)
			return []Piece{t.seen(), t.given()}
		}
		all = append(all, d)
	}
	return all
}

// touching is what devices do along a dimension of a select_and_scatter for the windows that touch their blocks. Each sees so many rows
// from begin[i] on, between low and high rows of padding, and chooses in windows that are all there or reach over the ends of the
// dimension: where they do, the elements end, too, so that nothing else than elements is ever chosen, by whatever comparison. What
// windows choose that do not touch the block is not kept.
type touching struct {
	ir.Window
	n, m, k, block int64 // elements, windows, blocks and elements of each

	begin                    []int64
	rows, low, high, windows int64
}

// touching returns it for k devices.
func (d *Dim) touching(k int64) *touching {
	t := &touching{Window: d.window, n: d.N[0], m: d.N[1], k: k, block: Blocks{d.M, k}.Size(), begin: make([]int64, k), rows: 1, windows: 1}
	for i := range k {
		if t.reachesLow(i) {
			first, _ := t.existing(i)
			t.low = max(t.low, t.Low-first*t.Stride)
		}
	}
	for i := range k {
		t.begin[i] = t.aligned(i)
		if a, z := t.sees(i); a < z {
			t.rows = max(t.rows, z-t.begin[i])
		}
	}
	t.alignEnd()
	for i := range k {
		if first, last := t.existing(i); first <= last {
			t.windows = max(t.windows, last-t.first(i)+1)
		}
	}
	t.high = max(0, (t.windows-1)*t.Stride+t.Size-t.low-t.rows)
	return t
}

// all returns the first and the last window that touches block i, also where there is none before the dimension or behind it.
func (t *touching) all(i int64) (first, last int64) {
	begin := i*t.block + t.Low
	return ceilDiv(begin-t.Size+1, t.Stride), floorDiv(begin+t.block-1, t.Stride)
}

// existing returns the first and the last window that touches block i, the last below the first where there is none.
func (t *touching) existing(i int64) (first, last int64) {
	first, last = t.all(i)
	return max(first, 0), min(last, t.m-1)
}

// sees returns the elements that the windows see which touch block i, none where a is not below z.
func (t *touching) sees(i int64) (a, z int64) {
	first, last := t.existing(i)
	if first > last {
		return 0, 0
	}
	return max(0, first*t.Stride-t.Low), min(t.n, last*t.Stride-t.Low+t.Size)
}

// reachesLow says whether one of the windows that touch block i begins before the dimension, and reachesHigh whether one ends behind it.
func (t *touching) reachesLow(i int64) bool {
	first, last := t.existing(i)
	return first <= last && first*t.Stride < t.Low
}

func (t *touching) reachesHigh(i int64) bool {
	first, last := t.existing(i)
	return first <= last && last*t.Stride-t.Low+t.Size > t.n
}

// aligned returns where device i begins: where the first window does that touches its block, or a few rows before, so that its windows
// begin as far behind the padding as those of others.
func (t *touching) aligned(i int64) int64 {
	if t.reachesLow(i) {
		return 0
	}
	first, _ := t.all(i)
	at := first*t.Stride - t.Low
	return at - t.shift(at)
}

// shift returns how many rows before an element begins the next window, seen from behind the padding.
func (t *touching) shift(at int64) int64 {
	at += t.Low - t.low
	return at - floorDiv(at, t.Stride)*t.Stride
}

// alignEnd gives devices the last elements of the dimension that choose in windows which end behind it.
func (t *touching) alignEnd() {
	reaches := make([]bool, t.k)
	for i := range reaches {
		reaches[i] = t.reachesHigh(int64(i))
	}
	if slices.Contains(reaches, true) {
		t.rows += t.shift(t.n - t.rows)
	}
	for i, r := range reaches {
		if r {
			t.begin[i] = t.n - t.rows
		}
	}
}

// first returns the window with which device i begins.
func (t *touching) first(i int64) int64 { return floorDiv(t.begin[i]-t.low+t.Low, t.Stride) }

// seen is what devices read of what they choose from.
func (t *touching) seen() Piece {
	f := Fetch{Blocks: Blocks{t.n, t.k}, Lo: t.begin, Rows: t.rows, Live: t.k, From: make([]int64, t.k), To: make([]int64, t.k)}
	for i := range t.k {
		f.From[i], f.To[i] = t.sees(i)
	}
	return Piece{Fetch: f, Low: t.low, High: t.high, Dilation: 1}
}

// given is what devices read of what they scatter. Windows that do not exist may touch a block: they scatter the fill.
func (t *touching) given() Piece {
	f := Fetch{Blocks: Blocks{t.m, t.k}, Lo: make([]int64, t.k), Rows: t.windows, Live: t.k, From: make([]int64, t.k), To: make([]int64, t.k)}
	for i := range t.k {
		f.Lo[i] = t.first(i)
		first, last := t.all(i)
		f.From[i], f.To[i] = first, last+1
	}
	return Piece{Fetch: f, Dilation: 1}
}

// Ends says whether windows of a select_and_scatter end behind the dimension that they slide over.
func (d *Dim) Ends() bool {
	w := d.window
	return (d.N[len(d.N)-1]-1)*w.Stride-w.Low+w.Size > d.N[0]
}

// Overlaps says whether windows of a select_and_scatter begin before the dimension and end behind it. There is no place for padding then
// where no window chooses it.
func (d *Dim) Overlaps() bool { return d.window.Low > 0 && d.Ends() }
