module @jit_train attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x6xf32>, %arg1: tensor<?x8xf32>) -> (tensor<8x6xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[1].shape = (b, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[1].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/501/shape-polymorphism.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2:2 = call @_wrapped_jax_export_main(%0, %arg0, %arg1) : (tensor<i32>, tensor<8x6xf32>, tensor<?x8xf32>) -> (tensor<8x6xf32>, tensor<f32>)
    return %2#0, %2#1 : tensor<8x6xf32>, tensor<f32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<8x6xf32>, %arg2: tensor<?x8xf32>) -> (tensor<8x6xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-1.12837923> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.00833333377> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.0416666679> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.166666672> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<4294963200> : tensor<ui32>
    %cst_7 = stablehlo.constant dense<1.100000e+01> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %c_9 = stablehlo.constant dense<6> : tensor<1xi32>
    %c_10 = stablehlo.constant dense<6> : tensor<i32>
    %cst_11 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x6xf32>) -> tensor<?x6xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_11, %2, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %4 = stablehlo.multiply %3, %0 : tensor<?x6xf32>
    %5 = stablehlo.negate %0 : tensor<?x6xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst_8, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %9 = stablehlo.multiply %5, %8 : tensor<?x6xf32>
    %10 = stablehlo.composite "chlo.erfc" %9 {decomposition = @chlo.erfc.impl, version = 1 : i32} : (tensor<?x6xf32>) -> tensor<?x6xf32>
    %11 = stablehlo.abs %9 : tensor<?x6xf32>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst_7, %13, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %15 = stablehlo.minimum %11, %14 : tensor<?x6xf32>
    %16 = stablehlo.bitcast_convert %15 : (tensor<?x6xf32>) -> tensor<?x6xui32>
    %17 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.concatenate %17, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = stablehlo.dynamic_broadcast_in_dim %c, %18, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x6xui32>
    %20 = stablehlo.and %16, %19 : tensor<?x6xui32>
    %21 = stablehlo.bitcast_convert %20 : (tensor<?x6xui32>) -> tensor<?x6xf32>
    %22 = stablehlo.subtract %15, %21 : tensor<?x6xf32>
    %23 = stablehlo.multiply %21, %21 : tensor<?x6xf32>
    %24 = stablehlo.add %15, %21 : tensor<?x6xf32>
    %25 = stablehlo.multiply %22, %24 : tensor<?x6xf32>
    %26 = stablehlo.negate %23 : tensor<?x6xf32>
    %27 = stablehlo.exponential %26 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<?x6xf32>
    %28 = stablehlo.negate %25 : tensor<?x6xf32>
    %29 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %29, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.dynamic_broadcast_in_dim %cst_3, %30, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %32 = stablehlo.multiply %31, %28 : tensor<?x6xf32>
    %33 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.concatenate %33, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %35 = stablehlo.dynamic_broadcast_in_dim %cst_4, %34, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %36 = stablehlo.add %32, %35 : tensor<?x6xf32>
    %37 = stablehlo.multiply %36, %28 : tensor<?x6xf32>
    %38 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.concatenate %38, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = stablehlo.dynamic_broadcast_in_dim %cst_5, %39, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %41 = stablehlo.add %37, %40 : tensor<?x6xf32>
    %42 = stablehlo.multiply %41, %28 : tensor<?x6xf32>
    %43 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.concatenate %43, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %cst_11, %44, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %46 = stablehlo.add %42, %45 : tensor<?x6xf32>
    %47 = stablehlo.multiply %46, %28 : tensor<?x6xf32>
    %48 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.concatenate %48, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %50 = stablehlo.dynamic_broadcast_in_dim %cst_6, %49, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %51 = stablehlo.add %47, %50 : tensor<?x6xf32>
    %52 = stablehlo.multiply %28, %51 : tensor<?x6xf32>
    %53 = stablehlo.multiply %27, %52 : tensor<?x6xf32>
    %54 = stablehlo.add %27, %53 : tensor<?x6xf32>
    %55 = stablehlo.multiply %4, %10 : tensor<?x6xf32>
    %56 = stablehlo.multiply %55, %55 : tensor<?x6xf32>
    %57 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %57, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %cst_2, %58, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %60 = stablehlo.multiply %59, %55 : tensor<?x6xf32>
    %61 = stablehlo.convert %arg0 : tensor<i32>
    %62 = stablehlo.multiply %61, %c_10 : tensor<i32>
    %63 = stablehlo.convert %62 : (tensor<i32>) -> tensor<f32>
    %64 = stablehlo.reduce(%56 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x6xf32>, tensor<f32>) -> tensor<f32>
    %65 = stablehlo.divide %64, %63 : tensor<f32>
    %66 = stablehlo.divide %cst_6, %63 : tensor<f32>
    %67 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %68 = stablehlo.concatenate %67, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %69 = stablehlo.dynamic_broadcast_in_dim %66, %68, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %70 = stablehlo.multiply %69, %60 : tensor<?x6xf32>
    %71 = stablehlo.multiply %4, %70 : tensor<?x6xf32>
    %72 = stablehlo.multiply %70, %10 : tensor<?x6xf32>
    %73 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %74 = stablehlo.concatenate %73, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %75 = stablehlo.dynamic_broadcast_in_dim %cst_0, %74, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %76 = stablehlo.multiply %75, %71 : tensor<?x6xf32>
    %77 = stablehlo.multiply %76, %54 : tensor<?x6xf32>
    %78 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %79 = stablehlo.concatenate %78, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %80 = stablehlo.dynamic_broadcast_in_dim %cst_8, %79, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %81 = stablehlo.multiply %77, %80 : tensor<?x6xf32>
    %82 = stablehlo.negate %81 : tensor<?x6xf32>
    %83 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %84 = stablehlo.concatenate %83, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %85 = stablehlo.dynamic_broadcast_in_dim %cst_11, %84, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %86 = stablehlo.multiply %85, %72 : tensor<?x6xf32>
    %87 = stablehlo.add %82, %86 : tensor<?x6xf32>
    %88 = stablehlo.dot_general %87, %arg2, contracting_dims = [0] x [0] : (tensor<?x6xf32>, tensor<?x8xf32>) -> tensor<6x8xf32>
    %89 = stablehlo.transpose %88, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %90 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<8x6xf32>
    %92 = stablehlo.subtract %arg1, %91 : tensor<8x6xf32>
    return %92, %65 : tensor<8x6xf32>, tensor<f32>
  }
  func.func private @chlo.erfc.impl(%arg0: tensor<?x6xf32>) -> tensor<?x6xf32> {
    %cst = stablehlo.constant dense<1.12837911> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-0.37612626> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.112835854> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-0.0268538129> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.00518832775> : tensor<f32>
    %cst_4 = stablehlo.constant dense<-8.0101937E-4> : tensor<f32>
    %cst_5 = stablehlo.constant dense<7.85386146E-5> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<-88.7228394> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.564189494> : tensor<f32>
    %cst_9 = stablehlo.constant dense<-0.282076746> : tensor<f32>
    %cst_10 = stablehlo.constant dense<0.42184633> : tensor<f32>
    %cst_11 = stablehlo.constant dense<-1.01526523> : tensor<f32>
    %cst_12 = stablehlo.constant dense<2.92101908> : tensor<f32>
    %cst_13 = stablehlo.constant dense<-7.49551868> : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.297720e+01> : tensor<f32>
    %cst_15 = stablehlo.constant dense<-10.477664> : tensor<f32>
    %cst_16 = stablehlo.constant dense<0.563825965> : tensor<f32>
    %cst_17 = stablehlo.constant dense<-0.274112701> : tensor<f32>
    %cst_18 = stablehlo.constant dense<3.404880e-01> : tensor<f32>
    %cst_19 = stablehlo.constant dense<-0.494451523> : tensor<f32>
    %cst_20 = stablehlo.constant dense<0.621000468> : tensor<f32>
    %cst_21 = stablehlo.constant dense<-0.582473278> : tensor<f32>
    %cst_22 = stablehlo.constant dense<0.368742466> : tensor<f32>
    %cst_23 = stablehlo.constant dense<-0.138703942> : tensor<f32>
    %cst_24 = stablehlo.constant dense<2.326820e-02> : tensor<f32>
    %cst_25 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<?x6xf32>
    %1 = stablehlo.negate %0 : tensor<?x6xf32>
    %2 = stablehlo.abs %arg0 : tensor<?x6xf32>
    %3 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %4, %6, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst_26, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %9 = stablehlo.divide %8, %0 : tensor<?x6xf32>
    %10 = stablehlo.exponential %1 : tensor<?x6xf32>
    %11 = stablehlo.divide %8, %2 : tensor<?x6xf32>
    %12 = stablehlo.multiply %10, %11 : tensor<?x6xf32>
    %13 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %14 = stablehlo.reshape %13 : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %16 = stablehlo.reshape %15 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %14, %16, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %cst_25, %17, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %19 = stablehlo.compare LT, %2, %18 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %20 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %21 = stablehlo.reshape %20 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %23 = stablehlo.reshape %22 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %21, %23, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %cst_24, %24, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %26 = stablehlo.multiply %25, %9 : tensor<?x6xf32>
    %27 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %28 = stablehlo.reshape %27 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %30 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.concatenate %28, %30, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %cst_23, %31, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %33 = stablehlo.add %26, %32 : tensor<?x6xf32>
    %34 = stablehlo.multiply %33, %9 : tensor<?x6xf32>
    %35 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %36 = stablehlo.reshape %35 : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %38 = stablehlo.reshape %37 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.concatenate %36, %38, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = stablehlo.dynamic_broadcast_in_dim %cst_22, %39, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %41 = stablehlo.add %34, %40 : tensor<?x6xf32>
    %42 = stablehlo.multiply %41, %9 : tensor<?x6xf32>
    %43 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %44 = stablehlo.reshape %43 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %46 = stablehlo.reshape %45 : (tensor<i32>) -> tensor<1xi32>
    %47 = stablehlo.concatenate %44, %46, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %48 = stablehlo.dynamic_broadcast_in_dim %cst_21, %47, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %49 = stablehlo.add %42, %48 : tensor<?x6xf32>
    %50 = stablehlo.multiply %49, %9 : tensor<?x6xf32>
    %51 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %52 = stablehlo.reshape %51 : (tensor<i32>) -> tensor<1xi32>
    %53 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %54 = stablehlo.reshape %53 : (tensor<i32>) -> tensor<1xi32>
    %55 = stablehlo.concatenate %52, %54, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %56 = stablehlo.dynamic_broadcast_in_dim %cst_20, %55, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %57 = stablehlo.add %50, %56 : tensor<?x6xf32>
    %58 = stablehlo.multiply %57, %9 : tensor<?x6xf32>
    %59 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %60 = stablehlo.reshape %59 : (tensor<i32>) -> tensor<1xi32>
    %61 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %62 = stablehlo.reshape %61 : (tensor<i32>) -> tensor<1xi32>
    %63 = stablehlo.concatenate %60, %62, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %64 = stablehlo.dynamic_broadcast_in_dim %cst_19, %63, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %65 = stablehlo.add %58, %64 : tensor<?x6xf32>
    %66 = stablehlo.multiply %65, %9 : tensor<?x6xf32>
    %67 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %68 = stablehlo.reshape %67 : (tensor<i32>) -> tensor<1xi32>
    %69 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %70 = stablehlo.reshape %69 : (tensor<i32>) -> tensor<1xi32>
    %71 = stablehlo.concatenate %68, %70, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %72 = stablehlo.dynamic_broadcast_in_dim %cst_18, %71, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %73 = stablehlo.add %66, %72 : tensor<?x6xf32>
    %74 = stablehlo.multiply %73, %9 : tensor<?x6xf32>
    %75 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %76 = stablehlo.reshape %75 : (tensor<i32>) -> tensor<1xi32>
    %77 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %78 = stablehlo.reshape %77 : (tensor<i32>) -> tensor<1xi32>
    %79 = stablehlo.concatenate %76, %78, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %80 = stablehlo.dynamic_broadcast_in_dim %cst_17, %79, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %81 = stablehlo.add %74, %80 : tensor<?x6xf32>
    %82 = stablehlo.multiply %81, %9 : tensor<?x6xf32>
    %83 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %84 = stablehlo.reshape %83 : (tensor<i32>) -> tensor<1xi32>
    %85 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %86 = stablehlo.reshape %85 : (tensor<i32>) -> tensor<1xi32>
    %87 = stablehlo.concatenate %84, %86, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %88 = stablehlo.dynamic_broadcast_in_dim %cst_16, %87, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %89 = stablehlo.add %82, %88 : tensor<?x6xf32>
    %90 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %91 = stablehlo.reshape %90 : (tensor<i32>) -> tensor<1xi32>
    %92 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %93 = stablehlo.reshape %92 : (tensor<i32>) -> tensor<1xi32>
    %94 = stablehlo.concatenate %91, %93, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %95 = stablehlo.dynamic_broadcast_in_dim %cst_15, %94, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %96 = stablehlo.multiply %95, %9 : tensor<?x6xf32>
    %97 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %98 = stablehlo.reshape %97 : (tensor<i32>) -> tensor<1xi32>
    %99 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %100 = stablehlo.reshape %99 : (tensor<i32>) -> tensor<1xi32>
    %101 = stablehlo.concatenate %98, %100, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %102 = stablehlo.dynamic_broadcast_in_dim %cst_14, %101, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %103 = stablehlo.add %96, %102 : tensor<?x6xf32>
    %104 = stablehlo.multiply %103, %9 : tensor<?x6xf32>
    %105 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %106 = stablehlo.reshape %105 : (tensor<i32>) -> tensor<1xi32>
    %107 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %108 = stablehlo.reshape %107 : (tensor<i32>) -> tensor<1xi32>
    %109 = stablehlo.concatenate %106, %108, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %110 = stablehlo.dynamic_broadcast_in_dim %cst_13, %109, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %111 = stablehlo.add %104, %110 : tensor<?x6xf32>
    %112 = stablehlo.multiply %111, %9 : tensor<?x6xf32>
    %113 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %114 = stablehlo.reshape %113 : (tensor<i32>) -> tensor<1xi32>
    %115 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %116 = stablehlo.reshape %115 : (tensor<i32>) -> tensor<1xi32>
    %117 = stablehlo.concatenate %114, %116, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %118 = stablehlo.dynamic_broadcast_in_dim %cst_12, %117, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %119 = stablehlo.add %112, %118 : tensor<?x6xf32>
    %120 = stablehlo.multiply %119, %9 : tensor<?x6xf32>
    %121 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %122 = stablehlo.reshape %121 : (tensor<i32>) -> tensor<1xi32>
    %123 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %124 = stablehlo.reshape %123 : (tensor<i32>) -> tensor<1xi32>
    %125 = stablehlo.concatenate %122, %124, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %126 = stablehlo.dynamic_broadcast_in_dim %cst_11, %125, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %127 = stablehlo.add %120, %126 : tensor<?x6xf32>
    %128 = stablehlo.multiply %127, %9 : tensor<?x6xf32>
    %129 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %130 = stablehlo.reshape %129 : (tensor<i32>) -> tensor<1xi32>
    %131 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %132 = stablehlo.reshape %131 : (tensor<i32>) -> tensor<1xi32>
    %133 = stablehlo.concatenate %130, %132, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %134 = stablehlo.dynamic_broadcast_in_dim %cst_10, %133, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %135 = stablehlo.add %128, %134 : tensor<?x6xf32>
    %136 = stablehlo.multiply %135, %9 : tensor<?x6xf32>
    %137 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %138 = stablehlo.reshape %137 : (tensor<i32>) -> tensor<1xi32>
    %139 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %140 = stablehlo.reshape %139 : (tensor<i32>) -> tensor<1xi32>
    %141 = stablehlo.concatenate %138, %140, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %142 = stablehlo.dynamic_broadcast_in_dim %cst_9, %141, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %143 = stablehlo.add %136, %142 : tensor<?x6xf32>
    %144 = stablehlo.multiply %143, %9 : tensor<?x6xf32>
    %145 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %146 = stablehlo.reshape %145 : (tensor<i32>) -> tensor<1xi32>
    %147 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %148 = stablehlo.reshape %147 : (tensor<i32>) -> tensor<1xi32>
    %149 = stablehlo.concatenate %146, %148, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %150 = stablehlo.dynamic_broadcast_in_dim %cst_8, %149, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %151 = stablehlo.add %144, %150 : tensor<?x6xf32>
    %152 = stablehlo.select %19, %89, %151 : tensor<?x6xi1>, tensor<?x6xf32>
    %153 = stablehlo.multiply %12, %152 : tensor<?x6xf32>
    %154 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %155 = stablehlo.reshape %154 : (tensor<i32>) -> tensor<1xi32>
    %156 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %157 = stablehlo.reshape %156 : (tensor<i32>) -> tensor<1xi32>
    %158 = stablehlo.concatenate %155, %157, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %159 = stablehlo.dynamic_broadcast_in_dim %cst_7, %158, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %160 = stablehlo.compare LT, %1, %159 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %161 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %162 = stablehlo.reshape %161 : (tensor<i32>) -> tensor<1xi32>
    %163 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %164 = stablehlo.reshape %163 : (tensor<i32>) -> tensor<1xi32>
    %165 = stablehlo.concatenate %162, %164, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %166 = stablehlo.dynamic_broadcast_in_dim %cst_6, %165, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %167 = stablehlo.select %160, %166, %153 : tensor<?x6xi1>, tensor<?x6xf32>
    %168 = stablehlo.compare LT, %arg0, %166 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %169 = stablehlo.subtract %18, %167 : tensor<?x6xf32>
    %170 = stablehlo.select %168, %169, %167 : tensor<?x6xi1>, tensor<?x6xf32>
    %171 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %172 = stablehlo.reshape %171 : (tensor<i32>) -> tensor<1xi32>
    %173 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %174 = stablehlo.reshape %173 : (tensor<i32>) -> tensor<1xi32>
    %175 = stablehlo.concatenate %172, %174, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %176 = stablehlo.dynamic_broadcast_in_dim %cst_26, %175, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %177 = stablehlo.multiply %arg0, %arg0 : tensor<?x6xf32>
    %178 = stablehlo.get_dimension_size %177, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %179 = stablehlo.reshape %178 : (tensor<i32>) -> tensor<1xi32>
    %180 = stablehlo.get_dimension_size %177, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %181 = stablehlo.reshape %180 : (tensor<i32>) -> tensor<1xi32>
    %182 = stablehlo.concatenate %179, %181, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %183 = stablehlo.dynamic_broadcast_in_dim %cst_5, %182, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %184 = stablehlo.multiply %183, %177 : tensor<?x6xf32>
    %185 = stablehlo.get_dimension_size %177, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %186 = stablehlo.reshape %185 : (tensor<i32>) -> tensor<1xi32>
    %187 = stablehlo.get_dimension_size %177, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %188 = stablehlo.reshape %187 : (tensor<i32>) -> tensor<1xi32>
    %189 = stablehlo.concatenate %186, %188, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %190 = stablehlo.dynamic_broadcast_in_dim %cst_4, %189, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %191 = stablehlo.add %184, %190 : tensor<?x6xf32>
    %192 = stablehlo.multiply %191, %177 : tensor<?x6xf32>
    %193 = stablehlo.get_dimension_size %177, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %194 = stablehlo.reshape %193 : (tensor<i32>) -> tensor<1xi32>
    %195 = stablehlo.get_dimension_size %177, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %196 = stablehlo.reshape %195 : (tensor<i32>) -> tensor<1xi32>
    %197 = stablehlo.concatenate %194, %196, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %198 = stablehlo.dynamic_broadcast_in_dim %cst_3, %197, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %199 = stablehlo.add %192, %198 : tensor<?x6xf32>
    %200 = stablehlo.multiply %199, %177 : tensor<?x6xf32>
    %201 = stablehlo.get_dimension_size %177, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %202 = stablehlo.reshape %201 : (tensor<i32>) -> tensor<1xi32>
    %203 = stablehlo.get_dimension_size %177, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %204 = stablehlo.reshape %203 : (tensor<i32>) -> tensor<1xi32>
    %205 = stablehlo.concatenate %202, %204, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %206 = stablehlo.dynamic_broadcast_in_dim %cst_2, %205, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %207 = stablehlo.add %200, %206 : tensor<?x6xf32>
    %208 = stablehlo.multiply %207, %177 : tensor<?x6xf32>
    %209 = stablehlo.get_dimension_size %177, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %210 = stablehlo.reshape %209 : (tensor<i32>) -> tensor<1xi32>
    %211 = stablehlo.get_dimension_size %177, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %212 = stablehlo.reshape %211 : (tensor<i32>) -> tensor<1xi32>
    %213 = stablehlo.concatenate %210, %212, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %214 = stablehlo.dynamic_broadcast_in_dim %cst_1, %213, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %215 = stablehlo.add %208, %214 : tensor<?x6xf32>
    %216 = stablehlo.multiply %215, %177 : tensor<?x6xf32>
    %217 = stablehlo.get_dimension_size %177, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %218 = stablehlo.reshape %217 : (tensor<i32>) -> tensor<1xi32>
    %219 = stablehlo.get_dimension_size %177, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %220 = stablehlo.reshape %219 : (tensor<i32>) -> tensor<1xi32>
    %221 = stablehlo.concatenate %218, %220, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %222 = stablehlo.dynamic_broadcast_in_dim %cst_0, %221, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %223 = stablehlo.add %216, %222 : tensor<?x6xf32>
    %224 = stablehlo.multiply %223, %177 : tensor<?x6xf32>
    %225 = stablehlo.get_dimension_size %177, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %226 = stablehlo.reshape %225 : (tensor<i32>) -> tensor<1xi32>
    %227 = stablehlo.get_dimension_size %177, dim = 1 : (tensor<?x6xf32>) -> tensor<i32>
    %228 = stablehlo.reshape %227 : (tensor<i32>) -> tensor<1xi32>
    %229 = stablehlo.concatenate %226, %228, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %230 = stablehlo.dynamic_broadcast_in_dim %cst, %229, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x6xf32>
    %231 = stablehlo.add %224, %230 : tensor<?x6xf32>
    %232 = stablehlo.multiply %arg0, %231 : tensor<?x6xf32>
    %233 = stablehlo.subtract %176, %232 : tensor<?x6xf32>
    %234 = stablehlo.abs %arg0 : tensor<?x6xf32>
    %235 = stablehlo.compare LT, %234, %176 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xi1>
    %236 = stablehlo.select %235, %233, %170 : tensor<?x6xi1>, tensor<?x6xf32>
    return %236 : tensor<?x6xf32>
  }
}
