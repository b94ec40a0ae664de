package microbatch_test

import (
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/microbatch"
)

// The golden files hold programs, and what they become in so many microbatches, or why they cannot. Rewrite them with:
// go test ./microbatch -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			parts := int64(0)
			d.ScanArgs(t, "parts", &parts)
			m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{File: "program"})
			if err != nil {
				t.Fatal(err)
			}
			m.LocateByText()
			var inputs []ir.ValueID
			for _, arg := range d.CmdArgs {
				for _, text := range arg.Vals {
					if i, err := strconv.Atoi(text); err == nil && arg.Key == "batch" {
						inputs = append(inputs, m.BlockArgs(m.MainFunc().Body)[i])
					}
				}
			}
			s, err := microbatch.New(t.Context(), m, inputs)
			if err != nil {
				return err.Error() + "\n"
			}
			m, err = s.Split(t.Context(), parts)
			if err != nil {
				return err.Error() + "\n"
			}
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Error(err)
			}
			return string(mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}
