package autoshard_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"autoshard"
	"autoshard/backend/jax"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/testkit"
	"autoshard/padding"
	"autoshard/program/inputs"
	"autoshard/subaxis"

	"autoshard/report"
)

// comments are what the text of a plan's program has besides the program.
var comments = regexp.MustCompile("(?m)^# .*\n|  # [^#]*:[0-9]+$")

// checkShardMap expects that a plan's shard_map program reads back from its text, and gives bit for bit what the plan
// gives. It returns the program.
func checkShardMap(t *testing.T, plan *autoshard.Plan, arguments []*tensor.Tensor) *autoshard.Program {
	t.Helper()
	program, err := lowered(t, plan).ShardMap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(t, program)
	if !autoshard.IsShardMap([]byte(text)) {
		t.Errorf("the text is not taken for a shard_map program:\n%s", text)
	}
	again, err := autoshard.ReadShardMap(t.Context(), "plan.shardmap", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(comments.ReplaceAllString(text, ""), textOf(t, again)); diff != "" {
		t.Errorf("the text reads back as another program: %s", diff)
	}
	reference, err := lowered(t, plan).Run(t.Context(), arguments)
	if err != nil {
		t.Fatal(err)
	}
	result, err := again.Run(t.Context(), arguments)
	if err != nil {
		t.Fatal(err)
	}
	tolerance := 0.0
	if strings.Contains(plan.Program, "sdy.manual_computation") {
		tolerance = 1e-6 // hints in the regions of its reductions, which are gone here, decide the order of summation
	}
	if check, err := again.Compare(t.Context(), result, arguments, reference.Outputs, autoshard.Tolerance{Rel: tolerance}); err != nil {
		t.Fatalf("the shard_map program differs from the plan:\n%s", report.Check(check))
	}
	for _, c := range result.Collectives {
		if !c.Agrees() {
			t.Errorf("a collective %s moved %d bytes, rings move %d", c.Kind, c.Counted, c.Predicted)
		}
	}
	return again
}

// checkOnJAX expects that JAX takes the types of a program, and gives what it recorded.
func checkOnJAX(t *testing.T, python string, program *autoshard.Program, arguments []*tensor.Tensor, c *emitCase) {
	t.Helper()
	text, err := program.Emit(t.Context(), "jax")
	if err != nil {
		t.Fatal(err)
	}
	devices := 1
	for _, axis := range program.Mesh {
		devices *= int(axis.Size)
	}
	found, err := jax.Run(t.Context(), text, arguments, jax.Options{Python: python, Processes: 1, Devices: devices, Env: os.Environ()})
	if err != nil {
		t.Fatalf("%v\n%s", err, textOf(t, program))
	}
	outputs, err := inputs.Match(found, "outputs", "out", program.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	result := &autoshard.RunResult{Outputs: outputs, Uncounted: true}
	check, err := program.Compare(t.Context(), result, arguments, readArrays(t, c.expected, program.Outputs),
		autoshard.Tolerance{Rel: max(c.tolerance, 1e-4)})
	if err != nil {
		t.Errorf("%v\n%s", err, report.Check(check))
	}
}

// The shard_map programs of small plans. Rewrite them with: go test . -run ShardMap -rewrite
func TestShardMapGolden(t *testing.T) {
	for _, c := range []struct {
		name, model string
		memory      int64
		mesh        []subaxis.Axis
	}{
		{"mlp", "mlp.json", 0, nil},
		{"mlp_train", "mlp_train.mlir", 41_000, dataModel},
		{"mlp_train_parts", "mlp_train.mlir", 20_000, []subaxis.Axis{{Name: "x", Size: 8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t)
			o.Memory, o.Mesh, o.Steps = c.memory, c.mesh, 3_000_000
			plan := makePlan(t, readModel(t, "examples/"+c.model), o)
			name, _, _ := strings.Cut(c.model, ".")
			checkShardMap(t, plan, readArrays(t, "examples/"+name+".in.npz", plan.Inputs))
			got, err := lowered(t, plan).Emit(t.Context(), "shardmap")
			if err != nil {
				t.Fatal(err)
			}
			testkit.File(t, filepath.Join("testdata/shardmap", c.name+".shardmap"), string(got))
		})
	}
}

// Programs with all kinds of communication, over parts of axes, groups and lists of devices, either have a shard_map
// program that gives what the plan gives, or are refused at a place.
func TestShardMapOfCollectives(t *testing.T) {
	refused := 0
	for _, file := range emittedPrograms {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			plan := &autoshard.Plan{Program: d.Input}
			s, err := lowered(t, plan).ShardMap(t.Context())
			switch {
			case err != nil:
				refused++
				checkRefusal(t, err)
			case !strings.Contains(d.Input, padding.Boundary): // else its inputs are others: TestPaddedShardMapText
				checkShardMap(t, plan, randomInputs(t, d.Input))
			case len(s.Notes) == 0:
				t.Error("nothing is said about the padding")
			}
			return d.Expected
		})
	}
	if refused != 2 {
		t.Errorf("%d programs are refused, not those with a product over devices and with parts that do not go together", refused)
	}
}

// checkRefusal expects an error that says where and why a program has no shard_map form.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if list := diag.Diagnostics(err); !errors.Is(err, diag.ErrUnsupported) || len(list) == 0 || list[0].Pos.Line == 0 {
		t.Errorf("a refusal without a place: %v", err)
	}
}

// The shard_map program of every plan of a recorded model gives what the plan gives.
func TestShardMapOfModels(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder of models")
	}
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	sample := map[string]bool{"mlp_train/fsdp": true, "shmap_fsdp_tensor/chosen": true, "moe_sort_fwd/data_expert": true,
		"gqa_decode/data_tensor":      true,
		"convnet_train/data_parallel": true, "int8_matmul/tensor_parallel": true, "shmap_pipeline/chosen": true,
		"shmap_partly_manual/chosen": true}
	dir := *emitDir
	if dir == "" {
		dir = t.TempDir()
	}
	cases := recordedCases(t, shared, func(model, plan string) bool { return *emitAll || sample[model+"/"+plan] })
	onJAX := map[string]bool{"mlp_train-fsdp-[data=8]": true, "gqa_decode-data_tensor-[data=4 model=2]": true,
		"shmap_partly_manual-chosen-[]": true}
	checked, refused, unchecked := 0, 0, 0
	for i := range cases {
		c := &cases[i]
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(dir, strings.NewReplacer(" ", "_", "[", "", "]", "").Replace(c.name)+".py")
			plan := casePlan(t, c, file+".json", hw)
			if plan == nil {
				return
			}
			if _, err := lowered(t, plan).ShardMap(t.Context()); err != nil {
				refused++
				checkRefusal(t, err)
				t.Logf("refused: %v", err)
				return
			}
			checked++
			arguments := readArrays(t, c.inputs, plan.Inputs)
			program := checkShardMap(t, plan, arguments)
			if python := os.Getenv("AUTOSHARD_PYTHON"); python != "" && (*emitAll || onJAX[c.name]) {
				checkOnJAX(t, python, program, arguments, c)
			}
			if strings.Contains(textOf(t, program), "check=false") {
				unchecked++
				p, _ := lowered(t, plan).ShardMap(t.Context())
				t.Logf("unchecked: %v", p.Notes)
			}
		})
	}
	t.Logf("%d programs, %d of them unchecked; %d refused", checked, unchecked, refused)
}
