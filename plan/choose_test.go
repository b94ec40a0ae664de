package plan

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/rewrites"
	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// linkedChip has links that take as long as its matrix units, for models of any size: rings pay.
var linkedChip = cost.Hardware{Name: "linked", Matrix: cost.Rates{BF16: 1e11}, VectorFLOPs: 1e12, HBMBytes: 16e9, HBMBandwidth: 1e12,
	Dispatch: 1e-9, Torus: &cost.Torus{Link: 1e9, Shape: []int64{4, 4}, Wrap: cost.WrapFull, HopLatency: 1e-9}}

// planning returns a planner with the space of its plans.
func planning(t testing.TB, file, mesh, hardware string) (*planner, *space.Space) {
	t.Helper()
	src, err := os.ReadFile("../" + file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	m.LocateByText()
	hw := linkedChip
	if hardware != hw.Name {
		if hw, err = cost.Lookup(hardware); err != nil {
			t.Fatal(err)
		}
	}
	p, err := newPlanner(t.Context(), &answer.Source{Name: file, Module: m}, Options{Mesh: axes(t, mesh), Hardware: hw})
	if err != nil {
		t.Fatal(err)
	}
	baselines, err := p.baselines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p, p.space(t.Context(), baselines)
}

// axes reads "4,2" as a mesh of two axes; "" is the model's own.
func axes(t testing.TB, sizes string) []subaxis.Axis {
	t.Helper()
	var out []subaxis.Axis
	for i, size := range strings.FieldsFunc(sizes, func(r rune) bool { return r == ',' }) {
		var n int64
		if _, err := fmt.Sscan(size, &n); err != nil {
			t.Fatal(err)
		}
		out = append(out, subaxis.Axis{Name: string(rune('a' + i)), Size: n})
	}
	return out
}

// What the relaxed problem and the floor say, the program of no solution undercuts: neither by sharing copies, whoever pays for
// them, nor by overlapping products with what they wait for, in loops and branches. Likely costs are no less where every product is alone
// in its ring.
func TestBoundsHoldForPrograms(t *testing.T) {
	for _, c := range []struct{ file, mesh, hardware string }{
		{"examples/mlp_train.mlir", "4,2", "tpu-v5e"},
		{"examples/mlp_train.mlir", "4,2", "cpu"},
		{"search/space/testdata/loop.mlir", "2,2", "tpu-v5p"},
		{"search/space/testdata/matmul.mlir", "4", "cpu"},
		{"examples/transformer_train.mlir", "2,2", "cpu"},
		{"examples/transformer_train_megatron.mlir", "", "h100"},
		{"examples/transformer_train_megatron.mlir", "", "linked"},
		{"examples/mlp_train.mlir", "4,2", "linked"},
		{"search/space/testdata/matmul.mlir", "4", "linked"},
		{"search/space/testdata/qkv.mlir", "", "linked"},
		{"search/space/testdata/qkv.mlir", "", "h100"},
		{"search/space/testdata/constrained.mlir", "", "linked"},
		{"testdata/plan/branch.mlir", "4,2", "linked"},
		{"testdata/plan/manual.mlir", "", "cpu"},
		{"testdata/plan/manual.mlir", "", "linked"},
		{"search/space/testdata/windows.mlir", "2,2", "cpu"},
		{"search/space/testdata/windows.mlir", "4,2", "tpu-v5e"},
		{"search/space/testdata/cache.mlir", "4,2", "cpu"},
		{"search/space/testdata/cache.mlir", "2,2", "tpu-v5e"},
		{"search/space/testdata/scatters.mlir", "", "tpu-v5p"},
		{"search/space/testdata/scatters.mlir", "", "h100"},
		{"search/space/testdata/scatters.mlir", "", "cpu"},
		{"search/space/testdata/found.mlir", "2,2", "linked"},
		{"search/space/testdata/found.mlir", "4", "tpu-v5p"},
		{"search/space/testdata/residual.mlir", "2,2", "linked"},
		{"search/space/testdata/residual.mlir", "2,2", "cpu"},
		{"search/space/testdata/residual.mlir", "4", "tpu-v5p"},
		{"search/space/testdata/fused.mlir", "", "tpu-v5p"},
		{"search/space/testdata/asked.mlir", "", "tpu-v5p"},
		{"search/space/testdata/asked.mlir", "", "linked"},
		{"search/space/testdata/written.mlir", "", "tpu-v5p"},
		{"search/space/testdata/written.mlir", "", "h100"},
		{"search/space/testdata/fused.mlir", "", "linked"},
	} {
		t.Run(fmt.Sprint(c.file, c.mesh, c.hardware), func(t *testing.T) {
			p, s := planning(t, c.file, c.mesh, c.hardware)
			var effort space.Effort
			problem, err := s.Build(t.Context(), 0, &effort)
			if err != nil {
				t.Fatal(err)
			}
			starts, relaxed, likely := s.WarmStarts(), []*search.Problem{}, []*search.Problem{}
			solve := func(q *search.Problem) {
				r, err := search.Solve(t.Context(), q, search.Options{Steps: 20_000_000, Initial: s.WarmStarts()})
				if err != nil {
					t.Fatal(err)
				}
				starts = append(starts, r.Solution)
			}
			solve(problem)
			for range 3 {
				q, err := s.Relaxed(t.Context(), 0, &effort, space.Kept)
				if err != nil {
					t.Fatal(err)
				}
				relaxed = append(relaxed, q)
				solve(q)
				if q, err = s.Likely(t.Context(), 0, &effort, space.Kept, true); err != nil {
					t.Fatal(err)
				}
				likely = append(likely, q)
				s.Settle(starts[len(starts)-1])
			}
			for _, x := range starts {
				s.Play(s.Own(x))
			}
			paired, err := s.Paired(t.Context(), 0, &effort, space.Kept)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				x := changed(t, starts, problem)
				annotated := p.module.Clone()
				assignment := s.Apply(annotated, x)
				l, err := p.lower(context.Background(), annotated, assignment, s.Planner(), collectives.Anywhere)
				if err != nil {
					t.Fatal(err)
				}
				if least, _, err := paired.Evaluate(s.Extend(x, paired)); err != nil || least > l.step.Total() {
					t.Fatalf("the program takes %d ps; with nodes for pairs it is said to take at least %d, %v", l.step.Total(), least, err)
				}
				for i, q := range relaxed {
					least, _, err := q.Evaluate(x)
					if err != nil {
						t.Fatal(err)
					}
					if more, _, err := likely[i].Evaluate(x); err != nil || more < least {
						t.Fatalf("it likely takes %d ps, %v; the relaxed problem says %d", more, err, least)
					}
					if got := l.step.Total(); least > got || s.Floor() > got {
						t.Fatalf("the program takes %d ps; the relaxed problem says at least %d, the floor %d", got, least, s.Floor())
					}
				}
			})
		})
	}
}

