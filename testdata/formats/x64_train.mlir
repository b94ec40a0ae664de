module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4xf64>, %arg1: tensor<16x8xf64>, %arg2: tensor<5xi64>) -> (tensor<8x4xf64> {jax.result_info = "result[0]"}, tensor<5x8xf64> {jax.result_info = "result[1]"}, tensor<16xi64> {jax.result_info = "result[2]"}, tensor<16x8xf64> {jax.result_info = "result[3]"}, tensor<16x8xf64> {jax.result_info = "result[4]"}, tensor<16x8xi64> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf64>, tensor<8x4xf64>) -> tensor<16x4xf64>
    %1 = stablehlo.tanh %0 : tensor<16x4xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<16x4xf64>
    %3 = stablehlo.add %2, %1 : tensor<16x4xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<16x4xf64>
    %5 = stablehlo.subtract %4, %1 : tensor<16x4xf64>
    %6 = stablehlo.multiply %3, %5 : tensor<16x4xf64>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<16x4xf64>
    %8 = stablehlo.multiply %7, %1 : tensor<16x4xf64>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %cst_3 = stablehlo.constant dense<6.400000e+01> : tensor<f64>
    %9 = stablehlo.divide %cst_2, %cst_3 : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f64>) -> tensor<16x4xf64>
    %11 = stablehlo.multiply %10, %8 : tensor<16x4xf64>
    %12 = stablehlo.multiply %11, %6 : tensor<16x4xf64>
    %13 = stablehlo.dot_general %12, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xf64>, tensor<16x8xf64>) -> tensor<4x8xf64>
    %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<4x8xf64>) -> tensor<8x4xf64>
    %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<8x4xf64>
    %16 = stablehlo.multiply %15, %14 : tensor<8x4xf64>
    %17 = stablehlo.subtract %arg0, %16 : tensor<8x4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %19 = stablehlo.compare LT, %arg2, %18, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
    %c_5 = stablehlo.constant dense<16> : tensor<i64>
    %20 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %21 = stablehlo.add %arg2, %20 : tensor<5xi64>
    %22 = stablehlo.select %19, %21, %arg2 : tensor<5xi1>, tensor<5xi64>
    %23 = stablehlo.convert %22 : (tensor<5xi64>) -> tensor<5xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %25 = "stablehlo.gather"(%arg1, %24) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf64>, tensor<5x1xi32>) -> tensor<5x8xf64>
    %26 = call @argmax(%arg1) : (tensor<16x8xf64>) -> tensor<16xi64>
    %27 = call @cumsum(%arg1) : (tensor<16x8xf64>) -> tensor<16x8xf64>
    %28 = call @sort(%arg1) : (tensor<16x8xf64>) -> tensor<16x8xf64>
    %29 = stablehlo.convert %arg1 : (tensor<16x8xf64>) -> tensor<16x8xi64>
    %30 = stablehlo.slice %arg2 [0:1] : (tensor<5xi64>) -> tensor<1xi64>
    %31 = stablehlo.reshape %30 : (tensor<1xi64>) -> tensor<i64>
    %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<i64>) -> tensor<16x8xi64>
    %33 = stablehlo.add %29, %32 : tensor<16x8xi64>
    return %17, %25, %26, %27, %28, %33 : tensor<8x4xf64>, tensor<5x8xf64>, tensor<16xi64>, tensor<16x8xf64>, tensor<16x8xf64>, tensor<16x8xi64>
  }
  func.func private @argmax(%arg0: tensor<16x8xf64>) -> tensor<16xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<16x8xi64>
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<16x8xf64>, tensor<16x8xi64>, tensor<f64>, tensor<i64>) -> (tensor<16xf64>, tensor<16xi64>)
     reducer(%arg1: tensor<f64>, %arg3: tensor<f64>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f64>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<f64>, tensor<i64>
    }
    return %1#1 : tensor<16xi64>
  }
  func.func private @cumsum(%arg0: tensor<16x8xf64>) -> tensor<16x8xf64> {
    %0 = call @cumsum_0(%arg0) : (tensor<16x8xf64>) -> tensor<16x8xf64>
    return %0 : tensor<16x8xf64>
  }
  func.func private @cumsum_0(%arg0: tensor<16x8xf64>) -> tensor<16x8xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 16, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %2 : tensor<f64>
    }) : (tensor<16x8xf64>, tensor<f64>) -> tensor<16x8xf64>
    return %1 : tensor<16x8xf64>
  }
  func.func private @sort(%arg0: tensor<16x8xf64>) -> tensor<16x8xf64> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f64>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f64>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f64>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f64>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<16x8xf64>) -> tensor<16x8xf64>
    return %0 : tensor<16x8xf64>
  }
}
