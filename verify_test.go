package autoshard_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/report"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

var verifyAll = flag.Bool("verifyall", false, "verify the plans of all recorded models and experts, not a sample")

func slowProcessor(t *testing.T) cost.Hardware {
	t.Helper()
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	return hw
}

// No plan of a recorded model is called wrong: neither what the search chooses for a slow processor, where cutting pays,
// with all the memory it wants and with little, nor what an expert wrote.
func TestNoFalseAlarms(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	sample := map[string]bool{"mlp_train/chosen": true, "moe_train/data_expert": true, "bf16_train/data_tensor": true,
		"gqa_decode_ragged/chosen": true,
		"nucleus_sampling/chosen":  true, "convnet_train/chosen": true, "int8_matmul/chosen": true, "lstm_train/chosen": true}
	values, exact, plans := 0, 0, 0
	for _, c := range recordedCases(t, shared, func(model, plan string) bool { return *verifyAll || sample[model+"/"+plan] }) {
		t.Run(c.name, func(t *testing.T) {
			model, err := autoshard.ReadModel(t.Context(), c.name+".mlir", c.text)
			if err != nil {
				t.Fatal(err)
			}
			o := autoshard.PlanOptions{Mesh: c.mesh, Hardware: slowProcessor(t), Steps: 20_000}
			for range 2 {
				p, err := autoshard.MakePlan(context.Background(), model, o)
				if err != nil {
					t.Logf("no plan: %v", err)
					return
				}
				plans++
				if check := verify(t, p, c.inputs, c.expected, max(c.tolerance, 1e-4)); check.Proof != nil {
					values, exact = values+check.Proof.Values, exact+check.Proof.Exact
				}
				o.Memory = p.Estimate.PeakBytes * 3 / 4
			}
		})
	}
	t.Logf("%d plans, %d values, %d of them equal bit for bit", plans, values, exact)
}

// keyBias is a plan of the gradient of attention with a bias of the keys, whose gradient is zero but for rounding. Where memory is short,
// values are cut rather than computed twice.
func keyBias(t *testing.T, memory int64) (p *autoshard.Plan, inputs, expected []*tensor.Tensor) {
	o := autoshard.PlanOptions{Mesh: []subaxis.Axis{{Name: "data", Size: 2}, {Name: "model", Size: 2}}, Hardware: slowProcessor(t),
		Memory: memory, Without: rewrites.Of(rewrites.RecomputeActivations)}
	p = makePlan(t, readModel(t, "testdata/verify/key_bias.mlir"), o)
	return p, readArrays(t, "testdata/verify/key_bias.in.npz", p.Inputs), readArrays(t, "testdata/verify/key_bias.out.npz", p.Outputs)
}

// An output that is zero in exact arithmetic passes, and its error is not relative to its own size.
func TestZeroInExactArithmetic(t *testing.T) {
	for _, memory := range []int64{0, 14_000} {
		p, inputs, expected := keyBias(t, memory)
		check, err := lowered(t, p).Verify(t.Context(), inputs, expected, autoshard.Tolerance{Rel: 1e-4})
		if err != nil {
			t.Fatalf("%v\n%s", err, report.Check(check))
		}
		if e := *check.Outputs[0].ExpectedError; e > 1e-4 {
			t.Errorf("the error of the bias is %g", e)
		}
		if memory > 0 && check.Proof.Exact == check.Proof.Values {
			t.Error("no value was rounded in another way: the test wants a plan that cuts a sum")
		}
	}
}

