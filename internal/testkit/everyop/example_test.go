package everyop_test

import (
	"fmt"

	"pgregory.net/rapid"

	"autoshard/internal/testkit/everyop"
	"autoshard/ir"
)

// A program around one op has it, an input for each argument, and says of each output what rounds it.
func Example() {
	p := rapid.Custom(func(t *rapid.T) *everyop.Program { return everyop.Of(t, ir.OpSine) }).Example(2)
	main := p.Module.MainFunc()
	fmt.Println(len(p.Inputs) == len(p.Module.BlockArgs(main.Body)), len(p.Rounded) == len(main.ResultTypes))
	fmt.Println(p.Rounded[0].By)
	// Output:
	// true true
	// stablehlo.sine
}
