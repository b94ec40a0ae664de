// A gather that a constraint asks for, before the products that read it.
sdy.mesh @mesh = <["model"=4]>
func.func public @main(%x: tensor<512x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %wq: tensor<512x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wk: tensor<512x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<512x64xbf16>, tensor<512x32xbf16>) {
  %c = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<512x512xbf16>
  %q = stablehlo.dot_general %c, %wq, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x64xbf16>) -> tensor<512x64xbf16>
  %k = stablehlo.dot_general %c, %wk, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x32xbf16>) -> tensor<512x32xbf16>
  return %q, %k : tensor<512x64xbf16>, tensor<512x32xbf16>
}
