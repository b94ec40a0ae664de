// One token of one sequence attends to what is cached, by heads.
func.func @main(%q: tensor<1x32x128xbf16> loc("q"), %k: tensor<1x16384x32x128xbf16> loc("cache['k']"), %v: tensor<1x16384x32x128xbf16> loc("cache['v']"))
    -> tensor<1x32x128xbf16> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<1x32x128xbf16>, tensor<1x16384x32x128xbf16>) -> tensor<1x32x16384xbf16>
  %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<1x32x16384xbf16>, tensor<bf16>) -> tensor<1x32xbf16>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xbf16>) -> tensor<1x32x16384xbf16>
  %3 = stablehlo.subtract %0, %2 : tensor<1x32x16384xbf16>
  %4 = stablehlo.exponential %3 : tensor<1x32x16384xbf16>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x32x16384xbf16>, tensor<bf16>) -> tensor<1x32xbf16>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x32xbf16>) -> tensor<1x32x16384xbf16>
  %7 = stablehlo.divide %4, %6 : tensor<1x32x16384xbf16>
  %8 = stablehlo.dot_general %7, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<1x32x16384xbf16>, tensor<1x16384x32x128xbf16>) -> tensor<1x32x128xbf16>
  return %8 : tensor<1x32x128xbf16>
}
