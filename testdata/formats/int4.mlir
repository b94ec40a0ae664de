module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4xi4>, %arg1: tensor<4xf32>, %arg2: tensor<16x8xf32>) -> (tensor<16x4xf32> {jax.result_info = "result[0]"}, tensor<16x8xi4> {jax.result_info = "result[1]"}, tensor<8x4xi4> {jax.result_info = "result[2]"}, tensor<8x4xi1> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<8x4xi4>) -> tensor<8x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<8x4xf32>
    %4 = stablehlo.dot_general %arg2, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %cst = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %6 = stablehlo.multiply %arg2, %5 : tensor<16x8xf32>
    %7 = stablehlo.convert %6 : (tensor<16x8xf32>) -> tensor<16x8xi4>
    %8 = stablehlo.add %arg0, %arg0 : tensor<8x4xi4>
    %c = stablehlo.constant dense<0> : tensor<i4>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i4>) -> tensor<8x4xi4>
    %10 = stablehlo.compare GT, %arg0, %9, SIGNED : (tensor<8x4xi4>, tensor<8x4xi4>) -> tensor<8x4xi1>
    return %4, %7, %8, %10 : tensor<16x4xf32>, tensor<16x8xi4>, tensor<8x4xi4>, tensor<8x4xi1>
  }
}
