// One long sequence attends to itself, in one head: nothing but the sequence can be cut.
func.func @main(%q: tensor<65536x128xbf16> loc("q"), %k: tensor<65536x128xbf16> loc("k"), %v: tensor<65536x128xbf16> loc("v"))
    -> tensor<65536x128xbf16> {
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<65536x128xbf16>, tensor<65536x128xbf16>) -> tensor<65536x65536xbf16>
  %1 = stablehlo.exponential %0 : tensor<65536x65536xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<65536x65536xbf16>, tensor<bf16>) -> tensor<65536xbf16>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<65536xbf16>) -> tensor<65536x65536xbf16>
  %4 = stablehlo.divide %1, %3 : tensor<65536x65536xbf16>
  %5 = stablehlo.dot_general %4, %v, contracting_dims = [1] x [0] : (tensor<65536x65536xbf16>, tensor<65536x128xbf16>) -> tensor<65536x128xbf16>
  return %5 : tensor<65536x128xbf16>
}
