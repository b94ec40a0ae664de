package shardmap_test

import (
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"

	"pgregory.net/rapid"
)

// Ops whose elements move between blocks are computed in place: devices send each other what they need beside their own
// blocks, and sums of what they have parts of, as many bytes as predicted. The result is that of one device bit for bit.
func TestNeighboursAreFetched(t *testing.T) {
	for name := range programs.Moving {
		t.Run(name, func(t *testing.T) {
			sent := 0
			rapid.Check(t, func(t *rapid.T) {
				mesh, cuts := programs.Cuts(t)
				m, over := programs.Neighbours(t, name, mesh, cuts)
				if err := ir.Verify(t.Context(), m); err != nil {
					t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
				}
				sent += len(compareCut(t, m, over).Collectives)
			})
			if sent == 0 {
				t.Error("nothing is ever sent")
			}
		})
	}
}

// What a gradient of a pooling adds where windows had their extremes is computed in place: devices send each other what the windows see
// that touch their blocks, and what goes to them.
func TestWindowsThatTouchBlocks(t *testing.T) {
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Unpool(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		sent += len(compareCut(t, m, over).Collectives)
	})
	if sent == 0 {
		t.Error("nothing is ever sent")
	}
}

// compareCut lowers a program of one op whose dimensions are cut, and compares what it computes with what one device does. A tensor of
// which most is sliced may be gathered.
func compareCut(t *rapid.T, m *ir.Module, mesh ir.MeshID) *shardmap.Program {
	return compareCutWith(t, m, mesh, interp.Options{})
}

func compareCutWith(t *rapid.T, m *ir.Module, mesh ir.MeshID, options interp.Options) *shardmap.Program {
	inputs := programs.Inputs(t, m)
	in, err := interp.New(m, options)
	if err != nil {
		t.Fatal(err)
	}
	f := m.MainFunc()
	main, _ := m.Main()
	want, err := in.Run(t.Context(), main, inputs)
	if err != nil {
		t.Fatal(err)
	}
	op := m.FirstOp(f.Body)
	for m.Kind(op) == ir.OpConstant || m.Kind(op) == ir.OpIota {
		op = m.NextOp(op)
	}
	operands := slices.Clone(m.Operands(op))
	var p *shardmap.Program
	if m.Kind(op) == ir.OpSort { // which is gathered where that sends less
		if p, err = shardmap.Lower(t.Context(), m, mesh); err != nil {
			t.Fatal(err)
		}
	} else {
		partitioned, lowered := lower(t, m, mesh)
		p = lowered
		if !slices.Equal(partitioned.Operands(op), operands) && m.Kind(op) != ir.OpDynamicSlice && m.Kind(op) != ir.OpGather {
			t.Fatalf("the op is not computed in place\n%s", mlir.Print(partitioned, mlir.PrintOptions{}))
		}
	}
	text := mlir.Print(m, mlir.PrintOptions{})
	if err := shardmap.LowerAxes(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got, err := run.Program(t.Context(), p, inputs, run.Options{WholeWindows: options.WholeWindows})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i, output := range got.Outputs {
		if !output.Equal(*want[i]) {
			t.Fatalf("result %d is %v, want %v\n%s", i, output, want[i], text)
		}
	}
	for i := range p.Collectives {
		if c := &p.Collectives[i]; got.Traffic.Bytes(c.Op) != c.TotalBytes() {
			t.Fatalf("%d bytes moved, %d predicted\n%s", got.Traffic.Bytes(c.Op), c.TotalBytes(), text)
		}
	}
	return p
}
