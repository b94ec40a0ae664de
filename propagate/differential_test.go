package propagate_test

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard/internal/testkit"
	"autoshard/passes"

	"github.com/google/go-cmp/cmp"
)

// difference runs a program here and returns what differs from Shardy's answer, "" for nothing. Where Shardy has no
// answer, an error is one, a panic is not.
func difference(p program, r reply) (diff string) {
	defer func() {
		if e := recover(); e != nil {
			diff = fmt.Sprintf("panic: %v\n%s", e, debug.Stack())
		}
	}()
	got, err := runPipeline(p.text, p.pipeline)
	switch {
	case !r.ok:
		return ""
	case err != nil:
		return "here: " + err.Error()
	}
	return cmp.Diff(inOrder(r.text), inOrder(got))
}

var stepEdges = regexp.MustCompile(`\{[^{}]* -> [^{}]*\}(, \{[^{}]* -> [^{}]*\})+`)

// inOrder sorts the propagation edges of each step: Shardy writes those of one axis in an order that depends on
// addresses. All else stays as it is.
func inOrder(text string) string {
	return stepEdges.ReplaceAllStringFunc(strings.TrimSpace(text), func(list string) string {
		edges := strings.Split(strings.Trim(list, "{}"), "}, {")
		slices.Sort(edges)
		return "{" + strings.Join(edges, "}, {") + "}"
	})
}

// maxShrunk is how many differences of a test are shrunk; the others are named.
const maxShrunk = 3

// comparison counts what becomes of the programs of a test.
type comparison struct {
	t                                     *testing.T
	peer                                  *peer
	same, different, crashes, errors, odd int
}

// compare runs programs through both and reports every difference, shrunk, in the form of golden tests.
func compare(t *testing.T, programs []program) {
	t.Helper()
	c := &comparison{t: t, peer: shardy(t)}
	var differing []program
	err := c.peer.askAll(programs, func(i int, r reply) {
		switch diff := difference(programs[i], r); {
		case diff != "":
			differing = append(differing, programs[i])
		case r.crashed():
			c.crashes++
		case !r.ok:
			c.errors++
		default:
			c.same++
		}
	})
	if err != nil {
		t.Fatalf("asking Shardy: %v", err)
	}
	for _, p := range differing {
		c.report(p, programs)
	}
	t.Logf("%d programs: the same answer for %d, other answers for %d; Shardy refuses %d, crashes on %d, changes its mind on %d",
		len(programs), c.same, c.different, c.errors, c.crashes, c.odd)
	if c.same < len(programs)*2/3 {
		t.Errorf("Shardy gave an answer for %d of %d programs only", c.same, len(programs))
	}
}

// asked is how often Shardy is asked again where it says something else. Which of two origins of an axis it names depends on where its
// attributes lie in memory, so that it names one of them in few processes.
const asked = 80

// report says what differs, where Shardy always says the same: first in a process, and after others of the programs.
func (c *comparison) report(p program, programs []program) {
	var r reply
	for i := range asked {
		if other := programs[i%len(programs)]; i%2 == 0 {
			c.ask(program{other.name, other.text, "!" + other.pipeline}) // and the next one in a new process
		} else {
			c.ask(other)
		}
		if r = c.ask(p); r.ok && difference(p, r) == "" {
			c.odd++
			c.t.Logf("%s: Shardy answers something else when it is asked again", p.name)
			return
		}
	}
	if c.different++; c.different > maxShrunk {
		c.t.Errorf("%s differs", p.name)
		return
	}
	small := shrink(p, func(q program) bool {
		if _, err := runPipeline(q.text, "symbol-dce"); err != nil {
			return false
		}
		answer := c.ask(q)
		return answer.ok == r.ok && difference(q, answer) != ""
	})
	answer := c.ask(small)
	c.t.Errorf("%s (-Shardy +here):\n%s\nas a golden test:\n\npipeline\n%s\n%s\n----\n%s", p.name, clip(difference(small, answer)),
		small.pipeline, strings.TrimSpace(small.text), answer.text)
}

func (c *comparison) ask(p program) reply {
	r, err := c.peer.ask(p.text, p.pipeline)
	if err != nil {
		c.t.Fatalf("asking Shardy: %v", err)
	}
	return r
}

func clip(s string) string {
	if len(s) > 6000 {
		return s[:6000] + "..."
	}
	return s
}

// seeds returns the seeds of n random programs, from testkit.Seed on. AUTOSHARD_PROGRAMS asks for another number of programs.
func seeds(t *testing.T, n int64) []int64 {
	t.Helper()
	if text := os.Getenv("AUTOSHARD_PROGRAMS"); text != "" {
		var err error
		if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
			t.Fatalf("AUTOSHARD_PROGRAMS must be a number that is not negative, it is %q", text)
		}
	}
	first := testkit.Seed(t)
	t.Logf("%d programs", n)
	list := make([]int64, n)
	for i := range list {
		list[i] = first + int64(i)
	}
	return list
}

