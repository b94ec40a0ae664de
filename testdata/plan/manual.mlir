// A manual computation between elementwise ops, which become part of one program with it.
sdy.mesh @mesh = <["a"=4, "b"=2]>
func.func @main(%x: tensor<64x128xf32>, %w: tensor<128x128xf32>) -> tensor<64x128xf32> {
  %0 = stablehlo.tanh %x : tensor<64x128xf32>
  %1 = sdy.manual_computation(%0, %w) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%l: tensor<16x128xf32>, %r: tensor<128x128xf32>) {
    %3 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
    %4 = stablehlo.exponential %3 : tensor<16x128xf32>
    sdy.return %4 : tensor<16x128xf32>
  } : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  %5 = stablehlo.abs %1 : tensor<64x128xf32>
  %6 = stablehlo.dot_general %5, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  return %6 : tensor<64x128xf32>
}
