module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>, %arg1: tensor<2xui32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/501/shape-polymorphism.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/501/shape-polymorphism.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<2xui32>) -> tensor<?x?xf32>
    return %4 : tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>, %arg3: tensor<2xui32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %0 = call @_normal(%arg0, %arg1, %arg3) : (tensor<i32>, tensor<i32>, tensor<2xui32>) -> tensor<?x?xf32>
    %1 = stablehlo.add %arg2, %0 : tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func private @_normal(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "n"}, %arg2: tensor<2xui32>) -> tensor<?x?xf32> {
    %0 = call @_normal_real(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<2xui32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  func.func private @_normal_real(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "n"}, %arg2: tensor<2xui32>) -> tensor<?x?xf32> {
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.83297682> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.50140941> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.00167406> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.246640727> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.00943887047> : tensor<f32>
    %cst_5 = stablehlo.constant dense<-0.00417768164> : tensor<f32>
    %cst_6 = stablehlo.constant dense<-0.0076224613> : tensor<f32>
    %cst_7 = stablehlo.constant dense<-0.00125372503> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.00573950773> : tensor<f32>
    %cst_9 = stablehlo.constant dense<2.1858087E-4> : tensor<f32>
    %cst_10 = stablehlo.constant dense<-0.00367342844> : tensor<f32>
    %cst_11 = stablehlo.constant dense<-4.39150654E-6> : tensor<f32>
    %cst_12 = stablehlo.constant dense<0.00134934322> : tensor<f32>
    %cst_13 = stablehlo.constant dense<-3.5233877E-6> : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.00950558E-4> : tensor<f32>
    %cst_15 = stablehlo.constant dense<3.43273939E-7> : tensor<f32>
    %cst_16 = stablehlo.constant dense<-2.00214257E-4> : tensor<f32>
    %cst_17 = stablehlo.constant dense<2.81022636E-8> : tensor<f32>
    %cst_18 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %cst_19 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %cst_20 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %cst_22 = stablehlo.constant dense<-0.99999994> : tensor<f32>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %arg1, %arg2, %cst_22, %cst_23) : (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
    %1 = stablehlo.negate %0 : tensor<?x?xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<?x?xf32>
    %3 = stablehlo.log_plus_one %2 : tensor<?x?xf32>
    %4 = stablehlo.negate %3 : tensor<?x?xf32>
    %5 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %6, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %cst_20, %9, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %11 = stablehlo.compare LT, %4, %10 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
    %12 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %13 = stablehlo.reshape %12 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %13, %15, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %cst_19, %16, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %18 = stablehlo.subtract %4, %17 : tensor<?x?xf32>
    %19 = stablehlo.sqrt %4 : tensor<?x?xf32>
    %20 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %21 = stablehlo.reshape %20 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %23 = stablehlo.reshape %22 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %21, %23, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %cst_18, %24, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %26 = stablehlo.subtract %19, %25 : tensor<?x?xf32>
    %27 = stablehlo.select %11, %18, %26 : tensor<?x?xi1>, tensor<?x?xf32>
    %28 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %29 = stablehlo.reshape %28 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %31 = stablehlo.reshape %30 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %29, %31, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = stablehlo.dynamic_broadcast_in_dim %cst_17, %32, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %34 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %35 = stablehlo.reshape %34 : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %37 = stablehlo.reshape %36 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.concatenate %35, %37, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = stablehlo.dynamic_broadcast_in_dim %cst_16, %38, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %40 = stablehlo.select %11, %33, %39 : tensor<?x?xi1>, tensor<?x?xf32>
    %41 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %42 = stablehlo.reshape %41 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %44 = stablehlo.reshape %43 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.concatenate %42, %44, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %46 = stablehlo.dynamic_broadcast_in_dim %cst_15, %45, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %47 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %48 = stablehlo.reshape %47 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %50 = stablehlo.reshape %49 : (tensor<i32>) -> tensor<1xi32>
    %51 = stablehlo.concatenate %48, %50, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %52 = stablehlo.dynamic_broadcast_in_dim %cst_14, %51, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %53 = stablehlo.select %11, %46, %52 : tensor<?x?xi1>, tensor<?x?xf32>
    %54 = stablehlo.multiply %40, %27 : tensor<?x?xf32>
    %55 = stablehlo.add %53, %54 : tensor<?x?xf32>
    %56 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %57 = stablehlo.reshape %56 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %59 = stablehlo.reshape %58 : (tensor<i32>) -> tensor<1xi32>
    %60 = stablehlo.concatenate %57, %59, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %61 = stablehlo.dynamic_broadcast_in_dim %cst_13, %60, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %62 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %63 = stablehlo.reshape %62 : (tensor<i32>) -> tensor<1xi32>
    %64 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %65 = stablehlo.reshape %64 : (tensor<i32>) -> tensor<1xi32>
    %66 = stablehlo.concatenate %63, %65, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %67 = stablehlo.dynamic_broadcast_in_dim %cst_12, %66, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %68 = stablehlo.select %11, %61, %67 : tensor<?x?xi1>, tensor<?x?xf32>
    %69 = stablehlo.multiply %55, %27 : tensor<?x?xf32>
    %70 = stablehlo.add %68, %69 : tensor<?x?xf32>
    %71 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %72 = stablehlo.reshape %71 : (tensor<i32>) -> tensor<1xi32>
    %73 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %74 = stablehlo.reshape %73 : (tensor<i32>) -> tensor<1xi32>
    %75 = stablehlo.concatenate %72, %74, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %76 = stablehlo.dynamic_broadcast_in_dim %cst_11, %75, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %77 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %78 = stablehlo.reshape %77 : (tensor<i32>) -> tensor<1xi32>
    %79 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %80 = stablehlo.reshape %79 : (tensor<i32>) -> tensor<1xi32>
    %81 = stablehlo.concatenate %78, %80, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %82 = stablehlo.dynamic_broadcast_in_dim %cst_10, %81, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %83 = stablehlo.select %11, %76, %82 : tensor<?x?xi1>, tensor<?x?xf32>
    %84 = stablehlo.multiply %70, %27 : tensor<?x?xf32>
    %85 = stablehlo.add %83, %84 : tensor<?x?xf32>
    %86 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %87 = stablehlo.reshape %86 : (tensor<i32>) -> tensor<1xi32>
    %88 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %89 = stablehlo.reshape %88 : (tensor<i32>) -> tensor<1xi32>
    %90 = stablehlo.concatenate %87, %89, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %91 = stablehlo.dynamic_broadcast_in_dim %cst_9, %90, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %92 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %93 = stablehlo.reshape %92 : (tensor<i32>) -> tensor<1xi32>
    %94 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %95 = stablehlo.reshape %94 : (tensor<i32>) -> tensor<1xi32>
    %96 = stablehlo.concatenate %93, %95, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %97 = stablehlo.dynamic_broadcast_in_dim %cst_8, %96, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %98 = stablehlo.select %11, %91, %97 : tensor<?x?xi1>, tensor<?x?xf32>
    %99 = stablehlo.multiply %85, %27 : tensor<?x?xf32>
    %100 = stablehlo.add %98, %99 : tensor<?x?xf32>
    %101 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %102 = stablehlo.reshape %101 : (tensor<i32>) -> tensor<1xi32>
    %103 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %104 = stablehlo.reshape %103 : (tensor<i32>) -> tensor<1xi32>
    %105 = stablehlo.concatenate %102, %104, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %106 = stablehlo.dynamic_broadcast_in_dim %cst_7, %105, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %107 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %108 = stablehlo.reshape %107 : (tensor<i32>) -> tensor<1xi32>
    %109 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %110 = stablehlo.reshape %109 : (tensor<i32>) -> tensor<1xi32>
    %111 = stablehlo.concatenate %108, %110, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %112 = stablehlo.dynamic_broadcast_in_dim %cst_6, %111, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %113 = stablehlo.select %11, %106, %112 : tensor<?x?xi1>, tensor<?x?xf32>
    %114 = stablehlo.multiply %100, %27 : tensor<?x?xf32>
    %115 = stablehlo.add %113, %114 : tensor<?x?xf32>
    %116 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %117 = stablehlo.reshape %116 : (tensor<i32>) -> tensor<1xi32>
    %118 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %119 = stablehlo.reshape %118 : (tensor<i32>) -> tensor<1xi32>
    %120 = stablehlo.concatenate %117, %119, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %121 = stablehlo.dynamic_broadcast_in_dim %cst_5, %120, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %122 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %123 = stablehlo.reshape %122 : (tensor<i32>) -> tensor<1xi32>
    %124 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %125 = stablehlo.reshape %124 : (tensor<i32>) -> tensor<1xi32>
    %126 = stablehlo.concatenate %123, %125, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %127 = stablehlo.dynamic_broadcast_in_dim %cst_4, %126, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %128 = stablehlo.select %11, %121, %127 : tensor<?x?xi1>, tensor<?x?xf32>
    %129 = stablehlo.multiply %115, %27 : tensor<?x?xf32>
    %130 = stablehlo.add %128, %129 : tensor<?x?xf32>
    %131 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %132 = stablehlo.reshape %131 : (tensor<i32>) -> tensor<1xi32>
    %133 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %134 = stablehlo.reshape %133 : (tensor<i32>) -> tensor<1xi32>
    %135 = stablehlo.concatenate %132, %134, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %136 = stablehlo.dynamic_broadcast_in_dim %cst_3, %135, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %137 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %138 = stablehlo.reshape %137 : (tensor<i32>) -> tensor<1xi32>
    %139 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %140 = stablehlo.reshape %139 : (tensor<i32>) -> tensor<1xi32>
    %141 = stablehlo.concatenate %138, %140, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %142 = stablehlo.dynamic_broadcast_in_dim %cst_2, %141, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %143 = stablehlo.select %11, %136, %142 : tensor<?x?xi1>, tensor<?x?xf32>
    %144 = stablehlo.multiply %130, %27 : tensor<?x?xf32>
    %145 = stablehlo.add %143, %144 : tensor<?x?xf32>
    %146 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %147 = stablehlo.reshape %146 : (tensor<i32>) -> tensor<1xi32>
    %148 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %149 = stablehlo.reshape %148 : (tensor<i32>) -> tensor<1xi32>
    %150 = stablehlo.concatenate %147, %149, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %151 = stablehlo.dynamic_broadcast_in_dim %cst_1, %150, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %152 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %153 = stablehlo.reshape %152 : (tensor<i32>) -> tensor<1xi32>
    %154 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %155 = stablehlo.reshape %154 : (tensor<i32>) -> tensor<1xi32>
    %156 = stablehlo.concatenate %153, %155, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %157 = stablehlo.dynamic_broadcast_in_dim %cst_0, %156, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %158 = stablehlo.select %11, %151, %157 : tensor<?x?xi1>, tensor<?x?xf32>
    %159 = stablehlo.multiply %145, %27 : tensor<?x?xf32>
    %160 = stablehlo.add %158, %159 : tensor<?x?xf32>
    %161 = stablehlo.multiply %160, %0 : tensor<?x?xf32>
    %162 = stablehlo.abs %0 : tensor<?x?xf32>
    %163 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %164 = stablehlo.reshape %163 : (tensor<i32>) -> tensor<1xi32>
    %165 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %166 = stablehlo.reshape %165 : (tensor<i32>) -> tensor<1xi32>
    %167 = stablehlo.concatenate %164, %166, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %168 = stablehlo.dynamic_broadcast_in_dim %cst_23, %167, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %169 = stablehlo.compare EQ, %162, %168 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
    %170 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %171 = stablehlo.reshape %170 : (tensor<i32>) -> tensor<1xi32>
    %172 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %173 = stablehlo.reshape %172 : (tensor<i32>) -> tensor<1xi32>
    %174 = stablehlo.concatenate %171, %173, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %175 = stablehlo.dynamic_broadcast_in_dim %cst, %174, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %176 = stablehlo.multiply %0, %175 : tensor<?x?xf32>
    %177 = stablehlo.select %169, %176, %161 : tensor<?x?xi1>, tensor<?x?xf32>
    %178 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %179 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %180 = stablehlo.concatenate %178, %179, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %181 = stablehlo.dynamic_broadcast_in_dim %cst_21, %180, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %182 = stablehlo.multiply %181, %177 : tensor<?x?xf32>
    return %182 : tensor<?x?xf32>
  }
  func.func private @_uniform(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "n"}, %arg2: tensor<2xui32>, %arg3: tensor<f32>, %arg4: tensor<f32>) -> tensor<?x?xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1065353216> : tensor<ui32>
    %c_0 = stablehlo.constant dense<9> : tensor<ui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui64>
    %c_2 = stablehlo.constant dense<1> : tensor<ui64>
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %2 = stablehlo.slice %arg2 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.slice %arg2 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %6, %7, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = stablehlo.dynamic_iota %8, dim = 0 : (tensor<2xi32>) -> tensor<?x?xui64>
    %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %10, %11, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.dynamic_iota %12, dim = 1 : (tensor<2xi32>) -> tensor<?x?xui64>
    %14 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui64>
    %15 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %15, %16, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %14, %17, dims = [] : (tensor<ui64>, tensor<2xi32>) -> tensor<?x?xui64>
    %19 = stablehlo.multiply %18, %9 : tensor<?x?xui64>
    %20 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.concatenate %20, %21, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %23 = stablehlo.dynamic_broadcast_in_dim %c_2, %22, dims = [] : (tensor<ui64>, tensor<2xi32>) -> tensor<?x?xui64>
    %24 = stablehlo.multiply %23, %13 : tensor<?x?xui64>
    %25 = stablehlo.add %19, %24 : tensor<?x?xui64>
    %26 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %27 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.concatenate %26, %27, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %29 = stablehlo.dynamic_broadcast_in_dim %c_1, %28, dims = [] : (tensor<ui64>, tensor<2xi32>) -> tensor<?x?xui64>
    %30 = stablehlo.shift_right_logical %25, %29 : tensor<?x?xui64>
    %31 = stablehlo.convert %25 : (tensor<?x?xui64>) -> tensor<?x?xui32>
    %32 = stablehlo.convert %30 : (tensor<?x?xui64>) -> tensor<?x?xui32>
    %33:2 = call @threefry2x32(%arg0, %arg1, %3, %5, %32, %31) : (tensor<i32>, tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<?x?xui32>, tensor<?x?xui32>) -> (tensor<?x?xui32>, tensor<?x?xui32>)
    %34 = stablehlo.xor %33#0, %33#1 : tensor<?x?xui32>
    %35 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.concatenate %35, %36, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %38 = stablehlo.dynamic_broadcast_in_dim %c_0, %37, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
    %39 = stablehlo.shift_right_logical %34, %38 : tensor<?x?xui32>
    %40 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %41 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %42 = stablehlo.concatenate %40, %41, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %43 = stablehlo.dynamic_broadcast_in_dim %c, %42, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
    %44 = stablehlo.or %39, %43 : tensor<?x?xui32>
    %45 = stablehlo.bitcast_convert %44 : (tensor<?x?xui32>) -> tensor<?x?xf32>
    %46 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %47 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.concatenate %46, %47, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %49 = stablehlo.dynamic_broadcast_in_dim %cst, %48, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %50 = stablehlo.subtract %45, %49 : tensor<?x?xf32>
    %51 = stablehlo.subtract %1, %0 : tensor<1x1xf32>
    %52 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %53 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %54 = stablehlo.concatenate %52, %53, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %55 = stablehlo.dynamic_broadcast_in_dim %51, %54, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %56 = stablehlo.multiply %50, %55 : tensor<?x?xf32>
    %57 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %59 = stablehlo.concatenate %57, %58, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %60 = stablehlo.dynamic_broadcast_in_dim %0, %59, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %61 = stablehlo.add %56, %60 : tensor<?x?xf32>
    %62 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %63 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %64 = stablehlo.concatenate %62, %63, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %65 = stablehlo.dynamic_broadcast_in_dim %0, %64, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %66 = stablehlo.maximum %65, %61 : tensor<?x?xf32>
    return %66 : tensor<?x?xf32>
  }
  func.func private @threefry2x32(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<ui32>, %arg3: tensor<ui32>, %arg4: tensor<?x?xui32>, %arg5: tensor<?x?xui32>) -> (tensor<?x?xui32>, tensor<?x?xui32>) {
    %c = stablehlo.constant dense<32> : tensor<ui32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<466688986> : tensor<ui32>
    %c_4 = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_5 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg2, %arg3 : tensor<ui32>
    %1 = stablehlo.xor %0, %c_3 : tensor<ui32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg2, %4, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
    %6 = stablehlo.add %arg4, %5 : tensor<?x?xui32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %7, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %arg3, %9, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
    %11 = stablehlo.add %arg5, %10 : tensor<?x?xui32>
    %12:9 = stablehlo.while(%iterArg = %c_2, %iterArg_6 = %c_2, %iterArg_7 = %6, %iterArg_8 = %11, %iterArg_9 = %arg3, %iterArg_10 = %1, %iterArg_11 = %arg2, %iterArg_12 = %c_4, %iterArg_13 = %c_5) : tensor<i32>, tensor<i32>, tensor<?x?xui32>, tensor<?x?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %13 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %13 = stablehlo.add %iterArg_6, %c_0 : tensor<i32>
      %14 = stablehlo.slice %iterArg_12 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
      %15 = stablehlo.reshape %14 : (tensor<1xui32>) -> tensor<ui32>
      %16 = stablehlo.slice %iterArg_12 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
      %17 = stablehlo.reshape %16 : (tensor<1xui32>) -> tensor<ui32>
      %18 = stablehlo.slice %iterArg_12 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
      %19 = stablehlo.reshape %18 : (tensor<1xui32>) -> tensor<ui32>
      %20 = stablehlo.slice %iterArg_12 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
      %21 = stablehlo.reshape %20 : (tensor<1xui32>) -> tensor<ui32>
      %22 = stablehlo.add %iterArg_7, %iterArg_8 : tensor<?x?xui32>
      %23 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %24 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %25 = stablehlo.concatenate %23, %24, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %26 = stablehlo.dynamic_broadcast_in_dim %15, %25, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %27 = stablehlo.shift_left %iterArg_8, %26 : tensor<?x?xui32>
      %28 = stablehlo.subtract %c, %15 : tensor<ui32>
      %29 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %30 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %31 = stablehlo.concatenate %29, %30, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %32 = stablehlo.dynamic_broadcast_in_dim %28, %31, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %33 = stablehlo.shift_right_logical %iterArg_8, %32 : tensor<?x?xui32>
      %34 = stablehlo.or %27, %33 : tensor<?x?xui32>
      %35 = stablehlo.xor %22, %34 : tensor<?x?xui32>
      %36 = stablehlo.add %22, %35 : tensor<?x?xui32>
      %37 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %38 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %39 = stablehlo.concatenate %37, %38, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %40 = stablehlo.dynamic_broadcast_in_dim %17, %39, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %41 = stablehlo.shift_left %35, %40 : tensor<?x?xui32>
      %42 = stablehlo.subtract %c, %17 : tensor<ui32>
      %43 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %44 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %45 = stablehlo.concatenate %43, %44, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %46 = stablehlo.dynamic_broadcast_in_dim %42, %45, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %47 = stablehlo.shift_right_logical %35, %46 : tensor<?x?xui32>
      %48 = stablehlo.or %41, %47 : tensor<?x?xui32>
      %49 = stablehlo.xor %36, %48 : tensor<?x?xui32>
      %50 = stablehlo.add %36, %49 : tensor<?x?xui32>
      %51 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %52 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %53 = stablehlo.concatenate %51, %52, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %54 = stablehlo.dynamic_broadcast_in_dim %19, %53, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %55 = stablehlo.shift_left %49, %54 : tensor<?x?xui32>
      %56 = stablehlo.subtract %c, %19 : tensor<ui32>
      %57 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %58 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %59 = stablehlo.concatenate %57, %58, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %60 = stablehlo.dynamic_broadcast_in_dim %56, %59, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %61 = stablehlo.shift_right_logical %49, %60 : tensor<?x?xui32>
      %62 = stablehlo.or %55, %61 : tensor<?x?xui32>
      %63 = stablehlo.xor %50, %62 : tensor<?x?xui32>
      %64 = stablehlo.add %50, %63 : tensor<?x?xui32>
      %65 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %66 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %67 = stablehlo.concatenate %65, %66, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %68 = stablehlo.dynamic_broadcast_in_dim %21, %67, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %69 = stablehlo.shift_left %63, %68 : tensor<?x?xui32>
      %70 = stablehlo.subtract %c, %21 : tensor<ui32>
      %71 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %72 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %73 = stablehlo.concatenate %71, %72, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %74 = stablehlo.dynamic_broadcast_in_dim %70, %73, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %75 = stablehlo.shift_right_logical %63, %74 : tensor<?x?xui32>
      %76 = stablehlo.or %69, %75 : tensor<?x?xui32>
      %77 = stablehlo.xor %64, %76 : tensor<?x?xui32>
      %78 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %79 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %80 = stablehlo.concatenate %78, %79, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %81 = stablehlo.dynamic_broadcast_in_dim %iterArg_9, %80, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %82 = stablehlo.add %64, %81 : tensor<?x?xui32>
      %83 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %84 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %85 = stablehlo.concatenate %83, %84, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %86 = stablehlo.dynamic_broadcast_in_dim %iterArg_10, %85, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %87 = stablehlo.add %77, %86 : tensor<?x?xui32>
      %88 = stablehlo.add %iterArg_6, %c_0 : tensor<i32>
      %89 = stablehlo.convert %88 : (tensor<i32>) -> tensor<ui32>
      %90 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %91 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %92 = stablehlo.concatenate %90, %91, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %93 = stablehlo.dynamic_broadcast_in_dim %89, %92, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x?xui32>
      %94 = stablehlo.add %87, %93 : tensor<?x?xui32>
      %95 = stablehlo.add %iterArg, %c_0 : tensor<i32>
      stablehlo.return %95, %13, %82, %94, %iterArg_10, %iterArg_11, %iterArg_9, %iterArg_13, %iterArg_12 : tensor<i32>, tensor<i32>, tensor<?x?xui32>, tensor<?x?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %12#2, %12#3 : tensor<?x?xui32>, tensor<?x?xui32>
  }
}
