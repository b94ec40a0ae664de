package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// wide says whether the processor has AVX2.
var wide = cpu.X86.HasAVX2

// The loops over n vectors of eight elements. Steps are bytes from one vector of an operand to the next.

//go:noescape
func addAVX(dst, x, y *float32, n, stepX, stepY int)

//go:noescape
func subtractAVX(dst, x, y *float32, n, stepX, stepY int)

//go:noescape
func multiplyAVX(dst, x, y *float32, n, stepX, stepY int)

//go:noescape
func divideAVX(dst, x, y *float32, n, stepX, stepY int)

//go:noescape
func maximumAVX(dst, x, y *float32, n, stepX, stepY int)

//go:noescape
func minimumAVX(dst, x, y *float32, n, stepX, stepY int)

//go:noescape
func foldMaximumAVX(folded *[lanes]float32, x *float32, n int)

//go:noescape
func foldMinimumAVX(folded *[lanes]float32, x *float32, n int)

//go:noescape
func expAVX(dst *float64, x *float32, n int)

//go:noescape
func addToAVX(sums *float64, x *float32, n int)

//go:noescape
func sumAVX(sums *[lanes]float64, x *float32, n int)

// The tiles of products of six rows, or one, by 16 columns of 32 bits or 8 columns of 64 bits. Rows and steps are bytes: from one row to
// the next, and from one element of the sum to the next.

//go:noescape
func tile6Float32AVX(k int, a unsafe.Pointer, rowA, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer, rowC int)

//go:noescape
func tile6Int32AVX(k int, a unsafe.Pointer, rowA, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer, rowC int)

//go:noescape
func tile6Float64AVX(k int, a unsafe.Pointer, rowA, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer, rowC int)

//go:noescape
func tile1Float32AVX(k int, a unsafe.Pointer, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer)

//go:noescape
func tile1Int32AVX(k int, a unsafe.Pointer, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer)

//go:noescape
func tile1Float64AVX(k int, a unsafe.Pointer, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer)

// tile6 computes six rows of a tile of the result.
func tile6[T number](k int, a []T, rowA, stepA int, b []T, stepB int, c []T, rowC int) {
	w := int(unsafe.Sizeof(a[0]))
	pa, pb, pc := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&c[0])
	switch any(a).(type) {
	case []float32:
		tile6Float32AVX(k, pa, rowA*w, stepA*w, pb, stepB*w, pc, rowC*w)
	case []int32:
		tile6Int32AVX(k, pa, rowA*w, stepA*w, pb, stepB*w, pc, rowC*w)
	default: // vectors are half as long
		tile6Float64AVX(k, pa, rowA*w, stepA*w, pb, stepB*w, pc, rowC*w)
		tile6Float64AVX(k, pa, rowA*w, stepA*w, unsafe.Pointer(&b[tileCols/2]), stepB*w, unsafe.Pointer(&c[tileCols/2]), rowC*w)
	}
}

// tile1 computes one row of a tile of the result.
func tile1[T number](k int, a []T, stepA int, b []T, stepB int, c []T) {
	w := int(unsafe.Sizeof(a[0]))
	pa, pb, pc := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&c[0])
	switch any(a).(type) {
	case []float32:
		tile1Float32AVX(k, pa, stepA*w, pb, stepB*w, pc)
	case []int32:
		tile1Int32AVX(k, pa, stepA*w, pb, stepB*w, pc)
	default:
		tile1Float64AVX(k, pa, stepA*w, pb, stepB*w, pc)
		tile1Float64AVX(k, pa, stepA*w, unsafe.Pointer(&b[tileCols/2]), stepB*w, unsafe.Pointer(&c[tileCols/2]))
	}
}

//go:noescape
func intAddAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func intSubtractAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func intMultiplyAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func andAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func orAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func xorAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func shiftLeftAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func shiftRightLogicalAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func shiftRightArithmeticAVX(dst, x, y *uint32, n, stepX, stepY int)

//go:noescape
func chooseAVX(dst *uint32, which *byte, x, y *uint32, n, stepX, stepY int)

//go:noescape
func narrowAVX(dst *float32, x *float64, n int)

// bitsAVX calls the loop of an operation: a table of functions would make what they point to escape.
func bitsAVX(op BitOp, dst, x, y *uint32, n, stepX, stepY int) {
	switch op {
	case IntAdd:
		intAddAVX(dst, x, y, n, stepX, stepY)
	case IntSubtract:
		intSubtractAVX(dst, x, y, n, stepX, stepY)
	case IntMultiply:
		intMultiplyAVX(dst, x, y, n, stepX, stepY)
	case And:
		andAVX(dst, x, y, n, stepX, stepY)
	case Or:
		orAVX(dst, x, y, n, stepX, stepY)
	case Xor:
		xorAVX(dst, x, y, n, stepX, stepY)
	case ShiftLeft:
		shiftLeftAVX(dst, x, y, n, stepX, stepY)
	case ShiftRightLogical:
		shiftRightLogicalAVX(dst, x, y, n, stepX, stepY)
	case ShiftRightArithmetic:
		shiftRightArithmeticAVX(dst, x, y, n, stepX, stepY)
	}
}
