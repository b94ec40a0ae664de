module @jit_transformer_train_megatron_priorities attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<96x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}]>}, %arg1: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<32x96xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, %arg3: tensor<32x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, %arg4: tensor<8x4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}, {}]>}, %arg5: tensor<32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, %arg6: tensor<32x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, %arg7: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg8: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}]>}, %arg9: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, %arg10: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, %arg11: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg12: tensor<32x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, %arg13: tensor<8x4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}, {}]>}, %arg14: tensor<32x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, %arg15: tensor<32x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, %arg16: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg17: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}]>}, %arg18: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, %arg19: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, %arg20: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg21: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg22: tensor<96x32xf32>, %arg23: tensor<32xf32>, %arg24: tensor<32x96xf32>, %arg25: tensor<32x4x4xf32>, %arg26: tensor<8x4x32xf32>, %arg27: tensor<32x8x4xf32>, %arg28: tensor<32x4x4xf32>, %arg29: tensor<32xf32>, %arg30: tensor<64x32xf32>, %arg31: tensor<32x64xf32>, %arg32: tensor<32x64xf32>, %arg33: tensor<32xf32>, %arg34: tensor<32x4x4xf32>, %arg35: tensor<8x4x32xf32>, %arg36: tensor<32x8x4xf32>, %arg37: tensor<32x4x4xf32>, %arg38: tensor<32xf32>, %arg39: tensor<64x32xf32>, %arg40: tensor<32x64xf32>, %arg41: tensor<32x64xf32>, %arg42: tensor<32xf32>, %arg43: tensor<96x32xf32>, %arg44: tensor<32xf32>, %arg45: tensor<32x96xf32>, %arg46: tensor<32x4x4xf32>, %arg47: tensor<8x4x32xf32>, %arg48: tensor<32x8x4xf32>, %arg49: tensor<32x4x4xf32>, %arg50: tensor<32xf32>, %arg51: tensor<64x32xf32>, %arg52: tensor<32x64xf32>, %arg53: tensor<32x64xf32>, %arg54: tensor<32xf32>, %arg55: tensor<32x4x4xf32>, %arg56: tensor<8x4x32xf32>, %arg57: tensor<32x8x4xf32>, %arg58: tensor<32x4x4xf32>, %arg59: tensor<32xf32>, %arg60: tensor<64x32xf32>, %arg61: tensor<32x64xf32>, %arg62: tensor<32x64xf32>, %arg63: tensor<32xf32>, %arg64: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}p0, {}]>}, %arg65: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}p0, {}]>}) -> (tensor<96x32xf32> {jax.result_info = "result[0]['embed']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}]>}, tensor<32xf32> {jax.result_info = "result[0]['final_norm']['scale']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<32x96xf32> {jax.result_info = "result[0]['head']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, tensor<32x4x4xf32> {jax.result_info = "result[0]['layers'][0]['attn']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, tensor<8x4x32xf32> {jax.result_info = "result[0]['layers'][0]['attn']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}, {}]>}, tensor<32x8x4xf32> {jax.result_info = "result[0]['layers'][0]['attn']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, tensor<32x4x4xf32> {jax.result_info = "result[0]['layers'][0]['attn']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, tensor<32xf32> {jax.result_info = "result[0]['layers'][0]['attn_norm']['scale']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x32xf32> {jax.result_info = "result[0]['layers'][0]['mlp']['w_down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}]>}, tensor<32x64xf32> {jax.result_info = "result[0]['layers'][0]['mlp']['w_gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, tensor<32x64xf32> {jax.result_info = "result[0]['layers'][0]['mlp']['w_up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, tensor<32xf32> {jax.result_info = "result[0]['layers'][0]['mlp_norm']['scale']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<32x4x4xf32> {jax.result_info = "result[0]['layers'][1]['attn']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, tensor<8x4x32xf32> {jax.result_info = "result[0]['layers'][1]['attn']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}, {}]>}, tensor<32x8x4xf32> {jax.result_info = "result[0]['layers'][1]['attn']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, tensor<32x4x4xf32> {jax.result_info = "result[0]['layers'][1]['attn']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1, {}]>}, tensor<32xf32> {jax.result_info = "result[0]['layers'][1]['attn_norm']['scale']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x32xf32> {jax.result_info = "result[0]['layers'][1]['mlp']['w_down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}p1, {}]>}, tensor<32x64xf32> {jax.result_info = "result[0]['layers'][1]['mlp']['w_gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, tensor<32x64xf32> {jax.result_info = "result[0]['layers'][1]['mlp']['w_up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, tensor<32xf32> {jax.result_info = "result[0]['layers'][1]['mlp_norm']['scale']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<i32> {jax.result_info = "result[1]['count']", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<96x32xf32> {jax.result_info = "result[1]['m']['embed']"}, tensor<32xf32> {jax.result_info = "result[1]['m']['final_norm']['scale']"}, tensor<32x96xf32> {jax.result_info = "result[1]['m']['head']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['m']['layers'][0]['attn']['wk']"}, tensor<8x4x32xf32> {jax.result_info = "result[1]['m']['layers'][0]['attn']['wo']"}, tensor<32x8x4xf32> {jax.result_info = "result[1]['m']['layers'][0]['attn']['wq']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['m']['layers'][0]['attn']['wv']"}, tensor<32xf32> {jax.result_info = "result[1]['m']['layers'][0]['attn_norm']['scale']"}, tensor<64x32xf32> {jax.result_info = "result[1]['m']['layers'][0]['mlp']['w_down']"}, tensor<32x64xf32> {jax.result_info = "result[1]['m']['layers'][0]['mlp']['w_gate']"}, tensor<32x64xf32> {jax.result_info = "result[1]['m']['layers'][0]['mlp']['w_up']"}, tensor<32xf32> {jax.result_info = "result[1]['m']['layers'][0]['mlp_norm']['scale']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['m']['layers'][1]['attn']['wk']"}, tensor<8x4x32xf32> {jax.result_info = "result[1]['m']['layers'][1]['attn']['wo']"}, tensor<32x8x4xf32> {jax.result_info = "result[1]['m']['layers'][1]['attn']['wq']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['m']['layers'][1]['attn']['wv']"}, tensor<32xf32> {jax.result_info = "result[1]['m']['layers'][1]['attn_norm']['scale']"}, tensor<64x32xf32> {jax.result_info = "result[1]['m']['layers'][1]['mlp']['w_down']"}, tensor<32x64xf32> {jax.result_info = "result[1]['m']['layers'][1]['mlp']['w_gate']"}, tensor<32x64xf32> {jax.result_info = "result[1]['m']['layers'][1]['mlp']['w_up']"}, tensor<32xf32> {jax.result_info = "result[1]['m']['layers'][1]['mlp_norm']['scale']"}, tensor<96x32xf32> {jax.result_info = "result[1]['v']['embed']"}, tensor<32xf32> {jax.result_info = "result[1]['v']['final_norm']['scale']"}, tensor<32x96xf32> {jax.result_info = "result[1]['v']['head']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['v']['layers'][0]['attn']['wk']"}, tensor<8x4x32xf32> {jax.result_info = "result[1]['v']['layers'][0]['attn']['wo']"}, tensor<32x8x4xf32> {jax.result_info = "result[1]['v']['layers'][0]['attn']['wq']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['v']['layers'][0]['attn']['wv']"}, tensor<32xf32> {jax.result_info = "result[1]['v']['layers'][0]['attn_norm']['scale']"}, tensor<64x32xf32> {jax.result_info = "result[1]['v']['layers'][0]['mlp']['w_down']"}, tensor<32x64xf32> {jax.result_info = "result[1]['v']['layers'][0]['mlp']['w_gate']"}, tensor<32x64xf32> {jax.result_info = "result[1]['v']['layers'][0]['mlp']['w_up']"}, tensor<32xf32> {jax.result_info = "result[1]['v']['layers'][0]['mlp_norm']['scale']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['v']['layers'][1]['attn']['wk']"}, tensor<8x4x32xf32> {jax.result_info = "result[1]['v']['layers'][1]['attn']['wo']"}, tensor<32x8x4xf32> {jax.result_info = "result[1]['v']['layers'][1]['attn']['wq']"}, tensor<32x4x4xf32> {jax.result_info = "result[1]['v']['layers'][1]['attn']['wv']"}, tensor<32xf32> {jax.result_info = "result[1]['v']['layers'][1]['attn_norm']['scale']"}, tensor<64x32xf32> {jax.result_info = "result[1]['v']['layers'][1]['mlp']['w_down']"}, tensor<32x64xf32> {jax.result_info = "result[1]['v']['layers'][1]['mlp']['w_gate']"}, tensor<32x64xf32> {jax.result_info = "result[1]['v']['layers'][1]['mlp']['w_up']"}, tensor<32xf32> {jax.result_info = "result[1]['v']['layers'][1]['mlp_norm']['scale']"}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
    %1 = stablehlo.compare LT, %arg64, %0, SIGNED : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>
    %c_0 = stablehlo.constant dense<96> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
    %3 = stablehlo.add %arg64, %2 : tensor<8x16xi32>
    %4 = stablehlo.select %1, %3, %arg64 : tensor<8x16xi1>, tensor<8x16xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x16xi32>) -> tensor<8x16x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<96x32xf32>, tensor<8x16x1xi32>) -> tensor<8x16x32xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %8 = stablehlo.multiply %7, %7 : tensor<8x16x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<8x16x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %14 = stablehlo.add %12, %13 : tensor<8x16x1xf32>
    %15 = stablehlo.rsqrt %14 : tensor<8x16x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<8x16x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %18 = stablehlo.multiply %17, %16 : tensor<8x16x1xf32>
    %19 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %20 = stablehlo.multiply %7, %19 : tensor<8x16x32xf32>
    %21 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %23 = stablehlo.multiply %20, %22 : tensor<8x16x32xf32>
    %24 = stablehlo.dot_general %23, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x8x4xf32>) -> tensor<8x16x8x4xf32>
    %25 = stablehlo.dot_general %23, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x4x4xf32>) -> tensor<8x16x4x4xf32>
    %26 = stablehlo.dot_general %23, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x4x4xf32>) -> tensor<8x16x4x4xf32>
    %27 = stablehlo.iota dim = 0 : tensor<16xi32>
    %28 = stablehlo.iota dim = 0 : tensor<2xf32>
    %29 = stablehlo.negate %28 : tensor<2xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %31 = stablehlo.divide %29, %30 : tensor<2xf32>
    %cst_5 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %33 = stablehlo.power %32, %31 : tensor<2xf32>
    %34 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<16xi32>) -> tensor<16x1x1xi32>
    %35 = stablehlo.convert %34 : (tensor<16x1x1xi32>) -> tensor<16x1x1xf32>
    %36 = stablehlo.broadcast_in_dim %33, dims = [2] : (tensor<2xf32>) -> tensor<1x1x2xf32>
    %37 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<16x1x1xf32>) -> tensor<16x1x2xf32>
    %38 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<1x1x2xf32>) -> tensor<16x1x2xf32>
    %39 = stablehlo.multiply %37, %38 : tensor<16x1x2xf32>
    %40 = stablehlo.slice %24 [0:8, 0:16, 0:8, 0:2] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %41 = stablehlo.slice %24 [0:8, 0:16, 0:8, 2:4] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %42 = stablehlo.cosine %39 : tensor<16x1x2xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %45 = stablehlo.multiply %40, %44 : tensor<8x16x8x2xf32>
    %46 = stablehlo.sine %39 : tensor<16x1x2xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %49 = stablehlo.multiply %41, %48 : tensor<8x16x8x2xf32>
    %50 = stablehlo.subtract %45, %49 : tensor<8x16x8x2xf32>
    %51 = stablehlo.cosine %39 : tensor<16x1x2xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %54 = stablehlo.multiply %41, %53 : tensor<8x16x8x2xf32>
    %55 = stablehlo.sine %39 : tensor<16x1x2xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %58 = stablehlo.multiply %40, %57 : tensor<8x16x8x2xf32>
    %59 = stablehlo.add %54, %58 : tensor<8x16x8x2xf32>
    %60 = stablehlo.concatenate %50, %59, dim = 3 : (tensor<8x16x8x2xf32>, tensor<8x16x8x2xf32>) -> tensor<8x16x8x4xf32>
    %61 = stablehlo.iota dim = 0 : tensor<2xf32>
    %62 = stablehlo.negate %61 : tensor<2xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %64 = stablehlo.divide %62, %63 : tensor<2xf32>
    %cst_7 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %66 = stablehlo.power %65, %64 : tensor<2xf32>
    %67 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<16xi32>) -> tensor<16x1x1xi32>
    %68 = stablehlo.convert %67 : (tensor<16x1x1xi32>) -> tensor<16x1x1xf32>
    %69 = stablehlo.broadcast_in_dim %66, dims = [2] : (tensor<2xf32>) -> tensor<1x1x2xf32>
    %70 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<16x1x1xf32>) -> tensor<16x1x2xf32>
    %71 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<1x1x2xf32>) -> tensor<16x1x2xf32>
    %72 = stablehlo.multiply %70, %71 : tensor<16x1x2xf32>
    %73 = stablehlo.slice %25 [0:8, 0:16, 0:4, 0:2] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %74 = stablehlo.slice %25 [0:8, 0:16, 0:4, 2:4] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %75 = stablehlo.cosine %72 : tensor<16x1x2xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %78 = stablehlo.multiply %73, %77 : tensor<8x16x4x2xf32>
    %79 = stablehlo.sine %72 : tensor<16x1x2xf32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %82 = stablehlo.multiply %74, %81 : tensor<8x16x4x2xf32>
    %83 = stablehlo.subtract %78, %82 : tensor<8x16x4x2xf32>
    %84 = stablehlo.cosine %72 : tensor<16x1x2xf32>
    %85 = stablehlo.broadcast_in_dim %84, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %87 = stablehlo.multiply %74, %86 : tensor<8x16x4x2xf32>
    %88 = stablehlo.sine %72 : tensor<16x1x2xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %91 = stablehlo.multiply %73, %90 : tensor<8x16x4x2xf32>
    %92 = stablehlo.add %87, %91 : tensor<8x16x4x2xf32>
    %93 = stablehlo.concatenate %83, %92, dim = 3 : (tensor<8x16x4x2xf32>, tensor<8x16x4x2xf32>) -> tensor<8x16x4x4xf32>
    %94 = sdy.sharding_constraint %60 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %95 = sdy.sharding_constraint %93 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %96 = sdy.sharding_constraint %26 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %97 = stablehlo.reshape %94 : (tensor<8x16x8x4xf32>) -> tensor<8x16x4x2x4xf32>
    %98 = stablehlo.dot_general %95, %97, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x16x4x2x4xf32>) -> tensor<8x4x16x16x2xf32>
    %99 = stablehlo.transpose %98, dims = [0, 1, 4, 3, 2] : (tensor<8x4x16x16x2xf32>) -> tensor<8x4x2x16x16xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x16xf32>
    %101 = stablehlo.multiply %99, %100 : tensor<8x4x2x16x16xf32>
    %102 = stablehlo.iota dim = 0 : tensor<16xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %103 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %104 = stablehlo.add %102, %103 : tensor<16xi32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %106 = stablehlo.iota dim = 0 : tensor<16xi32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [1] : (tensor<16xi32>) -> tensor<1x16xi32>
    %108 = stablehlo.broadcast_in_dim %105, dims = [0, 1] : (tensor<16x1xi32>) -> tensor<16x16xi32>
    %109 = stablehlo.broadcast_in_dim %107, dims = [0, 1] : (tensor<1x16xi32>) -> tensor<16x16xi32>
    %110 = stablehlo.compare GE, %108, %109, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %cst_10 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %111:3 = call @_where(%110, %101, %cst_10) : (tensor<16x16xi1>, tensor<8x4x2x16x16xf32>, tensor<f32>) -> (tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>)
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %112 = stablehlo.reduce(%111#0 init: %cst_11) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %113 = stablehlo.reshape %112 : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %115 = stablehlo.compare EQ, %111#0, %114, FLOAT : (tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x2x16x16xi1>
    %116 = stablehlo.convert %115 : (tensor<8x4x2x16x16xi1>) -> tensor<8x4x2x16x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.reduce(%116 init: %cst_12) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %119 = stablehlo.maximum %118, %112 : tensor<8x4x2x16xf32>
    %cst_14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %121 = stablehlo.compare GT, %112, %120, FLOAT : (tensor<8x4x2x16xf32>, tensor<8x4x2x16xf32>) -> tensor<8x4x2x16xi1>
    %cst_15 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %123 = stablehlo.compare EQ, %112, %122, FLOAT : (tensor<8x4x2x16xf32>, tensor<8x4x2x16xf32>) -> tensor<8x4x2x16xi1>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %cst_18 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %127 = stablehlo.select %123, %126, %125 : tensor<8x4x2x16xi1>, tensor<8x4x2x16xf32>
    %128 = stablehlo.select %121, %124, %127 : tensor<8x4x2x16xi1>, tensor<8x4x2x16xf32>
    %129 = stablehlo.broadcast_in_dim %119, dims = [0, 1, 2, 3] : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %131 = stablehlo.subtract %111#0, %130 : tensor<8x4x2x16x16xf32>
    %132 = stablehlo.exponential %131 : tensor<8x4x2x16x16xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.reduce(%132 init: %cst_19) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2, 3] : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %136 = stablehlo.divide %132, %135 : tensor<8x4x2x16x16xf32>
    %137 = stablehlo.multiply %134, %134 : tensor<8x4x2x16x1xf32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x1xf32>
    %139 = stablehlo.divide %138, %137 : tensor<8x4x2x16x1xf32>
    %140 = stablehlo.dot_general %96, %136, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x4x2x16xf32>
    %141 = stablehlo.transpose %140, dims = [0, 4, 1, 3, 2] : (tensor<8x4x4x2x16xf32>) -> tensor<8x16x4x2x4xf32>
    %142 = stablehlo.reshape %141 : (tensor<8x16x4x2x4xf32>) -> tensor<8x16x8x4xf32>
    %143 = sdy.sharding_constraint %142 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %144 = stablehlo.dot_general %143, %arg4, contracting_dims = [3, 2] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x8x4xf32>, tensor<8x4x32xf32>) -> tensor<8x16x32xf32>
    %145 = stablehlo.add %7, %144 : tensor<8x16x32xf32>
    %146 = sdy.sharding_constraint %145 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %147 = stablehlo.multiply %146, %146 : tensor<8x16x32xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %148 = stablehlo.reduce(%147 init: %cst_21) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %149 = stablehlo.broadcast_in_dim %148, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_22 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %151 = stablehlo.divide %149, %150 : tensor<8x16x1xf32>
    %cst_23 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %153 = stablehlo.add %151, %152 : tensor<8x16x1xf32>
    %154 = stablehlo.rsqrt %153 : tensor<8x16x1xf32>
    %155 = stablehlo.divide %154, %153 : tensor<8x16x1xf32>
    %cst_24 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %157 = stablehlo.multiply %156, %155 : tensor<8x16x1xf32>
    %158 = stablehlo.broadcast_in_dim %154, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %159 = stablehlo.multiply %146, %158 : tensor<8x16x32xf32>
    %160 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %161 = stablehlo.broadcast_in_dim %160, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %162 = stablehlo.multiply %159, %161 : tensor<8x16x32xf32>
    %163 = stablehlo.dot_general %162, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x64xf32>) -> tensor<8x16x64xf32>
    %164 = stablehlo.dot_general %162, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x64xf32>) -> tensor<8x16x64xf32>
    %165:3 = call @silu(%164) : (tensor<8x16x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>)
    %166 = stablehlo.multiply %165#0, %163 : tensor<8x16x64xf32>
    %167 = sdy.sharding_constraint %166 <@mesh, [{"data"}p0, {?}, {"model"}p1]> : tensor<8x16x64xf32>
    %168 = stablehlo.dot_general %167, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x32xf32>) -> tensor<8x16x32xf32>
    %169 = stablehlo.add %146, %168 : tensor<8x16x32xf32>
    %170 = sdy.sharding_constraint %169 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %171 = stablehlo.multiply %170, %170 : tensor<8x16x32xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.reduce(%171 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %173 = stablehlo.broadcast_in_dim %172, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_26 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %175 = stablehlo.divide %173, %174 : tensor<8x16x1xf32>
    %cst_27 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %177 = stablehlo.add %175, %176 : tensor<8x16x1xf32>
    %178 = stablehlo.rsqrt %177 : tensor<8x16x1xf32>
    %179 = stablehlo.divide %178, %177 : tensor<8x16x1xf32>
    %cst_28 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %181 = stablehlo.multiply %180, %179 : tensor<8x16x1xf32>
    %182 = stablehlo.broadcast_in_dim %178, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %183 = stablehlo.multiply %170, %182 : tensor<8x16x32xf32>
    %184 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %186 = stablehlo.multiply %183, %185 : tensor<8x16x32xf32>
    %187 = stablehlo.dot_general %186, %arg14, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x8x4xf32>) -> tensor<8x16x8x4xf32>
    %188 = stablehlo.dot_general %186, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x4x4xf32>) -> tensor<8x16x4x4xf32>
    %189 = stablehlo.dot_general %186, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x4x4xf32>) -> tensor<8x16x4x4xf32>
    %190 = stablehlo.iota dim = 0 : tensor<16xi32>
    %191 = stablehlo.iota dim = 0 : tensor<2xf32>
    %192 = stablehlo.negate %191 : tensor<2xf32>
    %cst_29 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %194 = stablehlo.divide %192, %193 : tensor<2xf32>
    %cst_30 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %196 = stablehlo.power %195, %194 : tensor<2xf32>
    %197 = stablehlo.broadcast_in_dim %190, dims = [0] : (tensor<16xi32>) -> tensor<16x1x1xi32>
    %198 = stablehlo.convert %197 : (tensor<16x1x1xi32>) -> tensor<16x1x1xf32>
    %199 = stablehlo.broadcast_in_dim %196, dims = [2] : (tensor<2xf32>) -> tensor<1x1x2xf32>
    %200 = stablehlo.broadcast_in_dim %198, dims = [0, 1, 2] : (tensor<16x1x1xf32>) -> tensor<16x1x2xf32>
    %201 = stablehlo.broadcast_in_dim %199, dims = [0, 1, 2] : (tensor<1x1x2xf32>) -> tensor<16x1x2xf32>
    %202 = stablehlo.multiply %200, %201 : tensor<16x1x2xf32>
    %203 = stablehlo.slice %187 [0:8, 0:16, 0:8, 0:2] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %204 = stablehlo.slice %187 [0:8, 0:16, 0:8, 2:4] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %205 = stablehlo.cosine %202 : tensor<16x1x2xf32>
    %206 = stablehlo.broadcast_in_dim %205, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %208 = stablehlo.multiply %203, %207 : tensor<8x16x8x2xf32>
    %209 = stablehlo.sine %202 : tensor<16x1x2xf32>
    %210 = stablehlo.broadcast_in_dim %209, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %211 = stablehlo.broadcast_in_dim %210, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %212 = stablehlo.multiply %204, %211 : tensor<8x16x8x2xf32>
    %213 = stablehlo.subtract %208, %212 : tensor<8x16x8x2xf32>
    %214 = stablehlo.cosine %202 : tensor<16x1x2xf32>
    %215 = stablehlo.broadcast_in_dim %214, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %216 = stablehlo.broadcast_in_dim %215, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %217 = stablehlo.multiply %204, %216 : tensor<8x16x8x2xf32>
    %218 = stablehlo.sine %202 : tensor<16x1x2xf32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %220 = stablehlo.broadcast_in_dim %219, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %221 = stablehlo.multiply %203, %220 : tensor<8x16x8x2xf32>
    %222 = stablehlo.add %217, %221 : tensor<8x16x8x2xf32>
    %223 = stablehlo.concatenate %213, %222, dim = 3 : (tensor<8x16x8x2xf32>, tensor<8x16x8x2xf32>) -> tensor<8x16x8x4xf32>
    %224 = stablehlo.iota dim = 0 : tensor<2xf32>
    %225 = stablehlo.negate %224 : tensor<2xf32>
    %cst_31 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %227 = stablehlo.divide %225, %226 : tensor<2xf32>
    %cst_32 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %229 = stablehlo.power %228, %227 : tensor<2xf32>
    %230 = stablehlo.broadcast_in_dim %190, dims = [0] : (tensor<16xi32>) -> tensor<16x1x1xi32>
    %231 = stablehlo.convert %230 : (tensor<16x1x1xi32>) -> tensor<16x1x1xf32>
    %232 = stablehlo.broadcast_in_dim %229, dims = [2] : (tensor<2xf32>) -> tensor<1x1x2xf32>
    %233 = stablehlo.broadcast_in_dim %231, dims = [0, 1, 2] : (tensor<16x1x1xf32>) -> tensor<16x1x2xf32>
    %234 = stablehlo.broadcast_in_dim %232, dims = [0, 1, 2] : (tensor<1x1x2xf32>) -> tensor<16x1x2xf32>
    %235 = stablehlo.multiply %233, %234 : tensor<16x1x2xf32>
    %236 = stablehlo.slice %188 [0:8, 0:16, 0:4, 0:2] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %237 = stablehlo.slice %188 [0:8, 0:16, 0:4, 2:4] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %238 = stablehlo.cosine %235 : tensor<16x1x2xf32>
    %239 = stablehlo.broadcast_in_dim %238, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %240 = stablehlo.broadcast_in_dim %239, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %241 = stablehlo.multiply %236, %240 : tensor<8x16x4x2xf32>
    %242 = stablehlo.sine %235 : tensor<16x1x2xf32>
    %243 = stablehlo.broadcast_in_dim %242, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %244 = stablehlo.broadcast_in_dim %243, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %245 = stablehlo.multiply %237, %244 : tensor<8x16x4x2xf32>
    %246 = stablehlo.subtract %241, %245 : tensor<8x16x4x2xf32>
    %247 = stablehlo.cosine %235 : tensor<16x1x2xf32>
    %248 = stablehlo.broadcast_in_dim %247, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %249 = stablehlo.broadcast_in_dim %248, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %250 = stablehlo.multiply %237, %249 : tensor<8x16x4x2xf32>
    %251 = stablehlo.sine %235 : tensor<16x1x2xf32>
    %252 = stablehlo.broadcast_in_dim %251, dims = [1, 2, 3] : (tensor<16x1x2xf32>) -> tensor<1x16x1x2xf32>
    %253 = stablehlo.broadcast_in_dim %252, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %254 = stablehlo.multiply %236, %253 : tensor<8x16x4x2xf32>
    %255 = stablehlo.add %250, %254 : tensor<8x16x4x2xf32>
    %256 = stablehlo.concatenate %246, %255, dim = 3 : (tensor<8x16x4x2xf32>, tensor<8x16x4x2xf32>) -> tensor<8x16x4x4xf32>
    %257 = sdy.sharding_constraint %223 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %258 = sdy.sharding_constraint %256 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %259 = sdy.sharding_constraint %189 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %260 = stablehlo.reshape %257 : (tensor<8x16x8x4xf32>) -> tensor<8x16x4x2x4xf32>
    %261 = stablehlo.dot_general %258, %260, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x16x4x2x4xf32>) -> tensor<8x4x16x16x2xf32>
    %262 = stablehlo.transpose %261, dims = [0, 1, 4, 3, 2] : (tensor<8x4x16x16x2xf32>) -> tensor<8x4x2x16x16xf32>
    %cst_33 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %263 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x16xf32>
    %264 = stablehlo.multiply %262, %263 : tensor<8x4x2x16x16xf32>
    %265 = stablehlo.iota dim = 0 : tensor<16xi32>
    %c_34 = stablehlo.constant dense<0> : tensor<i32>
    %266 = stablehlo.broadcast_in_dim %c_34, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %267 = stablehlo.add %265, %266 : tensor<16xi32>
    %268 = stablehlo.broadcast_in_dim %267, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %269 = stablehlo.iota dim = 0 : tensor<16xi32>
    %270 = stablehlo.broadcast_in_dim %269, dims = [1] : (tensor<16xi32>) -> tensor<1x16xi32>
    %271 = stablehlo.broadcast_in_dim %268, dims = [0, 1] : (tensor<16x1xi32>) -> tensor<16x16xi32>
    %272 = stablehlo.broadcast_in_dim %270, dims = [0, 1] : (tensor<1x16xi32>) -> tensor<16x16xi32>
    %273 = stablehlo.compare GE, %271, %272, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %cst_35 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %274:3 = call @_where(%273, %264, %cst_35) : (tensor<16x16xi1>, tensor<8x4x2x16x16xf32>, tensor<f32>) -> (tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>)
    %cst_36 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %275 = stablehlo.reduce(%274#0 init: %cst_36) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %276 = stablehlo.reshape %275 : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %277 = stablehlo.broadcast_in_dim %276, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %278 = stablehlo.compare EQ, %274#0, %277, FLOAT : (tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x2x16x16xi1>
    %279 = stablehlo.convert %278 : (tensor<8x4x2x16x16xi1>) -> tensor<8x4x2x16x16xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %280 = stablehlo.reduce(%279 init: %cst_37) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %cst_38 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %282 = stablehlo.maximum %281, %275 : tensor<8x4x2x16xf32>
    %cst_39 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %283 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %284 = stablehlo.compare GT, %275, %283, FLOAT : (tensor<8x4x2x16xf32>, tensor<8x4x2x16xf32>) -> tensor<8x4x2x16xi1>
    %cst_40 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %286 = stablehlo.compare EQ, %275, %285, FLOAT : (tensor<8x4x2x16xf32>, tensor<8x4x2x16xf32>) -> tensor<8x4x2x16xi1>
    %cst_41 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %cst_43 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %289 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<8x4x2x16xf32>
    %290 = stablehlo.select %286, %289, %288 : tensor<8x4x2x16xi1>, tensor<8x4x2x16xf32>
    %291 = stablehlo.select %284, %287, %290 : tensor<8x4x2x16xi1>, tensor<8x4x2x16xf32>
    %292 = stablehlo.broadcast_in_dim %282, dims = [0, 1, 2, 3] : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %293 = stablehlo.broadcast_in_dim %292, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %294 = stablehlo.subtract %274#0, %293 : tensor<8x4x2x16x16xf32>
    %295 = stablehlo.exponential %294 : tensor<8x4x2x16x16xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %296 = stablehlo.reduce(%295 init: %cst_44) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %297 = stablehlo.broadcast_in_dim %296, dims = [0, 1, 2, 3] : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %298 = stablehlo.broadcast_in_dim %297, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %299 = stablehlo.divide %295, %298 : tensor<8x4x2x16x16xf32>
    %300 = stablehlo.multiply %297, %297 : tensor<8x4x2x16x1xf32>
    %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %301 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x1xf32>
    %302 = stablehlo.divide %301, %300 : tensor<8x4x2x16x1xf32>
    %303 = stablehlo.dot_general %259, %299, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x4x2x16xf32>
    %304 = stablehlo.transpose %303, dims = [0, 4, 1, 3, 2] : (tensor<8x4x4x2x16xf32>) -> tensor<8x16x4x2x4xf32>
    %305 = stablehlo.reshape %304 : (tensor<8x16x4x2x4xf32>) -> tensor<8x16x8x4xf32>
    %306 = sdy.sharding_constraint %305 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %307 = stablehlo.dot_general %306, %arg13, contracting_dims = [3, 2] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x8x4xf32>, tensor<8x4x32xf32>) -> tensor<8x16x32xf32>
    %308 = stablehlo.add %170, %307 : tensor<8x16x32xf32>
    %309 = sdy.sharding_constraint %308 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %310 = stablehlo.multiply %309, %309 : tensor<8x16x32xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %311 = stablehlo.reduce(%310 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %312 = stablehlo.broadcast_in_dim %311, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_47 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %314 = stablehlo.divide %312, %313 : tensor<8x16x1xf32>
    %cst_48 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %315 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %316 = stablehlo.add %314, %315 : tensor<8x16x1xf32>
    %317 = stablehlo.rsqrt %316 : tensor<8x16x1xf32>
    %318 = stablehlo.divide %317, %316 : tensor<8x16x1xf32>
    %cst_49 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %319 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %320 = stablehlo.multiply %319, %318 : tensor<8x16x1xf32>
    %321 = stablehlo.broadcast_in_dim %317, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %322 = stablehlo.multiply %309, %321 : tensor<8x16x32xf32>
    %323 = stablehlo.broadcast_in_dim %arg20, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %324 = stablehlo.broadcast_in_dim %323, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %325 = stablehlo.multiply %322, %324 : tensor<8x16x32xf32>
    %326 = stablehlo.dot_general %325, %arg19, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x64xf32>) -> tensor<8x16x64xf32>
    %327 = stablehlo.dot_general %325, %arg18, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x64xf32>) -> tensor<8x16x64xf32>
    %328:3 = call @silu(%327) : (tensor<8x16x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>)
    %329 = stablehlo.multiply %328#0, %326 : tensor<8x16x64xf32>
    %330 = sdy.sharding_constraint %329 <@mesh, [{"data"}p0, {?}, {"model"}p1]> : tensor<8x16x64xf32>
    %331 = stablehlo.dot_general %330, %arg17, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x32xf32>) -> tensor<8x16x32xf32>
    %332 = stablehlo.add %309, %331 : tensor<8x16x32xf32>
    %333 = sdy.sharding_constraint %332 <@mesh, [{"data", "model"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %334 = stablehlo.multiply %333, %333 : tensor<8x16x32xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %335 = stablehlo.reduce(%334 init: %cst_50) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %336 = stablehlo.broadcast_in_dim %335, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_51 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %337 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %338 = stablehlo.divide %336, %337 : tensor<8x16x1xf32>
    %cst_52 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %339 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %340 = stablehlo.add %338, %339 : tensor<8x16x1xf32>
    %341 = stablehlo.rsqrt %340 : tensor<8x16x1xf32>
    %342 = stablehlo.divide %341, %340 : tensor<8x16x1xf32>
    %cst_53 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %343 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %344 = stablehlo.multiply %343, %342 : tensor<8x16x1xf32>
    %345 = stablehlo.broadcast_in_dim %341, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %346 = stablehlo.multiply %333, %345 : tensor<8x16x32xf32>
    %347 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %348 = stablehlo.broadcast_in_dim %347, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %349 = stablehlo.multiply %346, %348 : tensor<8x16x32xf32>
    %350 = stablehlo.dot_general %349, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<32x96xf32>) -> tensor<8x16x96xf32>
    %351 = sdy.sharding_constraint %350 <@mesh, [{"data", ?}p0, {?}, {"model"}p1]> : tensor<8x16x96xf32>
    %cst_54 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %352 = stablehlo.reduce(%351 init: %cst_54) applies stablehlo.maximum across dimensions = [2] : (tensor<8x16x96xf32>, tensor<f32>) -> tensor<8x16xf32>
    %353 = stablehlo.reshape %352 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %354 = stablehlo.broadcast_in_dim %353, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x96xf32>
    %355 = stablehlo.compare EQ, %351, %354, FLOAT : (tensor<8x16x96xf32>, tensor<8x16x96xf32>) -> tensor<8x16x96xi1>
    %356 = stablehlo.convert %355 : (tensor<8x16x96xi1>) -> tensor<8x16x96xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %357 = stablehlo.reduce(%356 init: %cst_55) applies stablehlo.add across dimensions = [2] : (tensor<8x16x96xf32>, tensor<f32>) -> tensor<8x16xf32>
    %358 = stablehlo.broadcast_in_dim %352, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %359 = stablehlo.broadcast_in_dim %358, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x96xf32>
    %360 = stablehlo.subtract %351, %359 : tensor<8x16x96xf32>
    %361 = stablehlo.exponential %360 : tensor<8x16x96xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %362 = stablehlo.reduce(%361 init: %cst_56) applies stablehlo.add across dimensions = [2] : (tensor<8x16x96xf32>, tensor<f32>) -> tensor<8x16xf32>
    %363 = stablehlo.log %362 : tensor<8x16xf32>
    %364 = stablehlo.reshape %358 : (tensor<8x16x1xf32>) -> tensor<8x16xf32>
    %365 = stablehlo.add %363, %364 : tensor<8x16xf32>
    %366 = stablehlo.broadcast_in_dim %arg65, dims = [0, 1] : (tensor<8x16xi32>) -> tensor<8x16x1xi32>
    %367:2 = call @take_along_axis(%351, %366) : (tensor<8x16x96xf32>, tensor<8x16x1xi32>) -> (tensor<8x16x1xf32>, tensor<8x16x1x1xi32>)
    %368 = stablehlo.reshape %367#0 : (tensor<8x16x1xf32>) -> tensor<8x16xf32>
    %369 = stablehlo.subtract %365, %368 : tensor<8x16xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %370 = stablehlo.reduce(%369 init: %cst_57) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_58 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %371 = stablehlo.divide %370, %cst_58 : tensor<f32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %372 = stablehlo.add %371, %cst_59 : tensor<f32>
    %cst_60 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_61 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %373 = stablehlo.divide %cst_60, %cst_61 : tensor<f32>
    %374 = stablehlo.broadcast_in_dim %373, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %375 = stablehlo.negate %374 : tensor<8x16xf32>
    %376 = stablehlo.broadcast_in_dim %375, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %377 = call @take_along_axis_0(%367#1, %376) : (tensor<8x16x1x1xi32>, tensor<8x16x1xf32>) -> tensor<8x16x96xf32>
    %378 = stablehlo.divide %374, %362 : tensor<8x16xf32>
    %379 = stablehlo.broadcast_in_dim %378, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x96xf32>
    %380 = stablehlo.multiply %379, %361 : tensor<8x16x96xf32>
    %381 = stablehlo.add %377, %380 : tensor<8x16x96xf32>
    %382 = sdy.sharding_constraint %381 <@mesh, [{"data", ?}p0, {?}, {"model"}p1]> : tensor<8x16x96xf32>
    %383 = stablehlo.dot_general %382, %349, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x96xf32>, tensor<8x16x32xf32>) -> tensor<96x32xf32>
    %384 = stablehlo.transpose %383, dims = [1, 0] : (tensor<96x32xf32>) -> tensor<32x96xf32>
    %385 = stablehlo.dot_general %382, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x96xf32>, tensor<32x96xf32>) -> tensor<8x16x32xf32>
    %386 = stablehlo.multiply %346, %385 : tensor<8x16x32xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %387 = stablehlo.reduce(%386 init: %cst_62) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %388 = stablehlo.reshape %387 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %389 = stablehlo.broadcast_in_dim %347, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %390 = stablehlo.multiply %385, %389 : tensor<8x16x32xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %391 = stablehlo.reduce(%388 init: %cst_63) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %392 = stablehlo.multiply %333, %390 : tensor<8x16x32xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %393 = stablehlo.reduce(%392 init: %cst_64) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %394 = stablehlo.reshape %393 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %395 = stablehlo.broadcast_in_dim %341, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %396 = stablehlo.multiply %390, %395 : tensor<8x16x32xf32>
    %397 = stablehlo.multiply %394, %344 : tensor<8x16x1xf32>
    %cst_65 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %398 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %399 = stablehlo.divide %397, %398 : tensor<8x16x1xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %400 = stablehlo.reduce(%399 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %401 = stablehlo.broadcast_in_dim %400, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x32xf32>
    %402 = stablehlo.multiply %333, %401 : tensor<8x16x32xf32>
    %403 = stablehlo.multiply %401, %333 : tensor<8x16x32xf32>
    %404 = stablehlo.add %396, %403 : tensor<8x16x32xf32>
    %405 = stablehlo.add %404, %402 : tensor<8x16x32xf32>
    %406 = sdy.sharding_constraint %405 <@mesh, [{"data", "model"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %407 = stablehlo.dot_general %406, %330, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<8x16x64xf32>) -> tensor<32x64xf32>
    %408 = stablehlo.transpose %407, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %409 = stablehlo.dot_general %406, %arg17, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<64x32xf32>) -> tensor<8x16x64xf32>
    %410 = sdy.sharding_constraint %409 <@mesh, [{"data"}p0, {?}, {"model"}p1]> : tensor<8x16x64xf32>
    %411 = stablehlo.multiply %328#0, %410 : tensor<8x16x64xf32>
    %412 = stablehlo.multiply %410, %326 : tensor<8x16x64xf32>
    %413 = call @silu_1(%328#1, %328#2, %327, %412) : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
    %414 = stablehlo.dot_general %413, %325, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
    %415 = stablehlo.transpose %414, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %416 = stablehlo.dot_general %413, %arg18, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<32x64xf32>) -> tensor<8x16x32xf32>
    %417 = stablehlo.dot_general %411, %325, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
    %418 = stablehlo.transpose %417, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %419 = stablehlo.dot_general %411, %arg19, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<32x64xf32>) -> tensor<8x16x32xf32>
    %420 = stablehlo.add %416, %419 : tensor<8x16x32xf32>
    %421 = stablehlo.multiply %322, %420 : tensor<8x16x32xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %422 = stablehlo.reduce(%421 init: %cst_67) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %423 = stablehlo.reshape %422 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %424 = stablehlo.broadcast_in_dim %323, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %425 = stablehlo.multiply %420, %424 : tensor<8x16x32xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %426 = stablehlo.reduce(%423 init: %cst_68) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %427 = stablehlo.multiply %309, %425 : tensor<8x16x32xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %428 = stablehlo.reduce(%427 init: %cst_69) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %429 = stablehlo.reshape %428 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %430 = stablehlo.broadcast_in_dim %317, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %431 = stablehlo.multiply %425, %430 : tensor<8x16x32xf32>
    %432 = stablehlo.add %406, %431 : tensor<8x16x32xf32>
    %433 = stablehlo.multiply %429, %320 : tensor<8x16x1xf32>
    %cst_70 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %435 = stablehlo.divide %433, %434 : tensor<8x16x1xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %436 = stablehlo.reduce(%435 init: %cst_71) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %437 = stablehlo.broadcast_in_dim %436, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x32xf32>
    %438 = stablehlo.multiply %309, %437 : tensor<8x16x32xf32>
    %439 = stablehlo.multiply %437, %309 : tensor<8x16x32xf32>
    %440 = stablehlo.add %432, %439 : tensor<8x16x32xf32>
    %441 = stablehlo.add %440, %438 : tensor<8x16x32xf32>
    %442 = sdy.sharding_constraint %441 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %443 = stablehlo.dot_general %442, %306, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<8x16x8x4xf32>) -> tensor<32x8x4xf32>
    %444 = stablehlo.transpose %443, dims = [1, 2, 0] : (tensor<32x8x4xf32>) -> tensor<8x4x32xf32>
    %445 = stablehlo.dot_general %442, %arg13, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<8x4x32xf32>) -> tensor<8x16x8x4xf32>
    %446 = sdy.sharding_constraint %445 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %447 = stablehlo.reshape %446 : (tensor<8x16x8x4xf32>) -> tensor<8x16x4x2x4xf32>
    %448 = stablehlo.transpose %447, dims = [0, 2, 4, 3, 1] : (tensor<8x16x4x2x4xf32>) -> tensor<8x4x4x2x16xf32>
    %449 = stablehlo.dot_general %448, %259, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4x2x16xf32>, tensor<8x16x4x4xf32>) -> tensor<8x4x2x16x16xf32>
    %450 = stablehlo.dot_general %448, %299, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4x2x16xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x4x16xf32>
    %451 = stablehlo.transpose %450, dims = [0, 3, 1, 2] : (tensor<8x4x4x16xf32>) -> tensor<8x16x4x4xf32>
    %452 = stablehlo.broadcast_in_dim %302, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %453 = stablehlo.multiply %449, %452 : tensor<8x4x2x16x16xf32>
    %454 = stablehlo.multiply %453, %295 : tensor<8x4x2x16x16xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %455 = stablehlo.reduce(%454 init: %cst_72) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %456 = stablehlo.reshape %455 : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %457 = stablehlo.negate %456 : tensor<8x4x2x16x1xf32>
    %458 = stablehlo.broadcast_in_dim %297, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %459 = stablehlo.divide %449, %458 : tensor<8x4x2x16x16xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %460 = stablehlo.reduce(%457 init: %cst_73) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x1xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %461 = stablehlo.broadcast_in_dim %460, dims = [0, 1, 2, 3] : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x16xf32>
    %462 = stablehlo.add %459, %461 : tensor<8x4x2x16x16xf32>
    %463 = stablehlo.multiply %462, %295 : tensor<8x4x2x16x16xf32>
    %464 = call @_where_2(%274#1, %274#2, %463) : (tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x2x16x16xf32>
    %cst_74 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %465 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x16xf32>
    %466 = stablehlo.multiply %464, %465 : tensor<8x4x2x16x16xf32>
    %467 = stablehlo.transpose %466, dims = [0, 1, 4, 3, 2] : (tensor<8x4x2x16x16xf32>) -> tensor<8x4x16x16x2xf32>
    %468 = stablehlo.dot_general %467, %258, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16x2xf32>, tensor<8x16x4x4xf32>) -> tensor<8x4x16x2x4xf32>
    %469 = stablehlo.transpose %468, dims = [0, 2, 1, 3, 4] : (tensor<8x4x16x2x4xf32>) -> tensor<8x16x4x2x4xf32>
    %470 = stablehlo.dot_general %467, %260, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16x2xf32>, tensor<8x16x4x2x4xf32>) -> tensor<8x4x16x4xf32>
    %471 = stablehlo.transpose %470, dims = [0, 2, 1, 3] : (tensor<8x4x16x4xf32>) -> tensor<8x16x4x4xf32>
    %472 = stablehlo.reshape %469 : (tensor<8x16x4x2x4xf32>) -> tensor<8x16x8x4xf32>
    %473 = sdy.sharding_constraint %451 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %474 = sdy.sharding_constraint %471 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %475 = sdy.sharding_constraint %472 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %476 = stablehlo.slice %474 [0:8, 0:16, 0:4, 0:2] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %477 = stablehlo.slice %474 [0:8, 0:16, 0:4, 2:4] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %478 = stablehlo.broadcast_in_dim %252, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %479 = stablehlo.multiply %477, %478 : tensor<8x16x4x2xf32>
    %480 = stablehlo.broadcast_in_dim %248, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %481 = stablehlo.multiply %477, %480 : tensor<8x16x4x2xf32>
    %482 = stablehlo.negate %476 : tensor<8x16x4x2xf32>
    %483 = stablehlo.broadcast_in_dim %243, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %484 = stablehlo.multiply %482, %483 : tensor<8x16x4x2xf32>
    %485 = stablehlo.add %481, %484 : tensor<8x16x4x2xf32>
    %486 = stablehlo.broadcast_in_dim %239, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %487 = stablehlo.multiply %476, %486 : tensor<8x16x4x2xf32>
    %488 = stablehlo.add %479, %487 : tensor<8x16x4x2xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %489 = stablehlo.pad %485, %cst_75, low = [0, 0, 0, 2], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x16x4x2xf32>, tensor<f32>) -> tensor<8x16x4x4xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %490 = stablehlo.pad %488, %cst_76, low = [0, 0, 0, 0], high = [0, 0, 0, 2], interior = [0, 0, 0, 0] : (tensor<8x16x4x2xf32>, tensor<f32>) -> tensor<8x16x4x4xf32>
    %491 = stablehlo.add %489, %490 : tensor<8x16x4x4xf32>
    %492 = stablehlo.slice %475 [0:8, 0:16, 0:8, 0:2] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %493 = stablehlo.slice %475 [0:8, 0:16, 0:8, 2:4] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %494 = stablehlo.broadcast_in_dim %219, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %495 = stablehlo.multiply %493, %494 : tensor<8x16x8x2xf32>
    %496 = stablehlo.broadcast_in_dim %215, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %497 = stablehlo.multiply %493, %496 : tensor<8x16x8x2xf32>
    %498 = stablehlo.negate %492 : tensor<8x16x8x2xf32>
    %499 = stablehlo.broadcast_in_dim %210, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %500 = stablehlo.multiply %498, %499 : tensor<8x16x8x2xf32>
    %501 = stablehlo.add %497, %500 : tensor<8x16x8x2xf32>
    %502 = stablehlo.broadcast_in_dim %206, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %503 = stablehlo.multiply %492, %502 : tensor<8x16x8x2xf32>
    %504 = stablehlo.add %495, %503 : tensor<8x16x8x2xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %505 = stablehlo.pad %501, %cst_77, low = [0, 0, 0, 2], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x16x8x2xf32>, tensor<f32>) -> tensor<8x16x8x4xf32>
    %cst_78 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %506 = stablehlo.pad %504, %cst_78, low = [0, 0, 0, 0], high = [0, 0, 0, 2], interior = [0, 0, 0, 0] : (tensor<8x16x8x2xf32>, tensor<f32>) -> tensor<8x16x8x4xf32>
    %507 = stablehlo.add %505, %506 : tensor<8x16x8x4xf32>
    %508 = stablehlo.dot_general %473, %186, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x16x32xf32>) -> tensor<4x4x32xf32>
    %509 = stablehlo.transpose %508, dims = [2, 0, 1] : (tensor<4x4x32xf32>) -> tensor<32x4x4xf32>
    %510 = stablehlo.dot_general %473, %arg15, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<32x4x4xf32>) -> tensor<8x16x32xf32>
    %511 = stablehlo.dot_general %491, %186, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x16x32xf32>) -> tensor<4x4x32xf32>
    %512 = stablehlo.transpose %511, dims = [2, 0, 1] : (tensor<4x4x32xf32>) -> tensor<32x4x4xf32>
    %513 = stablehlo.dot_general %491, %arg12, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<32x4x4xf32>) -> tensor<8x16x32xf32>
    %514 = stablehlo.add %510, %513 : tensor<8x16x32xf32>
    %515 = stablehlo.dot_general %507, %186, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x8x4xf32>, tensor<8x16x32xf32>) -> tensor<8x4x32xf32>
    %516 = stablehlo.transpose %515, dims = [2, 0, 1] : (tensor<8x4x32xf32>) -> tensor<32x8x4xf32>
    %517 = stablehlo.dot_general %507, %arg14, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x8x4xf32>, tensor<32x8x4xf32>) -> tensor<8x16x32xf32>
    %518 = stablehlo.add %514, %517 : tensor<8x16x32xf32>
    %519 = stablehlo.multiply %183, %518 : tensor<8x16x32xf32>
    %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %520 = stablehlo.reduce(%519 init: %cst_79) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %521 = stablehlo.reshape %520 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %522 = stablehlo.broadcast_in_dim %184, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %523 = stablehlo.multiply %518, %522 : tensor<8x16x32xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %524 = stablehlo.reduce(%521 init: %cst_80) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %525 = stablehlo.multiply %170, %523 : tensor<8x16x32xf32>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %526 = stablehlo.reduce(%525 init: %cst_81) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %527 = stablehlo.reshape %526 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %528 = stablehlo.broadcast_in_dim %178, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %529 = stablehlo.multiply %523, %528 : tensor<8x16x32xf32>
    %530 = stablehlo.add %442, %529 : tensor<8x16x32xf32>
    %531 = stablehlo.multiply %527, %181 : tensor<8x16x1xf32>
    %cst_82 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %532 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %533 = stablehlo.divide %531, %532 : tensor<8x16x1xf32>
    %cst_83 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %534 = stablehlo.reduce(%533 init: %cst_83) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %535 = stablehlo.broadcast_in_dim %534, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x32xf32>
    %536 = stablehlo.multiply %170, %535 : tensor<8x16x32xf32>
    %537 = stablehlo.multiply %535, %170 : tensor<8x16x32xf32>
    %538 = stablehlo.add %530, %537 : tensor<8x16x32xf32>
    %539 = stablehlo.add %538, %536 : tensor<8x16x32xf32>
    %540 = sdy.sharding_constraint %539 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %541 = stablehlo.dot_general %540, %167, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<8x16x64xf32>) -> tensor<32x64xf32>
    %542 = stablehlo.transpose %541, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %543 = stablehlo.dot_general %540, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<64x32xf32>) -> tensor<8x16x64xf32>
    %544 = sdy.sharding_constraint %543 <@mesh, [{"data"}p0, {?}, {"model"}p1]> : tensor<8x16x64xf32>
    %545 = stablehlo.multiply %165#0, %544 : tensor<8x16x64xf32>
    %546 = stablehlo.multiply %544, %163 : tensor<8x16x64xf32>
    %547 = call @silu_1(%165#1, %165#2, %164, %546) : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
    %548 = stablehlo.dot_general %547, %162, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
    %549 = stablehlo.transpose %548, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %550 = stablehlo.dot_general %547, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<32x64xf32>) -> tensor<8x16x32xf32>
    %551 = stablehlo.dot_general %545, %162, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
    %552 = stablehlo.transpose %551, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %553 = stablehlo.dot_general %545, %arg10, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<32x64xf32>) -> tensor<8x16x32xf32>
    %554 = stablehlo.add %550, %553 : tensor<8x16x32xf32>
    %555 = stablehlo.multiply %159, %554 : tensor<8x16x32xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %556 = stablehlo.reduce(%555 init: %cst_84) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %557 = stablehlo.reshape %556 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %558 = stablehlo.broadcast_in_dim %160, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %559 = stablehlo.multiply %554, %558 : tensor<8x16x32xf32>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %560 = stablehlo.reduce(%557 init: %cst_85) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %561 = stablehlo.multiply %146, %559 : tensor<8x16x32xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %562 = stablehlo.reduce(%561 init: %cst_86) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %563 = stablehlo.reshape %562 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %564 = stablehlo.broadcast_in_dim %154, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %565 = stablehlo.multiply %559, %564 : tensor<8x16x32xf32>
    %566 = stablehlo.add %540, %565 : tensor<8x16x32xf32>
    %567 = stablehlo.multiply %563, %157 : tensor<8x16x1xf32>
    %cst_87 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %568 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %569 = stablehlo.divide %567, %568 : tensor<8x16x1xf32>
    %cst_88 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %570 = stablehlo.reduce(%569 init: %cst_88) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %571 = stablehlo.broadcast_in_dim %570, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x32xf32>
    %572 = stablehlo.multiply %146, %571 : tensor<8x16x32xf32>
    %573 = stablehlo.multiply %571, %146 : tensor<8x16x32xf32>
    %574 = stablehlo.add %566, %573 : tensor<8x16x32xf32>
    %575 = stablehlo.add %574, %572 : tensor<8x16x32xf32>
    %576 = sdy.sharding_constraint %575 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %577 = stablehlo.dot_general %576, %143, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<8x16x8x4xf32>) -> tensor<32x8x4xf32>
    %578 = stablehlo.transpose %577, dims = [1, 2, 0] : (tensor<32x8x4xf32>) -> tensor<8x4x32xf32>
    %579 = stablehlo.dot_general %576, %arg4, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<8x4x32xf32>) -> tensor<8x16x8x4xf32>
    %580 = sdy.sharding_constraint %579 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %581 = stablehlo.reshape %580 : (tensor<8x16x8x4xf32>) -> tensor<8x16x4x2x4xf32>
    %582 = stablehlo.transpose %581, dims = [0, 2, 4, 3, 1] : (tensor<8x16x4x2x4xf32>) -> tensor<8x4x4x2x16xf32>
    %583 = stablehlo.dot_general %582, %96, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4x2x16xf32>, tensor<8x16x4x4xf32>) -> tensor<8x4x2x16x16xf32>
    %584 = stablehlo.dot_general %582, %136, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4x2x16xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x4x16xf32>
    %585 = stablehlo.transpose %584, dims = [0, 3, 1, 2] : (tensor<8x4x4x16xf32>) -> tensor<8x16x4x4xf32>
    %586 = stablehlo.broadcast_in_dim %139, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %587 = stablehlo.multiply %583, %586 : tensor<8x4x2x16x16xf32>
    %588 = stablehlo.multiply %587, %132 : tensor<8x4x2x16x16xf32>
    %cst_89 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %589 = stablehlo.reduce(%588 init: %cst_89) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x16xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %590 = stablehlo.reshape %589 : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x1xf32>
    %591 = stablehlo.negate %590 : tensor<8x4x2x16x1xf32>
    %592 = stablehlo.broadcast_in_dim %134, dims = [0, 1, 2, 3, 4] : (tensor<8x4x2x16x1xf32>) -> tensor<8x4x2x16x16xf32>
    %593 = stablehlo.divide %583, %592 : tensor<8x4x2x16x16xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %594 = stablehlo.reduce(%591 init: %cst_90) applies stablehlo.add across dimensions = [4] : (tensor<8x4x2x16x1xf32>, tensor<f32>) -> tensor<8x4x2x16xf32>
    %595 = stablehlo.broadcast_in_dim %594, dims = [0, 1, 2, 3] : (tensor<8x4x2x16xf32>) -> tensor<8x4x2x16x16xf32>
    %596 = stablehlo.add %593, %595 : tensor<8x4x2x16x16xf32>
    %597 = stablehlo.multiply %596, %132 : tensor<8x4x2x16x16xf32>
    %598 = call @_where_2(%111#1, %111#2, %597) : (tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xf32>) -> tensor<8x4x2x16x16xf32>
    %cst_91 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %599 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x16xf32>
    %600 = stablehlo.multiply %598, %599 : tensor<8x4x2x16x16xf32>
    %601 = stablehlo.transpose %600, dims = [0, 1, 4, 3, 2] : (tensor<8x4x2x16x16xf32>) -> tensor<8x4x16x16x2xf32>
    %602 = stablehlo.dot_general %601, %95, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16x2xf32>, tensor<8x16x4x4xf32>) -> tensor<8x4x16x2x4xf32>
    %603 = stablehlo.transpose %602, dims = [0, 2, 1, 3, 4] : (tensor<8x4x16x2x4xf32>) -> tensor<8x16x4x2x4xf32>
    %604 = stablehlo.dot_general %601, %97, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16x2xf32>, tensor<8x16x4x2x4xf32>) -> tensor<8x4x16x4xf32>
    %605 = stablehlo.transpose %604, dims = [0, 2, 1, 3] : (tensor<8x4x16x4xf32>) -> tensor<8x16x4x4xf32>
    %606 = stablehlo.reshape %603 : (tensor<8x16x4x2x4xf32>) -> tensor<8x16x8x4xf32>
    %607 = sdy.sharding_constraint %585 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %608 = sdy.sharding_constraint %605 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x4x4xf32>
    %609 = sdy.sharding_constraint %606 <@mesh, [{"data"}p0, {?}, {"model"}p1, {?}]> : tensor<8x16x8x4xf32>
    %610 = stablehlo.slice %608 [0:8, 0:16, 0:4, 0:2] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %611 = stablehlo.slice %608 [0:8, 0:16, 0:4, 2:4] : (tensor<8x16x4x4xf32>) -> tensor<8x16x4x2xf32>
    %612 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %613 = stablehlo.multiply %611, %612 : tensor<8x16x4x2xf32>
    %614 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %615 = stablehlo.multiply %611, %614 : tensor<8x16x4x2xf32>
    %616 = stablehlo.negate %610 : tensor<8x16x4x2xf32>
    %617 = stablehlo.broadcast_in_dim %80, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %618 = stablehlo.multiply %616, %617 : tensor<8x16x4x2xf32>
    %619 = stablehlo.add %615, %618 : tensor<8x16x4x2xf32>
    %620 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x4x2xf32>
    %621 = stablehlo.multiply %610, %620 : tensor<8x16x4x2xf32>
    %622 = stablehlo.add %613, %621 : tensor<8x16x4x2xf32>
    %cst_92 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %623 = stablehlo.pad %619, %cst_92, low = [0, 0, 0, 2], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x16x4x2xf32>, tensor<f32>) -> tensor<8x16x4x4xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %624 = stablehlo.pad %622, %cst_93, low = [0, 0, 0, 0], high = [0, 0, 0, 2], interior = [0, 0, 0, 0] : (tensor<8x16x4x2xf32>, tensor<f32>) -> tensor<8x16x4x4xf32>
    %625 = stablehlo.add %623, %624 : tensor<8x16x4x4xf32>
    %626 = stablehlo.slice %609 [0:8, 0:16, 0:8, 0:2] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %627 = stablehlo.slice %609 [0:8, 0:16, 0:8, 2:4] : (tensor<8x16x8x4xf32>) -> tensor<8x16x8x2xf32>
    %628 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %629 = stablehlo.multiply %627, %628 : tensor<8x16x8x2xf32>
    %630 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %631 = stablehlo.multiply %627, %630 : tensor<8x16x8x2xf32>
    %632 = stablehlo.negate %626 : tensor<8x16x8x2xf32>
    %633 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %634 = stablehlo.multiply %632, %633 : tensor<8x16x8x2xf32>
    %635 = stablehlo.add %631, %634 : tensor<8x16x8x2xf32>
    %636 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x16x1x2xf32>) -> tensor<8x16x8x2xf32>
    %637 = stablehlo.multiply %626, %636 : tensor<8x16x8x2xf32>
    %638 = stablehlo.add %629, %637 : tensor<8x16x8x2xf32>
    %cst_94 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %639 = stablehlo.pad %635, %cst_94, low = [0, 0, 0, 2], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x16x8x2xf32>, tensor<f32>) -> tensor<8x16x8x4xf32>
    %cst_95 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %640 = stablehlo.pad %638, %cst_95, low = [0, 0, 0, 0], high = [0, 0, 0, 2], interior = [0, 0, 0, 0] : (tensor<8x16x8x2xf32>, tensor<f32>) -> tensor<8x16x8x4xf32>
    %641 = stablehlo.add %639, %640 : tensor<8x16x8x4xf32>
    %642 = stablehlo.dot_general %607, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x16x32xf32>) -> tensor<4x4x32xf32>
    %643 = stablehlo.transpose %642, dims = [2, 0, 1] : (tensor<4x4x32xf32>) -> tensor<32x4x4xf32>
    %644 = stablehlo.dot_general %607, %arg6, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<32x4x4xf32>) -> tensor<8x16x32xf32>
    %645 = stablehlo.dot_general %625, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<8x16x32xf32>) -> tensor<4x4x32xf32>
    %646 = stablehlo.transpose %645, dims = [2, 0, 1] : (tensor<4x4x32xf32>) -> tensor<32x4x4xf32>
    %647 = stablehlo.dot_general %625, %arg3, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x4xf32>, tensor<32x4x4xf32>) -> tensor<8x16x32xf32>
    %648 = stablehlo.add %644, %647 : tensor<8x16x32xf32>
    %649 = stablehlo.dot_general %641, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x8x4xf32>, tensor<8x16x32xf32>) -> tensor<8x4x32xf32>
    %650 = stablehlo.transpose %649, dims = [2, 0, 1] : (tensor<8x4x32xf32>) -> tensor<32x8x4xf32>
    %651 = stablehlo.dot_general %641, %arg5, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x8x4xf32>, tensor<32x8x4xf32>) -> tensor<8x16x32xf32>
    %652 = stablehlo.add %648, %651 : tensor<8x16x32xf32>
    %653 = stablehlo.multiply %20, %652 : tensor<8x16x32xf32>
    %cst_96 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %654 = stablehlo.reduce(%653 init: %cst_96) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %655 = stablehlo.reshape %654 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %656 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x16x32xf32>
    %657 = stablehlo.multiply %652, %656 : tensor<8x16x32xf32>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %658 = stablehlo.reduce(%655 init: %cst_97) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %659 = stablehlo.multiply %7, %657 : tensor<8x16x32xf32>
    %cst_98 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %660 = stablehlo.reduce(%659 init: %cst_98) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %661 = stablehlo.reshape %660 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %662 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x32xf32>
    %663 = stablehlo.multiply %657, %662 : tensor<8x16x32xf32>
    %664 = stablehlo.add %576, %663 : tensor<8x16x32xf32>
    %665 = stablehlo.multiply %661, %18 : tensor<8x16x1xf32>
    %cst_99 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %666 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %667 = stablehlo.divide %665, %666 : tensor<8x16x1xf32>
    %cst_100 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %668 = stablehlo.reduce(%667 init: %cst_100) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %669 = stablehlo.broadcast_in_dim %668, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x32xf32>
    %670 = stablehlo.multiply %7, %669 : tensor<8x16x32xf32>
    %671 = stablehlo.multiply %669, %7 : tensor<8x16x32xf32>
    %672 = stablehlo.add %664, %671 : tensor<8x16x32xf32>
    %673 = stablehlo.add %672, %670 : tensor<8x16x32xf32>
    %674 = sdy.sharding_constraint %673 <@mesh, [{"data"}p0, {?}, {}]> : tensor<8x16x32xf32>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %675 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %676 = "stablehlo.scatter"(%675, %5, %674) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg66: tensor<f32>, %arg67: tensor<f32>):
      %1209 = stablehlo.add %arg66, %arg67 : tensor<f32>
      stablehlo.return %1209 : tensor<f32>
    }) : (tensor<96x32xf32>, tensor<8x16x1xi32>, tensor<8x16x32xf32>) -> tensor<96x32xf32>
    %c_102 = stablehlo.constant dense<1> : tensor<i32>
    %677 = stablehlo.add %arg21, %c_102 : tensor<i32>
    %cst_103 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %678 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %679 = stablehlo.multiply %678, %arg22 : tensor<96x32xf32>
    %cst_104 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %680 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %681 = stablehlo.multiply %680, %676 : tensor<96x32xf32>
    %682 = stablehlo.add %679, %681 : tensor<96x32xf32>
    %cst_105 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %683 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %684 = stablehlo.multiply %683, %arg23 : tensor<32xf32>
    %cst_106 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %685 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %686 = stablehlo.multiply %685, %391 : tensor<32xf32>
    %687 = stablehlo.add %684, %686 : tensor<32xf32>
    %cst_107 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %688 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %689 = stablehlo.multiply %688, %arg24 : tensor<32x96xf32>
    %cst_108 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %690 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %691 = stablehlo.multiply %690, %384 : tensor<32x96xf32>
    %692 = stablehlo.add %689, %691 : tensor<32x96xf32>
    %cst_109 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %693 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %694 = stablehlo.multiply %693, %arg25 : tensor<32x4x4xf32>
    %cst_110 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %695 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %696 = stablehlo.multiply %695, %646 : tensor<32x4x4xf32>
    %697 = stablehlo.add %694, %696 : tensor<32x4x4xf32>
    %cst_111 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %698 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %699 = stablehlo.multiply %698, %arg26 : tensor<8x4x32xf32>
    %cst_112 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %700 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %701 = stablehlo.multiply %700, %578 : tensor<8x4x32xf32>
    %702 = stablehlo.add %699, %701 : tensor<8x4x32xf32>
    %cst_113 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %703 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %704 = stablehlo.multiply %703, %arg27 : tensor<32x8x4xf32>
    %cst_114 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %705 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %706 = stablehlo.multiply %705, %650 : tensor<32x8x4xf32>
    %707 = stablehlo.add %704, %706 : tensor<32x8x4xf32>
    %cst_115 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %708 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %709 = stablehlo.multiply %708, %arg28 : tensor<32x4x4xf32>
    %cst_116 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %710 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %711 = stablehlo.multiply %710, %643 : tensor<32x4x4xf32>
    %712 = stablehlo.add %709, %711 : tensor<32x4x4xf32>
    %cst_117 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %713 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %714 = stablehlo.multiply %713, %arg29 : tensor<32xf32>
    %cst_118 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %715 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %716 = stablehlo.multiply %715, %658 : tensor<32xf32>
    %717 = stablehlo.add %714, %716 : tensor<32xf32>
    %cst_119 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %718 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %719 = stablehlo.multiply %718, %arg30 : tensor<64x32xf32>
    %cst_120 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %720 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %721 = stablehlo.multiply %720, %542 : tensor<64x32xf32>
    %722 = stablehlo.add %719, %721 : tensor<64x32xf32>
    %cst_121 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %723 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %724 = stablehlo.multiply %723, %arg31 : tensor<32x64xf32>
    %cst_122 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %725 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %726 = stablehlo.multiply %725, %549 : tensor<32x64xf32>
    %727 = stablehlo.add %724, %726 : tensor<32x64xf32>
    %cst_123 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %728 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %729 = stablehlo.multiply %728, %arg32 : tensor<32x64xf32>
    %cst_124 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %730 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %731 = stablehlo.multiply %730, %552 : tensor<32x64xf32>
    %732 = stablehlo.add %729, %731 : tensor<32x64xf32>
    %cst_125 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %733 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %734 = stablehlo.multiply %733, %arg33 : tensor<32xf32>
    %cst_126 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %735 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %736 = stablehlo.multiply %735, %560 : tensor<32xf32>
    %737 = stablehlo.add %734, %736 : tensor<32xf32>
    %cst_127 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %738 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %739 = stablehlo.multiply %738, %arg34 : tensor<32x4x4xf32>
    %cst_128 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %740 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %741 = stablehlo.multiply %740, %512 : tensor<32x4x4xf32>
    %742 = stablehlo.add %739, %741 : tensor<32x4x4xf32>
    %cst_129 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %743 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %744 = stablehlo.multiply %743, %arg35 : tensor<8x4x32xf32>
    %cst_130 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %745 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %746 = stablehlo.multiply %745, %444 : tensor<8x4x32xf32>
    %747 = stablehlo.add %744, %746 : tensor<8x4x32xf32>
    %cst_131 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %748 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %749 = stablehlo.multiply %748, %arg36 : tensor<32x8x4xf32>
    %cst_132 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %750 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %751 = stablehlo.multiply %750, %516 : tensor<32x8x4xf32>
    %752 = stablehlo.add %749, %751 : tensor<32x8x4xf32>
    %cst_133 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %753 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %754 = stablehlo.multiply %753, %arg37 : tensor<32x4x4xf32>
    %cst_134 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %755 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %756 = stablehlo.multiply %755, %509 : tensor<32x4x4xf32>
    %757 = stablehlo.add %754, %756 : tensor<32x4x4xf32>
    %cst_135 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %758 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %759 = stablehlo.multiply %758, %arg38 : tensor<32xf32>
    %cst_136 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %760 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %761 = stablehlo.multiply %760, %524 : tensor<32xf32>
    %762 = stablehlo.add %759, %761 : tensor<32xf32>
    %cst_137 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %763 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %764 = stablehlo.multiply %763, %arg39 : tensor<64x32xf32>
    %cst_138 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %765 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %766 = stablehlo.multiply %765, %408 : tensor<64x32xf32>
    %767 = stablehlo.add %764, %766 : tensor<64x32xf32>
    %cst_139 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %768 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %769 = stablehlo.multiply %768, %arg40 : tensor<32x64xf32>
    %cst_140 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %770 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %771 = stablehlo.multiply %770, %415 : tensor<32x64xf32>
    %772 = stablehlo.add %769, %771 : tensor<32x64xf32>
    %cst_141 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %773 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %774 = stablehlo.multiply %773, %arg41 : tensor<32x64xf32>
    %cst_142 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %775 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %776 = stablehlo.multiply %775, %418 : tensor<32x64xf32>
    %777 = stablehlo.add %774, %776 : tensor<32x64xf32>
    %cst_143 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %778 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %779 = stablehlo.multiply %778, %arg42 : tensor<32xf32>
    %cst_144 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %780 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %781 = stablehlo.multiply %780, %426 : tensor<32xf32>
    %782 = stablehlo.add %779, %781 : tensor<32xf32>
    %cst_145 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %783 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %784 = stablehlo.multiply %783, %arg43 : tensor<96x32xf32>
    %cst_146 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %785 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %786 = stablehlo.multiply %785, %676 : tensor<96x32xf32>
    %787 = stablehlo.multiply %786, %676 : tensor<96x32xf32>
    %788 = stablehlo.add %784, %787 : tensor<96x32xf32>
    %cst_147 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %789 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %790 = stablehlo.multiply %789, %arg44 : tensor<32xf32>
    %cst_148 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %791 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %792 = stablehlo.multiply %791, %391 : tensor<32xf32>
    %793 = stablehlo.multiply %792, %391 : tensor<32xf32>
    %794 = stablehlo.add %790, %793 : tensor<32xf32>
    %cst_149 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %795 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %796 = stablehlo.multiply %795, %arg45 : tensor<32x96xf32>
    %cst_150 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %797 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %798 = stablehlo.multiply %797, %384 : tensor<32x96xf32>
    %799 = stablehlo.multiply %798, %384 : tensor<32x96xf32>
    %800 = stablehlo.add %796, %799 : tensor<32x96xf32>
    %cst_151 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %801 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %802 = stablehlo.multiply %801, %arg46 : tensor<32x4x4xf32>
    %cst_152 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %803 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %804 = stablehlo.multiply %803, %646 : tensor<32x4x4xf32>
    %805 = stablehlo.multiply %804, %646 : tensor<32x4x4xf32>
    %806 = stablehlo.add %802, %805 : tensor<32x4x4xf32>
    %cst_153 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %807 = stablehlo.broadcast_in_dim %cst_153, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %808 = stablehlo.multiply %807, %arg47 : tensor<8x4x32xf32>
    %cst_154 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %809 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %810 = stablehlo.multiply %809, %578 : tensor<8x4x32xf32>
    %811 = stablehlo.multiply %810, %578 : tensor<8x4x32xf32>
    %812 = stablehlo.add %808, %811 : tensor<8x4x32xf32>
    %cst_155 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %813 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %814 = stablehlo.multiply %813, %arg48 : tensor<32x8x4xf32>
    %cst_156 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %815 = stablehlo.broadcast_in_dim %cst_156, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %816 = stablehlo.multiply %815, %650 : tensor<32x8x4xf32>
    %817 = stablehlo.multiply %816, %650 : tensor<32x8x4xf32>
    %818 = stablehlo.add %814, %817 : tensor<32x8x4xf32>
    %cst_157 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %819 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %820 = stablehlo.multiply %819, %arg49 : tensor<32x4x4xf32>
    %cst_158 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %821 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %822 = stablehlo.multiply %821, %643 : tensor<32x4x4xf32>
    %823 = stablehlo.multiply %822, %643 : tensor<32x4x4xf32>
    %824 = stablehlo.add %820, %823 : tensor<32x4x4xf32>
    %cst_159 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %825 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %826 = stablehlo.multiply %825, %arg50 : tensor<32xf32>
    %cst_160 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %827 = stablehlo.broadcast_in_dim %cst_160, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %828 = stablehlo.multiply %827, %658 : tensor<32xf32>
    %829 = stablehlo.multiply %828, %658 : tensor<32xf32>
    %830 = stablehlo.add %826, %829 : tensor<32xf32>
    %cst_161 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %831 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %832 = stablehlo.multiply %831, %arg51 : tensor<64x32xf32>
    %cst_162 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %833 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %834 = stablehlo.multiply %833, %542 : tensor<64x32xf32>
    %835 = stablehlo.multiply %834, %542 : tensor<64x32xf32>
    %836 = stablehlo.add %832, %835 : tensor<64x32xf32>
    %cst_163 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %837 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %838 = stablehlo.multiply %837, %arg52 : tensor<32x64xf32>
    %cst_164 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %839 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %840 = stablehlo.multiply %839, %549 : tensor<32x64xf32>
    %841 = stablehlo.multiply %840, %549 : tensor<32x64xf32>
    %842 = stablehlo.add %838, %841 : tensor<32x64xf32>
    %cst_165 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %843 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %844 = stablehlo.multiply %843, %arg53 : tensor<32x64xf32>
    %cst_166 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %845 = stablehlo.broadcast_in_dim %cst_166, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %846 = stablehlo.multiply %845, %552 : tensor<32x64xf32>
    %847 = stablehlo.multiply %846, %552 : tensor<32x64xf32>
    %848 = stablehlo.add %844, %847 : tensor<32x64xf32>
    %cst_167 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %849 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %850 = stablehlo.multiply %849, %arg54 : tensor<32xf32>
    %cst_168 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %851 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %852 = stablehlo.multiply %851, %560 : tensor<32xf32>
    %853 = stablehlo.multiply %852, %560 : tensor<32xf32>
    %854 = stablehlo.add %850, %853 : tensor<32xf32>
    %cst_169 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %855 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %856 = stablehlo.multiply %855, %arg55 : tensor<32x4x4xf32>
    %cst_170 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %857 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %858 = stablehlo.multiply %857, %512 : tensor<32x4x4xf32>
    %859 = stablehlo.multiply %858, %512 : tensor<32x4x4xf32>
    %860 = stablehlo.add %856, %859 : tensor<32x4x4xf32>
    %cst_171 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %861 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %862 = stablehlo.multiply %861, %arg56 : tensor<8x4x32xf32>
    %cst_172 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %863 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %864 = stablehlo.multiply %863, %444 : tensor<8x4x32xf32>
    %865 = stablehlo.multiply %864, %444 : tensor<8x4x32xf32>
    %866 = stablehlo.add %862, %865 : tensor<8x4x32xf32>
    %cst_173 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %867 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %868 = stablehlo.multiply %867, %arg57 : tensor<32x8x4xf32>
    %cst_174 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %869 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %870 = stablehlo.multiply %869, %516 : tensor<32x8x4xf32>
    %871 = stablehlo.multiply %870, %516 : tensor<32x8x4xf32>
    %872 = stablehlo.add %868, %871 : tensor<32x8x4xf32>
    %cst_175 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %873 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %874 = stablehlo.multiply %873, %arg58 : tensor<32x4x4xf32>
    %cst_176 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %875 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %876 = stablehlo.multiply %875, %509 : tensor<32x4x4xf32>
    %877 = stablehlo.multiply %876, %509 : tensor<32x4x4xf32>
    %878 = stablehlo.add %874, %877 : tensor<32x4x4xf32>
    %cst_177 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %879 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %880 = stablehlo.multiply %879, %arg59 : tensor<32xf32>
    %cst_178 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %881 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %882 = stablehlo.multiply %881, %524 : tensor<32xf32>
    %883 = stablehlo.multiply %882, %524 : tensor<32xf32>
    %884 = stablehlo.add %880, %883 : tensor<32xf32>
    %cst_179 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %885 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %886 = stablehlo.multiply %885, %arg60 : tensor<64x32xf32>
    %cst_180 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %887 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %888 = stablehlo.multiply %887, %408 : tensor<64x32xf32>
    %889 = stablehlo.multiply %888, %408 : tensor<64x32xf32>
    %890 = stablehlo.add %886, %889 : tensor<64x32xf32>
    %cst_181 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %891 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %892 = stablehlo.multiply %891, %arg61 : tensor<32x64xf32>
    %cst_182 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %893 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %894 = stablehlo.multiply %893, %415 : tensor<32x64xf32>
    %895 = stablehlo.multiply %894, %415 : tensor<32x64xf32>
    %896 = stablehlo.add %892, %895 : tensor<32x64xf32>
    %cst_183 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %897 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %898 = stablehlo.multiply %897, %arg62 : tensor<32x64xf32>
    %cst_184 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %899 = stablehlo.broadcast_in_dim %cst_184, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %900 = stablehlo.multiply %899, %418 : tensor<32x64xf32>
    %901 = stablehlo.multiply %900, %418 : tensor<32x64xf32>
    %902 = stablehlo.add %898, %901 : tensor<32x64xf32>
    %cst_185 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %903 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %904 = stablehlo.multiply %903, %arg63 : tensor<32xf32>
    %cst_186 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %905 = stablehlo.broadcast_in_dim %cst_186, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %906 = stablehlo.multiply %905, %426 : tensor<32xf32>
    %907 = stablehlo.multiply %906, %426 : tensor<32xf32>
    %908 = stablehlo.add %904, %907 : tensor<32xf32>
    %909 = stablehlo.convert %677 : (tensor<i32>) -> tensor<f32>
    %cst_187 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %910 = stablehlo.power %cst_187, %909 : tensor<f32>
    %cst_188 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %911 = stablehlo.subtract %cst_188, %910 : tensor<f32>
    %912 = stablehlo.convert %677 : (tensor<i32>) -> tensor<f32>
    %cst_189 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %913 = stablehlo.power %cst_189, %912 : tensor<f32>
    %cst_190 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %914 = stablehlo.subtract %cst_190, %913 : tensor<f32>
    %915 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %916 = stablehlo.divide %682, %915 : tensor<96x32xf32>
    %917 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %918 = stablehlo.divide %788, %917 : tensor<96x32xf32>
    %919 = stablehlo.sqrt %918 : tensor<96x32xf32>
    %cst_191 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %920 = stablehlo.broadcast_in_dim %cst_191, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %921 = stablehlo.add %919, %920 : tensor<96x32xf32>
    %922 = stablehlo.divide %916, %921 : tensor<96x32xf32>
    %cst_192 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %923 = stablehlo.broadcast_in_dim %cst_192, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %924 = stablehlo.multiply %923, %arg0 : tensor<96x32xf32>
    %925 = stablehlo.add %922, %924 : tensor<96x32xf32>
    %cst_193 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %926 = stablehlo.broadcast_in_dim %cst_193, dims = [] : (tensor<f32>) -> tensor<96x32xf32>
    %927 = stablehlo.multiply %926, %925 : tensor<96x32xf32>
    %928 = stablehlo.subtract %arg0, %927 : tensor<96x32xf32>
    %929 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %930 = stablehlo.divide %687, %929 : tensor<32xf32>
    %931 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %932 = stablehlo.divide %794, %931 : tensor<32xf32>
    %933 = stablehlo.sqrt %932 : tensor<32xf32>
    %cst_194 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %934 = stablehlo.broadcast_in_dim %cst_194, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %935 = stablehlo.add %933, %934 : tensor<32xf32>
    %936 = stablehlo.divide %930, %935 : tensor<32xf32>
    %cst_195 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %937 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %938 = stablehlo.multiply %937, %arg1 : tensor<32xf32>
    %939 = stablehlo.add %936, %938 : tensor<32xf32>
    %cst_196 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %940 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %941 = stablehlo.multiply %940, %939 : tensor<32xf32>
    %942 = stablehlo.subtract %arg1, %941 : tensor<32xf32>
    %943 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %944 = stablehlo.divide %692, %943 : tensor<32x96xf32>
    %945 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %946 = stablehlo.divide %800, %945 : tensor<32x96xf32>
    %947 = stablehlo.sqrt %946 : tensor<32x96xf32>
    %cst_197 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %948 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %949 = stablehlo.add %947, %948 : tensor<32x96xf32>
    %950 = stablehlo.divide %944, %949 : tensor<32x96xf32>
    %cst_198 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %951 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %952 = stablehlo.multiply %951, %arg2 : tensor<32x96xf32>
    %953 = stablehlo.add %950, %952 : tensor<32x96xf32>
    %cst_199 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %954 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<32x96xf32>
    %955 = stablehlo.multiply %954, %953 : tensor<32x96xf32>
    %956 = stablehlo.subtract %arg2, %955 : tensor<32x96xf32>
    %957 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %958 = stablehlo.divide %697, %957 : tensor<32x4x4xf32>
    %959 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %960 = stablehlo.divide %806, %959 : tensor<32x4x4xf32>
    %961 = stablehlo.sqrt %960 : tensor<32x4x4xf32>
    %cst_200 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %962 = stablehlo.broadcast_in_dim %cst_200, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %963 = stablehlo.add %961, %962 : tensor<32x4x4xf32>
    %964 = stablehlo.divide %958, %963 : tensor<32x4x4xf32>
    %cst_201 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %965 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %966 = stablehlo.multiply %965, %arg3 : tensor<32x4x4xf32>
    %967 = stablehlo.add %964, %966 : tensor<32x4x4xf32>
    %cst_202 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %968 = stablehlo.broadcast_in_dim %cst_202, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %969 = stablehlo.multiply %968, %967 : tensor<32x4x4xf32>
    %970 = stablehlo.subtract %arg3, %969 : tensor<32x4x4xf32>
    %971 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %972 = stablehlo.divide %702, %971 : tensor<8x4x32xf32>
    %973 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %974 = stablehlo.divide %812, %973 : tensor<8x4x32xf32>
    %975 = stablehlo.sqrt %974 : tensor<8x4x32xf32>
    %cst_203 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %976 = stablehlo.broadcast_in_dim %cst_203, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %977 = stablehlo.add %975, %976 : tensor<8x4x32xf32>
    %978 = stablehlo.divide %972, %977 : tensor<8x4x32xf32>
    %cst_204 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %979 = stablehlo.broadcast_in_dim %cst_204, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %980 = stablehlo.multiply %979, %arg4 : tensor<8x4x32xf32>
    %981 = stablehlo.add %978, %980 : tensor<8x4x32xf32>
    %cst_205 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %982 = stablehlo.broadcast_in_dim %cst_205, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %983 = stablehlo.multiply %982, %981 : tensor<8x4x32xf32>
    %984 = stablehlo.subtract %arg4, %983 : tensor<8x4x32xf32>
    %985 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %986 = stablehlo.divide %707, %985 : tensor<32x8x4xf32>
    %987 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %988 = stablehlo.divide %818, %987 : tensor<32x8x4xf32>
    %989 = stablehlo.sqrt %988 : tensor<32x8x4xf32>
    %cst_206 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %990 = stablehlo.broadcast_in_dim %cst_206, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %991 = stablehlo.add %989, %990 : tensor<32x8x4xf32>
    %992 = stablehlo.divide %986, %991 : tensor<32x8x4xf32>
    %cst_207 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %993 = stablehlo.broadcast_in_dim %cst_207, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %994 = stablehlo.multiply %993, %arg5 : tensor<32x8x4xf32>
    %995 = stablehlo.add %992, %994 : tensor<32x8x4xf32>
    %cst_208 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %996 = stablehlo.broadcast_in_dim %cst_208, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %997 = stablehlo.multiply %996, %995 : tensor<32x8x4xf32>
    %998 = stablehlo.subtract %arg5, %997 : tensor<32x8x4xf32>
    %999 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1000 = stablehlo.divide %712, %999 : tensor<32x4x4xf32>
    %1001 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1002 = stablehlo.divide %824, %1001 : tensor<32x4x4xf32>
    %1003 = stablehlo.sqrt %1002 : tensor<32x4x4xf32>
    %cst_209 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1004 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1005 = stablehlo.add %1003, %1004 : tensor<32x4x4xf32>
    %1006 = stablehlo.divide %1000, %1005 : tensor<32x4x4xf32>
    %cst_210 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1007 = stablehlo.broadcast_in_dim %cst_210, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1008 = stablehlo.multiply %1007, %arg6 : tensor<32x4x4xf32>
    %1009 = stablehlo.add %1006, %1008 : tensor<32x4x4xf32>
    %cst_211 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1010 = stablehlo.broadcast_in_dim %cst_211, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1011 = stablehlo.multiply %1010, %1009 : tensor<32x4x4xf32>
    %1012 = stablehlo.subtract %arg6, %1011 : tensor<32x4x4xf32>
    %1013 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1014 = stablehlo.divide %717, %1013 : tensor<32xf32>
    %1015 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1016 = stablehlo.divide %830, %1015 : tensor<32xf32>
    %1017 = stablehlo.sqrt %1016 : tensor<32xf32>
    %cst_212 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1018 = stablehlo.broadcast_in_dim %cst_212, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1019 = stablehlo.add %1017, %1018 : tensor<32xf32>
    %1020 = stablehlo.divide %1014, %1019 : tensor<32xf32>
    %cst_213 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1021 = stablehlo.broadcast_in_dim %cst_213, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1022 = stablehlo.multiply %1021, %arg7 : tensor<32xf32>
    %1023 = stablehlo.add %1020, %1022 : tensor<32xf32>
    %cst_214 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1024 = stablehlo.broadcast_in_dim %cst_214, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1025 = stablehlo.multiply %1024, %1023 : tensor<32xf32>
    %1026 = stablehlo.subtract %arg7, %1025 : tensor<32xf32>
    %1027 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1028 = stablehlo.divide %722, %1027 : tensor<64x32xf32>
    %1029 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1030 = stablehlo.divide %836, %1029 : tensor<64x32xf32>
    %1031 = stablehlo.sqrt %1030 : tensor<64x32xf32>
    %cst_215 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1032 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1033 = stablehlo.add %1031, %1032 : tensor<64x32xf32>
    %1034 = stablehlo.divide %1028, %1033 : tensor<64x32xf32>
    %cst_216 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1035 = stablehlo.broadcast_in_dim %cst_216, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1036 = stablehlo.multiply %1035, %arg8 : tensor<64x32xf32>
    %1037 = stablehlo.add %1034, %1036 : tensor<64x32xf32>
    %cst_217 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1038 = stablehlo.broadcast_in_dim %cst_217, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1039 = stablehlo.multiply %1038, %1037 : tensor<64x32xf32>
    %1040 = stablehlo.subtract %arg8, %1039 : tensor<64x32xf32>
    %1041 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1042 = stablehlo.divide %727, %1041 : tensor<32x64xf32>
    %1043 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1044 = stablehlo.divide %842, %1043 : tensor<32x64xf32>
    %1045 = stablehlo.sqrt %1044 : tensor<32x64xf32>
    %cst_218 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1046 = stablehlo.broadcast_in_dim %cst_218, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1047 = stablehlo.add %1045, %1046 : tensor<32x64xf32>
    %1048 = stablehlo.divide %1042, %1047 : tensor<32x64xf32>
    %cst_219 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1049 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1050 = stablehlo.multiply %1049, %arg9 : tensor<32x64xf32>
    %1051 = stablehlo.add %1048, %1050 : tensor<32x64xf32>
    %cst_220 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1052 = stablehlo.broadcast_in_dim %cst_220, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1053 = stablehlo.multiply %1052, %1051 : tensor<32x64xf32>
    %1054 = stablehlo.subtract %arg9, %1053 : tensor<32x64xf32>
    %1055 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1056 = stablehlo.divide %732, %1055 : tensor<32x64xf32>
    %1057 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1058 = stablehlo.divide %848, %1057 : tensor<32x64xf32>
    %1059 = stablehlo.sqrt %1058 : tensor<32x64xf32>
    %cst_221 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1060 = stablehlo.broadcast_in_dim %cst_221, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1061 = stablehlo.add %1059, %1060 : tensor<32x64xf32>
    %1062 = stablehlo.divide %1056, %1061 : tensor<32x64xf32>
    %cst_222 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1063 = stablehlo.broadcast_in_dim %cst_222, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1064 = stablehlo.multiply %1063, %arg10 : tensor<32x64xf32>
    %1065 = stablehlo.add %1062, %1064 : tensor<32x64xf32>
    %cst_223 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1066 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1067 = stablehlo.multiply %1066, %1065 : tensor<32x64xf32>
    %1068 = stablehlo.subtract %arg10, %1067 : tensor<32x64xf32>
    %1069 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1070 = stablehlo.divide %737, %1069 : tensor<32xf32>
    %1071 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1072 = stablehlo.divide %854, %1071 : tensor<32xf32>
    %1073 = stablehlo.sqrt %1072 : tensor<32xf32>
    %cst_224 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1074 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1075 = stablehlo.add %1073, %1074 : tensor<32xf32>
    %1076 = stablehlo.divide %1070, %1075 : tensor<32xf32>
    %cst_225 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1077 = stablehlo.broadcast_in_dim %cst_225, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1078 = stablehlo.multiply %1077, %arg11 : tensor<32xf32>
    %1079 = stablehlo.add %1076, %1078 : tensor<32xf32>
    %cst_226 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1080 = stablehlo.broadcast_in_dim %cst_226, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1081 = stablehlo.multiply %1080, %1079 : tensor<32xf32>
    %1082 = stablehlo.subtract %arg11, %1081 : tensor<32xf32>
    %1083 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1084 = stablehlo.divide %742, %1083 : tensor<32x4x4xf32>
    %1085 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1086 = stablehlo.divide %860, %1085 : tensor<32x4x4xf32>
    %1087 = stablehlo.sqrt %1086 : tensor<32x4x4xf32>
    %cst_227 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1088 = stablehlo.broadcast_in_dim %cst_227, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1089 = stablehlo.add %1087, %1088 : tensor<32x4x4xf32>
    %1090 = stablehlo.divide %1084, %1089 : tensor<32x4x4xf32>
    %cst_228 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1091 = stablehlo.broadcast_in_dim %cst_228, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1092 = stablehlo.multiply %1091, %arg12 : tensor<32x4x4xf32>
    %1093 = stablehlo.add %1090, %1092 : tensor<32x4x4xf32>
    %cst_229 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1094 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1095 = stablehlo.multiply %1094, %1093 : tensor<32x4x4xf32>
    %1096 = stablehlo.subtract %arg12, %1095 : tensor<32x4x4xf32>
    %1097 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %1098 = stablehlo.divide %747, %1097 : tensor<8x4x32xf32>
    %1099 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %1100 = stablehlo.divide %866, %1099 : tensor<8x4x32xf32>
    %1101 = stablehlo.sqrt %1100 : tensor<8x4x32xf32>
    %cst_230 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1102 = stablehlo.broadcast_in_dim %cst_230, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %1103 = stablehlo.add %1101, %1102 : tensor<8x4x32xf32>
    %1104 = stablehlo.divide %1098, %1103 : tensor<8x4x32xf32>
    %cst_231 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1105 = stablehlo.broadcast_in_dim %cst_231, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %1106 = stablehlo.multiply %1105, %arg13 : tensor<8x4x32xf32>
    %1107 = stablehlo.add %1104, %1106 : tensor<8x4x32xf32>
    %cst_232 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1108 = stablehlo.broadcast_in_dim %cst_232, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %1109 = stablehlo.multiply %1108, %1107 : tensor<8x4x32xf32>
    %1110 = stablehlo.subtract %arg13, %1109 : tensor<8x4x32xf32>
    %1111 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %1112 = stablehlo.divide %752, %1111 : tensor<32x8x4xf32>
    %1113 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %1114 = stablehlo.divide %872, %1113 : tensor<32x8x4xf32>
    %1115 = stablehlo.sqrt %1114 : tensor<32x8x4xf32>
    %cst_233 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1116 = stablehlo.broadcast_in_dim %cst_233, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %1117 = stablehlo.add %1115, %1116 : tensor<32x8x4xf32>
    %1118 = stablehlo.divide %1112, %1117 : tensor<32x8x4xf32>
    %cst_234 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1119 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %1120 = stablehlo.multiply %1119, %arg14 : tensor<32x8x4xf32>
    %1121 = stablehlo.add %1118, %1120 : tensor<32x8x4xf32>
    %cst_235 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1122 = stablehlo.broadcast_in_dim %cst_235, dims = [] : (tensor<f32>) -> tensor<32x8x4xf32>
    %1123 = stablehlo.multiply %1122, %1121 : tensor<32x8x4xf32>
    %1124 = stablehlo.subtract %arg14, %1123 : tensor<32x8x4xf32>
    %1125 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1126 = stablehlo.divide %757, %1125 : tensor<32x4x4xf32>
    %1127 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1128 = stablehlo.divide %878, %1127 : tensor<32x4x4xf32>
    %1129 = stablehlo.sqrt %1128 : tensor<32x4x4xf32>
    %cst_236 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1130 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1131 = stablehlo.add %1129, %1130 : tensor<32x4x4xf32>
    %1132 = stablehlo.divide %1126, %1131 : tensor<32x4x4xf32>
    %cst_237 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1133 = stablehlo.broadcast_in_dim %cst_237, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1134 = stablehlo.multiply %1133, %arg15 : tensor<32x4x4xf32>
    %1135 = stablehlo.add %1132, %1134 : tensor<32x4x4xf32>
    %cst_238 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1136 = stablehlo.broadcast_in_dim %cst_238, dims = [] : (tensor<f32>) -> tensor<32x4x4xf32>
    %1137 = stablehlo.multiply %1136, %1135 : tensor<32x4x4xf32>
    %1138 = stablehlo.subtract %arg15, %1137 : tensor<32x4x4xf32>
    %1139 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1140 = stablehlo.divide %762, %1139 : tensor<32xf32>
    %1141 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1142 = stablehlo.divide %884, %1141 : tensor<32xf32>
    %1143 = stablehlo.sqrt %1142 : tensor<32xf32>
    %cst_239 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1144 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1145 = stablehlo.add %1143, %1144 : tensor<32xf32>
    %1146 = stablehlo.divide %1140, %1145 : tensor<32xf32>
    %cst_240 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1147 = stablehlo.broadcast_in_dim %cst_240, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1148 = stablehlo.multiply %1147, %arg16 : tensor<32xf32>
    %1149 = stablehlo.add %1146, %1148 : tensor<32xf32>
    %cst_241 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1150 = stablehlo.broadcast_in_dim %cst_241, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1151 = stablehlo.multiply %1150, %1149 : tensor<32xf32>
    %1152 = stablehlo.subtract %arg16, %1151 : tensor<32xf32>
    %1153 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1154 = stablehlo.divide %767, %1153 : tensor<64x32xf32>
    %1155 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1156 = stablehlo.divide %890, %1155 : tensor<64x32xf32>
    %1157 = stablehlo.sqrt %1156 : tensor<64x32xf32>
    %cst_242 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1158 = stablehlo.broadcast_in_dim %cst_242, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1159 = stablehlo.add %1157, %1158 : tensor<64x32xf32>
    %1160 = stablehlo.divide %1154, %1159 : tensor<64x32xf32>
    %cst_243 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1161 = stablehlo.broadcast_in_dim %cst_243, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1162 = stablehlo.multiply %1161, %arg17 : tensor<64x32xf32>
    %1163 = stablehlo.add %1160, %1162 : tensor<64x32xf32>
    %cst_244 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1164 = stablehlo.broadcast_in_dim %cst_244, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1165 = stablehlo.multiply %1164, %1163 : tensor<64x32xf32>
    %1166 = stablehlo.subtract %arg17, %1165 : tensor<64x32xf32>
    %1167 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1168 = stablehlo.divide %772, %1167 : tensor<32x64xf32>
    %1169 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1170 = stablehlo.divide %896, %1169 : tensor<32x64xf32>
    %1171 = stablehlo.sqrt %1170 : tensor<32x64xf32>
    %cst_245 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1172 = stablehlo.broadcast_in_dim %cst_245, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1173 = stablehlo.add %1171, %1172 : tensor<32x64xf32>
    %1174 = stablehlo.divide %1168, %1173 : tensor<32x64xf32>
    %cst_246 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1175 = stablehlo.broadcast_in_dim %cst_246, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1176 = stablehlo.multiply %1175, %arg18 : tensor<32x64xf32>
    %1177 = stablehlo.add %1174, %1176 : tensor<32x64xf32>
    %cst_247 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1178 = stablehlo.broadcast_in_dim %cst_247, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1179 = stablehlo.multiply %1178, %1177 : tensor<32x64xf32>
    %1180 = stablehlo.subtract %arg18, %1179 : tensor<32x64xf32>
    %1181 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1182 = stablehlo.divide %777, %1181 : tensor<32x64xf32>
    %1183 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1184 = stablehlo.divide %902, %1183 : tensor<32x64xf32>
    %1185 = stablehlo.sqrt %1184 : tensor<32x64xf32>
    %cst_248 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1186 = stablehlo.broadcast_in_dim %cst_248, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1187 = stablehlo.add %1185, %1186 : tensor<32x64xf32>
    %1188 = stablehlo.divide %1182, %1187 : tensor<32x64xf32>
    %cst_249 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1189 = stablehlo.broadcast_in_dim %cst_249, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1190 = stablehlo.multiply %1189, %arg19 : tensor<32x64xf32>
    %1191 = stablehlo.add %1188, %1190 : tensor<32x64xf32>
    %cst_250 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1192 = stablehlo.broadcast_in_dim %cst_250, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1193 = stablehlo.multiply %1192, %1191 : tensor<32x64xf32>
    %1194 = stablehlo.subtract %arg19, %1193 : tensor<32x64xf32>
    %1195 = stablehlo.broadcast_in_dim %911, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1196 = stablehlo.divide %782, %1195 : tensor<32xf32>
    %1197 = stablehlo.broadcast_in_dim %914, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1198 = stablehlo.divide %908, %1197 : tensor<32xf32>
    %1199 = stablehlo.sqrt %1198 : tensor<32xf32>
    %cst_251 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1200 = stablehlo.broadcast_in_dim %cst_251, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1201 = stablehlo.add %1199, %1200 : tensor<32xf32>
    %1202 = stablehlo.divide %1196, %1201 : tensor<32xf32>
    %cst_252 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1203 = stablehlo.broadcast_in_dim %cst_252, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1204 = stablehlo.multiply %1203, %arg20 : tensor<32xf32>
    %1205 = stablehlo.add %1202, %1204 : tensor<32xf32>
    %cst_253 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1206 = stablehlo.broadcast_in_dim %cst_253, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1207 = stablehlo.multiply %1206, %1205 : tensor<32xf32>
    %1208 = stablehlo.subtract %arg20, %1207 : tensor<32xf32>
    return %928, %942, %956, %970, %984, %998, %1012, %1026, %1040, %1054, %1068, %1082, %1096, %1110, %1124, %1138, %1152, %1166, %1180, %1194, %1208, %677, %682, %687, %692, %697, %702, %707, %712, %717, %722, %727, %732, %737, %742, %747, %752, %757, %762, %767, %772, %777, %782, %788, %794, %800, %806, %812, %818, %824, %830, %836, %842, %848, %854, %860, %866, %872, %878, %884, %890, %896, %902, %908, %372 : tensor<96x32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<32x4x4xf32>, tensor<8x4x32xf32>, tensor<32x8x4xf32>, tensor<32x4x4xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32x4x4xf32>, tensor<8x4x32xf32>, tensor<32x8x4xf32>, tensor<32x4x4xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<i32>, tensor<96x32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<32x4x4xf32>, tensor<8x4x32xf32>, tensor<32x8x4xf32>, tensor<32x4x4xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32x4x4xf32>, tensor<8x4x32xf32>, tensor<32x8x4xf32>, tensor<32x4x4xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<96x32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<32x4x4xf32>, tensor<8x4x32xf32>, tensor<32x8x4xf32>, tensor<32x4x4xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32x4x4xf32>, tensor<8x4x32xf32>, tensor<32x8x4xf32>, tensor<32x4x4xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<f32>
  }
  func.func private @_where(%arg0: tensor<16x16xi1>, %arg1: tensor<8x4x2x16x16xf32>, %arg2: tensor<f32>) -> (tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<16x16xi1>) -> tensor<8x4x2x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x16xf32>
    return %3, %1, %4 : tensor<8x4x2x16x16xf32>, tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>
  }
  func.func private @silu(%arg0: tensor<8x16x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<8x16x64xf32>
    %1 = stablehlo.exponential %0 : tensor<8x16x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %3 = stablehlo.add %2, %1 : tensor<8x16x64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %5 = stablehlo.divide %4, %3 : tensor<8x16x64xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<8x16x64xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<8x16x64xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<8x16x64xf32>
    return %9, %8, %5 : tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x16x96xf32>, %arg1: tensor<8x16x1xi32>) -> (tensor<8x16x1xf32>, tensor<8x16x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x16x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x16x1xi32>, tensor<8x16x1xi32>) -> tensor<8x16x1xi1>
    %c_0 = stablehlo.constant dense<96> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x16x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x16x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x16x1xi1>, tensor<8x16x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x16x1xi32>) -> tensor<8x16x1x1xi32>
    %c_1 = stablehlo.constant dense<95> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x16x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x16x1x1xi32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x16x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x16x1x1xi32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x16x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x16x1x1xi1>, tensor<i1>) -> tensor<8x16x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x16x96xf32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x16x1xi1>, tensor<8x16x1xf32>
    return %15, %5 : tensor<8x16x1xf32>, tensor<8x16x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<8x16x1x1xi32>, %arg1: tensor<8x16x1xf32>) -> tensor<8x16x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x96xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x16x96xf32>, tensor<8x16x1x1xi32>, tensor<8x16x1xf32>) -> tensor<8x16x96xf32>
    return %1 : tensor<8x16x96xf32>
  }
  func.func private @silu_1(%arg0: tensor<8x16x64xf32>, %arg1: tensor<8x16x64xf32>, %arg2: tensor<8x16x64xf32>, %arg3: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<8x16x64xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<8x16x64xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<8x16x64xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x16x64xf32>
    return %3 : tensor<8x16x64xf32>
  }
  func.func private @_where_2(%arg0: tensor<8x4x2x16x16xi1>, %arg1: tensor<8x4x2x16x16xf32>, %arg2: tensor<8x4x2x16x16xf32>) -> tensor<8x4x2x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x2x16x16xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<8x4x2x16x16xi1>, tensor<8x4x2x16x16xf32>
    return %1 : tensor<8x4x2x16x16xf32>
  }
}
