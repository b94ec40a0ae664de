// Groups of tokens go to eight experts, each with weights of its own, and back: a mask says which token has which place at which expert.
func.func @main(%x: tensor<8x4096x1024xbf16> loc("x"), %mask: tensor<8x4096x8x512xbf16> loc("mask"), %up: tensor<8x1024x4096xbf16> loc("up"),
    %down: tensor<8x4096x1024xbf16> loc("down")) -> tensor<8x4096x1024xbf16> {
  %0 = stablehlo.dot_general %mask, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x4096x8x512xbf16>, tensor<8x4096x1024xbf16>) -> tensor<8x8x512x1024xbf16>
  %1 = stablehlo.dot_general %0, %up, batching_dims = [1] x [0], contracting_dims = [3] x [1] : (tensor<8x8x512x1024xbf16>, tensor<8x1024x4096xbf16>) -> tensor<8x8x512x4096xbf16>
  %2 = stablehlo.tanh %1 : tensor<8x8x512x4096xbf16>
  %3 = stablehlo.dot_general %2, %down, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<8x8x512x4096xbf16>, tensor<8x4096x1024xbf16>) -> tensor<8x8x512x1024xbf16>
  %4 = stablehlo.dot_general %mask, %3, batching_dims = [0] x [1], contracting_dims = [2, 3] x [0, 2] : (tensor<8x4096x8x512xbf16>, tensor<8x8x512x1024xbf16>) -> tensor<8x4096x1024xbf16>
  return %4 : tensor<8x4096x1024xbf16>
}
