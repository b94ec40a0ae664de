package padding_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/ir/rule"
	"autoshard/padding"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

var meshes = []subaxis.Mesh{
	{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 8}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 3}}, DeviceIDs: []int64{5, 1, 2, 4, 3, 0}},
}

// flat prices every step alike, so that ways have few of them.
type flat struct{}

func (flat) Price(kind collectives.Kind, _ []subaxis.Ref, _ int64) int64 {
	if kind == collectives.AllSlice {
		return 0
	}
	return 1000
}

// Programs whose values are cut anyhow, mostly by axes that do not divide them, compute what they compute on whole tensors, whatever
// pads them: as programs of padded tensors on one device, and on all devices of a mesh.
func TestPaddingReachesNoResult(t *testing.T) {
	padded := 0
	rapid.Check(t, func(t *rapid.T) {
		m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 6, Rank: 3, Sizes: []int64{2, 3, 4, 5, 6, 7, 12}, Indices: true, Windows: true,
			Loops: true, Identities: true, AllResults: true})
		padded += unseen(t, m, m.AddMesh("mesh", rapid.SampledFrom(meshes).Draw(t, "mesh"), nil, 0))
	})
	if padded == 0 {
		t.Error("nothing is ever padded")
	}
}

// Slices and updates at starts that only run time finds, also beyond the ends and of any type of index.
func TestDynamicSlicesOfPadded(t *testing.T) {
	for name, drawn := range map[string]func(*rapid.T, subaxis.Mesh, [][]subaxis.Ref) (*ir.Module, ir.MeshID){
		"slice": programs.Slice, "update": programs.Update,
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			mesh, cuts := programs.Cuts(t)
			m, over := drawn(t, mesh, cuts)
			unseen(t, m, over)
		}))
	}
}

// Ops that merge what devices find in their blocks are cut anyhow.
func TestPartialResultsOfPadded(t *testing.T) {
	for name, drawn := range map[string]func(*rapid.T, subaxis.Mesh, [][]subaxis.Ref) (*ir.Module, ir.MeshID){
		"choose": programs.Choose, "fold": programs.Fold, "run": programs.Run, "best": programs.Best, "put": programs.Put,
		"unpool": programs.Unpool, "order": programs.Order,
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			mesh, cuts := programs.Cuts(t)
			m, over := drawn(t, mesh, cuts)
			unseen(t, m, over)
		}))
	}
}

// Ops whose elements move are computed on blocks of whole dimensions, or on blocks that are even.
func TestNeighboursOfPadded(t *testing.T) {
	for name := range programs.Moving {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			mesh, cuts := programs.Cuts(t)
			m, over := programs.Neighbours(t, name, mesh, cuts)
			unseen(t, m, over)
		}))
	}
}

// matrices are functions that do something with every one of N times M matrices, of which some have K columns or rows.
var matrices = map[string]string{
	"cholesky": `func.func @main(%a: tensor<NxMx3x3xf32>) -> tensor<NxMx3x3xf32> {
  %heavy = stablehlo.constant dense<[[30.0, 0.0, 0.0], [0.0, 30.0, 0.0], [0.0, 0.0, 30.0]]> : tensor<3x3xf32>
  %all = stablehlo.broadcast_in_dim %heavy, dims = [2, 3] : (tensor<3x3xf32>) -> tensor<NxMx3x3xf32>
  %x = stablehlo.add %a, %all : tensor<NxMx3x3xf32>
  %0 = stablehlo.cholesky %x, lower = true : tensor<NxMx3x3xf32>
  return %0 : tensor<NxMx3x3xf32>
}`,
	"columns": `func.func @main(%a: tensor<NxMx3x3xf32>, %b: tensor<NxMx3xKxf32>) -> tensor<NxMx3xKxf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>,
    unit_diagonal = true}> : (tensor<NxMx3x3xf32>, tensor<NxMx3xKxf32>) -> tensor<NxMx3xKxf32>
  return %0 : tensor<NxMx3xKxf32>
}`,
	"rows": `func.func @main(%a: tensor<NxMx3x3xf32>, %b: tensor<NxMxKx3xf32>) -> tensor<NxMxKx3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>,
    unit_diagonal = true}> : (tensor<NxMx3x3xf32>, tensor<NxMxKx3xf32>) -> tensor<NxMxKx3xf32>
  return %0 : tensor<NxMxKx3xf32>
}`,
	"eigh": `func.func @main(%a: tensor<NxMx3x3xf32>) -> tensor<NxMx3xf32> {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8},
    mhlo.frontend_attributes = {num_batch_dims = "2"},
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l])->([i, j, m, n], [i, j, o], [i, j]) {i=N, j=M, k=3, l=3, m=3, n=3, o=3}, custom>}
    : (tensor<NxMx3x3xf32>) -> (tensor<NxMx3x3xf32>, tensor<NxMx3xf32>, tensor<NxMxi32>)
  return %0#1 : tensor<NxMx3xf32>
}`,
	"solve": `func.func @main(%a: tensor<NxMx3x3xf32>, %b: tensor<NxMx3xKxf32>) -> tensor<NxMx3xKxf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8,
    uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "2"}, sdy.sharding_rule =
    #sdy.op_sharding_rule<([i, j, k, l], [i, j, m, n])->([i, j, o, p]) {i=N, j=M, k=3, l=3, m=3, n=K, o=3, p=K}, custom>}
    : (tensor<NxMx3x3xf32>, tensor<NxMx3xKxf32>) -> tensor<NxMx3xKxf32>
  return %0 : tensor<NxMx3xKxf32>
}`,
	"fft": `func.func @main(%a: tensor<NxMxKx4xf32>) -> tensor<NxMxKx3xf32> {
  %0 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<NxMxKx4xf32>) -> tensor<NxMxKx3xcomplex<f32>>
  %1 = stablehlo.imag %0 : (tensor<NxMxKx3xcomplex<f32>>) -> tensor<NxMxKx3xf32>
  return %1 : tensor<NxMxKx3xf32>
}`,
}

