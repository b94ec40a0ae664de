package space_test

import (
	"context"
	"fmt"

	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir/mlir"
	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// A product of two matrices on eight chips: the rows of the first are cut, and nothing has to be sent.
func Example() {
	err := func() error {
		ctx, axes := context.Background(), []subaxis.Axis{{Name: "x", Size: 8}}
		m, err := mlir.Parse(ctx, []byte(`sdy.mesh @mesh = <["x"=8]>
func.func @main(%x: tensor<4096x8192xbf16>, %w: tensor<8192x4096xbf16>) -> tensor<4096x4096xbf16> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x8192xbf16>, tensor<8192x4096xbf16>) -> tensor<4096x4096xbf16>
  return %y : tensor<4096x4096xbf16>
}`), mlir.Options{})
		if err != nil {
			return err
		}
		hw, err := cost.Lookup("tpu-v5e")
		if err != nil {
			return err
		}
		model, err := estimate.New(hw, subaxis.Mesh{Axes: axes})
		if err != nil {
			return err
		}
		mesh, _ := m.LookupMesh("mesh")
		s := space.New(m, mesh, model)
		p, err := s.Build(ctx, 0, &space.Effort{})
		if err != nil {
			return err
		}
		r, err := search.Solve(ctx, p, search.Options{})
		if err != nil {
			return err
		}
		s.Apply(m, r.Solution)
		main, _ := m.Main()
		for _, v := range m.BlockArgs(m.Func(main).Body) {
			fmt.Println(m.FormatSharding(m.Sharding(v)))
		}
		fmt.Println(r.Status, p.NumNodes())
		return nil
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// <@mesh, [{"x"}, {}]>
	// <@mesh, [{}, {}]>
	// optimal 3
}
