package tensor_test

import (
	"fmt"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// A product of two matrices.
func ExampleDotGeneral() {
	x := tensor.FromFloats(dtype.F32, []int64{2, 2}, 1, 2, 3, 4)
	fmt.Println(tensor.DotGeneral(x, x, tensor.DotDims{LHSContract: []int64{1}, RHSContract: []int64{0}}, dtype.F32))
	// Output: f32[2,2] [[7, 10], [15, 22]]
}
