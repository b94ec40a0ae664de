package shardmap_test

import (
	"math"
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/dtype"
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

// Where nothing can be added around elements that surely loses against them - they are infinite, no numbers, or equal to each other -
// windows over the ends choose what they choose on one device.
func TestWindowsOverTheEndsChooseElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Unpool(t, mesh, cuts)
		inputs := programs.Inputs(t, m)
		if x := inputs[0]; x.DType == dtype.F32 {
			values := rapid.SliceOfN(rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1}), x.Len(), x.Len())
			*x = tensor.FromFloats(x.DType, x.Shape, values.Draw(t, "special")...)
		}
		compareCutOf(t, m, over, interp.Options{}, inputs)
	})
}

// compareCut lowers a program of one op whose dimensions are cut, and compares what it computes with what one device does. A tensor of
// which most is sliced may be gathered.
func compareCut(t *rapid.T, m *ir.Module, mesh ir.MeshID) *shardmap.Program {
	return compareCutWith(t, m, mesh, interp.Options{})
}

func compareCutWith(t *rapid.T, m *ir.Module, mesh ir.MeshID, options interp.Options) *shardmap.Program {
	return compareCutOf(t, m, mesh, options, programs.Inputs(t, m))
}

func compareCutOf(t *rapid.T, m *ir.Module, mesh ir.MeshID, options interp.Options, inputs []*tensor.Tensor) *shardmap.Program {
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
