package space_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"autoshard/collectives"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// Ops of one class have the problem that they have where each is enumerated and priced for itself: costs, bytes, lifetimes, every
// entry of every edge, those of the relaxed problem too, warm starts, and the programs of solutions.
func TestClasses(t *testing.T) {
	axes := []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0))
		m, mesh, model := parsed(t, repeating(random), axes)
		compareClasses(t, fmt.Sprint("seed ", seed), m, mesh, model, random)
	}
	files := []string{"testdata/loop.mlir", "testdata/chlo.mlir", "../../testdata/plan/branch.mlir", "../../examples/llama_train.mlir"}
	for _, file := range files {
		m, mesh, model := load(t, file, axes...)
		compareClasses(t, file, m, mesh, model, rand.New(rand.NewPCG(1, 2)))
	}
}

// Of a model of three equal layers, most ops find their class made.
func TestClassesAreShared(t *testing.T) {
	m, mesh, model := load(t, "../../examples/llama_train.mlir", subaxis.Axis{Name: "x", Size: 4}, subaxis.Axis{Name: "y", Size: 2})
	s := space.New(m, mesh, model)
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Classes(); got*3 > p.NumNodes() {
		t.Errorf("%d nodes have %d classes", p.NumNodes(), got)
	}
}

// Building the problem of three layers on two and on three axes.
func BenchmarkBuild(b *testing.B) {
	for _, axes := range [][]subaxis.Axis{
		{{Name: "x", Size: 4}, {Name: "y", Size: 2}},
		{{Name: "x", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 2}},
	} {
		b.Run(fmt.Sprint(len(axes), " axes"), func(b *testing.B) {
			m, mesh, model := load(b, "../../examples/llama_train.mlir", axes...)
			strategies := 0
			for b.Loop() {
				p, err := space.New(m, mesh, model).Build(b.Context(), 0, &space.Effort{})
				if err != nil {
					b.Fatal(err)
				}
				strategies = len(p.Cost)
			}
			b.ReportMetric(float64(strategies), "strategies")
		})
	}
}

// compareClasses builds the space of a program twice, with the same random pins and suggestions.
func compareClasses(t *testing.T, name string, m *ir.Module, mesh ir.MeshID, model *estimate.Model, random *rand.Rand) {
	t.Helper()
	shared, separate := space.New(m, mesh, model), space.New(m, mesh, model)
	separate.Separate()
	for range random.IntN(4) {
		settled, assignment := scattered(t, m, mesh, random)
		shared.Suggest(settled, assignment)
		separate.Suggest(settled, assignment)
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if m.ValueType(v).Kind == ir.TensorKind && random.IntN(10) == 0 && inBody(m, v) {
			pin := anySharding(random, m, mesh, m.Shape(v))
			shared.Pin(v, pin)
			separate.Pin(v, pin)
		}
	}
	for _, relaxed := range []bool{false, true} {
		p, err := problem(t, shared, relaxed)
		q, want := problem(t, separate, relaxed)
		if !errors.Is(err, want) && !errors.Is(want, err) {
			t.Fatalf("%s: %v with shared classes, %v with separate ones", name, err, want)
		}
		if err != nil {
			return
		}
		if difference := unlike(p, q); difference != "" {
			t.Fatalf("%s, relaxed %v: with shared classes %s", name, relaxed, difference)
		}
		sameSolutions(t, name, m, shared, separate, p, random)
	}
}

func problem(t *testing.T, s *space.Space, relaxed bool) (p *search.Problem, err error) {
	t.Helper()
	if relaxed {
		p, err = s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
	} else {
		p, err = s.Build(t.Context(), 0, &space.Effort{})
	}
	if err != nil && !errors.Is(err, diag.ErrInfeasible) {
		t.Fatal(err)
	}
	return p, err
}

// unlike says in what two problems differ, if in anything.
func unlike(p, q *search.Problem) string {
	switch {
	case !slices.Equal(p.Off, q.Off):
		return "nodes have other numbers of strategies"
	case !slices.Equal(p.Cost, q.Cost) || !slices.Equal(p.Use, q.Use):
		return "strategies have other costs or usages"
	case !slices.Equal(p.Lo, q.Lo) || !slices.Equal(p.Hi, q.Hi):
		return "lifetimes are others"
	case !slices.Equal(p.EA, q.EA) || !slices.Equal(p.EB, q.EB):
		return "edges join other nodes"
	}
	for e := range p.EA {
		if !slices.Equal(p.EdgeCosts(e), q.EdgeCosts(e)) {
			return fmt.Sprintf("edge %d has other costs", e)
		}
	}
	return ""
}

func sameSolutions(t *testing.T, name string, m *ir.Module, shared, separate *space.Space, p *search.Problem, random *rand.Rand) {
	t.Helper()
	solutions := shared.WarmStarts()
	if !slices.EqualFunc(solutions, separate.WarmStarts(), slices.Equal) {
		t.Fatalf("%s: warm starts differ", name)
	}
	x := make([]int32, p.NumNodes())
	for i := range x {
		x[i] = random.Int32N(int32(p.NumStrategies(i)))
	}
	for _, x := range append(solutions, x) {
		a, b := m.Clone(), m.Clone()
		cuts, others := shared.Apply(a, x), separate.Apply(b, x)
		equal := func(f, g collectives.Factors) bool { return slices.EqualFunc(f, g, slices.Equal) }
		if string(mlir.Print(a, mlir.PrintOptions{})) != string(mlir.Print(b, mlir.PrintOptions{})) || !slices.EqualFunc(cuts, others, equal) {
			t.Fatalf("%s: a solution stands for different programs", name)
		}
	}
}

