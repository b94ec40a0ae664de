// Elementwise ops that read each other on the fly, through reshapes, a constraint and the bounds of a manual computation.
sdy.mesh @mesh = <["a"=4]>
func.func public @main(%x: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    %y: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<32768xf32>, tensor<32768xf32>) {
  %0 = stablehlo.reshape %x : (tensor<512x64xf32>) -> tensor<32768xf32>
  %1 = stablehlo.exponential %0 : tensor<32768xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"a"}]> : tensor<32768xf32>
  %3 = stablehlo.abs %2 : tensor<32768xf32>
  %4 = stablehlo.cosine %y : tensor<512x64xf32>
  %5 = stablehlo.reshape %4 : (tensor<512x64xf32>) -> tensor<32768xf32>
  %6 = sdy.manual_computation(%5) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%l: tensor<8192xf32>) {
    %8 = stablehlo.reshape %l : (tensor<8192xf32>) -> tensor<128x64xf32>
    %9 = stablehlo.negate %8 : tensor<128x64xf32>
    %10 = stablehlo.reshape %9 : (tensor<128x64xf32>) -> tensor<8192xf32>
    sdy.return %10 : tensor<8192xf32>
  } : (tensor<32768xf32>) -> tensor<32768xf32>
  %7 = stablehlo.sine %6 : tensor<32768xf32>
  return %3, %7 : tensor<32768xf32>, tensor<32768xf32>
}
