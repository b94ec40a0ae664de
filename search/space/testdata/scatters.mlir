// A step of gradient descent on devices that each have a part of the batch and a block of each parameter: gradients are small sums that are
// scattered along different dimensions, some of them made element by element, some read so.
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<512x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<64x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<48x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %c: tensor<64x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<64x48xf32>, tensor<48x64xf32>, tensor<64xf32>, tensor<64x48xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rate = stablehlo.constant dense<0.5> : tensor<64x48xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x48xf32>) -> tensor<64x48xf32>
  %1 = stablehlo.multiply %0, %rate : tensor<64x48xf32>
  %2 = stablehlo.subtract %u, %1 : tensor<64x48xf32>
  %3 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<512x48xf32>, tensor<512x64xf32>) -> tensor<48x64xf32>
  %4 = stablehlo.subtract %v, %3 : tensor<48x64xf32>
  %5 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<512x64xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = stablehlo.negate %5 : tensor<64xf32>
  %7 = stablehlo.add %b, %6 : tensor<64xf32>
  %8 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<512x48xf32>, tensor<f32>) -> tensor<48xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<48xf32>) -> tensor<64x48xf32>
  %10 = stablehlo.negate %9 : tensor<64x48xf32>
  %11 = stablehlo.multiply %10, %rate : tensor<64x48xf32>
  %12 = stablehlo.subtract %c, %11 : tensor<64x48xf32>
  return %2, %4, %7, %12 : tensor<64x48xf32>, tensor<48x64xf32>, tensor<64xf32>, tensor<64x48xf32>
}