// One wrong element of any size fails, however large or small its neighbours are; only the noise of the element itself
// excuses it.
func TestOneWrongElement(t *testing.T) {
	p, inputs, expected := keyBias(t, 14_000)
	right, err := lowered(t, p).Run(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(o int, change func(values []float64)) error {
		values := append([]float64(nil), right.Outputs[o].Floats()...)
		change(values)
		wrong := *right
		wrong.Outputs = append([]*tensor.Tensor(nil), right.Outputs...)
		x := tensor.FromFloats(dtype.F32, right.Outputs[o].Shape, values...)
		wrong.Outputs[o] = &x
		_, err := lowered(t, p).Compare(t.Context(), &wrong, inputs, expected, autoshard.Tolerance{Rel: 1e-4})
		return err
	}
	if err := compare(1, func([]float64) {}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		output int
		change func([]float64)
	}{
		"the smallest is 1 % off": {1, func(v []float64) {
			least := 0
			for i := range v {
				if math.Abs(v[i]) < math.Abs(v[least]) {
					least = i
				}
			}
			v[least] *= 1.01
		}},
		"one is 0.1 % off":                  {2, func(v []float64) { v[7] *= 1.001 }},
		"one is not a number":               {3, func(v []float64) { v[7] = math.NaN() }},
		"one is infinite":                   {3, func(v []float64) { v[7] = math.Inf(1) }},
		"one that should be zero is 1e-5":   {0, func(v []float64) { v[3] += 1e-5 }},
		"two are exchanged":                 {1, func(v []float64) { v[0], v[1] = v[1], v[0] }},
		"one that should be zero is 0.0001": {0, func(v []float64) { v[0] = 1e-4 }},
	} {
		if err := compare(c.output, c.change); !errors.Is(err, diag.ErrFinding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The tolerances are those of expected outputs: absolute, relative to the element, or both.
func TestTolerances(t *testing.T) {
	p, inputs, expected := keyBias(t, 0)
	values := append([]float64(nil), expected[1].Floats()...)
	values[0] *= 1.01
	off := math.Abs(values[0]) * 0.01
	x := tensor.FromFloats(dtype.F32, expected[1].Shape, values...)
	expected[1] = &x
	for _, c := range []struct {
		tolerance autoshard.Tolerance
		passes    bool
	}{
		{autoshard.Tolerance{}, false},
		{autoshard.Tolerance{Rel: 5e-3}, false},
		{autoshard.Tolerance{Rel: 2e-2}, true},
		{autoshard.Tolerance{Abs: off / 2}, false},
		{autoshard.Tolerance{Abs: off * 2}, true},
		{autoshard.Tolerance{Abs: off * 2 / 3, Rel: 6e-3}, true},
	} {
		check, err := lowered(t, p).Verify(t.Context(), inputs, expected, c.tolerance)
		if (err == nil) != c.passes {
			t.Errorf("%+v: %v", c.tolerance, err)
		}
		if check == nil || check.Passed != c.passes || check.Outputs[1].Passed != c.passes || !check.Outputs[2].Passed {
			t.Errorf("%+v: check %+v", c.tolerance, check)
		}
	}
}

// What was not compared has no figure, in JSON neither, and a check with numbers that JSON lacks can be written.
func TestCheckJSON(t *testing.T) {
	p, inputs, expected := keyBias(t, 0)
	check, err := lowered(t, p).Verify(t.Context(), inputs, nil, autoshard.Tolerance{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(check)
	if err != nil || strings.Contains(string(text), "expectedError") || !strings.Contains(string(text), `"unshardedError":0`) {
		t.Errorf("%v %s", err, text)
	}
	if strings.Contains(report.Check(check), "expected outputs") {
		t.Error(report.Check(check))
	}
	expected[0] = expected[1] // of another shape
	check, err = lowered(t, p).Verify(t.Context(), inputs, expected, autoshard.Tolerance{})
	if !errors.Is(err, diag.ErrFinding) {
		t.Fatal(err)
	}
	if _, err := json.Marshal(check); err != nil {
		t.Error(err)
	}
}

// A run that cannot be made says so at the line of the model.
func TestRunErrorsAreAtTheModel(t *testing.T) {
	src := `func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8x4xf32>
  %1 = stablehlo.custom_call @mine(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}`
	m, err := autoshard.ReadModel(t.Context(), "mine.mlir", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	p := makePlan(t, m, options(t))
	x := tensor.New(dtype.F32, []int64{8, 4})
	for name, run := range map[string]func() error{
		"verify": func() error {
			_, err := lowered(t, p).Verify(t.Context(), []*tensor.Tensor{&x}, nil, autoshard.Tolerance{})
			return err
		},
		"run":       func() error { _, err := lowered(t, p).Run(t.Context(), []*tensor.Tensor{&x}); return err },
		"unsharded": func() error { _, err := lowered(t, p).Unsharded(t.Context(), []*tensor.Tensor{&x}); return err },
	} {
		if err := run(); !errors.Is(err, diag.ErrUnsupported) || !strings.HasPrefix(err.Error(), "mine.mlir:3:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A cancelled verification ends.
func TestVerifyIsCancelled(t *testing.T) {
	p, inputs, expected := keyBias(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lowered(t, p).Verify(ctx, inputs, expected, autoshard.Tolerance{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
