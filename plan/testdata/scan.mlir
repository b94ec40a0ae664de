module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x64xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x64x32xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<16x32xf32>, %arg3: tensor<16x32xf32>) -> (tensor<4x32x64xf32> {jax.result_info = "result[0][0]"}, tensor<4x64x32xf32> {jax.result_info = "result[0][1]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_10 = %arg1, %iterArg_11 = %c, %iterArg_12 = %arg2, %iterArg_13 = %0) : tensor<4x32x64xf32>, tensor<4x64x32xf32>, tensor<i32>, tensor<16x32xf32>, tensor<4x16x32xf32>
    cond {
      %c_14 = stablehlo.constant dense<4> : tensor<i32>
      %20 = stablehlo.compare LT, %iterArg_11, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %20 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_11) : (tensor<4x32x64xf32>, tensor<i32>) -> tensor<32x64xf32>
      %21 = func.call @dynamic_index_in_dim_0(%iterArg_10, %iterArg_11) : (tensor<4x64x32xf32>, tensor<i32>) -> tensor<64x32xf32>
      %22 = stablehlo.dot_general %iterArg_12, %20, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
      %23 = stablehlo.tanh %22 : tensor<16x64xf32>
      %24 = stablehlo.dot_general %23, %21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
      %25 = stablehlo.add %iterArg_12, %24 : tensor<16x32xf32>
      %26 = func.call @dynamic_update_index_in_dim(%iterArg_13, %iterArg_12, %iterArg_11) : (tensor<4x16x32xf32>, tensor<16x32xf32>, tensor<i32>) -> tensor<4x16x32xf32>
      %c_14 = stablehlo.constant dense<1> : tensor<i32>
      %27 = stablehlo.add %iterArg_11, %c_14 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %27, %25, %26 : tensor<4x32x64xf32>, tensor<4x64x32xf32>, tensor<i32>, tensor<16x32xf32>, tensor<4x16x32xf32>
    }
    %2 = stablehlo.subtract %1#3, %arg3 : tensor<16x32xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<16x32xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %5 = stablehlo.multiply %4, %2 : tensor<16x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%3 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %7 = stablehlo.divide %6, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %8 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<16x32xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x32x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x64x32xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %13:7 = stablehlo.while(%iterArg = %1#4, %iterArg_10 = %arg0, %iterArg_11 = %arg1, %iterArg_12 = %c_7, %iterArg_13 = %10, %iterArg_14 = %11, %iterArg_15 = %12) : tensor<4x16x32xf32>, tensor<4x32x64xf32>, tensor<4x64x32xf32>, tensor<i32>, tensor<16x32xf32>, tensor<4x32x64xf32>, tensor<4x64x32xf32>
    cond {
      %c_16 = stablehlo.constant dense<4> : tensor<i32>
      %20 = stablehlo.compare LT, %iterArg_12, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %c_16 = stablehlo.constant dense<4> : tensor<i32>
      %20 = stablehlo.subtract %c_16, %iterArg_12 : tensor<i32>
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.subtract %20, %c_17 : tensor<i32>
      %22 = func.call @dynamic_index_in_dim_1(%iterArg, %21) : (tensor<4x16x32xf32>, tensor<i32>) -> tensor<16x32xf32>
      %23 = func.call @dynamic_index_in_dim(%iterArg_10, %21) : (tensor<4x32x64xf32>, tensor<i32>) -> tensor<32x64xf32>
      %24 = func.call @dynamic_index_in_dim_0(%iterArg_11, %21) : (tensor<4x64x32xf32>, tensor<i32>) -> tensor<64x32xf32>
      %25:4 = stablehlo.optimization_barrier %22, %23, %24, %iterArg_13 : tensor<16x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>, tensor<16x32xf32>
      %26 = stablehlo.dot_general %25#0, %25#1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
      %27 = stablehlo.tanh %26 : tensor<16x64xf32>
      %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %28 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
      %29 = stablehlo.add %28, %27 : tensor<16x64xf32>
      %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %30 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
      %31 = stablehlo.subtract %30, %27 : tensor<16x64xf32>
      %32 = stablehlo.multiply %29, %31 : tensor<16x64xf32>
      %33 = stablehlo.dot_general %25#3, %27, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
      %34 = stablehlo.transpose %33, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
      %35 = stablehlo.dot_general %25#3, %25#2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<64x32xf32>) -> tensor<16x64xf32>
      %36 = stablehlo.multiply %35, %32 : tensor<16x64xf32>
      %37 = stablehlo.dot_general %36, %25#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
      %38 = stablehlo.transpose %37, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
      %39 = stablehlo.dot_general %36, %25#1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
      %40 = stablehlo.add %25#3, %39 : tensor<16x32xf32>
      %41 = func.call @dynamic_update_index_in_dim_2(%iterArg_14, %38, %21) : (tensor<4x32x64xf32>, tensor<32x64xf32>, tensor<i32>) -> tensor<4x32x64xf32>
      %42 = func.call @dynamic_update_index_in_dim_3(%iterArg_15, %34, %21) : (tensor<4x64x32xf32>, tensor<64x32xf32>, tensor<i32>) -> tensor<4x64x32xf32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %43 = stablehlo.add %iterArg_12, %c_20 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %43, %40, %41, %42 : tensor<4x16x32xf32>, tensor<4x32x64xf32>, tensor<4x64x32xf32>, tensor<i32>, tensor<16x32xf32>, tensor<4x32x64xf32>, tensor<4x64x32xf32>
    }
    %cst_8 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x32x64xf32>
    %15 = stablehlo.multiply %14, %13#5 : tensor<4x32x64xf32>
    %16 = stablehlo.subtract %arg0, %15 : tensor<4x32x64xf32>
    %cst_9 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x64x32xf32>
    %18 = stablehlo.multiply %17, %13#6 : tensor<4x64x32xf32>
    %19 = stablehlo.subtract %arg1, %18 : tensor<4x64x32xf32>
    return %16, %19, %7 : tensor<4x32x64xf32>, tensor<4x64x32xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x32x64xf32>, %arg1: tensor<i32>) -> tensor<32x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 64] : (tensor<4x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
    return %1 : tensor<32x64xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x64x32xf32>, %arg1: tensor<i32>) -> tensor<64x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 32] : (tensor<4x64x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x32xf32>) -> tensor<64x32xf32>
    return %1 : tensor<64x32xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x16x32xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<i32>) -> tensor<4x16x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x16x32xf32>, tensor<1x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x32xf32>
    return %1 : tensor<4x16x32xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<4x16x32xf32>, %arg1: tensor<i32>) -> tensor<16x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 32] : (tensor<4x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    return %1 : tensor<16x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<4x32x64xf32>, %arg1: tensor<32x64xf32>, %arg2: tensor<i32>) -> tensor<4x32x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x32x64xf32>
    return %1 : tensor<4x32x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<4x64x32xf32>, %arg1: tensor<64x32xf32>, %arg2: tensor<i32>) -> tensor<4x64x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x32xf32>) -> tensor<1x64x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x32xf32>, tensor<1x64x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x32xf32>
    return %1 : tensor<4x64x32xf32>
  }
}
