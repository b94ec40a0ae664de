// A cache of keys takes a row and a run of rows, wherever a counter says, and is read as a whole and row by row.
func.func @main(%cache: tensor<4x64x8x16xf32>, %row: tensor<4x1x8x16xf32>, %run: tensor<4x48x8x16xf32>, %at: tensor<i32>, %query: tensor<4x8x16xf32>) -> (tensor<4x8x64xf32>, tensor<4x64x8x16xf32>, tensor<4x16x8x16xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.add %row, %row : tensor<4x1x8x16xf32>
  %1 = stablehlo.dynamic_update_slice %cache, %0, %zero, %at, %zero, %zero : (tensor<4x64x8x16xf32>, tensor<4x1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x8x16xf32>
  %2 = stablehlo.dynamic_update_slice %1, %run, %zero, %at, %zero, %zero : (tensor<4x64x8x16xf32>, tensor<4x48x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x8x16xf32>
  %3 = stablehlo.dot_general %query, %2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<4x8x16xf32>, tensor<4x64x8x16xf32>) -> tensor<4x8x64xf32>
  %4 = stablehlo.dynamic_slice %2, %zero, %at, %zero, %zero, sizes = [4, 1, 8, 16] : (tensor<4x64x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1x8x16xf32>
  %5 = stablehlo.dynamic_slice %2, %zero, %at, %zero, %zero, sizes = [4, 16, 8, 16] : (tensor<4x64x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x8x16xf32>
  %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<4x1x8x16xf32>) -> tensor<4x16x8x16xf32>
  %7 = stablehlo.add %5, %6 : tensor<4x16x8x16xf32>
  return %3, %2, %7 : tensor<4x8x64xf32>, tensor<4x64x8x16xf32>, tensor<4x16x8x16xf32>
}
