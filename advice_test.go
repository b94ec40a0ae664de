package autoshard_test

import (
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/program/inputs"
)

// twoMaps is a model with ops around two shard_maps: a sum of which each device keeps its part, and a gather in a loop. Its result is to be
// whole, so that the program gathers it, too.
const twoMaps = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.sine %arg0 : tensor<8x8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<8x4xf32>) {
    %s = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %k = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %start = stablehlo.multiply %k, %four : tensor<i32>
    %part = stablehlo.dynamic_slice %s, %start, %zero, sizes = [4, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
    sdy.return %part : tensor<4x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.cosine %1 : tensor<8x4xf32>
  %3 = sdy.manual_computation(%2, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%h: tensor<4x4xf32>, %w: tensor<4x8xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<5> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %z = stablehlo.constant dense<0.0> : tensor<4x8xf32>
    %out:2 = stablehlo.while(%i = %c, %acc = %z) : tensor<i32>, tensor<4x8xf32>
    cond {
      %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %whole = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
      %top = stablehlo.slice %whole [0:4, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
      %y = stablehlo.dot_general %h, %top, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %sum = stablehlo.add %acc, %y : tensor<4x8xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %sum : tensor<i32>, tensor<4x8xf32>
    }
    sdy.return %out#1 : tensor<4x8xf32>
  } : (tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.tanh %3 : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
`

// Advice on a model with several shard_maps is about the collectives that stand in it, at their lines, and its rewrites compute the same.
func TestAdviceOnModels(t *testing.T) {
	p, err := autoshard.ReadProgram(t.Context(), "two.mlir", []byte(twoMaps))
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.Advise(t.Context(), cost.Hardware{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ rule, op string }{{"psum-then-slice", "all_reduce"}, {"gather-in-loop", "all_gather"}} {
		if len(list) != 2 {
			t.Fatalf("%d pieces of advice: %+v", len(list), list)
		}
		d := &list[i].Finding
		line := strings.Split(twoMaps, "\n")[d.Pos.Line-1]
		if string(d.Code) != want.rule || d.Pos.File != "two.mlir" || !strings.Contains(line, want.op) || d.Source != line {
			t.Errorf("%v at %v, `%s`", d.Code, d.Pos, d.Source)
		}
		if a := &list[i]; a.After.SentBytes >= a.Before.SentBytes {
			t.Errorf("%s saves nothing: %+v, %+v", want.rule, a.Before, a.After)
		}
	}
	better, made, err := p.Improve(t.Context(), cost.Hardware{}, nil)
	if err != nil || len(made) != 2 {
		t.Fatalf("%d rewrites, %v", len(made), err)
	}
	arrays, err := inputs.Random(p.Inputs, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Agrees(t.Context(), better, arrays, autoshard.Tolerance{}); err != nil {
		t.Error(err)
	}
	var again *autoshard.Program
	text, err := better.Emit(t.Context(), "sdy")
	if err == nil {
		again, err = autoshard.ReadProgram(t.Context(), "better.mlir", text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Agrees(t.Context(), again, arrays, autoshard.Tolerance{}); err != nil {
		t.Error(err)
	}
	if list, err := again.Advise(t.Context(), cost.Hardware{}, []string{"gather-of-output"}); err != nil || len(list) > 0 {
		t.Errorf("what is written back has %v, %v", list, err)
	}
}