// Searches at likely costs, which programs may undercut, prove nothing; those of the relaxed problem do.
func TestLikelyCostsProveNothing(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "4,2", "tpu-v5e")
	problem, err := s.Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	for how, proves := range map[relaxing]bool{alone: false, narrowly: false, quickly: true, roughly: true, paired: true, fully: true,
		pairedFully: true, watching: false} {
		c := &choice{planner: p, ctx: t.Context(), late: t.Context(), space: s, room: room{limit: DefaultSearchMemory}}
		if _, err := c.relaxed(t.Context(), &level{space: s, problem: problem}, how, boundSteps); err != nil {
			t.Fatal(err)
		}
		if (c.bound > 0) != proves {
			t.Errorf("way %d to solve it has a bound of %d", how, c.bound)
		}
	}
}

// What relaxed problems watch counts in a level's problem, too, once that is asked for: else a solution of least memory would leave out
// what its program holds for moments.
func TestWatchedBefore(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "4,2", "tpu-v5e")
	c := &choice{planner: p, ctx: t.Context(), late: t.Context(), space: s, room: room{limit: DefaultSearchMemory}}
	l, err := c.build(t.Context(), space.Level{}, false)
	if err != nil {
		t.Fatal(err)
	}
	solution := l.space.WarmStarts()[0]
	if more, err := l.space.Watch(t.Context(), solution, 0); err != nil || !more {
		t.Fatal(more, err)
	}
	before := l.problem.NumNodes()
	for i, want := range []bool{true, false} {
		if closer, err := c.watch(t.Context(), l, solution, 0); err != nil || closer != want {
			t.Errorf("round %d: closer is %v, %v", i, closer, err)
		}
	}
	if l.problem.NumNodes() == before {
		t.Errorf("the problem has the %d nodes that it had", before)
	}
}

