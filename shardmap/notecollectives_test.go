package shardmap_test

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/subaxis"
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

// What a user wrote in a manual computation is known before the program is lowered.
func TestWritten(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<64x256xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
      manual_axes={"x", "y"} (%l: tensor<32x16xf32>) {
    %1 = "stablehlo.collective_permute"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<32x16xf32>) -> tensor<32x16xf32>
    %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}>
      : (tensor<32x16xf32>) -> tensor<32x64xf32>
    sdy.return %2 : tensor<32x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	var written []shardmap.Collective
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if c, ok := shardmap.Written(m, op, &subaxis.Mesh{Axes: m.Mesh(mesh).Axes}); ok {
			written = append(written, c)
		}
	})
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err != nil || len(written) != 2 || len(p.Collectives) != 2 {
		t.Fatalf("%d collectives, lowering notes %d: %v", len(written), len(p.Collectives), err)
	}
	for i := range p.Collectives {
		if got, want := &written[i], &p.Collectives[i]; got.Kind != want.Kind || got.TotalBytes() != want.TotalBytes() || got.Size != want.Size {
			t.Errorf("%+v, lowering notes %+v", got, want)
		}
	}
}
