package space_test

import (
	"slices"
	"testing"

	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Where every op is watched, the problem says of every solution what its program holds at most, or more where that sends what would be read
// on the fly, and costs what it did.
func TestWatchedOpsAreExact(t *testing.T) {
	for _, file := range []string{"testdata/loop.mlir", "testdata/chlo.mlir", "../../examples/mlp_train.mlir"} {
		t.Run(file, func(t *testing.T) {
			m, mesh, model := load(t, file, subaxis.Axis{Name: "x", Size: 4}, subaxis.Axis{Name: "y", Size: 2})
			s := space.New(m, mesh, model)
			plain, err := s.Build(t.Context(), 0, &space.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []bool{true, false} {
				if more, err := s.Watch(t.Context(), make([]int32, plain.NumNodes()), -1); more != want || err != nil {
					t.Fatalf("ops that are not watched yet: %v, %v, want %v", more, err, want)
				}
			}
			if n := s.Watched(); n == 0 {
				t.Error("no op is watched")
			}
			exact, err := s.Build(t.Context(), 0, &space.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			first := make([]int32, plain.NumNodes())
			said, err := s.Peak(t.Context(), first)
			if _, peak, failed := exact.Evaluate(s.Extend(first, exact)); err != nil || failed != nil || peak != said {
				t.Fatalf("peak %d (%v) with the first strategies, want %d (%v)", peak, failed, said, err)
			}
			rapid.Check(t, func(t *rapid.T) {
				solution := anySolution(t, plain)
				cost, _, _ := plain.Evaluate(solution)
				extended := s.Extend(solution, exact)
				again, peak, err := exact.Evaluate(extended)
				said, failed := s.Peak(t.Context(), solution)
				if err != nil || failed != nil || again != cost || peak < said || peak != said && s.AsSupposed(solution) {
					t.Fatalf("cost %d and peak %d (%v), want %d and %d (%v)", again, peak, err, cost, said, failed)
				}
				if s.LeastPeak() > peak {
					t.Errorf("a program holds %d bytes at most, said to be no less than %d", peak, s.LeastPeak())
				}
				if !slices.Equal(s.Own(extended), solution) || !slices.Equal(s.Extend(solution, plain), solution) {
					t.Error("the solution is not what it was before it was extended")
				}
			})
		})
	}
}

// Once the ops at which the program of a solution holds more than a limit are watched, the problem says of it that it does not fit.
func TestWatchedOpsSayWhatDoesNotFit(t *testing.T) {
	for _, file := range []string{"testdata/loop.mlir", "testdata/chlo.mlir", "../../examples/mlp_train.mlir"} {
		t.Run(file, func(t *testing.T) {
			m, mesh, model := load(t, file, subaxis.Axis{Name: "x", Size: 4}, subaxis.Axis{Name: "y", Size: 2})
			rapid.Check(t, func(t *rapid.T) {
				s := space.New(m, mesh, model)
				plain, err := s.Build(t.Context(), 0, &space.Effort{})
				if err != nil {
					t.Fatal(err)
				}
				solution := anySolution(t, plain)
				said, err := s.Peak(t.Context(), solution)
				if err != nil {
					t.Fatal(err)
				}
				limit := said - 1 - rapid.Int64Range(0, said/8).Draw(t, "less")
				if _, err := s.Watch(t.Context(), solution, limit); err != nil {
					t.Fatal(err)
				}
				watching, err := s.Build(t.Context(), 0, &space.Effort{})
				if err != nil {
					t.Fatal(err)
				}
				if _, peak, err := watching.Evaluate(s.Extend(solution, watching)); err != nil || peak < said {
					t.Fatalf("peak %d (%v) where programs are watched that hold more than %d, want no less than %d", peak, err, limit, said)
				}
			})
		})
	}
}

// In the relaxed problem a solution costs more once it is settled who pays for its copies, and what it did when that is forgotten.
func TestUnsettle(t *testing.T) {
	m, mesh, model := load(t, "../../examples/mlp_train.mlir", subaxis.Axis{Name: "x", Size: 4}, subaxis.Axis{Name: "y", Size: 2})
	s := space.New(m, mesh, model)
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	solution := make([]int32, p.NumNodes())
	for i := range solution {
		solution[i] = int32(i % p.NumStrategies(i))
	}
	cost := func() int64 {
		relaxed, err := s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
		if err != nil {
			t.Fatal(err)
		}
		cost, _, err := relaxed.Evaluate(solution)
		if err != nil {
			t.Fatal(err)
		}
		return cost
	}
	alike := cost()
	s.Settle(solution)
	settled := cost()
	s.Unsettle()
	if again := cost(); settled <= alike || again != alike {
		t.Errorf("a solution costs %d, settled %d, and then %d", alike, settled, again)
	}
}

// anySolution draws a solution of a problem.
func anySolution(t *rapid.T, p *search.Problem) []int32 {
	solution := make([]int32, p.NumNodes())
	for i := range solution {
		solution[i] = int32(rapid.IntRange(0, p.NumStrategies(i)-1).Draw(t, "strategy"))
	}
	return solution
}
