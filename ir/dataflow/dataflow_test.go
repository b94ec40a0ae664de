package dataflow_test

import (
	"context"
	"fmt"
	"testing"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/mlir"
)

const loop = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %n: tensor<i1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%a = %x, %p = %n) : tensor<8xf32>, tensor<i1>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, []>]>}
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %b = stablehlo.negate %a : tensor<8xf32>
    stablehlo.return %b, %p : tensor<8xf32>, tensor<i1>
  }
  %c = sdy.manual_computation(%r#0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%d: tensor<2xf32>) {
    sdy.return %d : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}`

func parse(text string) *ir.Module {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{})
	if err != nil {
		panic(err)
	}
	return m
}

// find returns the only op of a kind.
func find(m *ir.Module, kind ir.Kind) ir.OpID {
	var found ir.OpID
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) == kind {
			found = op
		}
	})
	return found
}

// The values of a loop that are one have one owner, which holds their sharding.
func TestLoop(t *testing.T) {
	m := parse(loop)
	while := find(m, ir.OpWhile)
	owner := m.Result(while, 0)
	if len(dataflow.Sources(m, owner)) != 2 || len(dataflow.OtherTargets(m, owner)) != 2 {
		t.Errorf("a value of a loop has %d sources and %d other targets, want 2 and 2",
			len(dataflow.Sources(m, owner)), len(dataflow.OtherTargets(m, owner)))
	}
	for _, arg := range dataflow.OtherTargets(m, owner) {
		if dataflow.Owner(m, arg) != owner || dataflow.Home(m, arg) != owner || dataflow.ShardingOf(m, arg) != m.Sharding(owner) {
			t.Errorf("argument %d of the loop does not belong to result 0", m.Index(arg))
		}
	}
	for _, use := range dataflow.Sources(m, owner) {
		if dataflow.Into(m, use) != owner {
			t.Errorf("operand %d of %s does not flow into result 0", use.Index, m.OpName(use.Op))
		}
	}
}

// What is manual cuts the values outside of a manual computation and is not seen inside.
func TestManualComputation(t *testing.T) {
	m := parse(loop)
	op := find(m, ir.OpSdyManualComputation)
	arg := m.BlockArgs(m.RegionBlock(op, 0))[0]
	if inside := m.ShardingOf(dataflow.ShardingOf(m, arg)); len(inside.Dims[0].Axes) != 0 {
		t.Errorf("the argument is cut by %v inside", inside.Dims[0].Axes)
	}
	view := dataflow.ViewOf(m, arg)
	if outside := view.BeforePropagation(m, dataflow.OwnerSharding(m, arg)); !view.Translates() || outside != m.Sharding(arg) {
		t.Errorf("the argument is %s outside, want its in_sharding", m.FormatSharding(outside))
	}
	if owners := dataflow.Owners(m, op); len(owners) != 2 || owners[0] != arg || owners[1] != m.Result(op, 0) {
		t.Errorf("the owners are %v, want the argument and the result", owners)
	}
}

func Example() {
	m := parse(loop)
	for _, edge := range dataflow.Inflows(m, find(m, ir.OpWhile)) {
		fmt.Println(len(edge.Sources), "sources have to be", m.FormatSharding(edge.Sharding))
	}
	// Output:
	// 2 sources have to be <@mesh, [{"x"}]>
	// 2 sources have to be <@mesh, []>
}