// scattered returns a copy of a module in which some values are cut at random, also along parts of axes.
func scattered(t *testing.T, m *ir.Module, mesh ir.MeshID, random *rand.Rand) (*ir.Module, collectives.Assignment) {
	t.Helper()
	c := m.Clone()
	for v := ir.ValueID(1); int(v) < c.NumValues(); v++ {
		if c.ValueType(v).Kind == ir.TensorKind && random.IntN(2) == 0 && inBody(c, v) {
			c.SetSharding(v, anySharding(random, c, mesh, c.Shape(v)))
		}
	}
	if err := collectives.Settle(t.Context(), c, mesh); err != nil {
		t.Fatal(err)
	}
	assignment, err := collectives.Derive(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return c, assignment
}

// inBody says whether a value is one of the main function itself, not of a reduction's or a loop's body.
func inBody(m *ir.Module, v ir.ValueID) bool {
	block := m.ArgBlock(v)
	if op := m.DefiningOp(v); op != 0 {
		block = m.OpBlock(op)
	}
	return block == m.MainFunc().Body
}

// anySharding puts each axis, or the major half of the first, on a dimension that it divides or nowhere.
func anySharding(random *rand.Rand, m *ir.Module, mesh ir.MeshID, dims []int64) ir.ShardingID {
	l := collectives.Layout{Dims: make([][]subaxis.Ref, len(dims))}
	for i := range m.Mesh(mesh).Axes {
		axis, d := m.Mesh(mesh).Full(i), random.IntN(len(dims)+1)
		if i == 0 && random.IntN(3) == 0 {
			axis.Size /= 2
		}
		if d < len(dims) && dims[d]%(subaxis.Product(l.Dims[d])*int64(axis.Size)) == 0 {
			l.Dims[d] = append(l.Dims[d], axis)
		}
	}
	return m.InternSharding(l.Sharding(mesh))
}

// repeating returns a program of few kinds of ops on few shapes, most of which occur several times.
func repeating(random *rand.Rand) string {
	values := map[string][]string{"1024x1024": {"%a", "%b"}, "1024x4096": {"%w"}, "1024": {"%l"}}
	pick := func(shape string) string { return values[shape][random.IntN(len(values[shape]))] }
	var body strings.Builder
	for i := range 8 + random.IntN(20) {
		op, shape := anyOp(random, pick)
		fmt.Fprintf(&body, "  %%%d = %s\n", i, op)
		values[shape] = append(values[shape], fmt.Sprintf("%%%d", i))
	}
	return fmt.Sprintf(`sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%%a: tensor<1024x1024xf32>, %%b: tensor<1024x1024xf32>, %%w: tensor<1024x4096xf32>, %%l: tensor<1024xf32>)
    -> (tensor<1024x1024xf32>, tensor<1024xf32>) {
  %%zero = stablehlo.constant dense<0.0> : tensor<f32>
  %%one = stablehlo.constant dense<1.0> : tensor<f32>
%s  return %s, %s : tensor<1024x1024xf32>, tensor<1024xf32>
}`, body.String(), values["1024x1024"][len(values["1024x1024"])-1], values["1024"][len(values["1024"])-1])
}

// anyOp returns an op on values of the shapes that it needs, and the shape of its result.
func anyOp(random *rand.Rand, pick func(shape string) string) (op, shape string) {
	dot := func(lhs, rhs, to string, left, right int) string {
		return fmt.Sprintf("stablehlo.dot_general %s, %s, contracting_dims = [%d] x [%d] : (tensor<%sxf32>, tensor<%sxf32>) -> tensor<%sxf32>",
			pick(lhs), pick(rhs), left, right, lhs, rhs, to)
	}
	const square, line = "tensor<1024x1024xf32>", "tensor<1024xf32>"
	dim := random.IntN(2)
	switch random.IntN(10) {
	case 0:
		return fmt.Sprintf("stablehlo.add %s, %s : tensor<1024x1024xf32>", pick("1024x1024"), pick("1024x1024")), "1024x1024"
	case 1:
		return fmt.Sprintf("stablehlo.tanh %s : tensor<1024x1024xf32>", pick("1024x1024")), "1024x1024"
	case 2:
		return fmt.Sprintf("sdy.sharding_constraint %s <@mesh, [{?}, {?}]> : tensor<1024x1024xf32>", pick("1024x1024")), "1024x1024"
	case 3:
		return dot("1024x1024", "1024x4096", "1024x4096", dim, 0), "1024x4096"
	case 4:
		return dot("1024x4096", "1024x4096", "1024x1024", 1, 1), "1024x1024"
	case 5, 9:
		return dot("1024x1024", "1024x1024", "1024x1024", dim, random.IntN(2)), "1024x1024"
	case 6:
		return fmt.Sprintf("stablehlo.transpose %s, dims = [1, 0] : (%s) -> %s", pick("1024x1024"), square, square), "1024x1024"
	case 7:
		return fmt.Sprintf("stablehlo.broadcast_in_dim %s, dims = [%d] : (%s) -> %s", pick("1024"), dim, line, square), "1024x1024"
	}
	// A sum that begins at one is not a sum of the parts' sums.
	kind := [][2]string{{"%zero", "add"}, {"%one", "add"}, {"%one", "maximum"}}[random.IntN(3)]
	return fmt.Sprintf("stablehlo.reduce(%s init: %s) applies stablehlo.%s across dimensions = [%d] : (%s, tensor<f32>) -> %s",
		pick("1024x1024"), kind[0], kind[1], dim, square, line), "1024"
}

// parsed parses a program that declares its mesh, of the given axes, and returns the prices of that.
func parsed(t *testing.T, text string, axes []subaxis.Axis) (*ir.Module, ir.MeshID, *estimate.Model) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	mesh, _ := m.LookupMesh("mesh")
	return m, mesh, prices(t, axes)
}
