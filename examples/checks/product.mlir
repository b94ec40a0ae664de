// A product of matrices that checks what it gives.
func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %c, dense<[[19.0, 22.0], [43.0, 50.0]]> : tensor<2x2xf32>
  %d = stablehlo.sqrt %c : tensor<2x2xf32>
  %e = stablehlo.multiply %d, %d : tensor<2x2xf32>
  check.expect_close %e, %c, max_ulp_difference = 3 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
