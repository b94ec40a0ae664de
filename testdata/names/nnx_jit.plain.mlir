module @jit_call attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<8x2xf32>, %arg2: tensor<8xf32>, %arg3: tensor<2x8xf32>, %arg4: tensor<4x2xf32>) -> (tensor<4x2xf32> {jax.result_info = "result[0]"}, tensor<2xf32> {jax.result_info = "result[1]['down']['bias'].value"}, tensor<8x2xf32> {jax.result_info = "result[1]['down']['kernel'].value"}, tensor<8xf32> {jax.result_info = "result[1]['up']['bias'].value"}, tensor<2x8xf32> {jax.result_info = "result[1]['up']['kernel'].value"}) {
    %0 = stablehlo.dot_general %arg4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.reshape %arg2 : (tensor<8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x8xf32>
    %4 = call @relu(%3) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.dot_general %4, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<2xf32>) -> tensor<1x2xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %8 = stablehlo.add %5, %7 : tensor<4x2xf32>
    return %8, %arg0, %arg1, %arg2, %arg3 : tensor<4x2xf32>, tensor<2xf32>, tensor<8x2xf32>, tensor<8xf32>, tensor<2x8xf32>
  }
  func.func private @relu(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
