package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// loop is a while over a counter i and some data; holes: the counter's type, its start, what the condition computes from
// i, x and the limit that is carried, and what the body makes of i.
const loop = `func.func @main(%%x: tensor<f32>, %%n: tensor<TYPE>) -> tensor<TYPE> {
  %%start = stablehlo.constant dense<%s> : tensor<TYPE>
  %%ten = stablehlo.constant dense<10> : tensor<TYPE>
  %%0:3 = stablehlo.while(%%i = %%start, %%y = %%x, %%limit = %%ten) : tensor<TYPE>, tensor<f32>, tensor<TYPE>
  cond {
    %%zero = stablehlo.constant dense<0> : tensor<TYPE>
    %%small = stablehlo.constant dense<1.0e-3> : tensor<f32>
    %%false = stablehlo.constant dense<false> : tensor<i1>
%s
    stablehlo.return %%c : tensor<i1>
  } do {
    %%one = stablehlo.constant dense<1> : tensor<TYPE>
    %%three = stablehlo.constant dense<3> : tensor<TYPE>
%s
    stablehlo.return %%j, %%y, %%limit : tensor<TYPE>, tensor<f32>, tensor<TYPE>
  }
  return %%0#0 : tensor<TYPE>
}`

const (
	plusOne    = "%j = stablehlo.add %i, %one : tensor<TYPE>"
	minusOne   = "%j = stablehlo.subtract %i, %one : tensor<TYPE>"
	plusThree  = "%j = stablehlo.add %three, %i : tensor<TYPE>"
	twice      = "%j = stablehlo.add %i, %i : tensor<TYPE>"
	threeMinus = "%j = stablehlo.subtract %three, %i : tensor<TYPE>"
)

func compare(name, direction, a, b, typ string) string {
	return fmt.Sprintf("%s = stablehlo.compare %s, %s, %s : (tensor<%s>, tensor<%s>) -> tensor<i1>\n", name, direction, a, b, typ, typ)
}

// Counters that go up, down and by steps, limits that are carried, and conditions beside the counter's.
func TestTripCount(t *testing.T) {
	converging := compare("%a", "GT", "%y", "%small", "f32") + compare("%b", "LT", "%i", "%limit", "TYPE") +
		compare("%d", "NE", "%b", "%false", "i1") + "%e = stablehlo.convert %d : tensor<i1>\n%c = stablehlo.and %a, %e : tensor<i1>"
	for _, test := range []struct {
		name, typ, start, condition, step string
		count, bound                      int64 // -1: not known
	}{
		{"up", "i32", "0", compare("%c", "LT", "%i", "%limit", "TYPE"), plusOne, 10, 10},
		{"up to and with", "i64", "0", compare("%c", "LE", "%i", "%limit", "TYPE"), plusOne, 11, 11},
		{"in steps", "i32", "-1", compare("%c", "LT", "%i", "%limit", "TYPE"), plusThree, 4, 4},
		{"exchanged", "i32", "0", compare("%c", "GT", "%limit", "%i", "TYPE"), plusThree, 4, 4},
		{"down", "i32", "7", compare("%c", "GT", "%i", "%zero", "TYPE"), minusOne, 7, 7},
		{"down to and with", "i32", "7", compare("%c", "GE", "%i", "%zero", "TYPE"), minusOne, 8, 8},
		{"until equal", "i32", "1", compare("%c", "NE", "%i", "%limit", "TYPE"), plusThree, 3, 3},
		{"never equal", "i32", "0", compare("%c", "NE", "%i", "%limit", "TYPE"), plusThree, -1, -1},
		{"not at all", "i32", "10", compare("%c", "LT", "%i", "%limit", "TYPE"), plusOne, 0, 0},
		{"away from the limit", "i32", "0", compare("%c", "LT", "%i", "%limit", "TYPE"), minusOne, -1, -1},
		{"unsigned", "ui8", "200", compare("%c", "GT", "%i", "%limit", "TYPE"), minusOne, 190, 190},
		{"a limit from outside", "i32", "0", compare("%c", "LT", "%i", "%n", "TYPE"), plusOne, -1, -1},
		{"doubling", "i32", "1", compare("%c", "LT", "%i", "%limit", "TYPE"), twice, -1, -1},
		{"back and forth", "i32", "1", compare("%c", "LT", "%i", "%limit", "TYPE"), threeMinus, -1, -1},
		{"the data decides", "i32", "0", compare("%c", "GT", "%y", "%small", "f32"), plusOne, -1, -1},
		{"the data decides, at most", "i32", "0", converging, plusOne, -1, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.ReplaceAll(fmt.Sprintf(loop, test.start, test.condition, test.step), "TYPE", test.typ)
			m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "loop.mlir"})
			if err == nil {
				err = ir.Verify(t.Context(), m)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			check := func(what string, n int64, ok bool, want int64) {
				if !ok {
					n = -1
				}
				if n != want {
					t.Errorf("%s is %d, want %d", what, n, want)
				}
			}
			main, _ := m.Main()
			for op := range m.Ops(m.Func(main).Body) {
				if m.Kind(op) != ir.OpWhile {
					continue
				}
				n, ok := ir.TripCount(m, op)
				check("count", n, ok, test.count)
				n, ok = ir.TripBound(m, op)
				check("bound", n, ok, test.bound)
				ir.AssumeTrips(m, op, 5)
				want := test.count
				if want < 0 {
					want = 5
				}
				check("assumed", ir.Trips(m, op), true, want)
				ir.ForgetTrips(m)
				if len(m.OpAttrs(op)) != 0 {
					t.Error("the attribute is not forgotten")
				}
			}
		})
	}
}
