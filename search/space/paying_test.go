package space_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// Whatever solutions the relaxed problem has settled on, or played with, a solution costs no more there than with all its collectives sent
// as one that can be: else its optimum would be no bound.
func TestPaidIsBound(t *testing.T) {
	merging, pairs := int64(0), 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, mesh, model := read(t, layers(r, 5), subaxis.Axis{Name: "x", Size: 2}, subaxis.Axis{Name: "y", Size: 4})
		s := space.New(m, mesh, model)
		s.Serial()
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		if err != nil {
			t.Fatal(err)
		}
		last := make([]int32, p.NumNodes())
		for round := range 8 {
			relaxed, err := s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
			if err != nil {
				t.Fatal(err)
			}
			paired, err := s.Paired(t.Context(), 0, &space.Effort{}, space.Kept)
			if err != nil {
				t.Fatal(err)
			}
			pairs += paired.NumNodes() - p.NumNodes()
			best := solve(t, relaxed, nil).Solution
			for _, x := range [][]int32{last, best, anyOf(r, p, last), anyOf(r, p, best), s.Own(solve(t, paired, nil).Solution)} {
				dear, _, err := p.Evaluate(x)
				if err != nil {
					t.Fatal(err)
				}
				const rounding = 1000
				merging += min(s.Merging(x), 1)
				for _, bound := range []*search.Problem{relaxed, paired} {
					least, _, err := bound.Evaluate(s.Extend(x, bound))
					if saved := s.Merging(x); err != nil || least > dear-saved+rounding {
						t.Fatalf("seed %d, round %d: %d in the relaxed problem, %v, but %d of %d are saved by merging", seed, round, least, err,
							saved, dear)
					}
				}
			}
			if last = anyOf(r, p, best); round < 3 {
				s.Settle(last)
			} else {
				s.Play(last)
			}
		}
	}
	if merging < 100 || pairs == 0 {
		t.Errorf("%d solutions have collectives that can be sent as one, %d pairs of gathers can be", merging, pairs)
	}
}

// Playing with what the relaxed problem finds raises its optimum: what is sent as one pays all that it takes once.
func TestPlayRises(t *testing.T) {
	m, mesh, model := read(t, layers(rand.New(rand.NewPCG(3, 1)), 6), subaxis.Axis{Name: "x", Size: 8})
	s := space.New(m, mesh, model)
	s.Serial()
	var first, most int64
	for range 12 {
		p, err := s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
		found := solve(t, p, err)
		if most = max(most, found.Cost); first == 0 {
			first = found.Cost
		}
		s.Play(found.Solution)
	}
	if most <= first {
		t.Errorf("played or not, no solution costs less than %d", first)
	}
}

// layers returns a program of products and sums, whose operands are drawn.
func layers(r *rand.Rand, n int) string {
	const typ = "tensor<64x64xf32>"
	values := []string{"%a", "%b", "%c"}
	var body strings.Builder
	for i := range n {
		name, x, y := fmt.Sprintf("%%v%d", i), values[r.IntN(len(values))], values[r.IntN(len(values))]
		if r.IntN(3) > 0 {
			fmt.Fprintf(&body, "  %s = stablehlo.dot_general %s, %s, contracting_dims = [%d] x [%d] : (%[6]s, %[6]s) -> %[6]s\n", name, x, y,
				r.IntN(2), r.IntN(2), typ)
		} else {
			fmt.Fprintf(&body, "  %s = stablehlo.add %s, %s : %s\n", name, x, y, typ)
		}
		values = append(values, name)
	}
	last := values[len(values)-3:]
	return fmt.Sprintf(`func.func @main(%%a: %[1]s, %%b: %[1]s, %%c: %[1]s) -> (%[1]s, %[1]s, %[1]s) {
%[2]s  return %[3]s : %[1]s, %[1]s, %[1]s
}`, typ, body.String(), strings.Join(last, ", "))
}

// anyOf returns a solution with some decisions of another one drawn anew.
func anyOf(r *rand.Rand, p *search.Problem, of []int32) []int32 {
	x := slices.Clone(of)
	for i := range x {
		if r.IntN(3) == 0 {
			x[i] = int32(r.IntN(p.NumStrategies(i)))
		}
	}
	return x
}
