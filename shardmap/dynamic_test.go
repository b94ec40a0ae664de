package shardmap_test

import (
	"testing"

	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// An update of a tensor that is cut is written by the devices that own what it changes: nothing is sent, wherever it starts and
// whatever its size, and the result is that of one device bit for bit.
func TestOwnersWriteUpdates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Update(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		if sent := compareCut(t, m, over).Collectives; len(sent) > 0 {
			t.Fatalf("%d collectives for an update\n%s", len(sent), mlir.Print(m, mlir.PrintOptions{}))
		}
	})
}

// A slice of a tensor that is cut is found by the devices that have something of it: what is sent is the slice, never the
// tensor, and the result is that of one device bit for bit.
func TestOwnersFindSlices(t *testing.T) {
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Slice(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		p := compareCut(t, m, over)
		sent += len(p.Collectives)
		most := m.TypeOf(m.MainFunc().ResultTypes[0]).Bytes()
		for i := range p.Collectives {
			if c := &p.Collectives[i]; c.Bytes > most {
				t.Fatalf("%v of %d bytes for a slice of %d\n%s", c.Kind, c.Bytes, most, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
	if sent == 0 {
		t.Error("nothing is ever sent")
	}
}
