module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<ui32>, %arg3: tensor<4x2xf32>) -> (tensor<2xf32> {jax.result_info = "result[0][0].states[0][0]"}, tensor<2x2xf32> {jax.result_info = "result[0][0].states[0][1]"}, tensor<ui32> {jax.result_info = "result[0][1].states[0][0]"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<2xf32>) -> tensor<1x2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x2xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<4x2xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<4x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %9 = stablehlo.divide %cst_2, %cst_3 : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<4x2xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
    %13 = stablehlo.reshape %12 : (tensor<2xf32>) -> tensor<1x2xf32>
    %14 = stablehlo.reshape %13 : (tensor<1x2xf32>) -> tensor<2xf32>
    %15 = stablehlo.dot_general %11, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %cst_5 = stablehlo.constant dense<-1.000000e-01> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %18 = stablehlo.multiply %17, %14 : tensor<2xf32>
    %cst_6 = stablehlo.constant dense<-1.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %20 = stablehlo.multiply %19, %16 : tensor<2x2xf32>
    %21 = stablehlo.add %arg0, %18 : tensor<2xf32>
    %22 = stablehlo.add %arg1, %20 : tensor<2x2xf32>
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %23 = stablehlo.add %arg2, %c : tensor<ui32>
    return %21, %22, %23, %8 : tensor<2xf32>, tensor<2x2xf32>, tensor<ui32>, tensor<f32>
  }
}
