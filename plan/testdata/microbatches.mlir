func.func @main(%x: tensor<96x12xf32>, %y: tensor<96x4xf32>, %w0: tensor<12x64xf32>, %w1: tensor<64x4xf32>) -> (tensor<12x64xf32>, tensor<64x4xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rate = stablehlo.constant dense<0.001> : tensor<f32>
  %h = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : (tensor<96x12xf32>, tensor<12x64xf32>) -> tensor<96x64xf32>
  %a = stablehlo.tanh %h : tensor<96x64xf32>
  %o = stablehlo.dot_general %a, %w1, contracting_dims = [1] x [0] : (tensor<96x64xf32>, tensor<64x4xf32>) -> tensor<96x4xf32>
  %e = stablehlo.subtract %o, %y : tensor<96x4xf32>
  %square = stablehlo.multiply %e, %e : tensor<96x4xf32>
  %loss = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<96x4xf32>, tensor<f32>) -> tensor<f32>
  %g1 = stablehlo.dot_general %a, %e, contracting_dims = [0] x [0] : (tensor<96x64xf32>, tensor<96x4xf32>) -> tensor<64x4xf32>
  %da = stablehlo.dot_general %e, %w1, contracting_dims = [1] x [1] : (tensor<96x4xf32>, tensor<64x4xf32>) -> tensor<96x64xf32>
  %aa = stablehlo.multiply %a, %a : tensor<96x64xf32>
  %one = stablehlo.constant dense<1.0> : tensor<96x64xf32>
  %slope = stablehlo.subtract %one, %aa : tensor<96x64xf32>
  %dh = stablehlo.multiply %da, %slope : tensor<96x64xf32>
  %g0 = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<96x12xf32>, tensor<96x64xf32>) -> tensor<12x64xf32>
  %r0 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<12x64xf32>
  %r1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<64x4xf32>
  %s0 = stablehlo.multiply %g0, %r0 : tensor<12x64xf32>
  %s1 = stablehlo.multiply %g1, %r1 : tensor<64x4xf32>
  %n0 = stablehlo.subtract %w0, %s0 : tensor<12x64xf32>
  %n1 = stablehlo.subtract %w1, %s1 : tensor<64x4xf32>
  return %n0, %n1, %loss : tensor<12x64xf32>, tensor<64x4xf32>, tensor<f32>
}
