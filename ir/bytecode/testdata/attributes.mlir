module @attributes attributes {
  a.array = [1 : i32, "two", true, unit],
  a.dict = {k = 1 : i8, "quoted key" = -5 : si16},
  a.floats = [1.5 : bf16, -0.1 : f64, 2.0 : f8E8M0FNU, 1.000000e+10 : f128, 0.1 : f32],
  a.ints = [-1 : i3, 18446744073709551615 : ui64, -3 : index, -1 : i65, 170141183460469231731687303715884105727 : i128],
  a.bools = dense<[true, false, true, true, true, true, true, true, false]> : tensor<9xi1>,
  a.all = dense<true> : tensor<8xi1>,
  a.small = dense<[1, -2, 3]> : tensor<3xi4>,
  a.complex = dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>,
  a.vector = dense<[1, 2]> : vector<2xi32>,
  a.arrays = [array<i64: 1, -2>, array<i1: true, false>, array<f32: 0.5>, array<i64>],
  a.map = affine_map<(d0, d1)[s0] -> (d0 + s0 * 4 - 3, (d0 + d1) floordiv 2, d0 - d1)>,
  a.set = affine_set<(d0) : (d0 - 4 >= 0, d0 mod 2 == 0)>,
  a.symbol = @outer::@inner,
  a.typed = "x" : i32,
  a.sparse = sparse<[[0, 1], [1, 2]], [1.500000e+00, 2.500000e+00]> : tensor<3x4xf32>,
  a.resource = dense_resource<blob> : tensor<4xf32>,
  a.types = [tensor<?x4xf32>, tensor<*xi1>, memref<2x?xf32, strided<[?, 1], offset: 5>, 3>, (i1) -> ((f32) -> ()),
             tuple<i1, index>, vector<[4]x2xf32>, !other.type<[x]>, complex<i32>, none],
  a.unknown = #other.attr<{a = 1}>
} {
  sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>
  func.func private @declared(tensor<2xf32> {a.b = 1 : i32}) -> (tensor<2xf32> {a.c})
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {"y":(1)2}]>} loc("x")) -> tensor<8x8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}]> : tensor<8x8xf32> loc(callsite("f"("a.py":1:2 to 3:4) at fused<"m">["b.py":5:6, unknown]))
    %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {?}]> : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func @branches(%arg0: i1, %arg1: tensor<f32>) -> tensor<f32> attributes {no_inline} {
    cf.cond_br %arg0, ^bb1(%arg1 : tensor<f32>), ^bb2
  ^bb1(%0: tensor<f32>):  // 2 preds: ^bb0, ^bb2
    return %0 : tensor<f32>
  ^bb2:  // pred: ^bb0
    %1 = "arith.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    cf.br ^bb1(%1 : tensor<f32>)
  }
  "other.graph"() ({
    %0 = "other.use"(%1) : (i32) -> i32
    %1 = "other.def"() : () -> i32
    "other.two"() ({
      "other.end"(%0)[^bb1] : (i32) -> ()
    ^bb1:
      "other.end"() : () -> ()
    }, {
    }) {d} : () -> ()
  }) : () -> ()
  module @nested {
    sdy.mesh @mesh = <["z"=3]>
    func.func @inner(%arg0: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {
      return
    }
  }
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x100000000000803F000000400000404000008040"
    }
  }
#-}
