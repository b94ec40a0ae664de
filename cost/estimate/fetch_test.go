package estimate_test

import (
	"slices"
	"testing"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/lists"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// few picoseconds may lie between prices of a few elements: that of one integer is none.
const few = 50

// What an op fetches of other blocks is priced as what it is lowered to: its permutes exactly, the copies of rows around them up to
// their masks.
func TestFetchIsPricedAsLowered(t *testing.T) {
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	draws := map[string]func(*rapid.T, subaxis.Mesh, [][]subaxis.Ref) (*ir.Module, ir.MeshID){
		"dynamic_update_slice": programs.Update, "dynamic_slice": programs.Slice, "reduce": programs.Choose, "fold": programs.Fold,
		"running": programs.Run, "top_k": programs.Best, "sort": programs.Order, "gather": programs.Take,
		"scatter": programs.Put, "select_and_scatter": programs.Unpool,
	}
	for name := range programs.Moving {
		draws[name] = func(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
			return programs.Neighbours(t, name, over, cuts)
		}
	}
	for name, draw := range draws {
		rapid.Check(t, func(t *rapid.T) {
			over, cuts := programs.Cuts(t)
			over.DeviceIDs = nil // prices are of places
			m, mesh := draw(t, over, cuts)
			model, err := estimate.New(hw, over)
			if err != nil {
				t.Fatal(err)
			}
			op := m.FirstOp(m.MainFunc().Body)
			for m.Kind(op) == ir.OpConstant || m.Kind(op) == ir.OpIota {
				op = m.NextOp(op)
			}
			blocks := func(v ir.ValueID) []int64 { return m.ShardingOf(m.Sharding(v)).LocalDims(m.Shape(v)) }
			made := lists.Map(m.ResultValues(op), blocks)
			at := func(operand int) *collectives.Layout {
				v := m.Result(op, 0)
				if operand >= 0 {
					v = m.Operand(op, operand)
				}
				l := collectives.LayoutOf(m.ShardingOf(m.Sharding(v)))
				return &l
			}
			f := model.Fetch(m, op, at, lists.Map(m.Operands(op), blocks))
			computed := f.Copied
			if !f.Done {
				computed += model.Op(m, op, f.Operands, made, make([]bool, m.NumValues()))
			}
			p, err := shardmap.Lower(t.Context(), m, mesh)
			if err != nil {
				t.Fatal(err)
			}
			step, err := model.Program(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			text := mlir.Print(m, mlir.PrintOptions{})
			if got := step.Communication(); got != f.Sent {
				t.Fatalf("the program sends for %d ps, the op for %d\n%s", got, f.Sent, text)
			}
			if name == "gather" || name == "scatter" {
				return // what moves its indices into the block counts as nothing, as do indices of single rows
			}
			if most := max(computed, step.Compute); most-min(computed, step.Compute) > most/2+few {
				t.Fatalf("the program computes for %d ps, the op for %d\n%s", step.Compute, computed, text)
			}
		})
	}
}

// A pad that puts as much between elements as it takes from the end has its work to do, though its shape stays.
func TestPadOfOneShapeIsNotDone(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %z: tensor<f32>) -> tensor<2x8xf32> {
  %0 = stablehlo.pad %a, %z, low = [1, 0], high = [-1, -7], interior = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %1 = stablehlo.pad %0, %z, low = [1, 0], high = [-1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimate.New(hw, m.Mesh(mesh).Mesh)
	if err != nil {
		t.Fatal(err)
	}
	var done []bool
	for _, op := range m.OpsOf(m.MainFunc().Body, ir.OpPad) {
		at := func(int) *collectives.Layout {
			l := collectives.LayoutOf(m.ShardingOf(m.Sharding(m.Result(op, 0))))
			return &l
		}
		done = append(done, model.Fetch(m, op, at, [][]int64{{1, 8}, nil}).Done)
	}
	if !slices.Equal(done, []bool{false, true}) {
		t.Errorf("they are done once devices have what they need: %v, want the second alone", done)
	}
}
