// What a manual computation sends: for its result, twice the same, for nothing, in a loop, in a branch, and along one of two axes.
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func public @main(%x: tensor<64x64xf32>, %n: tensor<i32>, %p: tensor<i32>) -> (tensor<32x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %0:3 = sdy.manual_computation(%x, %n, %p) in_shardings=[<@mesh, [{"a"}, {"b"}]>, <@mesh, []>, <@mesh, []>] out_shardings=[<@mesh, [{}, {"b"}]>, <@mesh, [{"a"}, {"b"}]>, <@mesh, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%l: tensor<32x32xf32>, %m: tensor<i32>, %q: tensor<i32>) {
    %3 = "stablehlo.all_reduce"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%s: tensor<f32>, %t: tensor<f32>):
      %9 = stablehlo.add %s, %t : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %4 = "stablehlo.all_reduce"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%s: tensor<f32>, %t: tensor<f32>):
      %9 = stablehlo.add %s, %t : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %5 = "stablehlo.all_gather"(%l) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<32x32xf32>) -> tensor<64x32xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %6:2 = stablehlo.while(%i = %m, %h = %l) : tensor<i32>, tensor<32x32xf32>
      cond {
        %9 = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %9 : tensor<i1>
      } do {
        %9 = stablehlo.add %i, %c : tensor<i32>
        %10 = "stablehlo.collective_permute"(%h) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2]]> : tensor<4x2xi64>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
        stablehlo.return %9, %10 : tensor<i32>, tensor<32x32xf32>
      }
    %7 = "stablehlo.case"(%q) ({
      %9 = "stablehlo.collective_permute"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0]]> : tensor<2x2xi64>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
      stablehlo.return %9 : tensor<32x32xf32>
    }, {
      stablehlo.return %l : tensor<32x32xf32>
    }) : (tensor<i32>) -> tensor<32x32xf32>
    %8 = stablehlo.add %3, %4 : tensor<32x32xf32>
    sdy.return %8, %6#1, %7 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
  } : (tensor<64x64xf32>, tensor<i32>, tensor<i32>) -> (tensor<32x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
  %1 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {"b", ?}]>] out_shardings=[<@mesh, [{}, {?}]>] manual_axes={"b"} (%l: tensor<64x32xf32>) {
    %3 = "stablehlo.all_gather"(%l) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<64x32xf32>) -> tensor<64x64xf32>
    sdy.return %3 : tensor<64x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.exponential %1 : tensor<64x64xf32>
  return %0#0, %0#1, %0#2, %2 : tensor<32x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