// What the space says that a program holds, the program holds: copies while they are made and until they are read, results while
// they are sent on, values that would be read on the fly but for that, in loops and branches. What an op needs inside itself is not
// counted, such as the mask of a gather from a part of a table.
func TestPeaksOfPrograms(t *testing.T) {
	for _, c := range []struct{ file, mesh string }{
		{"examples/mlp_train.mlir", "4,2"},
		{"examples/mlp_train.mlir", "2,2,2"},
		{"search/space/testdata/matmul.mlir", "4"},
		{"testdata/plan/branch.mlir", "4,2"},
		{"testdata/plan/twice.mlir", "4,2"},
		{"search/space/testdata/loop.mlir", "2,2"},
	} {
		t.Run(fmt.Sprint(c.file, c.mesh), func(t *testing.T) {
			p, s := planning(t, c.file, c.mesh, "tpu-v5e")
			// Rings hold blocks of products, merged collectives all that they send.
			p.Without = rewrites.Of(rewrites.CollectiveMatmul, rewrites.MergeCollectives)
			problem, err := s.Build(t.Context(), 0, &space.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			carried := carriedBytes(p.module)
			rapid.Check(t, func(t *rapid.T) {
				x := changed(t, s.WarmStarts(), problem)
				annotated := p.module.Clone()
				assignment := s.Apply(annotated, x)
				shared, err := p.lower(context.Background(), annotated, assignment, s.Planner(), collectives.Anywhere)
				if err != nil {
					t.Fatal(err)
				}
				// A space says what takes memory if each value is sent by itself, and nothing as a sum.
				apart := p.Without | ofReshards | rewrites.Of(rewrites.DeferReductions)
				l, err := p.lowerWithout(context.Background(), layouts{annotated, assignment, s.Planner(), 0, 0}, apart, 0)
				if err != nil {
					t.Fatal(err)
				}
				if least := s.LeastPeak(); least > l.step.Peak || least > shared.step.Peak {
					t.Fatalf("programs hold %d and %d bytes, said to be no less than %d", l.step.Peak, shared.step.Peak, least)
				}
				said, err := s.Peak(t.Context(), x)
				if more := l.step.Peak - said; err != nil || more < 0 || more > carried {
					t.Fatalf("the program holds %d bytes, the space says %d", l.step.Peak, said)
				}
			})
		})
	}
}

// What remains although values are made again, no program of a solution holds less than: not where copies are shared, nor where everything
// that can be is made again.
func TestRemainingOfPrograms(t *testing.T) {
	for _, c := range []struct{ file, mesh string }{
		{"examples/mlp_train.mlir", "4,2"},
		{"examples/mlp_train.mlir", "2,2,2"},
		{"examples/transformer_train.mlir", "2,2"},
		{"testdata/plan/branch.mlir", "4,2"},
		{"search/space/testdata/loop.mlir", "2,2"},
		{"plan/testdata/scan.mlir", "4,2"},
	} {
		t.Run(fmt.Sprint(c.file, c.mesh), func(t *testing.T) {
			p, s := planning(t, c.file, c.mesh, "tpu-v5e")
			remaining, err := s.Relaxed(t.Context(), 0, &space.Effort{}, space.Remaining)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				x := changed(t, s.WarmStarts(), remaining)
				_, least, err := remaining.Evaluate(x)
				if err != nil {
					t.Fatal(err)
				}
				annotated := p.module.Clone()
				assignment := s.Apply(annotated, x)
				for _, most := range []int64{0, 1} {
					l, err := p.lowerWithout(context.Background(), layouts{annotated, assignment, s.Planner(), collectives.Anywhere, most}, p.Without, 0)
					if err != nil {
						t.Fatal(err)
					}
					if l.step.Peak < least {
						t.Fatalf("the program holds %d bytes with %d values made again, said to be no less than %d", l.step.Peak, l.again, least)
					}
				}
			})
		})
	}
}

