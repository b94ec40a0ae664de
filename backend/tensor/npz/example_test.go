package npz_test

import (
	"bytes"
	"fmt"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/ir/dtype"
)

// The archive is what numpy.savez writes and numpy.load reads.
func Example() {
	var file bytes.Buffer
	x := tensor.FromFloats(dtype.F32, []int64{2, 2}, 1, 2, 3, 4)
	if err := npz.Write(&file, []npz.Array{{Name: "arg0", Tensor: x}}); err != nil {
		fmt.Println(err)
		return
	}
	arrays, err := npz.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), npz.DefaultLimits)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range arrays {
		fmt.Println(a.Name, a.Tensor)
	}
	// Output: arg0 f32[2,2] [[1, 2], [3, 4]]
}
