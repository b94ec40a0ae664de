package tensor

import (
	"math"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// BatchNormTraining normalises x over all dimensions but feature by its own mean and biased variance, computed
// in f64, and returns scale·(x-mean)/√(variance+epsilon) + offset with mean and variance. The operands scale
// and offset are vectors of the feature's size.
func BatchNormTraining(x, scale, offset Tensor, epsilon float64, feature int64) (y, mean, variance Tensor) {
	f := newFeatures(x, feature)
	values := x.Floats()
	means, variances := make([]float64, f.n), make([]float64, f.n)
	f.each(func(i, c int) { means[c] += values[i] })
	for c := range means {
		means[c] /= f.count
	}
	f.each(func(i, c int) { variances[c] += (values[i] - means[c]) * (values[i] - means[c]) })
	for c := range variances {
		variances[c] /= f.count
	}
	y = f.normalize(x, values, scale.Floats(), offset.Floats(), means, variances, epsilon)
	return y, f.vector(x.DType, means), f.vector(x.DType, variances)
}

// BatchNormInference normalises x as BatchNormTraining does, by the given mean and variance.
func BatchNormInference(x, scale, offset, mean, variance Tensor, epsilon float64, feature int64) Tensor {
	return newFeatures(x, feature).normalize(x, x.Floats(), scale.Floats(), offset.Floats(), mean.Floats(), variance.Floats(), epsilon)
}

// BatchNormGrad returns the gradients of BatchNormTraining with respect to x, scale and offset, given that of y.
func BatchNormGrad(x, scale, mean, variance, dy Tensor, epsilon float64, feature int64) (dx, dscale, doffset Tensor) {
	f := newFeatures(x, feature)
	values, grads, scales := x.Floats(), dy.Floats(), scale.Floats()
	means, variances := mean.Floats(), variance.Floats()
	sums, products := make([]float64, f.n), make([]float64, f.n)
	f.each(func(i, c int) {
		sums[c] += grads[i]
		products[c] += grads[i] * (values[i] - means[c])
	})
	inverse, scaled := make([]float64, f.n), make([]float64, f.n)
	for c := range inverse {
		inverse[c] = 1 / math.Sqrt(variances[c]+epsilon)
		scaled[c] = products[c] * inverse[c]
	}
	out := make([]float64, len(values))
	f.each(func(i, c int) {
		centred := values[i] - means[c]
		out[i] = scales[c] * inverse[c] / f.count * (f.count*grads[i] - sums[c] - centred*inverse[c]*inverse[c]*products[c])
	})
	dx = Convert(Of(dtype.F64, x.Shape, out...), x.DType)
	return dx, f.vector(x.DType, scaled), f.vector(x.DType, sums)
}

// features runs through a tensor with the index of one dimension.
type features struct {
	outer, n, inner int
	count           float64 // elements per feature
}

func newFeatures(x Tensor, feature int64) features {
	f := features{int(lists.Product(x.Shape[:feature])), int(x.Shape[feature]), int(lists.Product(x.Shape[feature+1:])), 0}
	f.count = float64(f.outer * f.inner)
	return f
}

// each calls visit with every offset and its feature.
func (f features) each(visit func(i, c int)) {
	i := 0
	for range f.outer {
		for c := range f.n {
			for range f.inner {
				visit(i, c)
				i++
			}
		}
	}
}

func (f features) vector(t dtype.Type, values []float64) Tensor {
	return Convert(Of(dtype.F64, []int64{int64(f.n)}, values...), t)
}

func (f features) normalize(x Tensor, values, scale, offset, mean, variance []float64, epsilon float64) Tensor {
	factors := lists.Of(f.n, func(c int) float64 { return scale[c] / math.Sqrt(variance[c]+epsilon) })
	out := make([]float64, len(values))
	f.each(func(i, c int) { out[i] = factors[c]*(values[i]-mean[c]) + offset[c] })
	return Convert(Of(dtype.F64, x.Shape, out...), x.DType)
}
