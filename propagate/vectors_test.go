package propagate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"

	"github.com/google/go-cmp/cmp"
)

// passes are those of Shardy's passes that this package has, by name and options as pipelines write them.
var passes = map[string]func(*ir.Module) error{
	"sdy-basic-propagate": run(propagate.Options{Strategy: propagate.Basic, NoOpPriority: true, NoUserPriority: true}),
	"sdy-basic-propagate{conservative-propagation=true}": run(propagate.Options{Strategy: propagate.Basic, Conservative: true,
		NoOpPriority: true, NoUserPriority: true}),
	"sdy-aggressive-propagate":                                  run(propagate.Options{NoOpPriority: true, NoUserPriority: true}),
	"sdy-aggressive-propagate{propagation-strategy=aggressive}": run(propagate.Options{NoOpPriority: true, NoUserPriority: true}),
	"sdy-op-priority-propagate":                                 run(propagate.Options{NoUserPriority: true}),
	"sdy-user-priority-propagate":                               run(propagate.Options{}),

	"sdy-populate-op-sharding-rules":                                infallible(func(m *ir.Module) { propagate.PopulateRules(m, false) }),
	"sdy-populate-op-sharding-rules{conservative-propagation=true}": infallible(func(m *ir.Module) { propagate.PopulateRules(m, true) }),

	"sdy-add-data-flow-edges":        infallible(propagate.AddDataFlowEdges),
	"sdy-sink-data-flow-edges":       infallible(propagate.SinkDataFlowEdges),
	"sdy-apply-sharding-constraints": infallible(propagate.ApplyConstraints),
	"sdy-lift-inlined-meshes": infallible(func(m *ir.Module) {
		propagate.LiftInlinedMeshes(m)
		propagate.TagMeshes(m)
	}),
	"sdy-remove-size-one-axes":  infallible(propagate.RemoveSizeOneAxes),
	"sdy-manual-axes-cleanup":   propagate.CleanManualAxes,
	"sdy-sharding-group-import": propagate.ImportGroups,
	"sdy-constant-or-scalar-splitter": infallible(func(m *ir.Module) {
		propagate.NameConstants(m)
		propagate.SplitConstants(m)
	}),
	"sdy-constant-or-scalar-merger":                   infallible(propagate.MergeConstants),
	"sdy-close-shardings":                             infallible(propagate.CloseShardings),
	"sdy-remove-sharding-groups":                      infallible(propagate.RemoveGroups),
	"sdy-remove-sub-axes-in-input-output-shardings":   infallible(propagate.RemoveSubAxes),
	"sdy-update-non-divisible-input-output-shardings": infallible(propagate.UpdateNonDivisible),
	"sdy-sharding-constraint-to-reshard":              infallible(propagate.ConstraintsToReshards),
	"sdy-drop-sharding-rules":                         infallible(propagate.DropRules),
}

func run(o propagate.Options) func(*ir.Module) error {
	return func(m *ir.Module) error {
		_, err := propagate.Run(m, o)
		return err
	}
}

func infallible(f func(*ir.Module)) func(*ir.Module) error {
	return func(m *ir.Module) error {
		f(m)
		return nil
	}
}

// splitPipeline returns the passes of a pipeline; commas inside options stay.
func splitPipeline(p string) []string {
	return regexp.MustCompile(`[^,{]+(\{[^}]*\})?`).FindAllString(strings.TrimSpace(p), -1)
}

// runPipeline runs passes on a text. known is false where a pass is not there.
func runPipeline(text, pipeline string) (out string, known bool, err error) {
	names := splitPipeline(pipeline)
	if len(names) == 0 {
		return "", false, nil
	}
	for _, name := range names {
		if passes[name] == nil {
			return "", false, nil
		}
	}
	m, err := mlir.Parse([]byte(text), mlir.Options{})
	if err != nil {
		return "", true, err
	}
	for _, name := range names {
		if err := passes[name](m); err != nil {
			return "", true, err
		}
	}
	return string(mlir.Print(m, mlir.PrintOptions{})), true, nil
}

// archive splits a txtar file into its parts.
func archive(text string) map[string]string {
	files := map[string]string{}
	parts := regexp.MustCompile(`(?m)^-- (.+) --\n`).FindAllStringSubmatchIndex(text, -1)
	for i, p := range parts {
		end := len(text)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		files[text[p[2]:p[3]]] = text[p[1]:end]
	}
	return files
}

// needsCalls says whether a vector is about constants or shardings that cross function calls.
func needsCalls(vector map[string]string) bool {
	input := vector["input.mlir"]
	splits := strings.Contains(vector["pipeline"], "splitter")
	return strings.Contains(input, "func_data_flow_edge") ||
		splits && (strings.Contains(input, " call @") || strings.Contains(input, "named_computation"))
}

// TestShardyVectors compares passes with what Shardy made of the same programs, byte for byte.
func TestShardyVectors(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the directory with Shardy's vectors")
	}
	files, err := filepath.Glob(filepath.Join(shared, "conformance", "shardy", "sdy-*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	ran, other, calls := 0, 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		vector := archive(string(data))
		if needsCalls(vector) {
			calls++
			continue
		}
		got, known, err := runPipeline(vector["input.mlir"], vector["pipeline"])
		if !known {
			other++
			continue
		}
		ran++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { judge(t, vector, got, err) })
	}
	t.Logf("%d vectors; %d others are for passes that are not here, %d need calls, which are inlined before", ran, other, calls)
}

// judge compares what a pipeline gave with what Shardy gave.
func judge(t *testing.T, vector map[string]string, got string, err error) {
	want, accepted := vector["expected.mlir"]
	switch {
	case !accepted && err == nil:
		t.Errorf("accepted, but it must be rejected:\n%s", vector["diagnostics.txt"])
	case accepted && err != nil:
		t.Error(err)
	case accepted:
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", strings.TrimSpace(vector["pipeline"]), diff)
		}
	}
}
