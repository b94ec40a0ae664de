// A branch and a loop around products whose operands are read twice, and a constraint between an elementwise op and its user.
func.func @main(%which: tensor<i32>, %x: tensor<64x128xf32>, %w: tensor<128x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = "stablehlo.case"(%which) ({
    %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %b = stablehlo.tanh %a : tensor<64x128xf32>
    stablehlo.return %b : tensor<64x128xf32>
  }, {
    %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    stablehlo.return %a : tensor<64x128xf32>
  }) : (tensor<i32>) -> tensor<64x128xf32>
  %1 = stablehlo.negate %0 : tensor<64x128xf32>
  %2 = stablehlo.exponential %1 : tensor<64x128xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %3:2 = stablehlo.while(%i = %zero, %h = %2) : tensor<i32>, tensor<64x128xf32>
   cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %less = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %d = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %e = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %s = stablehlo.add %d, %e : tensor<64x128xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %s : tensor<i32>, tensor<64x128xf32>
  }
  return %2, %3#1 : tensor<64x128xf32>, tensor<64x128xf32>
}
