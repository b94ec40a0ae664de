package verify

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
)

// Noise estimates how far rounding moves each number of the outputs of a program. It executes the program again and
// again, and each time moves every result that was rounded by some units in its last place, up or down at random; of a
// sum, by what another order of its terms could change. What the program's own cancellations and choices make of that is
// its noise.
type Noise struct {
	Of   [][]float64 // per output and number, of complex ones both parts: the largest change so far
	Runs int

	outputs []*tensor.Tensor // of the plain run
	run     func(ctx context.Context, seed uint64, ulps float64) ([]*tensor.Tensor, error)
}

// NewNoise returns the noise of a program that runs on one device and gave those outputs, for no run yet.
func NewNoise(m *ir.Module, inputs, outputs []*tensor.Tensor) *Noise {
	return newNoise(outputs, func(ctx context.Context, seed uint64, ulps float64) ([]*tensor.Tensor, error) {
		main, _ := m.Main()
		in, err := interp.New(m, interp.Options{WholeWindows: true})
		if err != nil {
			return nil, err
		}
		x := perturber{m, rand.New(rand.NewPCG(seed, 2)), ulps}
		outs, _, err := in.RunProcess(ctx, main, interp.Process{Observe: x.perturb}, inputs)
		return outs, err
	})
}

// NewNoiseOfDevices is NewNoise for a program that runs on all devices of a mesh only.
func NewNoiseOfDevices(p *shardmap.Program, inputs, outputs []*tensor.Tensor) *Noise {
	return NewNoiseOfRuns(p.Mesh.Devices(), outputs, func(ctx context.Context, observe run.Observer) ([]*tensor.Tensor, error) {
		result, err := run.Program(ctx, p, inputs, run.Options{WholeWindows: true, Observe: observe})
		if err != nil {
			return nil, err
		}
		return result.Outputs, nil
	})
}

// NewNoiseOfRuns is NewNoise for a program that others run on so many devices, and whose ops they show. Devices draw the
// same numbers, so that what they should all have stays the same on all.
func NewNoiseOfRuns(devices int64, outputs []*tensor.Tensor, run func(context.Context, run.Observer) ([]*tensor.Tensor, error)) *Noise {
	return newNoise(outputs, func(ctx context.Context, seed uint64, ulps float64) ([]*tensor.Tensor, error) {
		rngs := lists.Of(int(devices), func(int) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) })
		return run(ctx, func(m *ir.Module, device int, s *interp.Step) error {
			return (&perturber{m, rngs[device], ulps}).perturb(s)
		})
	})
}

func newNoise(outputs []*tensor.Tensor, run func(context.Context, uint64, float64) ([]*tensor.Tensor, error)) *Noise {
	of := lists.Map(outputs, func(t *tensor.Tensor) []float64 { return make([]float64, len(numbers(*t))) })
	return &Noise{outputs: outputs, run: run, Of: of}
}

// More makes one more run. Runs take turns to move results by four, one, eight and two units: steps of different sizes tell
// what depends on them smoothly from a choice, such as a sign, that larger ones change.
func (n *Noise) More(ctx context.Context) error {
	outs, err := n.run(ctx, uint64(n.Runs), []float64{4, 1, 8, 2}[n.Runs%4])
	if err != nil {
		return err
	}
	n.Runs++
	for i, t := range outs {
		d := newDifference(*t, *n.outputs[i])
		for k := range n.Of[i] {
			n.Of[i][k] = max(n.Of[i][k], d.size(k))
		}
	}
	return nil
}

// perturber moves the rounded results of the ops that a process executes.
type perturber struct {
	m    *ir.Module
	rng  *rand.Rand
	ulps float64
}

// perturb moves the results of an op.
func (x *perturber) perturb(s *interp.Step) error {
	for r, t := range s.Results {
		if !isFloating(t.DType) {
			continue
		}
		reach, err := x.reach(s, r)
		if err != nil {
			return err
		}
		if reach == nil {
			continue
		}
		flat := reals(t)
		values := slices.Clone(flat.Floats())
		parts := len(values) / max(1, len(reach))
		for i, v := range values {
			if moved := v + (2*x.rng.Float64()-1)*reach[i/parts]; !math.IsInf(v, 0) {
				values[i] = x.within(s, v, moved)
			}
		}
		s.Results[r] = tensor.Tensor{DType: t.DType, Shape: t.Shape, Data: tensor.FromFloats(flat.DType, flat.Shape, values...).Data}
	}
	return nil
}

