package space_test

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/rewrites"
	"autoshard/search"
	"autoshard/search/space"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// unchanged leaves reshards as a solution has them.
var unchanged = collectives.Rewriting{Reach: collectives.Anywhere, Without: rewrites.Of(rewrites.All()...)}

// load reads a program and lays it on a mesh.
func load(t testing.TB, file string, axes ...subaxis.Axis) (*ir.Module, ir.MeshID, *estimate.Model) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(src), axes...)
}

// read parses a program, gives it a mesh of TPU v5e chips, and returns their prices.
func read(t testing.TB, text string, axes ...subaxis.Axis) (*ir.Module, ir.MeshID, *estimate.Model) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.InlineCalls(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m, m.AddMesh("mesh", subaxis.Mesh{Axes: axes}, nil, 0), prices(t, axes)
}

// prices returns those of a mesh of TPU v5e chips.
func prices(t testing.TB, axes []subaxis.Axis) *estimate.Model {
	t.Helper()
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimate.New(hw, subaxis.Mesh{Axes: axes})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// Whatever strategies are picked, the program that they stand for computes what the unsharded one does, and costs no
// more than the problem says: reshards that several users share are paid once.
func TestEverySolutionRuns(t *testing.T) {
	for _, file := range []string{"testdata/loop.mlir", "testdata/chlo.mlir", "../../examples/mlp_train.mlir"} {
		t.Run(file, func(t *testing.T) {
			m, meshID, model := load(t, file, subaxis.Axis{Name: "x", Size: 4}, subaxis.Axis{Name: "y", Size: 2})
			s := space.New(m, meshID, model)
			problem, err := s.Build(context.Background(), 0, &space.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			inputs, want := unsharded(t, m)
			rapid.Check(t, func(t *rapid.T) {
				solution := anySolution(t, problem)
				priced, _, err := problem.Evaluate(solution)
				if err != nil {
					t.Fatal(err)
				}
				p, step := lower(t, s, m, meshID, model, solution)
				if got := step.Communication(); got > priced {
					t.Errorf("collectives take %d ps, the problem prices the whole step at %d", got, priced)
				}
				for i, got := range run(t, p, inputs) {
					if d := distance(got, want[i]); d > 1e-4 {
						t.Fatalf("output %d is off by %g\n%s", i, d, mlir.Print(p.Module, mlir.PrintOptions{}))
					}
				}
			})
		})
	}
}

func lower(t *rapid.T, s *space.Space, m *ir.Module, meshID ir.MeshID, model *estimate.Model, solution []int32) (*shardmap.Program,
	estimate.Step) {
	c := m.Clone()
	assignment := s.Apply(c, solution)
	if _, err := collectives.Partition(t.Context(), c, meshID, assignment, s.Planner(), unchanged); err != nil {
		t.Fatal(err)
	}
	p, err := shardmap.Lower(t.Context(), c, meshID)
	if err != nil {
		t.Fatal(err)
	}
	step, err := model.Program(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return p, step
}

// unsharded makes inputs and runs the program on one device.
func unsharded(t *testing.T, m *ir.Module) (inputs, outputs []*tensor.Tensor) {
	t.Helper()
	main, _ := m.Main()
	for i, arg := range m.BlockArgs(m.Func(main).Body) {
		typ := m.ValueType(arg)
		values := make([]float64, typ.Elements())
		for j := range values {
			values[j] = math.Sin(float64(i*7 + j*3))
		}
		x := tensor.FromFloats(typ.DType, typ.Dims, values...)
		inputs = append(inputs, &x)
	}
	in, err := interp.New(m, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if outputs, err = in.Run(context.Background(), main, inputs); err != nil {
		t.Fatal(err)
	}
	return inputs, outputs
}

// run gives every device the whole inputs, cut by a slice of its own, and puts the outputs together.
func run(t *rapid.T, p *shardmap.Program, inputs []*tensor.Tensor) []*tensor.Tensor {
	args := make([][]*tensor.Tensor, p.Mesh.Devices())
	for d := range args {
		for i, in := range inputs {
			start, size := place(&p.Mesh, &p.Inputs[i], int64(d))
			limit, stride := make([]int64, len(start)), make([]int64, len(start))
			for k := range start {
				limit[k], stride[k] = start[k]+size[k], 1
			}
			block := tensor.Slice(*in, start, limit, stride)
			args[d] = append(args[d], &block)
		}
	}
	if err := shardmap.LowerAxes(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	outs, _, err := mesh.Run(context.Background(), p.Module, p.Main, len(args), args, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var results []*tensor.Tensor
	for i := range p.Outputs {
		whole := tensor.New(outs[0][i].DType, p.Outputs[i].Dims)
		for d := range args {
			start, _ := place(&p.Mesh, &p.Outputs[i], int64(d))
			at := make([]tensor.Tensor, len(start))
			for k := range start {
				at[k] = tensor.FromInts(dtype.I32, nil, start[k])
			}
			whole = tensor.DynamicUpdateSlice(whole, *outs[d][i], at)
		}
		results = append(results, &whole)
	}
	return results
}

func place(m *subaxis.Mesh, port *shardmap.Port, device int64) (start, size []int64) {
	size = port.Layout.LocalDims(port.Dims)
	start = make([]int64, len(size))
	for d := range start {
		start[d] = size[d] * m.ShardIndex(device, port.Layout.Dims[d])
	}
	return start, size
}

func distance(a, b *tensor.Tensor) float64 {
	largest, difference := 0.0, 0.0
	x, y := a.Floats(), b.Floats()
	for i := range y {
		difference = max(difference, math.Abs(x[i]-y[i]))
		largest = max(largest, math.Abs(y[i]))
	}
	return difference / max(largest, 1e-30)
}

// A matrix product offers the four cases of cost.md section 3.1, and the search takes the right one: it gathers the
// smaller side where both operands hold the same axis, and reduces partial products where both hold it contracted.
func TestMatmulCases(t *testing.T) {
	for _, c := range []struct {
		name, lhs, rhs, out string
		want                []string
	}{
		{"nothing contracted is cut", `[{"x"}, {}]`, `[{}, {}]`, `[{"x"}, {}]`, nil},
		{"both sides contracted", `[{}, {"x"}]`, `[{"x"}, {}]`, `[{}, {}]`, []string{"all_reduce"}},
		{"both sides, scattered result", `[{}, {"x"}]`, `[{"x"}, {}]`, `[{"x"}, {}]`, []string{"reduce_scatter"}},
		// option 2c of cost.md section 3.2
		{"one side contracted, the other whole", `[{}, {"x"}]`, `[{}, {}]`, `[{}, {}]`, []string{"all_to_all", "all_gather"}},
		{"the same axis on both sides", `[{"x"}, {}]`, `[{}, {"x"}]`, `[{"x"}, {}]`, []string{"all_gather"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, meshID, model := load(t, "testdata/matmul.mlir", subaxis.Axis{Name: "x", Size: 4})
			s := space.New(m, meshID, model)
			main, _ := m.Main()
			f := m.Func(main)
			for i, text := range []string{c.lhs, c.rhs} {
				s.Pin(m.BlockArgs(f.Body)[i], parse(t, m, text))
			}
			s.PinResult(0, parse(t, m, c.out))
			problem, err := s.Build(context.Background(), 0, &space.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := search.Solve(context.Background(), problem, search.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != search.Optimal {
				t.Errorf("status %s", r.Status)
			}
			program := m.Clone()
			assignment := s.Apply(program, r.Solution)
			if _, err := collectives.Partition(t.Context(), program, meshID, assignment, s.Planner(), unchanged); err != nil {
				t.Fatal(err)
			}
			p, err := shardmap.Lower(t.Context(), program, meshID)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, op := range p.Collectives {
				got = append(got, op.Kind.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("collectives %v, want %v", got, c.want)
			}
		})
	}
}

func parse(t *testing.T, m *ir.Module, dims string) ir.ShardingID {
	t.Helper()
	id, err := mlir.ParseShardingIn(m, m.Body(), "<@mesh, "+dims+">", diag.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return id
}
