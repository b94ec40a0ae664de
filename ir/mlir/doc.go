// Package mlir reads and prints programs in MLIR's text form: StableHLO, CHLO, Shardy and the dialects around them.
//
// The reader is a hand-written lexer and a recursive-descent parser; each op has one row in a table that says how its
// pretty form is read and printed, and every op can be read in generic form. The printer writes what MLIR itself would
// write: it renames the values, orders attributes, and chooses the forms of constants as MLIR does, so that
// Print(Parse(text)) gives back a text that MLIR printed, byte for byte.
//
//	m, err := mlir.Parse([]byte(`func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//	  %y = stablehlo.tanh %x : tensor<2xf32>
//	  return %y : tensor<2xf32>
//	}`), mlir.Options{File: "tanh.mlir"})
//	text := mlir.Print(m, mlir.PrintOptions{}) // module { func.func @main(%arg0: ...
//
// Specification: stablehlo.md section 1, shardy.md section 1.
package mlir
