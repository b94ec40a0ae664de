// A ring matrix product on 8 devices: each step multiplies the block at hand and passes it on; the device's number
// says where the result goes.
module @ring {
  func.func public @main(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> (tensor<16x3xf32>, tensor<ui32>) {
    %p = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %empty = stablehlo.constant dense<0.000000e+00> : tensor<16x3xf32>
    %0:3 = stablehlo.while(%k = %zero, %v = %x, %out = %empty) : tensor<i32>, tensor<2x4xf32>, tensor<16x3xf32>
    cond {
      %1 = stablehlo.compare LT, %k, %eight, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
      %2 = stablehlo.add %i, %k : tensor<i32>
      %3 = stablehlo.remainder %2, %eight : tensor<i32>
      %4 = stablehlo.multiply %3, %two : tensor<i32>
      %5 = stablehlo.dynamic_update_slice %out, %1, %4, %zero : (tensor<16x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<16x3xf32>
      %6 = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [0, 7]]> : tensor<8x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %7 = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %7, %6, %5 : tensor<i32>, tensor<2x4xf32>, tensor<16x3xf32>
    }
    return %0#2, %p : tensor<16x3xf32>, tensor<ui32>
  }
}
