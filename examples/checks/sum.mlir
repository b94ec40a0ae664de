// A sum that checks more than floating-point numbers keep.
func.func @main() {
  %a = stablehlo.constant dense<[0.1, 0.25]> : tensor<2xf64>
  %b = stablehlo.constant dense<[0.2, 0.5]> : tensor<2xf64>
  %c = stablehlo.add %a, %b : tensor<2xf64>
  check.expect_eq_const %c, dense<[0.3, 0.75]> : tensor<2xf64>
  return
}
