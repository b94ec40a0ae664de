#loc1 = loc("model.py":10:4)
#loc2 = loc("model.py":12:4)
#loc3 = loc("jit(step)/layer/dot_general"(#loc1))
#loc4 = loc("jit(step)/layer/jit(silu)"(#loc1))
#loc5 = loc("mul")
#loc6 = loc("jit(step)/loss/mul"(#loc2))
module @located {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %arg2: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc(#loc3)
    %1 = func.call @silu(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc(#loc4)
    %2 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc(#loc3)
    %3 = func.call @silu(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc(#loc4)
    %4 = stablehlo.multiply %3, %3 : tensor<8x4xf32> loc(#loc6)
    %5 = func.call @square(%4) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc(#loc6)
    return %5 : tensor<8x4xf32> loc(#loc6)
  }
  func.func private @silu(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<8x4xf32> loc("tanh")
    %1 = stablehlo.multiply %0, %arg0 : tensor<8x4xf32> loc(#loc5)
    %2 = stablehlo.multiply %1, %0 : tensor<8x4xf32> loc(#loc5)
    return %2 : tensor<8x4xf32> loc(#loc5)
  }
  func.func private @square(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x4xf32> loc(#loc5)
    return %0 : tensor<8x4xf32> loc(#loc5)
  }
}
