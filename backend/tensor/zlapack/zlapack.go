// Package zlapack has the routines of LAPACK for complex matrices, which gonum has for real ones only.
//
// They are the unblocked algorithms of LAPACK on matrices in row-major order, with LAPACK's conventions: the same
// signs and phases of reflectors, the same choice of pivots and shifts, the same layout of factors. Indices count
// from zero.
//
//	a := cblas128.General{Rows: 2, Cols: 2, Stride: 2, Data: []complex128{2, 1i, -1i, 2}}
//	w, v, ok := zlapack.Heev(a) // eigenvalues 1 and 3 with vectors in the columns of v
package zlapack

import (
	"math/cmplx"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/cblas128"
)

// New returns a matrix of zeros.
func New(rows, cols int) cblas128.General {
	return cblas128.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]complex128, rows*cols)}
}

// eye returns a matrix of zeros with ones on its diagonal.
func eye(rows, cols int) cblas128.General {
	m := New(rows, cols)
	for i := range min(rows, cols) {
		m.Data[i*m.Stride+i] = 1
	}
	return m
}

// Adjoint returns the conjugate transpose of a matrix.
func Adjoint(a cblas128.General) cblas128.General {
	h := New(a.Cols, a.Rows)
	for i := range a.Rows {
		for j := range a.Cols {
			h.Data[j*h.Stride+i] = cmplx.Conj(a.Data[i*a.Stride+j])
		}
	}
	return h
}

// Multiply returns the product of two matrices.
func Multiply(a, b cblas128.General) cblas128.General {
	c := New(a.Rows, b.Cols)
	if len(c.Data) > 0 && a.Cols > 0 {
		cblas128.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
	}
	return c
}

// real128 widens a real matrix in row-major order.
func real128(rows, cols int, data []float64) cblas128.General {
	m := New(rows, cols)
	for i, x := range data[:rows*cols] {
		m.Data[i] = complex(x, 0)
	}
	return m
}

// from returns the part of a matrix from a row and a column on.
func from(a cblas128.General, row, col int) cblas128.General {
	return block(a, row, col, a.Rows-row, a.Cols-col)
}

func block(a cblas128.General, row, col, rows, cols int) cblas128.General {
	b := cblas128.General{Rows: max(0, rows), Cols: max(0, cols), Stride: a.Stride}
	if b.Rows > 0 && b.Cols > 0 {
		b.Data = a.Data[row*a.Stride+col:]
	}
	return b
}

// column returns the rows from row on of a column, as a vector that shares the elements.
func column(a cblas128.General, row, col int) cblas128.Vector {
	if row >= a.Rows {
		return cblas128.Vector{Inc: 1}
	}
	return cblas128.Vector{N: a.Rows - row, Inc: a.Stride, Data: a.Data[row*a.Stride+col:]}
}

func vector(x []complex128) cblas128.Vector { return cblas128.Vector{N: len(x), Inc: 1, Data: x} }

func conjugate(x []complex128) {
	for i := range x {
		x[i] = cmplx.Conj(x[i])
	}
}

// cabs1 is the size by which LAPACK compares complex numbers.
func cabs1(x complex128) float64 { return abs(real(x)) + abs(imag(x)) }

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}
