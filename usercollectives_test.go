package autoshard_test

import (
	"fmt"
	"testing"

	"autoshard"
)

// What a user sends in a manual computation is listed, along the axes or in the groups that it is sent in, and counted.
func TestUserCollectivesAreListed(t *testing.T) {
	const program = `sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %%0 = sdy.manual_computation(%%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%%b: tensor<4x4xf32>) {
    %%r = "stablehlo.%s"(%%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, %s : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %%r : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %%0 : tensor<8x4xf32>
}`
	const product = `, use_global_device_ids}> ({
^bb0(%l: tensor<f32>, %q: tensor<f32>):
  %p = stablehlo.multiply %l, %q : tensor<f32>
  stablehlo.return %p : tensor<f32>
})`
	for _, test := range []struct {
		op, attrs string
		want      string // axes, groups and bytes
	}{
		{"collective_broadcast", "replica_groups = dense<[[0, 1], [3, 2]]> : tensor<2x2xi64>}>", "[y] [] 128"},
		{"collective_broadcast", "replica_groups = dense<[[3, 0]]> : tensor<1x2xi64>}>", "[] [3,0] 64"},
		{"collective_reduce", "replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>" + product, "[x] [] 128"},
		{"all_reduce", "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>" + product, "[y] [] 256"},
		{"all_reduce", "replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>" + product, "[] [0,3 1,2] 256"},
		{"all_reduce", "replica_groups = dense<[[0, 1, 3], [2, -1, -1]]> : tensor<2x3xi64>" + product, "[] [0,1,3 2] 256"},
		{"collective_permute", "source_target_pairs = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}>", "[x] [] 128"},
		{"collective_permute", "source_target_pairs = dense<[[0, 3]]> : tensor<1x2xi64>}>", "[x y] [] 64"},
	} {
		model, err := autoshard.ReadModel(t.Context(), "user.mlir", fmt.Appendf(nil, program, test.op, test.attrs))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Collectives) != 1 || plan.Collectives[0].Kind != test.op || plan.Collectives[0].Seconds <= 0 {
			t.Errorf("%s is listed as %+v", test.op, plan.Collectives)
			continue
		}
		c := &plan.Collectives[0]
		if got := fmt.Sprint(c.Axes, c.Groups, c.Bytes); got != test.want {
			t.Errorf("%s runs over %s, want %s", test.op, got, test.want)
		}
	}
}
