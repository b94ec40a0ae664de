package plan

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/padding"
	"autoshard/program"
	"autoshard/search/space"
	"autoshard/subaxis"
)

var (
	brutePrograms = flag.Int("brute.programs", 300, "how many random programs TestPlansEqualBruteForce plans")
	bruteSeed     = flag.Int("brute.seed", 1, "the seed of the first of them")
	bruteWays     = flag.Int("brute.ways", 3000, "the most ways to cut one of them")
)

// What is known to be amiss, as parts of the plans that are compared. Plans are slower than they could be where several decisions have to
// change at once for uses to share a copy, which the search prices for each use, or for a result to be kept in a layout in which its
// op does not make it. Limits are refused likewise, and where a product that overlaps with its reduce-scatter holds less than one that
// does not, or one reads a value twice in another layout, which the search counts as two copies. A bound is too high where a value may be
// given up before its last use, because that reads a shared copy.
const slowerPlans, refusedLimits, highBounds = 0.004, 0.004, 0.001

// A plan takes as long as the fastest program among all ways to cut it along whole axes that fit the memory, and its bound is not above
// that. It may be faster only where it cuts along a part of an axis, pads or makes values again, or where the ways are too many to keep
// each result in every layout. There is a plan in as little memory as the smallest of those programs holds, and none in less.
func TestPlansEqualBruteForce(t *testing.T) {
	var all verdicts
	for i := range *brutePrograms {
		seed := *bruteSeed + i
		c := &comparison{T: t, small: smallPrograms(1 + seed%3).Example(seed), seed: seed, verdicts: &all}
		c.brute.enumerate(t.Context(), t)
		least, free := c.brute.smallest().peak, c.brute.fastest(unlimited).peak
		c.compare(unlimited)
		c.compare(least)
		if free > least {
			c.compare(least + (free-least)/2)
		}
		c.below(least)
	}
	t.Logf("%d plans, %d with less memory than the fastest takes; %d slower than brute force, at most %.4f times; %d limits refused that "+
		"have a plan; %d bounds too high; %d faster, along parts of axes or in other layouts",
		all.plans, all.limited, all.slower, all.worst, all.refused, all.high, all.faster)
	amiss := func(n int, known float64) bool { return float64(n) > known*float64(all.plans) }
	if amiss(all.slower, slowerPlans) || amiss(all.refused, refusedLimits) || amiss(all.high, highBounds) {
		t.Error("more is amiss than is known")
	}
}

// verdicts count plans beside brute force.
type verdicts struct {
	plans, limited, slower, faster, refused, high int
	worst                                         float64 // time of a plan by the fastest
}

// comparison is a program whose plans are compared.
type comparison struct {
	*testing.T
	*small
	*verdicts
	seed int
}

// compare compares the plan under a limit that has one.
func (c *comparison) compare(limit int64) {
	want := c.brute.fastest(limit)
	c.plans++
	if limit < c.brute.fastest(unlimited).peak {
		c.limited++
	}
	p, err := Make(c.Context(), c.source(), c.options(limit))
	if errors.Is(err, diag.ErrInfeasible) {
		c.refused++
		c.Logf("seed %d: %v, but this holds %d bytes:\n%s%s", c.seed, err, want.peak, c, c.program(want))
		return
	}
	if err != nil {
		c.Fatalf("seed %d: %v", c.seed, err)
	}
	took := p.Certificate.Cost
	if p.Certificate.Bound > want.picoseconds {
		c.high++
	}
	if p.Estimate.PeakBytes > limit || p.Certificate.Bound > want.picoseconds && limit == unlimited {
		c.Errorf("seed %d: the plan holds %d bytes of %d; its bound is %d ps, and the fastest program takes %d:\n%s%s",
			c.seed, p.Estimate.PeakBytes, limit, p.Certificate.Bound, want.picoseconds, c, c.program(want))
	}
	switch {
	case took < want.picoseconds && !c.brute.narrow && !c.cutsOtherwise(p):
		c.Errorf("seed %d: the plan takes %d ps, the fastest way %d\n%s%s", c.seed, took, want.picoseconds, c, p.Program)
	case took < want.picoseconds:
		c.faster++
	case took > want.picoseconds:
		c.slower++
		c.worst = max(c.worst, float64(took)/float64(want.picoseconds))
		c.Logf("seed %d: in %d bytes the plan takes %d ps, is said to be above %d, and this takes %d:\n%s%s%s",
			c.seed, limit, took, p.Certificate.Bound, want.picoseconds, c, c.program(want), p.Program)
	}
}

