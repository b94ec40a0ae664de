package safetensors_test

import (
	"fmt"

	"autoshard/backend/tensor/safetensors"
)

func Example() {
	data := file(`{"layer.bias": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}`, "\x00\x00\x80\x3f\x00\x00\x00\x40")
	arrays, err := safetensors.Read(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range arrays {
		fmt.Println(a.Name, a.Tensor)
	}
	// Output: layer.bias f32[2] [1, 2]
}
