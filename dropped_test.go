package autoshard_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard"
)

// A file of jax.export tells which arguments jit dropped: the plan and what is emitted of it list them, and who asks for one
// learns why it is not there.
func TestDroppedArguments(t *testing.T) {
	model := readModel(t, "ir/jaxexport/testdata/step.jaxexport")
	o := options(t)
	o.Mesh, o.Steps = nil, 1000
	p := makePlan(t, model, o)
	if diff := cmp.Diff([]string{"args[1]"}, p.Dropped); diff != "" {
		t.Error(diff)
	}
	text, err := lowered(t, p).Emit(t.Context(), "jax")
	if err != nil || !strings.Contains(string(text), "\nDropped arguments:\n  args[1]\n") {
		t.Errorf("%v\n%.600s", err, text)
	}
	for _, value := range []string{"args[1]", " args[1] "} {
		_, err := autoshard.Explain(context.Background(), model, autoshard.ExplainOptions{Value: value})
		if err == nil || !strings.Contains(err.Error(), "the function does not use it, and jit drops it") {
			t.Errorf("`%s` is explained: %v", value, err)
		}
	}
	// A leaf of an argument that others are left of has that argument's name.
	for file, want := range map[string][]string{"dropped.jaxexport": {"args[1]", "p['unused']"}, "dropped.debug.mlir": nil} {
		got := slices.Sorted(slices.Values(makePlan(t, readModel(t, "testdata/names/"+file), options(t)).Dropped))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}
