// Rows of an image are convolved, pooled, shifted, mirrored and joined: every device needs some of its neighbours' rows,
// and sums up what it has of the kernel's gradient.
func.func @main(%image: tensor<4x64x32x8xf32>, %kernel: tensor<3x3x8x16xf32>, %strided: tensor<1x1x16x8xf32>) -> (tensor<4x32x16x8xf32>, tensor<3x3x8x16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x64x32x8xf32>, tensor<3x3x8x16xf32>) -> tensor<4x64x32x16xf32>
  %1 = stablehlo.tanh %0 : tensor<4x64x32x16xf32>
  %2 = "stablehlo.reduce_window"(%1, %zero) <{window_dimensions = array<i64: 1, 3, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x64x32x16xf32>, tensor<f32>) -> tensor<4x64x32x16xf32>
  %3 = stablehlo.slice %2 [0:4, 0:32, 0:32, 0:16] : (tensor<4x64x32x16xf32>) -> tensor<4x32x32x16xf32>
  %4 = stablehlo.slice %2 [0:4, 32:64, 0:32, 0:16] : (tensor<4x64x32x16xf32>) -> tensor<4x32x32x16xf32>
  %5 = stablehlo.reverse %3, dims = [1] : tensor<4x32x32x16xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 1 : (tensor<4x32x32x16xf32>, tensor<4x32x32x16xf32>) -> tensor<4x64x32x16xf32>
  %7 = stablehlo.pad %6, %zero, low = [0, -16, 0, 0], high = [0, 16, 0, 0], interior = [0, 0, 0, 0] : (tensor<4x64x32x16xf32>, tensor<f32>) -> tensor<4x64x32x16xf32>
  %8 = stablehlo.convolution(%7, %strided) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x64x32x16xf32>, tensor<1x1x16x8xf32>) -> tensor<4x32x16x8xf32>
  %9 = stablehlo.convolution(%image, %1) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x64x32x8xf32>, tensor<4x64x32x16xf32>) -> tensor<3x3x8x16xf32>
  return %8, %9 : tensor<4x32x16x8xf32>, tensor<3x3x8x16xf32>
}
