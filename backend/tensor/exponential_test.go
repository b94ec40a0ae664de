package tensor

import (
	"math"
	"math/rand/v2"
	"testing"

	"autoshard/ir/dtype"
)

// Functions of f32 that are made of exponentials are within the 0.5004 units in the last place of docs/numerics.md, over all magnitudes,
// and have the special values of those in float64.
func TestFunctionsOfExponentials(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), inf, -inf, nan, 0.02, -0.02, 0.019999, 1e-45, -1e-45, 88.7, 1e30, -1e30}
	r := rand.New(rand.NewPCG(1, 2))
	for len(values) < 200_000 {
		values = append(values, (r.Float64()*2-1)*88*math.Exp2(-30*r.Float64()*r.Float64()))
	}
	x := FromFloats(dtype.F32, []int64{int64(len(values))}, values...)
	exact := Convert(x, dtype.F64)
	for name, f := range map[string]func(Tensor) Tensor{"exponential": Exponential, "logistic": Logistic, "tanh": Tanh} {
		got, want := Elems[float32](f(x)), f(exact).Floats()
		for i, g := range got {
			w := float32(want[i])
			unit := float64(math.Nextafter32(magnitude(w), float32(math.Inf(1))) - magnitude(w))
			if same := g == w || g != g && w != w; !same && !(math.Abs(float64(g)-want[i]) <= 0.5004*unit) {
				t.Errorf("%s of %v is %v, exactly %v: %.5f units off", name, exact.Floats()[i], g, want[i], math.Abs(float64(g)-want[i])/unit)
			}
			if g == g && math.Signbit(float64(g)) != math.Signbit(float64(w)) {
				t.Errorf("%s of %v is %v, want %v", name, exact.Floats()[i], g, w)
			}
		}
	}
}

func magnitude(v float32) float32 { return float32(math.Abs(float64(v))) }
