package vector_test

import (
	"fmt"

	"autoshard/backend/tensor/vector"
)

// A product of matrices of which the second one lies transposed.
func ExampleMatmul() {
	a := vector.Matrix[float32]{Data: []float32{1, 2, 3, 4}, Row: 2, Column: 1}
	b := vector.Matrix[float32]{Data: []float32{1, 0, 10, 1}, Row: 1, Column: 2}
	c := make([]float32, 4)
	vector.Matmul(c, a, b, 2, 2, 2)
	fmt.Println(c)
	// Output: [1 12 3 34]
}