// reach returns how far rounding may move each element of a result, nil for not at all.
func (x *perturber) reach(s *interp.Step, r int) ([]float64, error) {
	t, kind := s.Results[r], x.m.Kind(s.Op)
	values, ulp := magnitudes(t), x.ulps*2*unit(t.DType)
	out := make([]float64, len(values))
	a, sums := sumOf(x.m, s)
	switch {
	case sums && whole(s.Operands):
		return nil, nil
	case sums:
		size, err := a.magnitudes(s, r)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = ulp * math.Sqrt(a.terms) * size[i]
		}
	case solves(kind, s.Monoid):
		largest := Largest(&t)
		for i, v := range values {
			if v != 0 {
				out[i] = ulp * largest
			}
		}
	case rounds(kind):
		exact := x.exact(s, r)
		for i, v := range values {
			if !exact(i, v) {
				out[i] = ulp * v
			}
		}
	default:
		return nil, nil
	}
	return out, nil
}

// exact returns what says whether an elementwise op's result, of that magnitude, is what it is without rounding. Twice the
// width tells, and of complex ones a few digits. It does not for transcendental functions: tanh(19.3) is 1 in both widths,
// and 1 - 3/2^24 in XLA on processors without fused multiply-add. They have exact results where x is 0 or infinite.
func (x *perturber) exact(s *interp.Step, r int) func(i int, v float64) bool {
	wide := x.wider(s, r)
	if wide == nil {
		return func(_ int, v float64) bool { return v*(1<<20) == math.Trunc(v*(1<<20)) }
	}
	same := func(i int, v float64) bool { return v == math.Abs(wide[i]) }
	if !x.m.Kind(s.Op).IsTranscendental() {
		return same
	}
	operand := s.Operands[0].Floats()
	return func(i int, v float64) bool { return same(i, v) && (operand[i] == 0 || math.IsInf(operand[i], 0)) }
}

// within returns what a result becomes that is moved: functions between -1 and 1 stay there in every library, so that what
// is defined there alone still is.
func (x *perturber) within(s *interp.Step, v, moved float64) float64 {
	switch x.m.Kind(s.Op) {
	case ir.OpCosine, ir.OpSine, ir.OpTanh, ir.OpLogistic, ir.OpChloErf:
		if math.Abs(v) <= 1 { // complex ones may be larger
			return min(max(moved, -1), 1)
		}
	}
	return moved
}

// whole says whether all operands are whole numbers, whose sums are exact.
func whole(operands []tensor.Tensor) bool {
	for _, t := range operands {
		for _, v := range numbers(t) {
			if v != math.Trunc(v) {
				return false
			}
		}
	}
	return true
}

// rounds says whether an elementwise op rounds its results.
func rounds(k ir.Kind) bool {
	switch k {
	case ir.OpCompare, ir.OpSelect, ir.OpMaximum, ir.OpMinimum, ir.OpNegate, ir.OpAbs, ir.OpSign, ir.OpFloor, ir.OpCeil, ir.OpClamp,
		ir.OpRoundNearestAfz, ir.OpRoundNearestEven, ir.OpIsFinite, ir.OpReal, ir.OpImag, ir.OpComplex:
		return false
	default:
		return k.IsElementwise()
	}
}

// wider returns an elementwise op's results computed in f64, nil where that is the type already.
func (x *perturber) wider(s *interp.Step, r int) []float64 {
	operands := make([]tensor.Tensor, len(s.Operands))
	for k, t := range s.Operands {
		if t.DType == dtype.F64 || t.DType.Kind() == dtype.Complex {
			return nil
		}
		if operands[k] = t; t.DType.Kind() == dtype.Float {
			operands[k] = tensor.Convert(t, dtype.F64)
		}
	}
	if x.m.Kind(s.Op) == ir.OpConvert {
		return operands[0].Floats()
	}
	out, err := s.Again(operands)
	if err != nil || out[r].DType != dtype.F64 || out[r].Len() != s.Results[r].Len() {
		return nil
	}
	return out[r].Floats()
}
