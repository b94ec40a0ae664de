package diag_test

import (
	"errors"
	"fmt"

	"autoshard/diag"
)

// Callers tell errors apart by their class, and show people the diagnostics.
func Example() {
	var err error = (&diag.Error{Class: diag.ErrInvalid, Diagnostics: []diag.Diagnostic{{
		Code: "AS1203", Pos: diag.Position{File: "m.mlir", Line: 2, Col: 7}, Message: `unknown axis name: "date"`,
	}}}).WithNote(diag.Position{File: "m.mlir", Line: 1, Col: 1}, `the mesh has "data"`)
	err = fmt.Errorf("reading: %w", err)
	fmt.Println(errors.Is(err, diag.ErrInvalid), errors.Is(err, diag.ErrUnsupported))
	for _, d := range diag.Diagnostics(err) {
		fmt.Printf("%s: %s: %s [%s]\n", d.Pos, d.Severity, d.Message, d.Code)
		for _, n := range d.Notes {
			fmt.Printf("  %s: %s\n", n.Pos, n.Message)
		}
	}
	// Output:
	// true false
	// m.mlir:2:7: error: unknown axis name: "date" [AS1203]
	//   m.mlir:1:1: the mesh has "data"
}