// carriedBytes are those of the results of loops and branches, whole.
func carriedBytes(m *ir.Module) (bytes int64) {
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if m.Kind(op).HasBodies() {
			for _, v := range m.Results(op) {
				bytes += m.ValueType(v).Bytes()
			}
		}
	})
	return bytes
}

// changed draws a solution: one of several with other strategies at some nodes.
func changed(t *rapid.T, starts [][]int32, p *search.Problem) []int32 {
	x := append([]int32(nil), rapid.SampledFrom(starts).Draw(t, "start")...)
	for range rapid.IntRange(0, len(x)).Draw(t, "changes") {
		i := rapid.IntRange(0, len(x)-1).Draw(t, "node")
		x[i] = int32(rapid.IntRange(0, p.NumStrategies(i)-1).Draw(t, "strategy"))
	}
	return x
}

// Plans near their bound are not searched further as people write them; what a few changes mend is looked for sooner.
func TestOpen(t *testing.T) {
	c := &choice{best: &lowered{}}
	c.best.step.Compute = 1000
	for _, test := range []struct {
		bound      int64
		wide, good bool
	}{{880, true, true}, {940, false, true}, {998, false, false}, {1000, false, false}} {
		c.bound = test.bound
		if wide, good := c.open(wideGap), c.open(goodGap); wide != test.wide || good != test.good {
			t.Errorf("bound %d of 1000: open by much %t, at all %t", test.bound, wide, good)
		}
	}
}

// A deadline that is far off changes nothing: haste begins where less time is left than the rounds may take.
func TestHurried(t *testing.T) {
	due := time.Now().Add(time.Hour)
	for _, c := range []struct {
		left, spent time.Duration // 0 left: there is no deadline
		steps       int64
		want        bool
	}{
		{0, time.Hour, 0, false},
		{0, 0, 1, true},
		{time.Minute, time.Second, 0, false},
		{time.Minute, time.Minute, 0, true},
		{time.Second, 100 * time.Millisecond, 0, false},
		{time.Second, 200 * time.Millisecond, 0, true},
	} {
		ctx, now := t.Context(), due.Add(-c.left)
		if c.left > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, due)
			defer cancel()
		}
		p := &planner{Options: Options{Steps: c.steps, Now: func() time.Time { return now }}}
		if got := (&choice{planner: p, begun: now.Add(-c.spent)}).hurried(ctx); got != c.want {
			t.Errorf("%s left after %s, %d steps: %v", c.left, c.spent, c.steps, got)
		}
	}
}

// A plan below the bound of those that compute nothing twice is proven to be the best only where it computes nothing twice itself.
func TestOptimal(t *testing.T) {
	for _, test := range []struct {
		again   int
		bound   int64
		optimal bool
	}{{0, 7, true}, {0, 6, false}, {1, 7, true}, {1, 8, false}, {1, 6, false}} {
		best := &lowered{again: test.again, step: estimate.Step{Compute: 7}}
		c := &choice{planner: &planner{}, best: best, bound: test.bound}
		got := c.certificate()
		if got.Optimal() != test.optimal || got.Bound > got.Cost {
			t.Errorf("with %d values made again and a bound of %d: %+v", test.again, test.bound, got)
		}
	}
}
