module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<8x2xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<8xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<2x8xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<2xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<8x2xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<8xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<2x8xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<4x2xf32>) -> (tensor<i32> {jax.result_info = "result.step"}, tensor<2xf32> {jax.result_info = "result.params['Dense_0']['bias']"}, tensor<8x2xf32> {jax.result_info = "result.params['Dense_0']['kernel']"}, tensor<8xf32> {jax.result_info = "result.params['up']['bias']"}, tensor<2x8xf32> {jax.result_info = "result.params['up']['kernel']"}, tensor<2xf32> {jax.result_info = "result.opt_state[0].trace['Dense_0']['bias']"}, tensor<8x2xf32> {jax.result_info = "result.opt_state[0].trace['Dense_0']['kernel']"}, tensor<8xf32> {jax.result_info = "result.opt_state[0].trace['up']['bias']"}, tensor<2x8xf32> {jax.result_info = "result.opt_state[0].trace['up']['kernel']"}) {
    %0 = stablehlo.dot_general %arg9, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.reshape %arg3 : (tensor<8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x8xf32>
    %4 = call @relu(%3) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %7 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %8 = stablehlo.reshape %arg1 : (tensor<2xf32>) -> tensor<1x2xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %10 = stablehlo.add %7, %9 : tensor<4x2xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<4x2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %13 = stablehlo.divide %cst_1, %cst_2 : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %15 = stablehlo.multiply %14, %12 : tensor<4x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
    %17 = stablehlo.reshape %16 : (tensor<2xf32>) -> tensor<1x2xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x2xf32>) -> tensor<2xf32>
    %19 = stablehlo.dot_general %15, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %20 = stablehlo.transpose %19, dims = [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
    %21 = stablehlo.dot_general %15, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<4x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %23 = stablehlo.select %6, %21, %22 : tensor<4x8xi1>, tensor<4x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    %25 = stablehlo.reshape %24 : (tensor<8xf32>) -> tensor<1x8xf32>
    %26 = stablehlo.reshape %25 : (tensor<1x8xf32>) -> tensor<8xf32>
    %27 = stablehlo.dot_general %23, %arg9, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %28 = stablehlo.transpose %27, dims = [1, 0] : (tensor<8x2xf32>) -> tensor<2x8xf32>
    %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %30 = stablehlo.multiply %29, %arg5 : tensor<2xf32>
    %31 = stablehlo.add %18, %30 : tensor<2xf32>
    %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %33 = stablehlo.multiply %32, %arg6 : tensor<8x2xf32>
    %34 = stablehlo.add %20, %33 : tensor<8x2xf32>
    %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %36 = stablehlo.multiply %35, %arg7 : tensor<8xf32>
    %37 = stablehlo.add %26, %36 : tensor<8xf32>
    %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %39 = stablehlo.multiply %38, %arg8 : tensor<2x8xf32>
    %40 = stablehlo.add %28, %39 : tensor<2x8xf32>
    %cst_10 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %42 = stablehlo.multiply %41, %31 : tensor<2xf32>
    %cst_11 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %44 = stablehlo.multiply %43, %34 : tensor<8x2xf32>
    %cst_12 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %46 = stablehlo.multiply %45, %37 : tensor<8xf32>
    %cst_13 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %48 = stablehlo.multiply %47, %40 : tensor<2x8xf32>
    %49 = stablehlo.add %arg1, %42 : tensor<2xf32>
    %50 = stablehlo.add %arg2, %44 : tensor<8x2xf32>
    %51 = stablehlo.add %arg3, %46 : tensor<8xf32>
    %52 = stablehlo.add %arg4, %48 : tensor<2x8xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %53 = stablehlo.add %arg0, %c : tensor<i32>
    return %53, %49, %50, %51, %52, %31, %34, %37, %40 : tensor<i32>, tensor<2xf32>, tensor<8x2xf32>, tensor<8xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<8x2xf32>, tensor<8xf32>, tensor<2x8xf32>
  }
  func.func private @relu(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
