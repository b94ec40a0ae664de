package shardmap_test

import (
	"testing"

	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// What a program over axes shows of its collectives is what lowering noted of them.
func TestNoteCollectives(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %g = sdy.all_gather [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %e = sdy.all_to_all [{"x"}: 0->1] %g out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x16xf32>
  return %e : tensor<8x16xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err != nil {
		t.Fatal(err)
	}
	noted := p.Clone()
	noted.Collectives = nil
	noted.NoteCollectives()
	if len(noted.Collectives) != 2 || len(p.Collectives) != 2 {
		t.Fatalf("%d collectives, lowering notes %d", len(noted.Collectives), len(p.Collectives))
	}
	for i := range p.Collectives {
		got, want := &noted.Collectives[i], &p.Collectives[i]
		if got.Op != want.Op || got.Kind != want.Kind || got.TotalBytes() != want.TotalBytes() || got.Size != want.Size || got.Runs != want.Runs {
			t.Errorf("%+v, lowering notes %+v", got, want)
		}
	}
}
