func.func @main(%x: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<8x1xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = chlo.erfc %x : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = chlo.square %0 : tensor<8x4xf32> -> tensor<8x4xf32>
  %2 = chlo.broadcast_add %1, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %3 = chlo.broadcast_multiply %2, %c : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %4 = chlo.erf %3 : tensor<8x4xf32> -> tensor<8x4xf32>
  %5 = chlo.lgamma %2 : tensor<8x4xf32> -> tensor<8x4xf32>
  %6 = chlo.next_after %5, %4 : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  %7 = chlo.is_inf %5 : tensor<8x4xf32> -> tensor<8x4xi1>
  %8 = chlo.broadcast_select %7, %b, %6 : (tensor<8x4xi1>, tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %4, %8 : tensor<8x4xf32>, tensor<8x4xf32>
}
