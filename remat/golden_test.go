package remat_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/ir/mlir"
	"autoshard/remat"
)

// The golden files hold partitioned programs on the mesh x=2. Command choose makes values again until a device holds no more than a limit,
// and prints what it holds before and after, and the program. Rewrite them with: go test ./remat -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			limit := int64(0)
			d.ScanArgs(t, "limit", &limit)
			m, id, model := parsed(t, "sdy.mesh @mesh = <[\"x\"=2]>\n"+d.Input)
			_, before := lowered(t, m, id, model)
			choice, err := remat.NewDevice(m, id, model, prices(m, id, model)).Choose(t.Context(), limit)
			if err != nil {
				t.Fatal(err)
			}
			choice.Apply(m)
			_, after := lowered(t, m, id, model)
			return fmt.Sprintf("%d bytes become %d, %d ps %d\n%s", before.Peak, after.Peak, before.Total(), after.Total(),
				mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}
