// Products of one tensor whose rows are gathered: three beside each other, one that contracts the rows, and one that needs the first.
sdy.mesh @mesh = <["model"=4]>
func.func public @main(%x: tensor<512x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %wq: tensor<512x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wk: tensor<512x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wv: tensor<512x96xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wr: tensor<64x512xbf16>)
    -> (tensor<512x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
        tensor<512x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
        tensor<512x96xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x512xbf16>, tensor<64x512xbf16>) {
  %q = stablehlo.dot_general %x, %wq, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x64xbf16>) -> tensor<512x64xbf16>
  %n = stablehlo.negate %q : tensor<512x64xbf16>
  %k = stablehlo.dot_general %x, %wk, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x32xbf16>) -> tensor<512x32xbf16>
  %v = stablehlo.dot_general %x, %wv, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x96xbf16>) -> tensor<512x96xbf16>
  %r = stablehlo.dot_general %wr, %x, contracting_dims = [1] x [0] : (tensor<64x512xbf16>, tensor<512x512xbf16>) -> tensor<64x512xbf16>
  %g = stablehlo.dot_general %n, %x, contracting_dims = [0] x [0] : (tensor<512x64xbf16>, tensor<512x512xbf16>) -> tensor<64x512xbf16>
  return %n, %k, %v, %r, %g : tensor<512x64xbf16>, tensor<512x32xbf16>, tensor<512x96xbf16>, tensor<64x512xbf16>, tensor<64x512xbf16>
}
