package ir_test

import (
	"fmt"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// TestSortKeys says of comparators of two operands, integers %a and %b and floats %x and %y, by what they order.
func TestSortKeys(t *testing.T) {
	const nan, total = "0x7FC00000", ", TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
	compare := func(name, direction, operands string) string {
		return "%" + name + " = stablehlo.compare " + direction + ", " + operands + ", SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
	}
	canonical := func(v string) string {
		return fmt.Sprintf(`%%z%[1]s = stablehlo.compare EQ, %%%[1]s, %%zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%%s%[1]s = stablehlo.select %%z%[1]s, %%zero, %%%[1]s : tensor<i1>, tensor<f32>
%%n%[1]s = stablehlo.compare NE, %%%[1]s, %%%[1]s, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%%c%[1]s = stablehlo.select %%n%[1]s, %%nan, %%s%[1]s : tensor<i1>, tensor<f32>
`, v)
	}
	both := canonical("x") + canonical("y")
	for _, c := range []struct{ name, body, want string }{
		{"ascending", compare("r", "LT", "%a, %b"), "[{0 false false}]"},
		{"descending", compare("r", "GT", "%a, %b"), "[{0 true false}]"},
		{"the other way round", compare("r", "GT", "%b, %a"), "[]"},
		{"not strictly", compare("r", "LE", "%a, %b"), "[]"},
		{"floats with NaN", "%r = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n", "[]"},
		{"floats in total order", "%r = stablehlo.compare LT, %x, %y" + total, "[{1 false false}]"},
		{"floats as JAX does", both + "%r = stablehlo.compare LT, %cx, %cy" + total, "[{1 false true}]"},
		{"one side as JAX does", canonical("x") + "%r = stablehlo.compare LT, %cx, %y" + total, "[]"},
		{"two keys", both + compare("l", "LT", "%a, %b") + compare("e", "EQ", "%a, %b") + "%f = stablehlo.compare GT, %cx, %cy" + total +
			"%t = stablehlo.and %e, %f : tensor<i1>\n%r = stablehlo.or %l, %t : tensor<i1>\n", "[{0 false false} {1 true true}]"},
		{"a tie of another key", compare("l", "LT", "%a, %b") + "%e = stablehlo.compare EQ, %x, %y" + total +
			"%t = stablehlo.and %e, %l : tensor<i1>\n%r = stablehlo.or %l, %t : tensor<i1>\n", "[]"},
	} {
		m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%p: tensor<4xi32>, %q: tensor<4xf32>) {
%0:2 = "stablehlo.sort"(%p, %q) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%a: tensor<i32>, %b: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>):
%zero = stablehlo.constant dense<0.0> : tensor<f32>
%nan = stablehlo.constant dense<`+nan+`> : tensor<f32>
`+c.body+`stablehlo.return %r : tensor<i1>
}) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
return
}`), mlir.Options{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		sort := m.OpsOf(m.Body(), ir.OpSort)[0]
		if got := fmt.Sprint(ir.SortKeys(m, m.RegionBlock(sort, 0))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
