package collectives

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// Collectives become the reshard that they were made of, whichever way they went: the text is the same as before. What is left to be
// reduced is reduced by an op of its own, and the rest is one reshard.
func TestCollapseUndoesExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &Reshard{From: drawLayout(t, "from", true), To: drawLayout(t, "to", false)}
		m := ir.NewModule()
		id := m.AddMesh("mesh", *mesh, nil, 0)
		main := m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{m.TensorType(dtype.F32, 16, 16)}})
		b := m.BuilderAtEnd(m.Func(main).Body)
		arg := m.BlockArgs(m.Func(main).Body)[0]
		m.SetSharding(arg, m.InternSharding(r.From.Sharding(id)))
		v := b.Reshard(arg, m.InternSharding(r.To.Sharding(id)))
		b.Op(ir.OpReturn, nil, nil, v)
		f := m.Func(main)
		f.ResultTypes, f.ResultAttrs, f.ResultShardings = []ir.TypeID{m.Type(v)}, make([]ir.Attrs, 1), make([]ir.ShardingID, 1)
		want := m.Clone()

		order := rapid.SampledFrom([]Order{Shardy, NewPlanner(ring{}, mesh.Axes).Cheapest}).Draw(t, "order")
		if err := Expand(t.Context(), m, Expansion{Order: order}); err != nil {
			t.Fatal(err)
		}
		Collapse(m)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		reductions, reshards := len(m.OpsOf(f.Body, ir.OpSdyAllReduce)), len(m.OpsOf(f.Body, ir.OpSdyReshard))
		if len(r.From.Unreduced) > 0 {
			if reductions != 1 || reshards > 1 {
				t.Fatalf("%d reductions and %d reshards", reductions, reshards)
			}
			return
		}
		got, text := string(mlir.Print(m, mlir.PrintOptions{})), string(mlir.Print(want, mlir.PrintOptions{}))
		if got != text && !r.From.Equal(&r.To) || reductions+reshards > 1 {
			t.Fatalf("got\n%s\nwant\n%s", got, text)
		}
	})
}
