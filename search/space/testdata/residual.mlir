// Products are scattered to the rows that they belong to, and added to what was there: a sum that is reduced where it is needed as a whole,
// or in blocks, which the scatter does not hand on.
func.func @main(%h: tensor<32x16xf32>, %u: tensor<16x16xf32>, %v: tensor<16x16xf32>, %from: tensor<64x1xi32>, %to: tensor<64x1xi32>) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
  %none = stablehlo.constant dense<0.0> : tensor<32x16xf32>
  %0 = "stablehlo.gather"(%h, %from) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<32x16xf32>, tensor<64x1xi32>) -> tensor<64x16xf32>
  %1 = stablehlo.dot_general %0, %u, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
  %2 = "stablehlo.scatter"(%none, %to, %1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<32x16xf32>, tensor<64x1xi32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %3 = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  %4 = stablehlo.add %2, %3 : tensor<32x16xf32>
  %5 = stablehlo.tanh %4 : tensor<32x16xf32>
  %6 = "stablehlo.gather"(%5, %from) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<32x16xf32>, tensor<64x1xi32>) -> tensor<64x16xf32>
  %7 = stablehlo.dot_general %6, %v, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
  %8 = "stablehlo.scatter"(%4, %to, %7) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<32x16xf32>, tensor<64x1xi32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %9 = stablehlo.dot_general %5, %u, contracting_dims = [1] x [1] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  %10 = stablehlo.add %8, %9 : tensor<32x16xf32>
  %11 = stablehlo.exponential %10 : tensor<32x16xf32>
  return %5, %11 : tensor<32x16xf32>, tensor<32x16xf32>
}
