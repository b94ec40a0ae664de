// Two layers of two products, each behind a norm that needs whole rows of few tokens: between products the tokens may be cut.
func.func @main(%x: tensor<2048x4096xbf16> loc("x"), %up: tensor<4096x16384xbf16> loc("up"), %down: tensor<16384x4096xbf16> loc("down"),
    %up2: tensor<4096x16384xbf16> loc("up2"), %down2: tensor<16384x4096xbf16> loc("down2")) -> tensor<2048x4096xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<2048x4096xbf16>, tensor<4096x16384xbf16>) -> tensor<2048x16384xbf16>
  %1 = stablehlo.tanh %0 : tensor<2048x16384xbf16>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<2048x16384xbf16>, tensor<16384x4096xbf16>) -> tensor<2048x4096xbf16>
  %3 = stablehlo.multiply %2, %2 : tensor<2048x4096xbf16>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x4096xbf16>, tensor<bf16>) -> tensor<2048xbf16>
  %5 = stablehlo.rsqrt %4 : tensor<2048xbf16>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2048xbf16>) -> tensor<2048x4096xbf16>
  %7 = stablehlo.multiply %2, %6 : tensor<2048x4096xbf16>
  %8 = stablehlo.dot_general %7, %up2, contracting_dims = [1] x [0] : (tensor<2048x4096xbf16>, tensor<4096x16384xbf16>) -> tensor<2048x16384xbf16>
  %9 = stablehlo.tanh %8 : tensor<2048x16384xbf16>
  %10 = stablehlo.dot_general %9, %down2, contracting_dims = [1] x [0] : (tensor<2048x16384xbf16>, tensor<16384x4096xbf16>) -> tensor<2048x4096xbf16>
  return %10 : tensor<2048x4096xbf16>
}
