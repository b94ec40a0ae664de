package interp_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// Processes have the same block where their keys are equal, and blocks are numbered by the first processes that have them.
func TestNewSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 8).Draw(t, "keys")
		s := interp.NewSpread(keys)
		seen := int64(0)
		for p, key := range keys {
			if first := slices.Index(keys, key); s.Of(p) != s.Of(first) || first == p && int64(s.Of(p)) != seen {
				t.Fatalf("%v are spread as %v", keys, s)
			} else if first == p {
				seen++
			}
		}
		if s.Blocks() != seen || (s == nil) != (seen == 1) {
			t.Fatalf("%v are %d blocks, want %d", keys, s.Blocks(), seen)
		}
	})
}

// nobody is the company of processes that do not exchange anything.
type nobody struct{}

func (nobody) Exchange(*interp.Shared, []tensor.Tensor, tensor.Combiner) ([]tensor.Tensor, error) {
	return nil, errors.New("nobody is there")
}

// Processes that run together get what each of them would by itself: also where a value differs less than the processes do.
func TestRunTogether(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%x: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xui32>) {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %total = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<3x2xf32>, tensor<f32>) -> tensor<2xf32>
  %id = stablehlo.partition_id : tensor<ui32>
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %row = stablehlo.divide %id, %two : tensor<ui32>
  %rows = stablehlo.broadcast_in_dim %row, dims = [] : (tensor<ui32>) -> tensor<3x2xui32>
  return %total, %rows : tensor<2xf32>, tensor<3x2xui32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := interp.New(m, interp.Options{Partitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := m.Main()
	x := tensor.FromFloats(dtype.F32, []int64{6, 2}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	block := x
	block.Shape = []int64{3, 2}
	args := []interp.Blocks{{Block: block, Spread: interp.NewSpread([]int{0, 1, 1, 0})}}
	for range 2 {
		got, stats, err := in.RunTogether(t.Context(), fn, nobody{}, args)
		if err != nil {
			t.Fatal(err)
		}
		if n := got[1].Spread.Blocks(); n != 2 {
			t.Errorf("two rows of processes have %d blocks", n)
		}
		for p := range 4 {
			mine := args[0].Of(p)
			want, alone, err := in.RunProcess(t.Context(), fn, interp.Process{ID: p}, []*tensor.Tensor{&mine})
			if err != nil {
				t.Fatal(err)
			}
			for k := range want {
				if have := got[k].Of(p); !have.Equal(*want[k]) {
					t.Errorf("result %d of process %d is %v, want %v", k, p, have, want[k])
				}
			}
			if alone.PeakBytes != stats.PeakBytes {
				t.Errorf("%d bytes are held together, %d alone", stats.PeakBytes, alone.PeakBytes)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := in.RunTogether(ctx, fn, nobody{}, args); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that has ended: %v", err)
	}
}

// Random programs give processes together, some of whose inputs are the same, what each of them would get by itself.
func TestProgramsTogether(t *testing.T) {
	interp.SetMostTile(t, 5)
	apart, together := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, inputs := drawFusable(t)
		in, err := interp.New(m, interp.Options{Partitions: 4})
		if err != nil {
			t.Fatal(err)
		}
		fn, _ := m.Main()
		args := make([]interp.Blocks, len(inputs))
		for k, x := range inputs {
			keys := rapid.SampledFrom([][]int{{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 0, 1, 1}, {0, 1, 2, 3}}).Draw(t, "spread")
			args[k] = interp.Blocks{Block: turned(x, slices.Max(keys)+1), Spread: interp.NewSpread(keys)}
		}
		got, _, failed := in.RunTogether(t.Context(), fn, nobody{}, args)
		if errors.Is(failed, interp.ErrApart) {
			apart++
			return
		}
		together++
		for process := range 4 {
			mine := make([]*tensor.Tensor, len(args))
			for k := range args {
				x := args[k].Of(process)
				mine[k] = &x
			}
			want, _, err := in.RunProcess(t.Context(), fn, interp.Process{ID: process}, mine)
			switch {
			case failed != nil && err != nil:
				return
			case failed != nil || err != nil:
				continue // another one may fail
			}
			for k := range want {
				have := got[k].Of(process) // whose NaN may have other bits
				if !have.Equal(*want[k]) && have.String() != want[k].String() {
					t.Fatalf("result %d of process %d is %v, want %v\n%s", k, process, have, want[k], mlir.Print(m, mlir.PrintOptions{}))
				}
			}
		}
	})
	t.Logf("%d programs run together, %d apart", together, apart)
}

// turned returns blocks of which the first is a tensor, and each further one the one before with its first element behind the others.
func turned(x *tensor.Tensor, blocks int) tensor.Tensor {
	out, width := *x, x.DType.Bytes()
	out.Data = nil
	for k := range blocks {
		from := width * k % max(len(x.Data), 1)
		out.Data = slices.Concat(out.Data, x.Data[from:], x.Data[:from])
	}
	return out
}
