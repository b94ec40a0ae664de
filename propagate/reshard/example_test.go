package reshard_test

import (
	"fmt"

	"autoshard/ir"
	"autoshard/propagate/reshard"
)

// A product along "x" whose result is to be cut along "x": it is better cut along "y" first, as its second operand is. The
// full version also reduces its partial sums, and brings the result to where the function returns it.
func Example() {
	m, err := read(`
sdy.mesh @mesh = <["x"=4, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}`)
	if err != nil {
		panic(err)
	}
	for _, full := range []bool{false, true} {
		if err := reshard.VerifyUnreduced(m); err != nil {
			panic(err)
		}
		if err := reshard.Insert(m, reshard.Options{Full: full}); err != nil {
			panic(err)
		}
		fmt.Println("full:", full)
		m.Walk(m.Body(), func(op ir.OpID) {
			for _, v := range m.Results(op) {
				fmt.Println(" ", m.OpName(op), m.FormatSharding(m.Sharding(v)))
			}
		})
	}
	// Output:
	// full: false
	//   stablehlo.dot <@mesh, [{}, {"y"}]>
	//   sdy.reshard <@mesh, [{}, {"x"}]>
	// full: true
	//   stablehlo.dot <@mesh, [{}, {"y"}]>
	//   sdy.all_reduce <@mesh, [{}, {"y"}]>
	//   sdy.reshard <@mesh, [{}, {"x"}]>
	//   sdy.reshard <@mesh, [{}, {}]>
}
