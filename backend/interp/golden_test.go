package interp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"autoshard/backend/interp"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"

	"github.com/cockroachdb/datadriven"
)

// class returns the name of an error's class.
func class(err error) string {
	for _, c := range []error{diag.ErrInvalid, diag.ErrUnsupported, diag.ErrTooLarge, diag.ErrFinding, diag.ErrInternal} {
		if errors.Is(err, c) {
			return c.Error()
		}
	}
	return "other"
}

// TestGolden runs the programs of testdata: "run" prints the results of the function, "run peak" also the peak of
// live bytes; limit=N bounds these. A function without a module around it is enough.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{File: "input"})
			if err != nil {
				return fmt.Sprintf("parse: %v\n", err)
			}
			var opts interp.Options
			if d.HasArg("limit") {
				d.ScanArgs(t, "limit", &opts.MaxBytes)
			}
			in, err := interp.New(m, opts)
			if err != nil {
				return err.Error() + "\n"
			}
			fn, ok := m.Main()
			if !ok {
				fn = ir.FuncID(1)
			}
			results, stats, err := in.RunProcess(context.Background(), fn, interp.Process{}, nil)
			if err != nil {
				return fmt.Sprintf("%s: %v\n", class(err), err)
			}
			var b strings.Builder
			for _, r := range results {
				fmt.Fprintln(&b, r)
			}
			if d.HasArg("peak") {
				fmt.Fprintf(&b, "peak %d bytes\n", stats.PeakBytes)
			}
			return b.String()
		})
	})
}
