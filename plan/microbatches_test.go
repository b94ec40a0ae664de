package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/microbatch"
	"autoshard/program"
	"autoshard/rewrites"
)

// planned returns a planner of a recorded model on two devices.
func planned(t testing.TB, file string) *planner {
	t.Helper()
	src, err := os.ReadFile(recorded(t, file))
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	m.LocateByText()
	mesh := axes(t, "2")
	if m.NumMeshes() > 1 {
		mesh = nil
	}
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlanner(t.Context(), &answer.Source{Name: file, Module: m}, Options{Mesh: mesh, Hardware: hw})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// recorded returns the place of a recorded model.
func recorded(t testing.TB, file string) string {
	t.Helper()
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	return filepath.Join(shared, "models", file)
}

// draw returns random inputs of a program: small numbers.
func draw(r *rand.Rand, m *ir.Module) (inputs []*tensor.Tensor) {
	for _, arg := range m.BlockArgs(m.MainFunc().Body) {
		typ := m.ValueType(arg)
		n := int(typ.Elements())
		floats, ints := make([]float64, n), make([]int64, n)
		for i := range n {
			floats[i], ints[i] = r.NormFloat64()*0.3, r.Int64N(8)
		}
		x := tensor.FromFloats(typ.DType, typ.Dims, floats...)
		if k := typ.DType.Kind(); k != dtype.Float {
			x = tensor.FromInts(typ.DType, typ.Dims, ints...)
		}
		inputs = append(inputs, &x)
	}
	return inputs
}

func outputs(t testing.TB, m *ir.Module, inputs []*tensor.Tensor) []*tensor.Tensor {
	t.Helper()
	in, err := interp.New(m, interp.Options{WholeWindows: true})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	out, err := in.Run(context.Background(), main, inputs)
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	return out
}

// Recorded models computed in microbatches give what they give at once, or say why that cannot be.
func TestMicrobatchesOfModels(t *testing.T) {
	const mixed = "examples are not independent of each other: "
	for file, want := range map[string]string{
		"mlp_train.mlir":               "",
		"transformer_train.mlir":       "",
		"transformer_train_fsdp.mlir":  "",
		"transformer_train_scan.mlir":  "",
		"transformer_train_remat.mlir": "",
		"transformer_fwd.mlir":         "",
		"gpt_train.mlir":               "",
		"lstm_train.mlir":              "",
		"dropout_train.mlir":           "",
		"bf16_train.mlir":              "",
		"moe_train.mlir":               "",
		"convnet_train.mlir":           mixed + "stablehlo.subtract needs what is made of several of them", // a batch norm
		"shmap_data_parallel.mlir":     "sdy.manual_computation has a sharding of the user, which only constraints keep",
	} {
		t.Run(file, func(t *testing.T) {
			p := planned(t, file)
			s, err := microbatch.New(t.Context(), p.module, batchInputs(p.module))
			if err != nil || want != "" {
				if want == "" || err == nil || !strings.HasSuffix(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				return
			}
			inputs := draw(rand.New(rand.NewPCG(1, 2)), p.module)
			whole := outputs(t, p.module, inputs)
			for _, n := range s.Parts() {
				m, err := s.Split(t.Context(), n)
				if err == nil {
					err = ir.Verify(t.Context(), m)
				}
				if err != nil {
					t.Fatalf("%d microbatches: %v", n, err)
				}
				for i, got := range outputs(t, m, inputs) {
					if off := offBy(got, whole[i]); off > 1e-4 {
						t.Errorf("output %d of %d microbatches is off by %g of its largest element", i, n, off)
					}
				}
			}
		})
	}
}

// offBy returns the largest difference of two tensors as a part of the largest element.
func offBy(got, want *tensor.Tensor) float64 {
	x, y := got.Floats(), want.Floats()
	largest, off := 0.0, 0.0
	for i := range y {
		largest, off = max(largest, math.Abs(y[i])), max(off, math.Abs(x[i]-y[i]))
	}
	if off == 0 {
		return 0
	}
	return off / largest
}

// Steps of which no plan of the whole batch fits are planned in microbatches, with the gain. The plan works out as it says, and devices
// compute with it what the model computes at once, each value as it should. Switched off, nothing fits.
func TestMicrobatchesWhereMemoryIsShort(t *testing.T) {
	for file, memory := range map[string]int64{"testdata/microbatches.mlir": 20 << 10, "lstm_train.mlir": 59_000} {
		t.Run(file, func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				src, err = os.ReadFile(recorded(t, file))
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := mlir.Parse(t.Context(), src, mlir.Options{File: file})
			if err != nil {
				t.Fatal(err)
			}
			inMicrobatches(t, m, memory)
		})
	}
}

func inMicrobatches(t *testing.T, m *ir.Module, memory int64) {
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	source := &answer.Source{Name: "microbatches", Module: m}
	o := Options{Mesh: axes(t, "2"), Hardware: hw, Memory: memory, Without: rewrites.Of(rewrites.Microbatches)}
	if _, err := Make(t.Context(), source, o); !errors.Is(err, diag.ErrInfeasible) {
		t.Fatalf("a plan of the whole batch fits: %v", err)
	}
	o.Without = 0
	plan, err := Make(t.Context(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Microbatches < 2 || len(plan.Rewrites) == 0 || plan.Rewrites[0].Rewrite != "microbatches" || plan.Rewrites[0].SavedPeak <= 0 ||
		!strings.Contains(plan.Program, microbatch.Attr) {
		t.Errorf("%d microbatches, rewrites %+v", plan.Microbatches, plan.Rewrites)
	}
	audit, err := plan.Check(t.Context(), Evidence{Hardware: &hw})
	if err != nil || !audit.Passed {
		t.Errorf("%+v, %v", audit, err)
	}
	inputs := draw(rand.New(rand.NewPCG(1, 2)), m)
	lowered, err := plan.Lowered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check, err := lowered.Verify(t.Context(), inputs, outputs(t, m, inputs), program.Tolerance{Rel: 1e-5})
	if err != nil || !check.Passed {
		t.Errorf("%+v, %v", check, err)
	}
	checkDevices(t, source, o, plan)
	o.Memory = 4 * memory
	if plan, err = Make(t.Context(), source, o); err != nil || plan.Microbatches > 0 {
		t.Errorf("with more memory there are microbatches: %v", err)
	}
}

// Quick plans pay for each collective, those of the plan are sent as one: what looks slow in many parts is not. What a search to the end
// proves of a number of parts holds for the plan in it, wherever that comes from.
func TestMicrobatchesMerged(t *testing.T) {
	for _, c := range []struct {
		model, mesh  string
		memory       int64
		seconds, gap float64 // at most
	}{
		{"lstm_train.mlir", "8", 47_000, 5e-6, 0.05}, // 11.4 us in the whole batch
	} {
		source := parse(t, recorded(t, c.model))
		hw, err := cost.Lookup("tpu-v5p")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Make(t.Context(), source, Options{Mesh: axes(t, c.mesh), Hardware: hw, Memory: c.memory})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Microbatches < 2 || plan.Estimate.Seconds > c.seconds || plan.Certificate.Gap > c.gap {
			t.Errorf("%s in %d microbatches takes %g s, %g of it unproven", c.model, plan.Microbatches, plan.Estimate.Seconds,
				plan.Certificate.Gap)
		}
	}
}

// taking is a program by its time, in picoseconds, and what it holds.
func taking(ps, peak int64) *lowered { return &lowered{step: estimate.Step{Compute: ps, Peak: peak}} }

// A plan is slow beside a program that memory does not hold, or, where memory rules out a baseline that is faster, beside what is proven. A
// baseline that fits, or is slower, says nothing. Whatever does not fit makes plans as people write them worth a search.
func TestIsSlow(t *testing.T) {
	const most = 100
	for _, c := range []struct {
		name           string
		best, baseline *lowered
		bound          int64
		slow, confined bool
	}{
		{"no plan", nil, taking(10, most), 10, true, false},
		{"a faster baseline fits", taking(20, most), taking(10, most), 5, false, false},
		{"a faster baseline does not fit", taking(20, most), taking(10, most+1), 5, true, true},
		{"it does not, but the plan is proven", taking(20, most), taking(10, most+1), 19, false, true},
		{"a slower baseline does not fit", taking(20, most), taking(30, most+1), 5, false, true},
	} {
		got := &choice{planner: &planner{Options: Options{Memory: most}}, best: c.best, bound: c.bound,
			baselines: []baseline{{lowered: c.baseline}, {}}}
		if got.isSlow() != c.slow || got.confined() != c.confined {
			t.Errorf("%s: slow %t, confined %t", c.name, got.isSlow(), got.confined())
		}
	}
	crowded := &choice{best: taking(20, most), crowded: []*lowered{taking(10, most+1)}, planner: &planner{}}
	if !crowded.isSlow() {
		t.Error("a program that memory does not hold is twice as fast, and the plan is not slow")
	}
}

// checkDevices compares a plan with that for its devices, on the mesh that is chosen for them.
func checkDevices(t *testing.T, source *answer.Source, o Options, on *Plan) {
	o.Mesh, o.Devices = nil, 2
	plan, err := Make(t.Context(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Microbatches != on.Microbatches || plan.Estimate.Seconds != on.Estimate.Seconds {
		t.Errorf("for two devices %d microbatches and %g s, on a mesh of them %d and %g s", plan.Microbatches, plan.Estimate.Seconds,
			on.Microbatches, on.Estimate.Seconds)
	}
}

// The search for plans of the whole batch ends once the batch in parts is much faster, and goes on where it is not.
func TestStagesEndWherePartsAreFaster(t *testing.T) {
	within := func(ps int64) *choice { return &choice{best: &lowered{step: estimate.Step{Compute: ps}}} }
	for _, c := range []struct{ first, parts, stages int64 }{{300, 100, 1}, {150, 100, 3}, {300, 0, 3}} {
		whole, stages := within(400), int64(0)
		whole.planner = &planner{inParts: &partsSearch{}}
		if c.parts > 0 {
			whole.inParts.quick = within(c.parts)
		}
		stage := func(context.Context, *level) error {
			stages++
			whole.best = within(c.first).best
			return nil
		}
		if err := whole.stages(t.Context(), nil, stage, stage, stage); err != nil || stages != c.stages {
			t.Errorf("%d ps after the first stage, %d in parts: %d stages, want %d (%v)", c.first, c.parts, stages, c.stages, err)
		}
	}
}

// A plan that is known is not lost when an answer is wanted as a search of the batch in other parts begins, and the batch is not prepared
// in these any more.
func TestInterruptionsKeepPlans(t *testing.T) {
	source := parse(t, "testdata/microbatches.mlir")
	run := func(at int) (begun []int, known, late bool, err error) {
		ctx, enough := context.WithCancelCause(t.Context())
		defer enough(nil)
		reports := 0
		o := Options{Mesh: axes(t, "2"), Memory: 20 << 10}
		o.Progress = func(p Progress) {
			if reports++; reports <= at || at == 0 {
				known = known || p.Seconds > 0
			}
			if p.Stage == "microbatches" {
				begun = append(begun, reports)
			}
			late = late || at > 0 && reports > at && (p.Stage == "propagate" || p.Stage == "baselines")
			if reports == at {
				enough(ErrEnough)
			}
		}
		_, err = Make(ctx, source, o)
		return begun, known, late, err
	}
	begun, _, _, err := run(0)
	if err != nil || len(begun) == 0 {
		t.Fatalf("no search in parts: %v", err)
	}
	for _, report := range begun {
		for at := report; at < report+3; at++ {
			if _, known, late, err := run(at); known && err != nil || late {
				t.Errorf("interrupted at report %d: %v, batches are prepared after that: %v", at, err, late)
			}
		}
	}
}

// A session goes on from a plan in microbatches: other shardings are those of the same program.
func TestSessionInMicrobatches(t *testing.T) {
	o := Options{Mesh: axes(t, "2"), Memory: 20 << 10}
	s, first, err := NewSession(t.Context(), parse(t, "testdata/microbatches.mlir"), o)
	if err != nil {
		t.Fatal(err)
	}
	next, err := s.Plan(t.Context(), Pin{Value: "arg2", Sharding: first.Inputs[2].Spec})
	if err != nil {
		t.Fatal(err)
	}
	if next.Microbatches != first.Microbatches || next.Estimate.Seconds > first.Estimate.Seconds {
		t.Errorf("%d microbatches and %g s become %d and %g s", first.Microbatches, first.Estimate.Seconds, next.Microbatches,
			next.Estimate.Seconds)
	}
}

// Where nothing fits, the error says how little microbatches would need, and they do.
func TestInfeasibleInMicrobatches(t *testing.T) {
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	source := parse(t, recorded(t, "moe_train.mlir"))
	o := Options{Mesh: axes(t, "2"), Hardware: hw, Memory: 30 << 10}
	_, err = Make(t.Context(), source, o)
	if !errors.Is(err, diag.ErrInfeasible) {
		t.Fatalf("got %v, want an infeasible error", err)
	}
	var parts int64
	var limit float64
	for _, n := range diag.Diagnostics(err)[0].Notes {
		_, _ = fmt.Sscanf(n.Message, "in %d microbatches less would do: `--memory %fKiB` has a plan", &parts, &limit)
	}
	if want := fmt.Sprintf("the smallest limit known to work is %.0f KiB", limit); !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	o.Memory = int64(limit * 1024)
	plan, err := Make(t.Context(), source, o)
	if err != nil || plan.Microbatches != parts || parts < 2 {
		t.Errorf("%v, %d microbatches in %d B, want %d: %v", err, plan.Microbatches, o.Memory, parts, diag.Diagnostics(err))
	}
}

// A batch is not computed in parts, which fit, where a plan of the whole batch fits and is faster.
func TestWholeBatchIsFaster(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`module {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func @main(%x: tensor<8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<64xf32>, %z: tensor<64xf32>)
      -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.add %x, %x : tensor<8192xf32>
    %1 = stablehlo.dot_general %0, %0, contracting_dims = [0] x [0] : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Make(t.Context(), &answer.Source{Name: "product", Module: m}, Options{Hardware: hw, Memory: 32896})
	if err != nil || plan.Microbatches != 0 {
		t.Errorf("%v, %d microbatches, want a plan of the whole batch", err, plan.Microbatches)
	}
}

// The search of the batch in parts begins with the layouts of the best plan of the whole batch, as far as these divide the parts.
func TestPartsBeginAlike(t *testing.T) {
	p, space := planning(t, "examples/mlp_train.mlir", "2,4", "tpu-v5p")
	b := p.annotationsOnly()
	m := b.settled
	batch := batchInputs(m)
	for _, v := range m.BlockArgs(m.MainFunc().Body) {
		l := p.along(v, 0, p.axes())
		m.SetSharding(v, m.InternSharding(l.Sharding(p.mesh)))
	}
	if err := p.lowerBaseline(t.Context(), &b, space.Planner()); err != nil {
		t.Fatal(err)
	}
	splitter, err := microbatch.New(t.Context(), p.module, batch)
	if err != nil {
		t.Fatal(err)
	}
	parts := splitter.Parts()[0]
	split, err := splitter.Split(t.Context(), parts)
	if err != nil {
		t.Fatal(err)
	}
	s := &partsSearch{planner: p, due: t.Context(), clean: p.found.clone(), whole: &choice{planner: p, best: b.lowered}}
	q := s.planning(split, parts)
	c := &choice{planner: q, late: t.Context(), space: q.space(t.Context(), nil)}
	begun := c.asAlike()
	whole, other := b.lowered.annotated, begun.settled
	args := other.BlockArgs(other.MainFunc().Body)
	for i, v := range whole.BlockArgs(whole.MainFunc().Body) {
		got, want := other.FormatSharding(other.Sharding(args[i])), whole.FormatSharding(whole.Sharding(v))
		if got != want {
			t.Errorf("input %d is cut as %s, want %s", i, got, want)
		}
	}
}
