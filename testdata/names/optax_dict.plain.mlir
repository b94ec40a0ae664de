module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x2xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<2x8xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<3xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<i32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<8x2xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<2x8xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<3xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<8x2xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<2x8xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<3xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<4x2xf32>) -> (tensor<8x2xf32> {jax.result_info = "result[0]['layers'][0]['down']"}, tensor<2x8xf32> {jax.result_info = "result[0]['layers'][0]['up']"}, tensor<3xf32> {jax.result_info = "result[0]['unused']"}, tensor<i32> {jax.result_info = "result[1][1][0].count"}, tensor<8x2xf32> {jax.result_info = "result[1][1][0].mu['layers'][0]['down']"}, tensor<2x8xf32> {jax.result_info = "result[1][1][0].mu['layers'][0]['up']"}, tensor<3xf32> {jax.result_info = "result[1][1][0].mu['unused']"}, tensor<8x2xf32> {jax.result_info = "result[1][1][0].nu['layers'][0]['down']"}, tensor<2x8xf32> {jax.result_info = "result[1][1][0].nu['layers'][0]['up']"}, tensor<3xf32> {jax.result_info = "result[1][1][0].nu['unused']"}, tensor<f32> {jax.result_info = "result[2]['loss']"}) {
    %0 = stablehlo.dot_general %arg10, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.tanh %0 : tensor<4x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %3 = stablehlo.add %2, %1 : tensor<4x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %5 = stablehlo.subtract %4, %1 : tensor<4x8xf32>
    %6 = stablehlo.multiply %3, %5 : tensor<4x8xf32>
    %7 = stablehlo.dot_general %1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %8 = stablehlo.multiply %7, %7 : tensor<4x2xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %10 = stablehlo.multiply %9, %7 : tensor<4x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%8 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %12 = stablehlo.divide %11, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %13 = stablehlo.divide %cst_4, %cst_5 : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %15 = stablehlo.multiply %14, %10 : tensor<4x2xf32>
    %16 = stablehlo.dot_general %15, %1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %17 = stablehlo.transpose %16, dims = [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
    %18 = stablehlo.dot_general %15, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<4x8xf32>
    %19 = stablehlo.multiply %18, %6 : tensor<4x8xf32>
    %20 = stablehlo.dot_general %19, %arg10, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<8x2xf32>) -> tensor<2x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %23 = chlo.square %17 : tensor<8x2xf32> -> tensor<8x2xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %25 = chlo.square %24 : tensor<8x2xf32> -> tensor<8x2xf32>
    %26 = stablehlo.add %23, %25 : tensor<8x2xf32>
    %27 = chlo.square %21 : tensor<2x8xf32> -> tensor<2x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %29 = chlo.square %28 : tensor<2x8xf32> -> tensor<2x8xf32>
    %30 = stablehlo.add %27, %29 : tensor<2x8xf32>
    %31 = chlo.square %22 : tensor<3xf32> -> tensor<3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %33 = chlo.square %32 : tensor<3xf32> -> tensor<3xf32>
    %34 = stablehlo.add %31, %33 : tensor<3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%26 init: %cst_10) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%30 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%34 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.add %cst_13, %35 : tensor<f32>
    %39 = stablehlo.add %38, %36 : tensor<f32>
    %40 = stablehlo.add %39, %37 : tensor<f32>
    %41 = stablehlo.sqrt %40 : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %42 = stablehlo.compare LT, %41, %cst_14, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %43 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %44 = stablehlo.divide %17, %43 : tensor<8x2xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<8x2xf32>
    %47 = stablehlo.select %42, %17, %46 : tensor<i1>, tensor<8x2xf32>
    %48 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %49 = stablehlo.divide %21, %48 : tensor<2x8xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<2x8xf32>
    %52 = stablehlo.select %42, %21, %51 : tensor<i1>, tensor<2x8xf32>
    %53 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %54 = stablehlo.divide %22, %53 : tensor<3xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<3xf32>
    %57 = stablehlo.select %42, %22, %56 : tensor<i1>, tensor<3xf32>
    %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %59 = stablehlo.multiply %58, %47 : tensor<8x2xf32>
    %cst_19 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %61 = stablehlo.multiply %60, %arg4 : tensor<8x2xf32>
    %62 = stablehlo.add %59, %61 : tensor<8x2xf32>
    %cst_20 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %64 = stablehlo.multiply %63, %52 : tensor<2x8xf32>
    %cst_21 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %66 = stablehlo.multiply %65, %arg5 : tensor<2x8xf32>
    %67 = stablehlo.add %64, %66 : tensor<2x8xf32>
    %cst_22 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %69 = stablehlo.multiply %68, %57 : tensor<3xf32>
    %cst_23 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %71 = stablehlo.multiply %70, %arg6 : tensor<3xf32>
    %72 = stablehlo.add %69, %71 : tensor<3xf32>
    %73 = stablehlo.multiply %47, %47 : tensor<8x2xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %75 = stablehlo.multiply %74, %73 : tensor<8x2xf32>
    %cst_25 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %77 = stablehlo.multiply %76, %arg7 : tensor<8x2xf32>
    %78 = stablehlo.add %75, %77 : tensor<8x2xf32>
    %79 = stablehlo.multiply %52, %52 : tensor<2x8xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %81 = stablehlo.multiply %80, %79 : tensor<2x8xf32>
    %cst_27 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %83 = stablehlo.multiply %82, %arg8 : tensor<2x8xf32>
    %84 = stablehlo.add %81, %83 : tensor<2x8xf32>
    %85 = stablehlo.multiply %57, %57 : tensor<3xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<3xf32>
    %cst_29 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %89 = stablehlo.multiply %88, %arg9 : tensor<3xf32>
    %90 = stablehlo.add %87, %89 : tensor<3xf32>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %91 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_30 = stablehlo.constant dense<1> : tensor<i32>
    %92 = stablehlo.add %arg3, %c_30 : tensor<i32>
    %c_31 = stablehlo.constant dense<2147483647> : tensor<i32>
    %93 = call @_where(%91, %92, %c_31) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %94 = stablehlo.convert %93 : (tensor<i32>) -> tensor<f32>
    %95 = stablehlo.power %cst_32, %94 : tensor<f32>
    %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.subtract %cst_33, %95 : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %98 = stablehlo.divide %62, %97 : tensor<8x2xf32>
    %99 = stablehlo.broadcast_in_dim %96, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %100 = stablehlo.divide %67, %99 : tensor<2x8xf32>
    %101 = stablehlo.broadcast_in_dim %96, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %102 = stablehlo.divide %72, %101 : tensor<3xf32>
    %cst_34 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %103 = stablehlo.convert %93 : (tensor<i32>) -> tensor<f32>
    %104 = stablehlo.power %cst_34, %103 : tensor<f32>
    %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %105 = stablehlo.subtract %cst_35, %104 : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %107 = stablehlo.divide %78, %106 : tensor<8x2xf32>
    %108 = stablehlo.broadcast_in_dim %105, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %109 = stablehlo.divide %84, %108 : tensor<2x8xf32>
    %110 = stablehlo.broadcast_in_dim %105, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %111 = stablehlo.divide %90, %110 : tensor<3xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %113 = stablehlo.add %107, %112 : tensor<8x2xf32>
    %114 = stablehlo.sqrt %113 : tensor<8x2xf32>
    %cst_37 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %116 = stablehlo.add %114, %115 : tensor<8x2xf32>
    %117 = stablehlo.divide %98, %116 : tensor<8x2xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %119 = stablehlo.add %109, %118 : tensor<2x8xf32>
    %120 = stablehlo.sqrt %119 : tensor<2x8xf32>
    %cst_39 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %122 = stablehlo.add %120, %121 : tensor<2x8xf32>
    %123 = stablehlo.divide %100, %122 : tensor<2x8xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %125 = stablehlo.add %111, %124 : tensor<3xf32>
    %126 = stablehlo.sqrt %125 : tensor<3xf32>
    %cst_41 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %128 = stablehlo.add %126, %127 : tensor<3xf32>
    %129 = stablehlo.divide %102, %128 : tensor<3xf32>
    %cst_42 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %131 = stablehlo.multiply %130, %117 : tensor<8x2xf32>
    %cst_43 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %133 = stablehlo.multiply %132, %123 : tensor<2x8xf32>
    %cst_44 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %135 = stablehlo.multiply %134, %129 : tensor<3xf32>
    %136 = stablehlo.add %arg0, %131 : tensor<8x2xf32>
    %137 = stablehlo.add %arg1, %133 : tensor<2x8xf32>
    %138 = stablehlo.add %arg2, %135 : tensor<3xf32>
    return %136, %137, %138, %93, %62, %67, %72, %78, %84, %90, %12 : tensor<8x2xf32>, tensor<2x8xf32>, tensor<3xf32>, tensor<i32>, tensor<8x2xf32>, tensor<2x8xf32>, tensor<3xf32>, tensor<8x2xf32>, tensor<2x8xf32>, tensor<3xf32>, tensor<f32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