// Matrices of a batch, right-hand sides of systems, and rows that are transformed, are padded by some that nobody looks at.
func TestMatricesOfPadded(t *testing.T) {
	for name, text := range matrices {
		padded := 0
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			sizes := rapid.SliceOfN(rapid.IntRange(1, 7), 3, 3).Draw(t, "sizes")
			named := strings.NewReplacer("Nx", fmt.Sprint(sizes[0], "x"), "Mx", fmt.Sprint(sizes[1], "x"), "Kx", fmt.Sprint(sizes[2], "x"),
				"=N", fmt.Sprint("=", sizes[0]), "=M", fmt.Sprint("=", sizes[1]), "=K", fmt.Sprint("=", sizes[2]))
			m, err := mlir.Parse(t.Context(), []byte(named.Replace(text)), mlir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			padded += unseen(t, m, m.AddMesh("mesh", rapid.SampledFrom(meshes).Draw(t, "mesh"), nil, 0))
		}))
		if padded == 0 {
			t.Errorf("nothing of %s is ever padded", name)
		}
	}
}

// unseen gives a program random shardings and compares what it computes with what it computes whole. It returns how many arguments and
// results are padded.
func unseen(t *rapid.T, m *ir.Module, mesh ir.MeshID) int {
	cut(t, m, mesh)
	inputs := programs.Inputs(t, m)
	want, text := evaluate(t, m, inputs), mlir.Print(m, mlir.PrintOptions{})
	before := ir.OpID(m.NumOps())
	partition(t, m, mesh)
	garbage := rapid.SampledFrom(poisons).Draw(t, "garbage")
	padded := poison(m, before, garbage)
	compare(t, "padded", evaluate(t, m, inputs), want, text, m)

	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err == nil {
		err = shardmap.LowerAxes(t.Context(), p)
	}
	if err == nil {
		err = ir.Verify(t.Context(), m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	got, err := run.Program(t.Context(), p, inputs, run.Options{Fill: garbage, WholeWindows: true})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "on devices", got.Outputs, want, text, m)
	return padded
}

// cut gives every value of a function a random sharding.
func cut(t *rapid.T, m *ir.Module, mesh ir.MeshID) {
	main := m.MainFunc()
	var parts []subaxis.Ref
	for _, r := range m.Mesh(mesh).All() {
		major, half := subaxis.Ref{Axis: r.Axis, Pre: 1, Size: 2}, r.Size%2 == 0 && r.Size > 2 && rapid.Bool().Draw(t, "in parts")
		if minor, _ := r.SuffixWithout(major); half {
			parts = append(parts, major, minor)
		} else {
			parts = append(parts, r)
		}
	}
	sharding := func(v ir.ValueID) ir.ShardingID {
		l := programs.Anywhere(t, m.Shape(v), parts)
		return m.InternSharding(l.Sharding(mesh))
	}
	for i, v := range m.Operands(m.LastOp(main.Body)) {
		main.ResultShardings[i] = sharding(v)
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if op := m.DefiningOp(v); op != 0 && m.OpBlock(op) == main.Body || m.ArgBlock(v) == main.Body {
			m.SetSharding(v, sharding(v))
		}
	}
}

// partition makes the communications of a module explicit.
func partition(t *rapid.T, m *ir.Module, mesh ir.MeshID) {
	err := collectives.Settle(t.Context(), m, mesh)
	if err != nil {
		t.Fatal(err)
	}
	assignment, err := collectives.Derive(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range m.OpsOf(m.MainFunc().Body, ir.OpSort) {
		if rapid.Bool().Draw(t, "sort in place") { // also where gathering sends less
			assignment[op] = asItLies(m, op, assignment[op])
		}
	}
	planner := collectives.NewPlanner(flat{}, m.Mesh(mesh).Axes)
	how := collectives.Rewriting{Reach: collectives.Anywhere}
	if _, err := collectives.Partition(t.Context(), m, mesh, assignment, planner, how); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatalf("the padded program is wrong: %v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
}

// asItLies returns factors that cut a sort as its result lies, or those that are given where that is not possible.
func asItLies(m *ir.Module, op ir.OpID, factors collectives.Factors) collectives.Factors {
	r, out := rule.Computing(m, op), make(collectives.Factors, len(factors))
	parts, reduction := rule.Shardable(m, op, r)
	for d, dim := range r.Results[0] {
		axes := m.ShardingOf(m.Sharding(m.Result(op, 0))).Dims[d].Axes
		out[dim[0]] = axes
		if parts[dim[0]]%subaxis.Product(axes) != 0 && !rule.Paddable(m, op, r)[dim[0]] {
			return factors
		}
	}
	if _, _, ok := collectives.Project(r, out, reduction); !ok {
		return factors
	}
	return out
}

// poisons fill blocks with what would be seen.
var poisons = []run.Fill{
	everywhere(math.NaN(), math.MinInt32), everywhere(math.Inf(1), math.MaxInt32), everywhere(math.Inf(-1), 1), everywhere(1e30, -3),
}

func everywhere(float float64, integer int64) run.Fill {
	return func(block *tensor.Tensor) {
		var element tensor.Tensor
		switch block.DType.Kind() {
		case dtype.Float:
			element = tensor.FromFloats(block.DType, nil, float)
		case dtype.Bool:
			element = tensor.FromInts(block.DType, nil, integer&1)
		default:
			element = tensor.FromInts(block.DType, nil, dtype.Wrap(block.DType, integer))
		}
		copy(block.Data, bytes.Repeat(element.Data, block.Len()))
	}
}

// poison replaces what pads arguments, and values on the way, by ops from first on. It returns how many arguments and results are padded.
func poison(m *ir.Module, first ir.OpID, fill run.Fill) (padded int) {
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if padding.AtBoundary(m, op) {
			padded++
		}
		if op >= first && m.Kind(op) == ir.OpPad {
			scalar := tensor.New(m.ValueType(m.Operand(op, 1)).DType, nil)
			fill(&scalar)
			value := m.BuilderBefore(op).Constant(m.Dense(m.Type(m.Operand(op, 1)), scalar.Data))
			m.SetSharding(value, m.Sharding(m.Operand(op, 1)))
			m.SetOperand(op, 1, value)
		}
	})
	return padded
}

func evaluate(t *rapid.T, m *ir.Module, inputs []*tensor.Tensor) []*tensor.Tensor {
	in, err := interp.New(m, interp.Options{WholeWindows: true})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	out, err := in.Run(t.Context(), main, inputs)
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	return out
}

func compare(t *rapid.T, how string, got, want []*tensor.Tensor, text []byte, m *ir.Module) {
	for i := range want {
		x, y := got[i].Floats(), want[i].Floats()
		largest, tolerance := 0.0, 1e-5
		if want[i].DType == dtype.BF16 {
			tolerance = 1.0 / 64 // parts of a sum are rounded
		}
		for k := range y {
			largest = max(largest, math.Abs(y[k]))
		}
		for k := range y {
			if !(math.Abs(x[k]-y[k]) <= tolerance*largest) && x[k] != y[k] {
				t.Fatalf("%s: output %d is %v, want %v\n%s\n%s", how, i, x, y, text, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	}
}
