// Two products with a function between, of few rows: what takes time is reading the weights.
func.func @main(%x: tensor<64x8192xbf16> loc("x"), %up: tensor<8192x32768xbf16> loc("up"), %down: tensor<32768x8192xbf16> loc("down"))
    -> tensor<64x8192xbf16> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<64x8192xbf16>, tensor<8192x32768xbf16>) -> tensor<64x32768xbf16>
  %1 = stablehlo.tanh %0 : tensor<64x32768xbf16>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<64x32768xbf16>, tensor<32768x8192xbf16>) -> tensor<64x8192xbf16>
  return %2 : tensor<64x8192xbf16>
}
