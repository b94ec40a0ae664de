package tensor

import (
	"math"

	"autoshard/ir/dtype"
)

// CholeskyUpdate returns the upper triangular factor of rᵀ·r + w·wᵀ, made from the one factor r by rotations, and what
// they make of w. What rounding leaves below the diagonal stays there, as JAX leaves it.
func CholeskyUpdate(r, w Tensor) (factor, rest Tensor) {
	a, z := widened(r), widened(w)
	n := int(w.Shape[0])
	m, v := Elems[float64](a), Elems[float64](z)
	for k := range n {
		x, y := m[k*n+k], v[k]
		if y == 0 {
			continue
		}
		h := math.Hypot(x, y)
		c, s := x/h, -y/h
		for j := range n {
			m[k*n+j], v[j] = c*m[k*n+j]-s*v[j], c*v[j]+s*m[k*n+j]
		}
	}
	return Convert(a, r.DType), Convert(z, w.DType)
}

// SymmetricProduct returns alpha·a·aᵀ + beta·c of matrices, or with transposed alpha·aᵀ·a + beta·c.
func SymmetricProduct(a, c, alpha, beta Tensor, transposed bool) Tensor {
	n := int64(a.Rank())
	d := DotDims{LHSContract: []int64{n - 1}, RHSContract: []int64{n - 1}}
	if transposed {
		d = DotDims{LHSContract: []int64{n - 2}, RHSContract: []int64{n - 2}}
	}
	for k := range n - 2 {
		d.LHSBatch, d.RHSBatch = append(d.LHSBatch, k), append(d.RHSBatch, k)
	}
	product := DotGeneral(a, a, d, a.DType)
	spread := func(x Tensor) Tensor { return BroadcastInDim(x, nil, c.Shape) }
	return Add(Multiply(spread(alpha), product), Multiply(spread(beta), c))
}

// ThreeFry2x32 enciphers each pair of words of the counters x0 and x1 with the keys k0 and k1.
func ThreeFry2x32(k0, k1, x0, x1 Tensor) (y0, y1 Tensor) {
	y0, y1 = New(dtype.UI32, x0.Shape), New(dtype.UI32, x0.Shape)
	word := func(t Tensor, i int) uint64 { return uint64(Elems[uint32](t)[i]) }
	for i := range y0.Len() {
		out := threeFry(word(k0, i)|word(k1, i)<<32, word(x0, i)|word(x1, i)<<32)
		Elems[uint32](y0)[i], Elems[uint32](y1)[i] = out[0], out[1]
	}
	return y0, y1
}
