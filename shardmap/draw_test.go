package shardmap_test

import (
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Devices that draw blocks of random numbers draw those that one device draws there, send nothing, and leave the same state behind, also
// where the counter overflows.
func TestDevicesDraw(t *testing.T) {
	cut := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m := ir.NewModule()
		algorithm := rapid.SampledFrom([]string{"PHILOX", "THREE_FRY"}).Draw(t, "algorithm")
		words := int64(2)
		if algorithm == "PHILOX" {
			words = rapid.Int64Range(2, 3).Draw(t, "words")
		}
		e := rapid.SampledFrom([]dtype.Type{dtype.UI32, dtype.I64, dtype.UI64, dtype.UI8}).Draw(t, "element")
		var dims []int64
		for _, axes := range cuts {
			dims = append(dims, subaxis.Product(axes)*rapid.Int64Range(1, 7).Draw(t, "rows"))
		}
		types := []ir.TypeID{m.TensorType(dtype.UI64, words), m.TensorType(e, dims...)}
		f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: types[:1], Results: types}))
		b := m.BuilderAtEnd(f.Body)
		op := b.Op(ir.OpRngBitGenerator, types, ir.MakeAttrs(ir.Named("rng_algorithm",
			ir.EnumAttr{Dialect: "stablehlo", Enum: "rng_algorithm", Value: algorithm})), m.BlockArgs(f.Body)[0])
		b.Op(ir.OpReturn, nil, nil, m.ResultValues(op)...)
		over := m.AddMesh("mesh", mesh, nil, 0)
		for i, v := range append(m.ResultValues(op), m.BlockArgs(f.Body)[0]) {
			l := collectives.Layout{Dims: make([][]subaxis.Ref, len(m.Shape(v)))}
			if i == 1 {
				l.Dims = cuts
			}
			m.SetSharding(v, m.InternSharding(l.Sharding(over)))
		}
		f.ResultShardings = []ir.ShardingID{m.Sharding(m.Result(op, 0)), m.Sharding(m.Result(op, 1))}

		near := rapid.Uint64Range(0, 40).Draw(t, "before the overflow")
		state := tensor.Of(dtype.UI64, []int64{words}, slices.Repeat([]uint64{^uint64(0) - near}, int(words))...)
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		main, _ := m.Main()
		want, err := in.Run(t.Context(), main, []*tensor.Tensor{&state})
		if err != nil {
			t.Fatal(err)
		}
		_, p := lower(t, m, over)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		returned := m.Shape(m.Operands(m.LastOp(m.MainFunc().Body))[1])
		whole := false // what is made whole may be moved before it is returned
		m.Walk(m.MainFunc().Body, func(op ir.OpID) {
			if m.Kind(op) == ir.OpRngBitGenerator {
				made := m.Shape(m.Result(op, 1))
				if whole = !slices.Equal(made, returned); !slices.Equal(made, dims) {
					cut++
				}
			}
		})
		if err := shardmap.LowerAxes(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		got, err := run.Program(t.Context(), p, []*tensor.Tensor{&state}, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, output := range got.Outputs {
			if !output.Equal(*want[i]) || !whole && len(p.Collectives) > 0 {
				t.Fatalf("result %d is %v, want %v\n%s", i, output, want[i], mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
	if cut == 0 {
		t.Error("no numbers are ever cut")
	}
}
