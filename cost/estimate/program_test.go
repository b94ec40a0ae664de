package estimate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/diag"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// rounds is a loop that changes what it carries so many times.
const rounds = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %%zero = stablehlo.constant dense<0> : tensor<i64>
  %%one = stablehlo.constant dense<1> : tensor<i64>
  %%r:2 = stablehlo.while(%%i = %%zero, %%h = %%x) : tensor<i64>, tensor<1024x1024xf32>
  cond {
    %%n = stablehlo.constant dense<%d> : tensor<i64>
    %%less = stablehlo.compare LT, %%i, %%n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %%less : tensor<i1>
  } do {
    %%y = %s tensor<1024x1024xf32>
    %%next = stablehlo.add %%i, %%one : tensor<i64>
    stablehlo.return %%next, %%y : tensor<i64>, tensor<1024x1024xf32>
  }
  return %%r#1 : tensor<1024x1024xf32>
}`

// A step of days is priced; one that takes longer than is counted is an error that names the loop, whether it computes or communicates.
func TestLongSteps(t *testing.T) {
	md := model(t, torus(1e13, 1e9, 1e-6, cost.WrapFull))
	for _, op := range []string{
		"stablehlo.dot_general %h, %h, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) ->",
		`sdy.all_reduce {"y"} %h out_sharding=<@mesh, [{}, {}]> :`,
	} {
		for _, n := range []int64{1, 1_000_000, 1 << 40, 1 << 50} {
			m, err := mlir.Parse(t.Context(), fmt.Appendf(nil, rounds, n, op), mlir.Options{File: "rounds.mlir"})
			if err != nil {
				t.Fatal(err)
			}
			m.LocateByText()
			mesh, _ := m.LookupMesh("mesh")
			p, err := shardmap.Lower(t.Context(), m, mesh)
			if err != nil {
				t.Fatal(err)
			}
			step, err := md.Program(t.Context(), p)
			switch long := n > 1_000_000; {
			case long && (!errors.Is(err, diag.ErrTooLarge) || !strings.HasPrefix(err.Error(), "rounds.mlir:")):
				t.Errorf("%s %d times takes %d ps: %v", op, n, step.Total(), err)
			case !long && (err != nil || step.Total() < n):
				t.Errorf("%s %d times takes %d ps: %v", op, n, step.Total(), err)
			}
		}
	}
}