// compareSeeds compares random programs with real Shardy, each with the pipelines of its seed.
func compareSeeds(t *testing.T, n int64, pipelines ...func(r *rand.Rand) string) {
	t.Helper()
	shardy(t)
	var programs []program
	for _, seed := range seeds(t, n) {
		r, text := rand.New(rand.NewSource(seed)), randomProgram(seed)
		for i, pipeline := range pipelines {
			programs = append(programs, program{fmt.Sprintf("seed %d, pipeline %d", seed, i+1), text, pipeline(r)})
		}
	}
	compare(t, programs)
}

// TestRandomAgainstShardy compares random programs with real Shardy: the whole of the pipeline, and passes of it with
// their options, on programs that are imported well or badly.
func TestRandomAgainstShardy(t *testing.T) {
	compareSeeds(t, 300, wholePipeline, simplePropagation, userPropagation)
}

// wholePipeline is -sdy-propagation-pipeline with its option.
func wholePipeline(r *rand.Rand) string {
	return []string{"sdy-propagation-pipeline", "sdy-propagation-pipeline{dedup-functions-fully=true}"}[r.Intn(2)]
}

// beforeReshards returns the passes of a pipeline up to the point from which on shardings stay as they are.
func beforeReshards(pipeline string) string {
	steps := expand(pipeline)
	return strings.Join(steps[:slices.Index(steps, "sdy-close-shardings")+1], ",")
}

// expand returns the single passes of a pipeline.
func expand(pipeline string) []string {
	p, err := passes.Table().Parse(pipeline, "pipeline")
	if err != nil {
		panic(err)
	}
	var steps []string
	for _, s := range p.Steps {
		steps = append(steps, s.String())
	}
	return steps
}

// importing is what random pipelines begin with.
func importing(r *rand.Rand) string {
	return []string{
		"",
		"sdy-add-data-flow-edges,",
		"sdy-lift-inlined-meshes,sdy-remove-size-one-axes,sdy-manual-axes-cleanup,sdy-add-data-flow-edges,sdy-apply-sharding-constraints," +
			"sdy-sharding-group-import,",
		"sdy-import-pipeline{dedup-functions-fully=true},sdy-add-func-data-flow-edges,",
		"sdy-import-pipeline,sdy-flatten-call-graph,sdy-import-func-calls,sdy-apply-sharding-constraints,sdy-sharding-group-import,",
		"sdy-import-pipeline,sdy-apply-sharding-constraints,sdy-sharding-group-import,sdy-import-func-calls,",
		"sdy-import-pipeline,",
	}[r.Intn(7)]
}

// closing is what random pipelines end with.
func closing(r *rand.Rand) string {
	return []string{
		"",
		"",
		",sdy-sink-func-data-flow-edges,sdy-sink-data-flow-edges",
		",sdy-constant-or-scalar-merger,sdy-sink-data-flow-edges,sdy-remove-sharding-groups," +
			"sdy-sharding-constraint-to-reshard,sdy-update-non-divisible-input-output-shardings," +
			"sdy-remove-sub-axes-in-input-output-shardings,sdy-close-shardings",
		",sdy-drop-sharding-rules",
	}[r.Intn(5)]
}

// withOptions gives a pass some of the options, at random.
func withOptions(r *rand.Rand, pass string, options ...string) string {
	var list []string
	for _, o := range options {
		if r.Intn(4) == 0 {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return pass
	}
	return pass + "{" + strings.Join(list, " ") + "}"
}

var commonOptions = []string{"conservative-propagation=true", "keep-sharding-rules=true", "debug-sharding-origins=true",
	"debug-propagation-edge-sharding=true"}

func simplePropagation(r *rand.Rand) string {
	pass := withOptions(r, "sdy-basic-propagate", commonOptions...)
	if r.Intn(2) == 0 {
		pass = withOptions(r, "sdy-aggressive-propagate", append(commonOptions, "propagation-strategy=basic-then-aggressive")...)
	}
	if r.Intn(6) == 0 {
		pass += "," + pass
	}
	return importing(r) + pass + closing(r)
}

func userPropagation(r *rand.Rand) string {
	options := append([]string{"propagation-strategy=" + []string{"basic", "basic-then-aggressive"}[r.Intn(2)]}, commonOptions...)
	pass := "sdy-op-priority-propagate"
	if r.Intn(3) > 0 {
		pass, options = "sdy-user-priority-propagate", append(options, "run-op-priority-propagation=false")
	}
	return importing(r) + withOptions(r, pass, options...) + closing(r)
}

// TestRulesAgainstShardy compares the rules of all operations of random programs.
func TestRulesAgainstShardy(t *testing.T) {
	compareSeeds(t, 150, func(r *rand.Rand) string {
		return withOptions(r, "sdy-populate-op-sharding-rules", "conservative-propagation=true")
	})
}
