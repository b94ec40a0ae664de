package transpose_test

import (
	"fmt"

	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
)

// Blocks of x are weighted, and summed over the devices. Going back, every device gets the cotangent of the sum, and nothing
// is sent: a psum becomes a cast.
func ExampleLinear() {
	p, err := typed.Parse(`shard_map @weigh mesh=(i=2,) in_specs=(P('i'), P('i')) out_specs=(P(),)
lambda x:f32[2] c:f32[2]
  w:f32[2] = multiply x c
  y:f32[2] = psum[axes=(i,)] w
  return y
`, "")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := transpose.Linear(p, []int{0})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(back)
	// Output:
	// shard_map @weigh mesh=(i=2,) manual=(i,) check=true
	//   in_specs=(P(), P('i'))
	//   out_specs=(P('i'),)
	// lambda ct:f32[2]{} c:f32[2]{i}
	//   v0:f32[2]{i} = pvary[axes=(i,)] ct
	//   v1:f32[2]{i} = multiply v0 c
	//   return v1
}

// The gradient of a scalar takes the inputs and returns their cotangents.
func ExampleGradient() {
	p, err := typed.Parse(`shard_map @square mesh=(i=2,) in_specs=(P('i'),) out_specs=(P(),)
lambda x:f32[2]
  s:f32[] = dot_general[dot_dimension_numbers=(((0,), (0,)), ((), ()))] x x
  y:f32[] = psum[axes=(i,)] s
  return y
`, "")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	gradient, err := transpose.Gradient(p, []int{0})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(gradient)
	// Output:
	// shard_map @square mesh=(i=2,) manual=(i,) check=true
	//   in_specs=(P('i'),)
	//   out_specs=(P('i'),)
	// lambda x:f32[2]{i}
	//   v0:f32[]{} = constant[value=dense<1.000000e+00>]
	//   v1:f32[]{i} = pvary[axes=(i,)] v0
	//   v2:f32[2]{i} = dot_general[dot_dimension_numbers=(((), ()), ((), ()))] v1 x
	//   v3:f32[2]{i} = dot_general[dot_dimension_numbers=(((), ()), ((), ()))] v1 x
	//   v4:f32[2]{i} = add v2 v3
	//   return v4
}
