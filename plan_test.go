package autoshard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

var dataModel = []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}

func options(t testing.TB) autoshard.PlanOptions {
	t.Helper()
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	return autoshard.PlanOptions{Mesh: dataModel, Hardware: hw}
}

func readModel(t testing.TB, file string) *autoshard.Model {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := autoshard.ReadModel(t.Context(), filepath.Base(file), src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func makePlan(t testing.TB, m *autoshard.Model, o autoshard.PlanOptions) *autoshard.Plan {
	t.Helper()
	p, err := autoshard.MakePlan(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// readArrays reads the arrays of a file in order, as the types of the plan's tensors: recorded bf16 comes as f32.
func readArrays(t testing.TB, file string, types []autoshard.Tensor) []*tensor.Tensor {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := npz.Read(bytes.NewReader(src), int64(len(src)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]tensor.Tensor{}
	for _, a := range arrays {
		byName[a.Name] = a.Tensor
	}
	out := make([]*tensor.Tensor, len(types))
	for i, want := range types {
		a, ok := byName[fmt.Sprintf("arg%d", i)]
		if !ok {
			a, ok = byName[fmt.Sprintf("out%d", i)]
		}
		if !ok {
			t.Fatalf("%s lacks array %d", file, i)
		}
		if strings.HasPrefix(want.Type, "bf16[") {
			a = tensor.Convert(a, dtype.BF16)
		}
		out[i] = &a
	}
	return out
}

// verify runs a plan on recorded inputs and compares it with recorded outputs.
func verify(t testing.TB, p *autoshard.Plan, inputs, outputs string, tolerance float64) *autoshard.Check {
	t.Helper()
	check, err := lowered(t, p).Verify(context.Background(), readArrays(t, inputs, p.Inputs), readArrays(t, outputs, p.Outputs),
		autoshard.Tolerance{Rel: tolerance})
	if err != nil {
		t.Errorf("%s: %v", p.Model, err)
	}
	if check == nil {
		t.FailNow()
	}
	for _, o := range check.Outputs {
		if !o.Passed {
			t.Errorf("%s: output %d: %+v", p.Model, o.Index, o.Wrong)
		}
	}
	for i, c := range check.Collectives {
		if !c.Agrees() {
			t.Errorf("%s: collective %d, %s, moved %d bytes, predicted %d", p.Model, i, c.Kind, c.Counted, c.Predicted)
		}
	}
	return check
}

// Every example runs on eight devices and gives what JAX recorded, unlimited and in little memory.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		model, arrays string
		memory        int64
	}{
		{"transformer_train.mlir", "transformer_train", 0},
		{"transformer_train.mlir", "transformer_train", 500_000},
		{"mlp_train.mlir", "mlp_train", 0},
		{"mlp_train.mlir", "mlp_train", 20_000},
		{"mlp.json", "mlp", 0},
		{"transformer_train_megatron.mlir", "transformer_train", 0},
		{"transformer_train_megatron_priorities.mlir", "transformer_train", 0},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.model, c.memory), func(t *testing.T) {
			o := options(t)
			o.Memory = c.memory
			p := makePlan(t, readModel(t, "examples/"+c.model), o)
			verify(t, p, "examples/"+c.arrays+".in.npz", "examples/"+c.arrays+".out.npz", 1e-4)
			if p.Certificate.Bound > p.Certificate.Cost {
				t.Errorf("bound %d above cost %d", p.Certificate.Bound, p.Certificate.Cost)
			}
			for _, b := range p.Baselines {
				if b.Fits && b.Note == "" && b.Estimate.Seconds < p.Estimate.Seconds {
					t.Errorf("baseline %s takes %g s, the plan %g s", b.Name, b.Estimate.Seconds, p.Estimate.Seconds)
				}
			}
			if c.memory > 0 && p.Estimate.PeakBytes > c.memory {
				t.Errorf("needs %d bytes of %d", p.Estimate.PeakBytes, c.memory)
			}
		})
	}
}

// In little memory the transformer's tensors are cut along both axes, and so they are where computing is slow: that plan
// is faster than every baseline.
func TestBothAxes(t *testing.T) {
	little, slow := options(t), options(t)
	little.Memory = 300_000
	var err error
	if slow.Hardware, err = cost.Lookup("cpu"); err != nil {
		t.Fatal(err)
	}
	model := readModel(t, "examples/transformer_train.mlir")
	usesBothAxes(t, makePlan(t, model, little))
	p := makePlan(t, model, slow)
	usesBothAxes(t, p)
	verify(t, p, "examples/transformer_train.in.npz", "examples/transformer_train.out.npz", 1e-4)
	for _, b := range p.Baselines {
		if b.Estimate.Seconds <= p.Estimate.Seconds {
			t.Errorf("baseline %s takes %g s, the plan %g s", b.Name, b.Estimate.Seconds, p.Estimate.Seconds)
		}
	}
}

func usesBothAxes(t *testing.T, p *autoshard.Plan) {
	t.Helper()
	specs := ""
	for _, in := range p.Inputs {
		specs += in.Spec
	}
	if !strings.Contains(specs, "'data'") || !strings.Contains(specs, "'model'") {
		t.Errorf("inputs do not use both axes: %s", specs)
	}
}

// What the user closed stays as written.
func TestMegatronKeepsUserShardings(t *testing.T) {
	m := readModel(t, "examples/transformer_train_megatron.mlir")
	p := makePlan(t, m, options(t))
	want, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range p.Inputs {
		if in.User && in.Sharding != want.Inputs[i].Sharding {
			t.Errorf("input %d is %s, the user wrote %s", i, in.Sharding, want.Inputs[i].Sharding)
		}
	}
}

// The same request gives the same bytes on any number of cores.
func TestPlanIsDeterministic(t *testing.T) {
	m := readModel(t, "examples/transformer_train.mlir")
	o := options(t)
	o.Memory, o.Seed = 500_000, 7
	var first []byte
	for _, procs := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(procs)
		got := makePlan(t, m, o).JSON()
		runtime.GOMAXPROCS(before)
		if first == nil {
			first = got
		} else if !bytes.Equal(got, first) {
			t.Errorf("GOMAXPROCS=%d gives other bytes than 1", procs)
		}
	}
}

