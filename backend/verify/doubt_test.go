package verify

import (
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// A manual computation that says that its results are equal along x: the first is that, and differs; the second is summed. A loop and an op
// work on the first, another op on the second.
const careless = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] manual_axes={"x"} (%b: tensor<2xi32>) {
    %s = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %sum = stablehlo.add %l, %r : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) : (tensor<2xi32>) -> tensor<2xi32>
    sdy.return %b, %s : tensor<2xi32>, tensor<2xi32>
  } : (tensor<8xi32>) -> (tensor<2xi32>, tensor<2xi32>) loc("model.py":5:1)
  %zero = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%i = %zero, %a = %0#0) : tensor<i32>, tensor<2xi32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}]>]>}
  cond {
    %two = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<2> : tensor<i32>
    %go = stablehlo.compare LT, %i, %two {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<i32>
    %twice = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<2xi32>
    stablehlo.return %next, %twice : tensor<i32>, tensor<2xi32>
  }
  %2 = stablehlo.negate %1#1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<2xi32>
  %3 = stablehlo.abs %0#1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<2xi32> loc("model.py":9:1)
  return %2, %3 : tensor<2xi32>, tensor<2xi32>
}`

// What a manual computation by itself makes differently on devices, and what is made of it, is no fault but a doubt, located; all else is
// judged.
func TestDoubts(t *testing.T) {
	x := tensor.FromFloats(dtype.I32, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	whole, p := read(t, careless, nil)
	r := proof(t, whole, p, x)
	if len(r.Faults) > 0 || len(r.Doubts) != 1 || r.Values == 0 {
		t.Fatalf("%d values, faults %v, doubts %v", r.Values, r.Faults, r.Doubts)
	}
	if d := r.Doubts[0]; d.Pos.String() != "model.py:5:1" || d.Result != 0 || d.First != 0 || d.Second != 1 {
		t.Errorf("%+v is in doubt", d)
	}
	if got := r.Outputs[0].Floats(); got[0] != -4 || got[1] != -8 {
		t.Errorf("the copy of the first device makes %v", got)
	}

	whole, p = read(t, careless, func(m *ir.Module) { // what differs because it was lowered wrongly is a fault
		op := find(m, ir.OpAllReduce)
		m.ReplaceUses(m.Result(op, 0), m.Operand(op, 0))
	})
	r = proof(t, whole, p, x)
	if len(r.Doubts) != 1 || r.Wrong == 0 || !strings.HasPrefix(r.Faults[0].Pos.String(), "model.py:") {
		t.Errorf("faults %v, doubts %v", r.Faults, r.Doubts)
	}
}