// below asks for a plan in less memory than the smallest program holds.
func (c *comparison) below(least int64) {
	p, err := Make(c.Context(), c.source(), c.options(least-1))
	if err == nil && !c.brute.narrow && !c.cutsOtherwise(p) {
		c.Errorf("seed %d: a plan in %d bytes, the smallest holds %d\n%s%s", c.seed, least-1, least, c, p.Program)
	}
	if err != nil && !errors.Is(err, diag.ErrInfeasible) {
		c.Fatalf("seed %d: %v", c.seed, err)
	}
	s := c.brute.space(c.Context(), nil)
	if _, err := s.Build(c.Context(), 0, &space.Effort{}); err != nil || s.LeastPeak() > least {
		c.Errorf("seed %d: no program is said to hold less than %d bytes, %v; one holds %d\n%s", c.seed, s.LeastPeak(), err, least, c)
	}
}

// cutsOtherwise says whether a plan cuts something along a part of an axis, pads it or makes it again, as brute force never does.
func (c *comparison) cutsOtherwise(p *Plan) bool {
	if len(p.Recomputed) > 0 || strings.Contains(p.Program, `":(`) || strings.Contains(p.Program, padding.Boundary) {
		return true
	}
	m, _, err := program.Parse(c.Context(), p.Program)
	if err != nil {
		c.Fatal(err)
	}
	shapes := func(m *ir.Module) map[string]bool {
		all := map[string]bool{}
		for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
			all[fmt.Sprint(m.Shape(v))] = true
		}
		return all
	}
	return !maps.Equal(shapes(c.module), shapes(m)) // what is padded has another one, or that of something else
}

// small is a random program with few enough ways to be cut to try them all.
type small struct {
	module   *ir.Module
	hardware cost.Hardware
	brute    *brute
}

// unlimited is more memory than any of the programs needs.
const unlimited = 1 << 50

// smallPrograms draws programs for a mesh of so many axes.
func smallPrograms(axes int) *rapid.Generator[*small] {
	return rapid.Custom(func(t *rapid.T) *small {
		mesh := subaxis.Mesh{}
		for i := range axes {
			size := rapid.SampledFrom([]int64{2, 2, 3, 4}).Draw(t, "axis")
			mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: size})
		}
		sizes := rapid.SampledFrom([]int64{48, 64, 100, 999, 1024, 1536, 2048, 8192}) // prices of single words are only bounded
		m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 5, Rank: rapid.IntRange(1, 2).Draw(t, "rank"),
			Sizes:   rapid.SliceOfNDistinct(sizes, 2, 3, rapid.ID).Draw(t, "sizes"),
			Indices: rapid.IntRange(0, 3).Draw(t, "indices") == 0, Loops: true, AllResults: rapid.Bool().Draw(t, "all results")})
		programs.Annotate(t, m, m.AddMesh("mesh", mesh, nil, 0), mesh.All(), programs.Layout)
		s := &small{module: m, hardware: linkedChip}
		if name := rapid.SampledFrom([]string{"tpu-v5p", "tpu-v5e", "h100", "cpu", ""}).Draw(t, "hardware"); name != "" {
			s.hardware, _ = cost.Lookup(name)
		}
		p, err := newPlanner(context.Background(), s.source(), s.options(unlimited))
		if err != nil {
			t.Skip(err) // a mesh that the chips cannot form
		}
		if s.brute = newBrute(p, false); s.brute.ways(*bruteWays) > *bruteWays {
			s.brute = newBrute(p, true)
		}
		if n := s.brute.ways(*bruteWays); n < 2 || n > *bruteWays {
			t.Skip("too many ways, or one")
		}
		return s
	})
}

func (s *small) source() *answer.Source { return &answer.Source{Name: "small", Module: s.module} }

func (s *small) options(limit int64) Options { return Options{Hardware: s.hardware, Memory: limit} }

func (s *small) String() string {
	return fmt.Sprintf("%s\n%s", s.hardware.Name, mlir.Print(s.module, mlir.PrintOptions{}))
}

// program shows the program of a way.
func (c *comparison) program(p priced) string {
	c.brute.choose(p.way)
	return string(mlir.Print(c.brute.programs(c.Context(), c.T)[0].explicit, mlir.PrintOptions{}))
}
