package zlapack_test

import (
	"fmt"

	"autoshard/backend/tensor/zlapack"
)

// The eigenvalues of a Hermitian matrix are real.
func ExampleHeev() {
	a := zlapack.New(2, 2)
	copy(a.Data, []complex128{2, -1i, 1i, 2})
	values, _, ok := zlapack.Heev(a)
	fmt.Printf("%.3f %t\n", values, ok)
	// Output: [1.000 3.000] true
}
