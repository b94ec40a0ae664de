package shardmap_test

import (
	"testing"

	"autoshard/collectives"
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

// A slice of a tensor that is cut is found by the devices that have something of it, or the tensor is gathered where that takes less: what
// is sent is never more than adding up slices takes, and the result is that of one device bit for bit.
func TestOwnersFindSlices(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Slice(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		most := 2 * m.TypeOf(m.MainFunc().ResultTypes[0]).Bytes() * mesh.Devices()
		p, sent := compareCut(t, m, over), int64(0)
		for i := range p.Collectives {
			if c := &p.Collectives[i]; c.Kind == collectives.AllReduce {
				found++
			}
			sent += p.Collectives[i].TotalBytes()
		}
		if sent > most {
			t.Fatalf("%d bytes, more than %d\n%s", sent, most, mlir.Print(m, mlir.PrintOptions{}))
		}
	})
	if found == 0 {
		t.Error("no slice is ever found by its owners")
	}
}

// Slices of any size that indices find in a tensor that is cut are found by the devices in whose blocks they begin, which fetch the rows
// behind their blocks: the result is that of one device bit for bit.
func TestOwnersTakeSlices(t *testing.T) {
	fetched := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Take(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		for _, c := range compareCut(t, m, over).Collectives {
			if c.Kind == collectives.Permute {
				fetched++
			}
		}
	})
	if fetched == 0 {
		t.Error("nothing is ever fetched")
	}
}
