package typed_test

import (
	"errors"
	"fmt"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// The cast of b, which is the same on all devices along i, is an op of its own, since its transpose communicates.
func ExampleProgram_Elaborate() {
	p, err := typed.Parse(`shard_map @matmul mesh=(i=4, j=2) in_specs=(P('i', 'j'), P('j')) out_specs=(P('i'),)
lambda a:f32[2,8] b:f32[8,32]
  y:f32[2,32] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] a b
  z:f32[2,32] = psum[axes=(j,)] y
  return z
`, "matmul.shardmap")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(p)
	// Output:
	// shard_map @matmul mesh=(i=4, j=2) manual=(i, j) check=true
	//   in_specs=(P('i', 'j'), P('j'))
	//   out_specs=(P('i'),)
	// lambda a:f32[2,8]{i,j} b:f32[8,32]{j}
	//   c1:f32[8,32]{i,j} = pvary[axes=(i,)] b
	//   y:f32[2,32]{i,j} = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] a c1
	//   z:f32[2,32]{i} = psum[axes=(j,)] y
	//   return z
}

// Blocks that differ between devices are no output of which one copy could be taken.
func ExampleBuilder() {
	b := typed.NewBuilder("sum", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "i", Size: 2}}}, typed.Setup{})
	x := b.Param("x", dtype.F32, []int64{8}, typed.P("i"))
	b.Result(x, typed.P())
	p, err := b.Finish()
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	var e *diag.Error
	if errors.As(err, &e) {
		_, reason, _ := strings.Cut(e.Diagnostics[0].Message, ": ")
		reason, advice, _ := strings.Cut(reason, "; ")
		fmt.Println(strings.ReplaceAll(reason, ", ", ",\n"))
		fmt.Println(advice)
	}
	// Output:
	// output 0 has spec P(),
	// which says that it is replicated across mesh axis 'i',
	// but that can't be statically inferred: it is x:f32[4]{i}
	// reduce it over ('i',) (psum, all_gather_invariant) or mention 'i' in the spec (E_REP)
}
