// Package tensor holds dense arrays of StableHLO element types and a kernel for every computational op.
//
// A [Tensor] is an element type, a shape and row-major little-endian bytes. Kernels are plain functions named
// after their op; they take tensors and parameter structs, allocate their results and never change operands
// (the two InPlace kernels apart). A verifier has checked types and shapes before; a kernel panics when they
// do not fit, but never because of the values in a tensor.
//
//	x := tensor.FromFloats(dtype.F32, []int64{2, 2}, 1, 2, 3, 4)
//	y := tensor.DotGeneral(x, x, tensor.DotDims{LHSContract: []int64{1}, RHSContract: []int64{0}}, dtype.F32)
//	fmt.Println(y) // f32[2,2] [[7, 10], [15, 22]]
//
// The same operands give the same bits on any number of cores. Where StableHLO leaves the result open the
// kernels follow XLA for CPU (stablehlo.md section 2); transcendental functions and sums of f32 are computed in
// float64 and rounded once (section 4.4).
package tensor

import (
	"fmt"
	"slices"
	"unsafe"

	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// Tensor is a dense array. Data holds the elements in row-major order, little-endian: i1 is one byte 0 or 1,
// i2 and i4 are one sign-extended byte, ui2, ui4 and the 4-, 6- and 8-bit floats one byte, complex numbers the
// real then the imaginary part. Data is aligned to 16 bytes; use New or FromBytes to make it so. Tensors
// may share Data, so it is not written to once a tensor has been passed on.
type Tensor struct {
	DType dtype.Type
	Shape []int64
	Data  []byte
}

// Elem lists the Go types that Elems can view elements as.
type Elem interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | complex64 | complex128
}

// New returns a tensor of zeros. It panics if the shape is negative or too large: check types with dtype.Size.
func New(dt dtype.Type, shape []int64) Tensor {
	_, bytes, err := dtype.Size(dt, shape)
	if err != nil {
		panic(err)
	}
	return Tensor{dt, slices.Clone(shape), memory.Zeroed(bytes)}
}

// newUnset is New for a kernel that sets all elements. The shape is not copied.
func newUnset(dt dtype.Type, shape []int64) Tensor {
	_, bytes, err := dtype.Size(dt, shape)
	if err != nil {
		panic(err)
	}
	return Tensor{dt, shape, memory.Take(bytes)}
}

// FromBytes returns a tensor over the given elements, copied only when they are not aligned. It returns a
// diag.ErrInvalid if the number of bytes does not fit the type.
func FromBytes(dt dtype.Type, shape []int64, data []byte) (Tensor, error) {
	_, bytes, err := dtype.Size(dt, shape)
	if err != nil {
		return Tensor{}, err
	}
	if int64(len(data)) != bytes {
		return Tensor{}, diag.Invalid(diag.BadConstant, diag.Position{}, "tensor %s%v needs %d bytes, got %d", dt, shape, bytes, len(data))
	}
	if len(data) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%memory.Alignment != 0 {
		aligned := memory.Take(bytes)
		copy(aligned, data)
		data = aligned
	}
	return Tensor{dt, slices.Clone(shape), data}, nil
}

// Of returns a tensor of the given elements, whose Go type must have the width of dt. Floats below 32 bits are
// given as raw bits.
func Of[T Elem](dt dtype.Type, shape []int64, elements ...T) Tensor {
	t := New(dt, shape)
	if copy(Elems[T](t), elements) != t.Len() || len(elements) != t.Len() {
		panic(fmt.Sprintf("tensor: %d elements for %s%v", len(elements), dt, shape))
	}
	return t
}

// FromFloats returns a tensor of the given values converted to dt as Convert does from f64.
func FromFloats(dt dtype.Type, shape []int64, values ...float64) Tensor {
	return Convert(Of(dtype.F64, shape, values...), dt)
}

// FromInts returns a tensor of the given values converted to dt as Convert does from i64.
func FromInts(dt dtype.Type, shape []int64, values ...int64) Tensor {
	return Convert(Of(dtype.I64, shape, values...), dt)
}

// Elems views the elements as a slice that shares Data. T must have the width of the element type; it panics
// otherwise.
func Elems[T Elem](t Tensor) []T {
	var zero T
	if int(unsafe.Sizeof(zero)) != t.DType.Bytes() {
		panic(fmt.Sprintf("tensor: %T is not the width of %s", zero, t.DType))
	}
	return view[T](t)
}

// view is Elems for any type of that width.
func view[T any](t Tensor) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.Data))), len(t.Data)/int(unsafe.Sizeof(zero)))
}

// Floats returns the elements as float64; of complex numbers the real parts.
func (t Tensor) Floats() []float64 { return Elems[float64](Convert(t, dtype.F64)) }

// Ints returns the elements as int64: floats truncated and saturated, ui64 wrapped.
func (t Tensor) Ints() []int64 { return Elems[int64](Convert(t, dtype.I64)) }

// Len returns the number of elements.
func (t Tensor) Len() int { return len(t.Data) / t.DType.Bytes() }

// Rank returns the number of dimensions.
func (t Tensor) Rank() int { return len(t.Shape) }

// Clone returns a tensor with its own copy of the data.
func (t Tensor) Clone() Tensor {
	c := newUnset(t.DType, slices.Clone(t.Shape))
	copy(c.Data, t.Data)
	return c
}

// Equal reports whether types, shapes and all bits are the same.
func (t Tensor) Equal(u Tensor) bool {
	return t.DType == u.DType && slices.Equal(t.Shape, u.Shape) && string(t.Data) == string(u.Data)
}
