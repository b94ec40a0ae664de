package tensor

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"autoshard/backend/tensor/memory"
	"autoshard/backend/tensor/vector"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// DotDims names the dimensions of dot_general; entry k of the two contracting lists, and of the two batching
// lists, belong together.
type DotDims struct {
	LHSBatch, RHSBatch       []int64
	LHSContract, RHSContract []int64
}

// DotGeneral returns the sums of products over the contracting dimensions (stablehlo.md section 2.5). The result
// has the batching dimensions, then the free ones of lhs, then those of rhs, and element type out. Floats up to
// 32 bits are multiplied and summed in f32, in row-major order, and rounded to out at the end; integers wrap in out.
// For an algorithm that rounds its operands, round them before with Convert or ReducePrecision.
func DotGeneral(lhs, rhs Tensor, dims DotDims, out dtype.Type) Tensor {
	return NewDot(lhs.Shape, rhs.Shape, dims, out).Of(lhs, rhs)
}

// Dot is DotGeneral of operands of known shapes.
type Dot struct {
	l, r     dotSide
	out      dtype.Type
	shape    []int64
	lhs, rhs []int64
	blocks   []blockPair // of which the operands of products that are made at once are; nil: of one product
	sizes    [2]int      // of such blocks
}

// blockPair is a block of each operand.
type blockPair [2]int32

// Fits says whether operands of these shapes can be multiplied.
func (d *Dot) Fits(lhs, rhs []int64) bool {
	return slices.Equal(lhs, d.lhs) && slices.Equal(rhs, d.rhs)
}

// NewDot finds out how the matrices of the operands lie.
func NewDot(lhs, rhs []int64, dims DotDims, out dtype.Type) *Dot {
	d := &Dot{lhs: lhs, rhs: rhs, out: out}
	d.l, d.r = newDotSide(lhs, dims.LHSBatch, dims.LHSContract), newDotSide(rhs, dims.RHSBatch, dims.RHSContract)
	d.shape = slices.Concat(d.l.batch, lists.Pick(lhs, d.l.free), lists.Pick(rhs, d.r.free))
	return d
}

// NewDots is NewDot of several products at once: of blocks of each operand that lie one behind the other, where there are several with
// their number as the first dimension. Product i is that of block lhsOf[i] of the one and block rhsOf[i] of the other. So lie the results.
func NewDots(lhs, rhs []int64, dims DotDims, out dtype.Type, lhsOf, rhsOf []int32) *Dot {
	if len(dims.LHSBatch) == 0 && slices.Max(rhsOf) == 0 && slices.Equal(lhsOf, lists.Range[int32](len(lhsOf))) { // rows of one product
		dims.LHSContract = lists.Map(dims.LHSContract, func(d int64) int64 { return d + 1 })
		return NewDot(slices.Concat([]int64{int64(len(lhsOf))}, lhs), rhs, dims, out)
	}
	d := NewDot(lhs, rhs, dims, out)
	d.sizes = [2]int{int(lists.Product(lhs)), int(lists.Product(rhs))}
	for i := range lhsOf {
		d.blocks = append(d.blocks, blockPair{lhsOf[i], rhsOf[i]})
	}
	d.shape = slices.Concat([]int64{int64(len(lhsOf))}, d.shape)
	d.l.takeBlocks(int64(slices.Max(lhsOf))+1, lhs, dims.LHSBatch, dims.LHSContract)
	d.r.takeBlocks(int64(slices.Max(rhsOf))+1, rhs, dims.RHSBatch, dims.RHSContract)
	return d
}

// Of returns the product. Results of one Dot share their shape.
func (d *Dot) Of(lhs, rhs Tensor) Tensor {
	compute := computeType(d.out)
	l, r := d.l.place(lhs, compute), d.r.place(rhs, compute)
	defer finish(l, lhs)
	defer finish(r, rhs)
	result := newUnset(compute, d.shape)
	productsIn(compute).multiply(d, l, r, result)
	rounded := Convert(result, d.out)
	finish(result, rounded)
	return rounded
}

// products are the kernels that make products of matrices of one element type.
type products interface {
	multiply(d *Dot, l, r, out Tensor)
	convolve(c *Conv, x, w, result Tensor)
}

