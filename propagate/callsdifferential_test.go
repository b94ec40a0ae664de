package propagate_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/ir/calls"
	"autoshard/ir/mlir"
	"autoshard/passes"
	"autoshard/propagate"

	"github.com/google/go-cmp/cmp"
)

// beforeReshards returns the passes of -sdy-propagation-pipeline up to the point from which on shardings stay as they
// are; what comes after makes programs explicit.
func beforeReshards(t testing.TB, pipeline string) string {
	t.Helper()
	p, err := passes.Table().Parse(pipeline, "pipeline")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.String())
		if s.Pass.Name == "sdy-close-shardings" {
			break
		}
	}
	return strings.Join(names, ",")
}

// callPipelines returns pipelines for programs of several functions: with a body for each call, with functions that all
// their calls share, and the same with one round of a strategy, which shows the order of propagation better.
func callPipelines(t testing.TB) []string {
	t.Helper()
	each := beforeReshards(t, "sdy-propagation-pipeline")
	shared := beforeReshards(t, "sdy-propagation-pipeline{dedup-functions-fully=true}")
	return []string{each, shared, strings.Replace(each, "user-priority", "basic", 1), strings.Replace(shared, "user-priority", "basic", 1),
		strings.Replace(shared, "user-priority", "aggressive", 1)}
}

// TestCallsAgainstShardy compares random programs of several functions with real Shardy.
func TestCallsAgainstShardy(t *testing.T) {
	pipelines := callPipelines(t)
	first, n := seeds(t, 20_000, 120)
	var programs [][2]string
	for seed := first; seed < first+n; seed++ {
		programs = append(programs, [2]string{randomCalls(seed), pipelines[seed%int64(len(pipelines))]})
	}
	compared := 0
	for i, answer := range shardy(t, programs) {
		if answer[0] == nil {
			continue // Shardy crashed, or rejects what its own pass made
		}
		name := fmt.Sprint("seed ", first+int64(i))
		got, err := runPipeline(programs[i][0], programs[i][1])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compared++
		if diff := cmp.Diff(strings.TrimSpace(*answer[0]), strings.TrimSpace(got)); diff != "" {
			t.Errorf("%s (-Shardy +here):\n%s\nof\n%s", name, clip(diff), clip(programs[i][0]))
		}
	}
	t.Logf("%d of %d programs compared", compared, len(programs))
	if compared < len(programs)*3/4 {
		t.Errorf("Shardy gave an answer for %d of %d programs only", compared, len(programs))
	}
}

// TestCallsLikePasses compares Import, Run and Close with the passes that they stand for.
func TestCallsLikePasses(t *testing.T) {
	pipeline := beforeReshards(t, "sdy-propagation-pipeline")
	pipeline = strings.ReplaceAll(pipeline, "{keep-sharding-rules=true}", "")
	pipeline = strings.ReplaceAll(pipeline, "sdy-sharding-constraint-to-reshard,", "")
	for seed := int64(30_000); seed < 30_100; seed++ {
		text := randomCalls(seed)
		want, err := runPipeline(text, pipeline)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m, err := mlir.Parse([]byte(text), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(calls.All(m)) == 0 {
			continue
		}
		propagate.NameConstants(m)
		propagate.LiftInlinedMeshes(m)
		propagate.TagMeshes(m)
		if err := propagate.Import(m); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if _, err := propagate.Run(m, propagate.Options{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		propagate.Close(m)
		if diff := cmp.Diff(want, string(mlir.Print(m, mlir.PrintOptions{}))); diff != "" {
			t.Errorf("seed %d (-passes +functions):\n%s\nof\n%s", seed, clip(diff), clip(text))
		}
	}
}
