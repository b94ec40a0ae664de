package localform

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// Dim is a dimension of an op along which elements may move: those of a block of the results come from several blocks of the
// operands.
type Dim struct {
	In     int     // the dimension of the operands
	Inputs []int   // the operands that have it
	N      []int64 // its size in each, whole
	Out    int     // the dimension of the results; -1 where the kernel of a convolution is cut, and results are partial
	Kernel int     // the dimension of that kernel; -1 elsewhere
	M      int64   // the size of the dimension of the results or the kernel

	joins  bool // the pieces of all inputs become one block
	window ir.Window

	reversed bool // the window
	pieces   func(k int64) []Piece
}

// Cut returns what says which axes cut the op along the dimension: an operand, or -1 for the results, and a dimension of that.
func (d *Dim) Cut() (operand, dim int) {
	if d.Kernel >= 0 {
		return 1, d.Kernel
	}
	return -1, d.Out
}

// Parts returns the greatest number of blocks into which the dimension can be cut evenly everywhere, none of them empty; every
// other number divides it.
func (d *Dim) Parts() int64 {
	parts := d.M
	for _, n := range d.N {
		parts = subaxis.GCD(parts, n)
		if n == 0 || d.M == 0 {
			return 1
		}
	}
	return parts
}

// Pieces returns what each of k devices reads of every input for its block of the results.
func (d *Dim) Pieces(k int64) []Piece {
	out := d.pieces(k)
	for i := range out {
		out[i].Operand, out[i].Dim = d.Inputs[i], d.In
	}
	return out
}

// Read returns how many elements of input i all devices read together at least, however many there are: none are surely read where
// devices pass over those between their windows.
func (d *Dim) Read(i int) int64 {
	if w := d.window; (w.Size-1)*w.Dilation+1 < w.Stride || d.Kernel >= 0 && w.Dilation > 1 {
		return 0
	}
	a, z := d.pieces(1)[i].reads(0)
	return max(0, z-a)
}

// Dims returns the dimensions of an op along which elements may move, none for most kinds of ops. shape returns the sizes of whole
// tensors.
func Dims(m *ir.Module, op ir.OpID, shape func(ir.ValueID) []int64) []Dim {
	if m.NumOperands(op) == 0 || m.NumResults(op) == 0 {
		return nil
	}
	s := sizes{m, op, m.OpAttrs(op), shape}
	switch m.Kind(op) {
	case ir.OpSlice:
		return s.slice()
	case ir.OpPad:
		return s.pad()
	case ir.OpReverse:
		return s.reverse()
	case ir.OpConcatenate:
		return s.concatenate()
	case ir.OpReduceWindow:
		return s.reduceWindow()
	case ir.OpConvolution:
		return s.convolution()
	case ir.OpSelectAndScatter:
		return s.selectAndScatter()
	}
	return nil
}

// sizes are an op and the sizes of its tensors.
type sizes struct {
	m     *ir.Module
	op    ir.OpID
	attrs ir.Attrs
	shape func(ir.ValueID) []int64
}

func (s *sizes) operand(i int) []int64 { return s.shape(s.m.Operand(s.op, i)) }

func (s *sizes) result() []int64 { return s.shape(s.m.Result(s.op, 0)) }

// dim returns a dimension of the first inputs and of the results.
func (s *sizes) dim(inputs, in, out int, pieces func(n, m, k int64) Piece) Dim {
	d := Dim{In: in, Out: out, Kernel: -1, M: s.result()[out]}
	for i := range inputs {
		d.Inputs, d.N = append(d.Inputs, i), append(d.N, s.operand(i)[in])
	}
	d.pieces = func(k int64) []Piece {
		out := make([]Piece, inputs)
		for i := range out {
			out[i] = pieces(d.N[i], d.M, k)
		}
		return out
	}
	return d
}

// window returns a dimension along which a window slides over the first inputs.
func (s *sizes) window(w ir.Window, inputs, in, out int) Dim {
	d := s.dim(inputs, in, out, func(n, m, k int64) Piece { return slide(w, n, m, k) })
	d.window = w
	return d
}

// slice reads every stride-th element from a start on: a local slice takes them out of what is fetched.
func (s *sizes) slice() (all []Dim) {
	start, stride := s.attrs.Ints("start_indices"), s.attrs.Ints("strides")
	for d := range s.result() {
		all = append(all, s.window(ir.Window{Size: 1, Stride: stride[d], Low: -start[d], BaseDilation: 1, Dilation: 1}, 1, d, d))
	}
	return all
}

