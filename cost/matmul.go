package cost

import (
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// Side is where a set of mesh axes lies in an operand or in the result of a matrix product C[I,K] = A[I,J] B[J,K].
type Side uint8

// The sides. A has I and J, B has J and K, C has I and K; all may share batch dimensions.
const (
	Nowhere Side = iota
	OnI
	OnJ
	OnK
	OnBatch
	Unreduced // of C alone: every device holds a partial sum
)

var sideNames = [...]string{"-", "I", "J", "K", "batch", "unreduced"}

// String returns the dimension's name.
func (s Side) String() string { return sideNames[s] }

// Matmul is a matrix product, with batch dimensions. Extents have those mesh axes divided out that nothing else says of; sizes are bytes an
// element as it is stored and sent.
type Matmul struct {
	Batch, I, J, K      int64
	SizeA, SizeB, SizeC int64
	DType               dtype.Type // of the multiplication
}

// FLOPs returns the operations of the product: two for every combination of its dimensions (specification: cost.md
// section 3).
func (m *Matmul) FLOPs() float64 { return EinsumFLOPs(true, m.batch(), m.I, m.J, m.K) }

// BytesA returns the bytes of A; BytesB and BytesC those of B and C.
func (m *Matmul) BytesA() int64 {
	return collectives.Times(m.batch(), collectives.Times(m.SizeA, collectives.Times(m.I, m.J)))
}

// BytesB returns the bytes of B.
func (m *Matmul) BytesB() int64 {
	return collectives.Times(m.batch(), collectives.Times(m.SizeB, collectives.Times(m.J, m.K)))
}

// BytesC returns the bytes of C.
func (m *Matmul) BytesC() int64 {
	return collectives.Times(m.batch(), collectives.Times(m.SizeC, collectives.Times(m.I, m.K)))
}

func (m *Matmul) batch() int64 { return max(1, m.Batch) }

// EinsumFLOPs returns the operations of a contraction over the given extents of its distinct dimensions: their
// product, twice that where something is contracted.
func EinsumFLOPs(contracts bool, extents ...int64) float64 {
	flops := 1.0
	if contracts {
		flops = 2
	}
	for _, n := range extents {
		flops *= float64(n)
	}
	return flops
}

// local returns the product of one device's blocks, cut n ways on one dimension. Blocks are rounded up.
func (m Matmul) local(n int64, on Side) Matmul {
	switch on {
	case OnI:
		m.I = ceilDiv(m.I, n)
	case OnJ:
		m.J = ceilDiv(m.J, n)
	case OnK:
		m.K = ceilDiv(m.K, n)
	case OnBatch:
		m.Batch = ceilDiv(m.batch(), n)
	}
	return m
}

// LocalMatmul returns the roofline of a product on one chip, its dimensions padded to the chip's tile where the options
// say so (specification: cost.md section 3).
func (h *Hardware) LocalMatmul(m Matmul, o Options) Roofline {
	padded := m
	if tile := h.Tile; o.Padded && tile > 1 {
		padded.I, padded.J, padded.K = pad(m.I, tile), pad(m.J, tile), pad(m.K, tile)
	}
	bytes := float64(m.BytesA()) + float64(m.BytesB()) + float64(m.BytesC())
	return h.Op(Work{FLOPs: padded.FLOPs(), Bytes: bytes, DType: m.DType, Matrix: true}, o)
}

func pad(n, tile int64) int64 { return ceilDiv(n, tile) * tile }

// ProductSide returns where the axes lie in the product of blocks, for the sides of A and B. It fails with
// diag.ErrInvalid where the blocks have no product: C would use the axes twice and hold only its diagonal blocks, or
// the blocks do not meet.
func ProductSide(a, b Side) (Side, error) {
	switch [2]Side{a, b} {
	case [2]Side{Nowhere, Nowhere}:
		return Nowhere, nil
	case [2]Side{OnI, Nowhere}:
		return OnI, nil
	case [2]Side{Nowhere, OnK}:
		return OnK, nil
	case [2]Side{OnJ, OnJ}:
		return Unreduced, nil
	case [2]Side{OnBatch, OnBatch}:
		return OnBatch, nil
	case [2]Side{OnI, OnK}:
		return Nowhere, diag.Invalid(diag.BadSharding, diag.Position{}, "the result would be cut twice by one axis, gather one operand first")
	}
	return Nowhere, diag.Invalid(diag.BadSharding, diag.Position{}, "blocks of operands cut on %v and %v have no product", a, b)
}
