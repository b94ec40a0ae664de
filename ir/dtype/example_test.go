package dtype_test

import (
	"fmt"

	"autoshard/ir/dtype"
)

// A number is rounded to the nearest one that a type has.
func ExampleEncode() {
	for _, t := range []dtype.Type{dtype.F32, dtype.F16, dtype.BF16, dtype.F8E4M3FN} {
		fmt.Println(t, t.Bytes(), dtype.Decode(t, dtype.Encode(t, 0.3)))
	}
	// Output:
	// f32 4 0.30000001192092896
	// f16 2 0.300048828125
	// bf16 2 0.30078125
	// f8E4M3FN 1 0.3125
}
