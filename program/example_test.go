package program_test

import (
	"context"
	"fmt"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// Two devices add up their halves; the program and its transpose run on whole arrays.
func ExampleReadShardMap() {
	ctx := context.Background()
	p, err := program.ReadShardMap(ctx, "sum.shardmap", []byte(`shard_map @sum mesh=(x=2,) in_specs=(P('x'),) out_specs=(P(),)
lambda a:f32[2]
  b:f32[2] = psum[axes=(x,)] a
  return b
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	a := tensor.FromFloats(dtype.F32, []int64{4}, 1, 2, 3, 4)
	result, err := p.Run(ctx, []*tensor.Tensor{&a})
	if err != nil {
		fmt.Println(err)
		return
	}
	transpose, err := p.Derive(ctx, program.Transpose, []string{"a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := transpose.Run(ctx, result.Outputs)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Outputs[0], back.Outputs[0])
	// Output: f32[2] [4, 6] f32[4] [4, 6, 4, 6]
}
