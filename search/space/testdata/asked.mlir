// Gathers that constraints ask for wait for what needs them: the first one past a product and through a manual computation, so that it can
// be sent as one with the second one, or with that for the product.
sdy.mesh @mesh = <["a"=4]>
func.func public @main(%u: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    %v: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    %x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<64x64xf32>, tensor<8x64xf32>, tensor<64x64xf32>) {
  %0 = sdy.sharding_constraint %u <@mesh, [{}, {}]> : tensor<64x64xf32>
  %1 = sdy.sharding_constraint %v <@mesh, [{}, {}]> : tensor<64x64xf32>
  %2 = stablehlo.exponential %1 : tensor<64x64xf32>
  %3 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %4 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"a"} (%l: tensor<64x64xf32>) {
    sdy.return %l : tensor<64x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = stablehlo.negate %4 : tensor<64x64xf32>
  return %2, %3, %5 : tensor<64x64xf32>, tensor<8x64xf32>, tensor<64x64xf32>
}
