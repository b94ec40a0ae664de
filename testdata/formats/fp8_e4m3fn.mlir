module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x8xf32>, %arg1: tensor<8x4xf8E4M3FN>) -> (tensor<16x4xf32> {jax.result_info = "result[0]"}, tensor<16x8xf8E4M3FN> {jax.result_info = "result[1]"}, tensor<8x4xbf16> {jax.result_info = "result[2]"}, tensor<32xf8E4M3FN> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<16x8xf32>) -> tensor<16x8xf8E4M3FN>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<16x4xf32>
    %2 = stablehlo.convert %arg0 : (tensor<16x8xf32>) -> tensor<16x8xf8E4M3FN>
    %3 = stablehlo.convert %arg1 : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xbf16>
    %4 = stablehlo.reshape %arg1 : (tensor<8x4xf8E4M3FN>) -> tensor<32xf8E4M3FN>
    return %1, %2, %3, %4 : tensor<16x4xf32>, tensor<16x8xf8E4M3FN>, tensor<8x4xbf16>, tensor<32xf8E4M3FN>
  }
}