// productsIn returns those of a type that products are made in, which computeType returns.
func productsIn(compute dtype.Type) products {
	switch compute {
	case dtype.F32:
		return productsOf[float32]{vector.Matmul[float32]}
	case dtype.F64:
		return productsOf[float64]{vector.Matmul[float64]}
	case dtype.C64:
		return productsOf[complex64]{plainMatmul[complex64]}
	case dtype.C128:
		return productsOf[complex128]{plainMatmul[complex128]}
	case dtype.I32:
		return productsOf[int32]{vector.Matmul[int32]}
	}
	return productsOf[int64]{plainMatmul[int64]}
}

// productsOf are products of elements of a type by one product of two matrices: c = a·b, of m by k and k by n elements.
type productsOf[T Elem] struct {
	matmul func(c []T, a, b vector.Matrix[T], m, k, n int)
}

// finish gives the memory of a kernel's own tensor back, unless it is that of another one: an operand or the result.
func finish(own, other Tensor) {
	if unsafe.SliceData(own.Data) != unsafe.SliceData(other.Data) {
		memory.Give(own.Data)
	}
}

// computeType is the type in which sums of products for results of type t are made.
func computeType(t dtype.Type) dtype.Type {
	switch t.Kind() {
	case dtype.Float:
		if t != dtype.F64 {
			return dtype.F32
		}
	case dtype.Bool:
		return dtype.I64
	case dtype.Signed, dtype.Unsigned: // which wrap alike
		if t.Bits() <= 32 {
			return dtype.I32
		}
		return dtype.I64
	}
	return t
}

// dotSide is how an operand is a batch of matrices of its free by its contracting dimensions.
type dotSide struct {
	batch                  []int64        // sizes
	free                   []int64        // dimensions
	moved                  *Rearrangement // of an operand whose dimensions do not lie as one; nil where they do
	batchSteps             []int64        // elements from one matrix to the next
	rows, width            int            // of a matrix
	freeStep, contractStep int            // elements from one row to the next, and from one element of a row to the next
}

// newDotSide finds the matrices of an operand of a shape.
func newDotSide(shape, batch, contract []int64) dotSide {
	s := dotSide{batch: lists.Pick(shape, batch), free: lists.Others(len(shape), batch, contract)}
	s.rows, s.width = int(lists.Product(lists.Pick(shape, s.free))), int(lists.Product(lists.Pick(shape, contract)))
	st := strides(shape)
	freeStep, first := joined(shape, st, s.free)
	contractStep, second := joined(shape, st, contract)
	if first && second {
		s.batchSteps, s.freeStep, s.contractStep = lists.Pick(st, batch), int(freeStep), int(contractStep)
		return s
	}
	order := slices.Concat(batch, s.free, contract)
	s.moved = NewTranspose(shape, order)
	s.batchSteps, s.freeStep, s.contractStep = strides(lists.Pick(shape, order))[:len(batch)], s.width, 1
	return s
}

// takeBlocks prepares for operands of several blocks, whose number is the dimension before those of the shape.
func (s *dotSide) takeBlocks(blocks int64, shape, batch, contract []int64) {
	if blocks > 1 && s.moved != nil {
		order := lists.Map(slices.Concat(batch, s.free, contract), func(d int64) int64 { return d + 1 })
		s.moved = NewTranspose(slices.Concat([]int64{blocks}, shape), slices.Concat([]int64{0}, order))
	}
}

// place returns the operand with its matrices where the side says they are, in the type that products are made in.
func (s *dotSide) place(x Tensor, compute dtype.Type) Tensor {
	converted := Convert(x, compute)
	if s.moved == nil {
		return converted
	}
	moved := s.moved.Of(converted)
	if unsafe.SliceData(moved.Data) != unsafe.SliceData(converted.Data) {
		finish(converted, x)
	}
	return moved
}

