package shardmap_test

import (
	"testing"

	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// The greatest elements along dimensions that are cut, and their places, are found block by block, and products and bits are: the devices
// send each other what they have found and nothing else, and the results are those of one device.
func TestDevicesMergeWhatTheyChoose(t *testing.T) {
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		drawn := programs.Choose
		if rapid.Bool().Draw(t, "fold") {
			drawn = programs.Fold
		}
		m, over := drawn(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		p := compareCut(t, m, over)
		sent += len(p.Collectives)
		for i := range p.Collectives {
			c := &p.Collectives[i]
			if found := m.TypeOf(m.MainFunc().ResultTypes[i]).Bytes(); c.Bytes != found {
				t.Fatalf("%v of %d bytes where %d are found\n%s", c.Kind, c.Bytes, found, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
	if sent == 0 {
		t.Error("nothing is ever sent")
	}
}

// Running sums and their like along a dimension that is cut go on from what other devices have folded: one row of each device is sent, and
// the results are those of one device.
func TestDevicesRunOn(t *testing.T) {
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Run(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		block := m.MainFunc().ResultTypes[0]
		p := compareCut(t, m, over)
		sent += len(p.Collectives)
		for i := range p.Collectives {
			if c := &p.Collectives[i]; c.Bytes*c.Size > m.TypeOf(block).Bytes() {
				t.Fatalf("%v of %d bytes\n%s", c.Kind, c.Bytes, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
	if sent == 0 {
		t.Error("nothing is ever sent")
	}
}

// The greatest elements along a dimension that is cut are found block by block, of equal ones the first: no device sends more than it
// finds, and the results are those of one device.
func TestDevicesFindTheBest(t *testing.T) {
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Best(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		p := compareCut(t, m, over)
		sent += len(p.Collectives)
		for i := range p.Collectives {
			if c := &p.Collectives[i]; c.Bytes > m.TypeOf(m.MainFunc().ResultTypes[i]).Bytes() {
				t.Fatalf("%v of %d bytes\n%s", c.Kind, c.Bytes, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
	if sent == 0 {
		t.Error("nothing is ever sent")
	}
}

// Elements along a dimension that is cut are sorted by exchanging blocks, and lie bit for bit where one device puts them, also those
// that the comparator takes for equal. The dimension is counted from the first, whatever the program does.
func TestDevicesSort(t *testing.T) {
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Order(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		p := compareCut(t, m, over)
		p.Module.Walk(p.Module.Body(), func(op ir.OpID) {
			if p.Module.Kind(op) == ir.OpSort && p.Module.OpAttrs(op).Int("dimension", -1) < 0 {
				t.Errorf("a dimension is counted from the last\n%s", mlir.Print(p.Module, mlir.PrintOptions{}))
			}
		})
		sent += len(p.Collectives)
	})
	if sent == 0 {
		t.Error("nothing is ever sent")
	}
}
