// What devices find in their parts of a dimension, and what they fold, they gather: the largest elements, where the largest one is, running
// sums and products. Independent of each other, some read element by element.
func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>, %z: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xi32>, tensor<8xi32>, tensor<8x64xf32>, tensor<8xf32>) {
  %values, %indices = chlo.top_k(%x, k = 4) : tensor<8x64xf32> -> (tensor<8x4xf32>, tensor<8x4xi32>)
  %values_0, %indices_0 = chlo.top_k(%y, k = 4) : tensor<8x64xf32> -> (tensor<8x4xf32>, tensor<8x4xi32>)
  %0 = stablehlo.add %values, %values_0 : tensor<8x4xf32>
  %1 = stablehlo.add %indices, %indices_0 : tensor<8x4xi32>
  %2 = stablehlo.multiply %0, %z : tensor<8x4xf32>
  %3 = stablehlo.iota dim = 1 : tensor<8x64xi32>
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %4:2 = stablehlo.reduce(%x init: %none), (%3 init: %first) across dimensions = [1] : (tensor<8x64xf32>, tensor<8x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %more = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %most = stablehlo.select %more, %a, %b : tensor<i1>, tensor<f32>
    %at = stablehlo.select %more, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %most, %at : tensor<f32>, tensor<i32>
  }
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 1, 64>, window_strides = array<i64: 1, 1>, padding = dense<[[0, 0], [63, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<f32>) -> tensor<8x64xf32>
  %6 = stablehlo.add %5, %x : tensor<8x64xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %7 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<8xf32>
  %8 = stablehlo.negate %7 : tensor<8xf32>
  return %2, %1, %4#1, %6, %8 : tensor<8x4xf32>, tensor<8x4xi32>, tensor<8xi32>, tensor<8x64xf32>, tensor<8xf32>
}
