module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<8x4xf32>) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<8x4xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = call @cumsum(%arg0, %arg1) : (tensor<i32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = "stablehlo.case"(%arg0) ({
      stablehlo.return %c_0 : tensor<i32>
    }, {
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      stablehlo.return %c : tensor<i32>
    }, {
      stablehlo.return %c_0 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      stablehlo.return %c_0 : tensor<i32>
    }, {
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %4 = "stablehlo.case"(%3) ({
      %5 = stablehlo.cosine %arg1 : tensor<8x4xf32>
      stablehlo.return %5 : tensor<8x4xf32>
    }, {
      %5 = stablehlo.sine %arg1 : tensor<8x4xf32>
      stablehlo.return %5 : tensor<8x4xf32>
    }) : (tensor<i32>) -> tensor<8x4xf32>
    return %0, %4 : tensor<8x4xf32>, tensor<8x4xf32>
  }
  func.func private @cumsum(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = call @cumsum_0(%arg0, %arg1) : (tensor<i32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<i32>, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.case"(%arg0) ({
      stablehlo.return %c_0 : tensor<i32>
    }, {
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %3:2 = stablehlo.composite "chlo.scan" %arg1, %2 ({
      ^bb0(%arg2: tensor<4xf32>, %arg3: tensor<4xf32>):
        %4 = stablehlo.add %arg2, %arg3 : tensor<4xf32>
        stablehlo.return %4, %4 : tensor<4xf32>, tensor<4xf32>
      }) {composite_attributes = {dimension = 0 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}, decomposition = @chlo.scan.impl, version = 1 : i32} : (tensor<8x4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
      stablehlo.return %3#0 : tensor<8x4xf32>
    }, {
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
      %3 = "stablehlo.reduce_window"(%arg1, %2) <{padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 8, 1>}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %4 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
      stablehlo.return %3 : tensor<8x4xf32>
    }) : (tensor<i32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  func.func private @chlo.scan.impl(%arg0: tensor<8x4xf32>, %arg1: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<8x4xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %3:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %arg1, %iterArg_2 = %2) : tensor<i64>, tensor<4xf32>, tensor<8x4xf32>
    cond {
      %4 = stablehlo.compare LT, %iterArg, %1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = stablehlo.dynamic_slice %arg0, %iterArg, %c_0, sizes = [1, 4] : (tensor<8x4xf32>, tensor<i64>, tensor<i64>) -> tensor<1x4xf32>
      %5 = stablehlo.reshape %4 : (tensor<1x4xf32>) -> tensor<4xf32>
      %6 = stablehlo.add %5, %iterArg_1 : tensor<4xf32>
      %7 = stablehlo.reshape %6 : (tensor<4xf32>) -> tensor<1x4xf32>
      %8 = stablehlo.dynamic_update_slice %iterArg_2, %7, %iterArg, %c_0 : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i64>, tensor<i64>) -> tensor<8x4xf32>
      %9 = stablehlo.add %iterArg, %c : tensor<i64>
      stablehlo.return %9, %6, %8 : tensor<i64>, tensor<4xf32>, tensor<8x4xf32>
    }
    return %3#2, %3#1 : tensor<8x4xf32>, tensor<4xf32>
  }
}
