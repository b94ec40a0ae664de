package program_test

import (
	"testing"

	"autoshard/ir/mlir"
	"autoshard/program"
)

// The checks that are executed are counted, each time, and in programs that the main function starts.
func TestInterpreterCountsChecks(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @part() -> tensor<i32> {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  check.expect_eq_const %0, dense<7> : tensor<i32>
  return %0 : tensor<i32>
}
func.func @main() {
  %0:2 = "interpreter.run_parallel"() {programs = [[@part, @part]]} : () -> (tensor<i32>, tensor<i32>)
  %1 = func.call @part() : () -> tensor<i32>
  check.expect_eq %0#1, %1 : tensor<i32>
  return
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := program.NewInterpreter(m)
	if err != nil {
		t.Fatal(err)
	}
	if result, err := in.Run(t.Context(), nil, program.RunOptions{}); err != nil || result.Checks != 4 {
		t.Errorf("%v, %v, want 4 checks", result, err)
	}
}
