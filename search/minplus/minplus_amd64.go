package minplus

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// wide says whether the processor has AVX2.
var wide = cpu.X86.HasAVX2

// The loops over n blocks of four columns, n > 0, of a matrix with count rows, count > 0. A row has stride bytes.

//go:noescape
func columns32AVX(out, h *float64, m *float32, count, n, stride int)

//go:noescape
func columns64AVX(out, h, m *float64, count, n, stride int)

//go:noescape
func rows32AVX(out, h *float64, m *float32, count, n, stride int)

//go:noescape
func rows64AVX(out, h, m *float64, count, n, stride int)

//go:noescape
func sumsAVX(least *int64, best *int32, half, rows *int64, count, n, stride int)

// throughAVX is Through of n blocks of four numbers, n > 0.
//
//go:noescape
func throughAVX(least, others *int64, step int64, n int) bool

// columns computes the first n blocks of Columns.
func columns[T float32 | float64](out, h []float64, m []T, n int) {
	if p := unsafe.Pointer(&m[0]); unsafe.Sizeof(m[0]) == 4 {
		columns32AVX(&out[0], &h[0], (*float32)(p), len(h), n, len(out)*4)
	} else {
		columns64AVX(&out[0], &h[0], (*float64)(p), len(h), n, len(out)*8)
	}
}

// rows computes Rows of the first n blocks of columns.
func rows[T float32 | float64](out, h []float64, m []T, n int) {
	if p := unsafe.Pointer(&m[0]); unsafe.Sizeof(m[0]) == 4 {
		rows32AVX(&out[0], &h[0], (*float32)(p), len(out), n, len(h)*4)
	} else {
		rows64AVX(&out[0], &h[0], (*float64)(p), len(out), n, len(h)*8)
	}
}