// joined says whether dimensions, in that order, can be walked as one, and the step.
func joined(shape, strides, dims []int64) (step int64, ok bool) {
	size := int64(1)
	for k := len(dims) - 1; k >= 0; k-- {
		switch n := shape[dims[k]]; {
		case n == 1:
		case size == 1:
			step, size = strides[dims[k]], n
		case strides[dims[k]] != step*size:
			return 0, false
		default:
			size *= n
		}
	}
	return step, true
}

// rowBlock is how many rows of a product are computed together where several cores share it.
const rowBlock = 96

// multiply computes the product of each batch into out, in parallel where that is worth it.
func (of productsOf[T]) multiply(d *Dot, l, r, out Tensor) {
	p := product[T]{Dot: d, productsOf: of, xs: Elems[T](l), ys: Elems[T](r), outs: Elems[T](out), blocks: 1}
	m, k, n := d.l.rows, d.l.width, d.r.rows
	if m == 0 || n == 0 || len(p.outs) == 0 {
		return
	}
	if m*k*n >= smallWork {
		p.blocks = (m + rowBlock - 1) / rowBlock
	}
	count := len(p.outs) / (m * n) * p.blocks
	if count < 2 || len(p.outs)*k < smallWork || runtime.GOMAXPROCS(0) < 2 {
		for i := range count {
			p.block(i)
		}
		return
	}
	shared := p // which is not on the stack
	parallel(count, len(p.outs)*k, shared.block)
}

// product is a product at work.
type product[T Elem] struct {
	*Dot
	productsOf[T]
	xs, ys, outs []T
	blocks       int // of each matrix of the result
}

// block computes some rows of a matrix of the result.
func (p *product[T]) block(i int) {
	l, r := &p.l, &p.r
	m, k, n := l.rows, l.width, r.rows
	batch, first, last := i/p.blocks, 0, m
	if p.blocks > 1 {
		first = i % p.blocks * rowBlock
		last = min(first+rowBlock, m)
	}
	var a, b vector.Matrix[T]
	if k > 0 {
		x, y := p.offsets(batch)
		a = vector.Matrix[T]{Data: p.xs[x+first*l.freeStep:], Row: l.freeStep, Column: l.contractStep}
		b = vector.Matrix[T]{Data: p.ys[y:], Row: r.contractStep, Column: r.freeStep}
	}
	p.matmul(p.outs[(batch*m+first)*n:][:(last-first)*n], a, b, last-first, k, n)
}

// offsets returns where the matrices of a batch begin.
func (d *Dot) offsets(batch int) (x, y int) {
	if d.blocks != nil {
		each := int(lists.Product(d.l.batch))
		pair := d.blocks[batch/each]
		x, y = int(pair[0])*d.sizes[0], int(pair[1])*d.sizes[1]
		batch %= each
	}
	return x + batchOffset(batch, d.l.batch, d.l.batchSteps), y + batchOffset(batch, d.r.batch, d.r.batchSteps)
}

// batchOffset returns where the matrix of a batch begins.
func batchOffset(batch int, sizes, steps []int64) int {
	offset := 0
	for d := len(sizes) - 1; d >= 0; d-- {
		offset += batch % int(sizes[d]) * int(steps[d])
		batch /= int(sizes[d])
	}
	return offset
}

// smallWork is the number of multiplications below which one core is enough.
const smallWork = 1 << 16

// parallel calls f for 0 … n-1 on all cores, or in order when the work of all calls together, in multiplications, is small.
func parallel(n, work int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers < 2 || work < smallWork {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	group.Wait()
}

// plainMatmul is vector.Matmul for other types.
func plainMatmul[T Elem](c []T, a, b vector.Matrix[T], m, k, n int) {
	clear(c)
	for i := range m {
		row := c[i*n : (i+1)*n]
		for p := range k {
			x := a.Data[i*a.Row+p*a.Column]
			at := p * b.Row
			for j := range row {
				row[j] += x * b.Data[at]
				at += b.Column
			}
		}
	}
}

// rows returns x[from:to] along the first dimension, sharing Data.
func (t Tensor) rows(from, to int64) Tensor {
	shape := slices.Clone(t.Shape)
	shape[0] = to - from
	width := lists.Product(t.Shape[1:]) * int64(t.DType.Bytes())
	return Tensor{t.DType, shape, t.Data[from*width : to*width]}
}
