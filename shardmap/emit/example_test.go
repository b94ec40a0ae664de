package emit_test

import (
	"context"
	"fmt"
	"strings"

	"autoshard/shardmap/emit"
	"autoshard/shardmap/typed"
)

// The function of one device, from the file that runs it on real JAX.
func ExampleTyped() {
	ctx := context.Background()
	p, err := typed.Parse(`shard_map @sum mesh=(x=2,) in_specs=(P('x'),) out_specs=(P(),)
lambda a:f32[4]
  b:f32[4] = psum[axes=(x,)] a
  return b
`, "sum.shardmap")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := emit.Typed(ctx, p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, text, _ := strings.Cut(string(file), "def sum_1")
	body, _, _ := strings.Cut(text, "\n\n")
	fmt.Println("def sum_1" + body)
	// Output:
	// def sum_1(a):
	//     """The program of one device, over its blocks."""
	//     # a: f32[4]{x}
	//     b = lax.psum(a, "x")  # f32[4]{}
	//     return (b,)
}
