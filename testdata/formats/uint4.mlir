module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4xui4>, %arg1: tensor<16x8xbf16>) -> (tensor<16x4xbf16> {jax.result_info = "result[0]"}, tensor<4x8xui4> {jax.result_info = "result[1]"}, tensor<8x4xi4> {jax.result_info = "result[2]"}, tensor<2x4xui4> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<8x4xui4>) -> tensor<8x4xbf16>
    %1 = stablehlo.dot_general %arg1, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xbf16>, tensor<8x4xbf16>) -> tensor<16x4xbf16>
    %2 = stablehlo.reshape %arg0 : (tensor<8x4xui4>) -> tensor<4x8xui4>
    %3 = stablehlo.bitcast_convert %arg0 : (tensor<8x4xui4>) -> tensor<8x4xi4>
    %4 = stablehlo.slice %arg0 [2:4, 0:4] : (tensor<8x4xui4>) -> tensor<2x4xui4>
    return %1, %2, %3, %4 : tensor<16x4xbf16>, tensor<4x8xui4>, tensor<8x4xi4>, tensor<2x4xui4>
  }
}
