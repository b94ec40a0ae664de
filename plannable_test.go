package autoshard_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

const onMesh = "sdy.mesh @mesh = <[\"data\"=4, \"model\"=2]>\n"

func read(t *testing.T, text string) *autoshard.Model {
	t.Helper()
	m, err := autoshard.ReadModel(t.Context(), "test.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What a plan cannot hold is refused, with its place.
func TestUnplannable(t *testing.T) {
	for name, text := range map[string]string{
		"device 3 alone": onMesh + `sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}`,
		"outside of a manual computation": onMesh +
			`func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
  %0 = sdy.all_gather [{"data"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}`,
		"a region of 2 blocks": onMesh + `func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  "cf.br"()[^bb1] : () -> ()
^bb1:
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}`,
		"cannot be one": onMesh + `sdy.mesh @other = <["x"=16]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}`,
	} {
		o := options(t)
		o.Mesh = nil
		_, err := autoshard.MakePlan(context.Background(), read(t, text), o)
		if !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A mesh that no sharding uses does not stand in the way, and a branch that is not taken moves no bytes.
func TestBranchesMoveWhatTheyRun(t *testing.T) {
	m := read(t, onMesh+`sdy.mesh @unused = <["x"=8]>
func.func @main(%arg0: tensor<i32>, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = "stablehlo.case"(%arg0) ({
    %1 = stablehlo.tanh %arg1 : tensor<8x16xf32>
    stablehlo.return %1 : tensor<8x16xf32>
  }, {
    %1 = stablehlo.negate %arg1 : tensor<8x16xf32>
    stablehlo.return %1 : tensor<8x16xf32>
  }) : (tensor<i32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}`)
	o := options(t)
	o.Mesh = nil
	p := makePlan(t, m, o)
	if len(p.Collectives) == 0 {
		t.Fatal("the plan moves nothing; the test wants it to")
	}
	values := make([]float64, 128)
	for i := range values {
		values[i] = float64(i)
	}
	branch, x := tensor.FromInts(dtype.I32, nil, 1), tensor.FromFloats(dtype.F32, []int64{8, 16}, values...)
	if _, err := lowered(t, p).Verify(context.Background(), []*tensor.Tensor{&branch, &x}, nil, autoshard.Tolerance{}); err != nil {
		t.Error(err)
	}
}
