package ring_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"
)

// A product waits for the rows that four devices gather. As a ring, it multiplies the rows that it has while three messages
// bring the others.
func ExampleRewrite() {
	err := func() error {
		ctx := context.Background()
		m, err := mlir.Parse(ctx, []byte(`sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %g = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> {autoshard.ring = "unidirectional"} : tensor<8x4xf32>
  %d = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %d : tensor<8x6xf32>
}`), mlir.Options{})
		if err != nil {
			return err
		}
		mesh, _ := m.LookupMesh("mesh")
		p, err := shardmap.Lower(ctx, m, mesh)
		if err != nil {
			return err
		}
		for _, c := range ring.Find(p) {
			fmt.Println(p.Collectives[c.Collective].Kind, "of", c.Steps, "chunks; halves both ways:", c.Allows(ring.BothWays))
		}
		if err := ring.Rewrite(ctx, p); err != nil {
			return err
		}
		for _, c := range p.Collectives {
			fmt.Println(c.Kind, c.Bytes, "bytes")
		}
		return nil
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// all_gather of 4 chunks; halves both ways: true
	// collective_permute 32 bytes
	// collective_permute 32 bytes
	// collective_permute 32 bytes
}
