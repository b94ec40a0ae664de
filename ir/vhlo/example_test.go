package vhlo_test

import (
	"fmt"

	"autoshard/ir/vhlo"
)

// Ops of artifacts carry a version, and say in which versions of the dialect they exist.
func ExampleLookup() {
	op, ok := vhlo.Lookup("gather_v1")
	fmt.Println(ok, op.Since, op.Fields)
	// Output:
	// true 0.9.0 [collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map]
}