// pad is a window of one element over what it pads.
func (s *sizes) pad() (all []Dim) {
	low, inner := s.attrs.Ints("edge_padding_low"), s.attrs.Ints("interior_padding")
	for d := range s.result() {
		all = append(all, s.window(ir.Window{Size: 1, Stride: 1, Low: low[d], BaseDilation: inner[d] + 1, Dilation: 1}, 1, d, d))
	}
	return all
}

// reverse fetches the block that mirrors the own one, which is reversed then.
func (s *sizes) reverse() (all []Dim) {
	for _, d := range s.attrs.Ints("dimensions") {
		all = append(all, s.dim(1, int(d), int(d), func(n, m, k int64) Piece {
			b := Blocks{n, k}
			rows := b.Size()
			return Piece{Fetch: Fetch{Blocks: b, Lo: affine(n-rows, -rows, k), Rows: rows, Live: k}, Dilation: 1}
		}))
	}
	slices.SortFunc(all, func(a, b Dim) int { return a.Out - b.Out })
	return all
}

// concatenate fetches of every operand what of it is in the own block of the result.
func (s *sizes) concatenate() []Dim {
	joined := int(s.attrs.Int("dimension", 0))
	inputs := s.m.NumOperands(s.op)
	d := s.dim(inputs, joined, joined, nil)
	d.joins = true
	d.pieces = func(k int64) []Piece {
		out, offset := make([]Piece, inputs), int64(0)
		rows := Blocks{d.M, k}.Size()
		for i, n := range d.N {
			out[i] = Piece{Fetch: Fetch{Blocks: Blocks{n, k}, Lo: affine(-offset, rows, k), Rows: rows, Live: k}, Dilation: 1}
			offset += n
		}
		return out
	}
	return []Dim{d}
}

// reduceWindow leaves out dimensions over which a window reaches from end to end: every device needs something of all others.
func (s *sizes) reduceWindow() (all []Dim) {
	for i, w := range ir.Windows(s.m, s.op) {
		d := s.window(w, s.m.NumOperands(s.op)/2, i, i)
		if w.Size == 1 || (w.Size-1)*w.Dilation < (d.N[0]-1)*w.BaseDilation {
			all = append(all, d)
		}
	}
	return all
}

func (s *sizes) convolution() (all []Dim) {
	c, ok := s.attrs.Get("dimension_numbers").(*ir.ConvDims)
	if !ok {
		return nil
	}
	reversal, _ := s.attrs.Get("window_reversal").(ir.Bools)
	for i, w := range ir.Windows(s.m, s.op) {
		in, kernel, out := int(c.InSpatial[i]), int(c.KernelSpatial[i]), int(c.OutSpatial[i])
		w.Size = s.operand(1)[kernel]
		places := s.result()[out]
		reversed := reversal != nil && reversal[i]
		d := s.dim(1, in, out, func(n, _, k int64) Piece { return under(w, reversed, n, places, k) })
		d.Out, d.Kernel, d.M, d.window, d.reversed = -1, kernel, w.Size, w, reversed
		all = append(all, s.window(w, 1, in, out), d)
	}
	return all
}

// Exchanged says whether devices exchange the partial results of a reduction, and fold them by its region: no collective does so with
// several operands, products, or the bits of integers.
func Exchanged(m *ir.Module, op ir.OpID) bool {
	_, ok := ir.ReductionOf(m, op, 0)
	return m.NumResults(op) > 1 || !ok
}

// Run is the dimension along which an op folds, for every element, all elements up to there: a running sum, product or extreme.
type Run struct {
	Dim     int
	Reverse bool // it folds all elements from there on
}

// Running returns the dimension along which an op runs. It is a window over all elements and as many paddings before or behind them, alone
// among windows of one element. shape returns the sizes of whole tensors.
func Running(m *ir.Module, op ir.OpID, shape func(ir.ValueID) []int64) (Run, bool) {
	if m.Kind(op) != ir.OpReduceWindow {
		return Run{}, false
	}
	windows := ir.Windows(m, op)
	single := ir.Window{Size: 1, Stride: 1, BaseDilation: 1, Dilation: 1}
	d := slices.IndexFunc(windows, func(w ir.Window) bool { return w != single })
	if d < 0 || slices.ContainsFunc(windows[d+1:], func(w ir.Window) bool { return w != single }) {
		return Run{}, false
	}
	n := shape(m.Operand(op, 0))[d]
	window := ir.Window{Size: n, Stride: 1, Low: n - 1, BaseDilation: 1, Dilation: 1}
	if windows[d] == window {
		return Run{Dim: d}, true
	}
	window.Low, window.High = 0, n-1
	return Run{d, true}, windows[d] == window
}
