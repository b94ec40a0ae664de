package advice_test

import (
	"fmt"

	"autoshard/shardmap/advice"
	"autoshard/shardmap/typed"
)

// Of a sum, every device keeps its own part.
func ExampleFind() {
	p, err := typed.Parse(`shard_map @f mesh=(i=4,) in_specs=(P('i'),) out_specs=(P('i'),)
lambda x:f32[8]
  y:f32[8] = psum[axes=(i,)] x
  z:f32[2] = pscatter[axes=(i,), dim=0] y
  return z
`, "")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range advice.Find(p) {
		better, err := a.Apply()
		fmt.Println(a.Rule, err)
		fmt.Print(better)
	}
	// Output:
	// psum-then-slice <nil>
	// shard_map @f mesh=(i=4,) manual=(i,) check=true
	//   in_specs=(P('i'),)
	//   out_specs=(P('i'),)
	// lambda x:f32[8]{i}
	//   z:f32[2]{i} = psum_scatter[axes=(i,), dim=0] x
	//   return z
}
