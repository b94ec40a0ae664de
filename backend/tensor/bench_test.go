package tensor

import (
	"math/rand/v2"
	"testing"

	"autoshard/ir/dtype"
)

func BenchmarkDotGeneral(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, n := range map[string]int64{"256": 256, "1024": 1024} {
		x, y := random(r, dtype.F32, 1, false, n, n), random(r, dtype.F32, 1, false, n, n)
		for layout, dims := range map[string]DotDims{
			"nn": {LHSContract: []int64{1}, RHSContract: []int64{0}}, "tn": {LHSContract: []int64{0}, RHSContract: []int64{0}},
			"nt": {LHSContract: []int64{1}, RHSContract: []int64{1}},
		} {
			b.Run(layout+name, func(b *testing.B) {
				for b.Loop() {
					DotGeneral(x, y, dims, dtype.F32)
				}
				b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

func BenchmarkElementwise(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, dt := range []dtype.Type{dtype.F32, dtype.BF16} {
		x, y := random(r, dt, 1, false, 1<<20), random(r, dt, 1, false, 1<<20)
		scalar := random(r, dt, 1, false)
		for name, f := range map[string]func(){
			"add": func() { Add(x, y) }, "add_scalar": func() { Add(x, scalar) }, "maximum": func() { Maximum(x, y) },
			"exponential": func() { Exponential(x) }, "tanh": func() { Tanh(x) }, "compare": func() { Compare(x, y, LT, false) },
			"convert":   func() { Convert(x, dtype.F64) },
			"transpose": func() { Transpose(Reshape(x, []int64{1024, 1024}), []int64{1, 0}) },
			"broadcast": func() { BroadcastInDim(Reshape(x.rows(0, 1024), []int64{1024}), []int64{1}, []int64{1024, 1024}) },
			"reduce_rows": func() {
				must(Reduce([]Tensor{Reshape(x, []int64{1024, 1024})}, []Tensor{scalar}, []int64{1}, Combiner{Monoid: MonoidAdd}))
			},
			"reduce_cols": func() {
				must(Reduce([]Tensor{Reshape(x, []int64{1024, 1024})}, []Tensor{scalar}, []int64{0}, Combiner{Monoid: MonoidMaximum}))
			},
		} {
			b.Run(name+"_"+dt.String(), func(b *testing.B) {
				b.SetBytes(1 << 20) // so MB/s reads as million elements a second
				for b.Loop() {
					f()
				}
			})
		}
	}
}
