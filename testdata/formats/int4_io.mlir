module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4xi4>) -> (tensor<4x8xi4> {jax.result_info = "result[0]"}, tensor<16x4xi4> {jax.result_info = "result[1]"}, tensor<4xi64> {jax.result_info = "result[2]"}, tensor<4xi4> {jax.result_info = "result[3]"}, tensor<8x4xi4> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x4xi4>) -> tensor<4x8xi4>
    %1 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<8x4xi4>, tensor<8x4xi4>) -> tensor<16x4xi4>
    %2 = stablehlo.convert %arg0 : (tensor<8x4xi4>) -> tensor<8x4xi32>
    %3 = stablehlo.convert %2 : (tensor<8x4xi32>) -> tensor<8x4xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %4 = stablehlo.reduce(%3 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8x4xi64>, tensor<i64>) -> tensor<4xi64>
    %c_0 = stablehlo.constant dense<-8> : tensor<i4>
    %5 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xi4>, tensor<i4>) -> tensor<4xi4>
    %c_1 = stablehlo.constant dense<0> : tensor<i4>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i4>) -> tensor<8x4xi4>
    %7 = stablehlo.compare GT, %arg0, %6, SIGNED : (tensor<8x4xi4>, tensor<8x4xi4>) -> tensor<8x4xi1>
    %8 = stablehlo.negate %arg0 : tensor<8x4xi4>
    %9 = call @_where(%7, %arg0, %8) : (tensor<8x4xi1>, tensor<8x4xi4>, tensor<8x4xi4>) -> tensor<8x4xi4>
    return %0, %1, %4, %5, %9 : tensor<4x8xi4>, tensor<16x4xi4>, tensor<4xi64>, tensor<4xi4>, tensor<8x4xi4>
  }
  func.func private @_where(%arg0: tensor<8x4xi1>, %arg1: tensor<8x4xi4>, %arg2: tensor<8x4xi4>) -> tensor<8x4xi4> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<8x4xi1>, tensor<8x4xi4>
    return %0 : tensor<8x4xi4>
  }
}