// A plan of a training step is read from its JSON as it was written.
func TestPlanJSONReadsBack(t *testing.T) {
	p := makePlan(t, readModel(t, "examples/mlp_train.mlir"), options(t))
	back, err := autoshard.ReadPlan(t.Context(), "plan.json", p.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.JSON(), p.JSON()) {
		t.Error("plan.json does not read back as it was")
	}
}

// What is wrong with a plan.json is said at its line and column.
func TestBadPlansAreLocated(t *testing.T) {
	for _, c := range []struct{ text, place string }{
		{"{\n  \"schema\": 5\n}", "plan.json:2:13"},
		{"{\n  \"schema\": \"autoshard.plan/v1\",\n  \"model\": \"a\", \"model\": \"b\"\n}", "plan.json:3:17"},
		{"{\"schema\": \"autoshard.plan/v9\"}", "plan.json"},
		{"", "plan.json:1:1"},
	} {
		_, err := autoshard.ReadPlan(t.Context(), "plan.json", []byte(c.text))
		if !errors.Is(err, diag.ErrInvalid) || !strings.HasPrefix(err.Error(), c.place) {
			t.Errorf("%q: got %v, want an error at %s", c.text, err, c.place)
		}
	}
}

// Too little memory is refused with the smallest limit that works, and that limit works.
func TestTooLittleMemory(t *testing.T) {
	m := readModel(t, "examples/mlp_train.mlir")
	o := options(t)
	o.Memory = 1000
	_, err := autoshard.MakePlan(context.Background(), m, o)
	if !errors.Is(err, diag.ErrInfeasible) {
		t.Fatalf("got %v, want an infeasible error", err)
	}
	d := diag.Diagnostics(err)[0]
	if want := "no plan found that fits in 1000 B per device; the smallest limit known to work is "; !strings.HasPrefix(d.Message, want) {
		t.Errorf("got %s", d.Message)
	}
	notes := ""
	for _, n := range d.Notes {
		notes += n.Message + "\n"
	}
	for _, want := range []string{
		`of it are inputs that results replace, the largest arg3 2 KiB`, "of it are computed values, the largest `stablehlo",
		`mlp_train.mlir:\d+\)`, `twice the devices along "(data|model)" would save up to`, "`jax.jit\\(f, donate_argnums=…\\)` would save",
	} {
		if !regexp.MustCompile(want).MatchString(notes) {
			t.Errorf("notes lack %s:\n%s", want, notes)
		}
	}
	o.Memory = limitOf(t, err)
	if _, err := autoshard.MakePlan(context.Background(), m, o); err != nil {
		t.Errorf("the limit that is said to work does not: %v", err)
	}
}

// limitOf returns the memory limit that an error says has a plan.
func limitOf(t testing.TB, err error) int64 {
	t.Helper()
	for _, n := range diag.Diagnostics(err)[0].Notes {
		if limit := regexp.MustCompile("`--memory (.*)` has a plan").FindStringSubmatch(n.Message); limit != nil {
			bytes, err := diag.ParseSize(limit[1])
			if err != nil {
				t.Fatal(err)
			}
			return bytes
		}
	}
	t.Fatalf("no limit in %v", err)
	return 0
}

// Every recorded model runs sharded as JAX ran it unsharded.
func TestRecordedModels(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	models := filepath.Join(shared, "models")
	for _, m := range recorded(t, models) {
		t.Run(m.Name, func(t *testing.T) {
			o := options(t)
			if m.Annotated || m.Manual {
				o.Mesh = nil // the model declares its own
			}
			p := makePlan(t, readModel(t, filepath.Join(models, m.Name+".mlir")), o)
			verify(t, p, filepath.Join(models, m.Inputs), filepath.Join(models, m.Outputs), max(m.Tolerance, 1e-4))
		})
	}
}

type entry struct {
	Name      string  `json:"name"`
	Inputs    string  `json:"inputs_file"`
	Outputs   string  `json:"expected_file"`
	Tolerance float64 `json:"tolerance"`
	Annotated bool    `json:"annotated"`
	Manual    bool    `json:"manual"`
}

func recorded(t *testing.T, models string) []entry {
	src, err := os.ReadFile(filepath.Join(models, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	if err := json.Unmarshal(src, &all); err != nil {
		t.Fatal(err)
	}
	var out []entry
	for _, e := range all {
		if e.Inputs != "" && e.Outputs != "" {
			out = append(out, e)
		}
	}
	return out
}
