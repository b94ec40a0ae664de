module @regions {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<i32>,
                         %arg2: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x4xf32>, tensor<8xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<8x4xf32>
    cond {
      %c_1 = stablehlo.constant dense<3> : tensor<i32>
      %10 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %10 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.reduce(%iterArg_0 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %13:2 = stablehlo.while(%iterArg_4 = %c_3, %iterArg_5 = %12) : tensor<i32>, tensor<8x4xf32>
      cond {
        %c_6 = stablehlo.constant dense<2> : tensor<i32>
        %15 = stablehlo.compare LT, %iterArg_4, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %15 : tensor<i1>
      } do {
        %c_6 = stablehlo.constant dense<1> : tensor<i32>
        %15 = stablehlo.add %iterArg_4, %c_6 : tensor<i32>
        %16 = stablehlo.sine %iterArg_5 : tensor<8x4xf32>
        stablehlo.return %15, %16 : tensor<i32>, tensor<8x4xf32>
      }
      %14 = func.call @layer(%13#1, %arg2) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      stablehlo.return %10, %14 : tensor<i32>, tensor<8x4xf32>
    }
    %1 = "stablehlo.case"(%arg1) ({
      %10 = stablehlo.negate %0#1 : tensor<8x4xf32>
      stablehlo.return %10 : tensor<8x4xf32>
    }, {
      stablehlo.return %0#1 : tensor<8x4xf32>
    }) : (tensor<i32>) -> tensor<8x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
    %4:2 = "stablehlo.sort"(%1, %3) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>):
      %10 = stablehlo.compare LT, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }) : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    %5 = sdy.manual_computation(%4#1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg3: tensor<4x4xf32>) {
      %10 = sdy.named_computation<"inner">(%arg3) (%arg4: tensor<4x4xf32>) {
        %12 = stablehlo.exponential %arg4 : tensor<4x4xf32>
        sdy.return %12 : tensor<4x4xf32>
      } : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
      %13 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
      %14 = stablehlo.add %10, %13 : tensor<4x4xf32>
      sdy.return %14 : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %6 = func.call @layer(%5, %arg2) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %6, %2 : tensor<8x4xf32>, tensor<8xf32>
  }
  func.func private @layer(%arg0: tensor<8x4xf32>, %arg1: tensor<4x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
}
