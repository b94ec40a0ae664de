package autoshard_test

import (
	"errors"
	"slices"
	"testing"

	"autoshard"
	"autoshard/diag"
)

// Questions of prices are answered, or refused with an error of the right class.
func TestPrices(t *testing.T) {
	s := autoshard.PriceSetting{Mesh: []autoshard.MeshAxis{{Name: "X", Size: 4}}, Sizes: "I=64,J=64,K=64"}
	product, err := autoshard.PriceMatmul(&autoshard.MatmulRequest{Setting: s, Product: "A[I, J_X] * B[J_X, K] -> C[I, K]"})
	if err != nil || len(product.Strategies) != 1 || product.Strategies[0].Steps[0].Kind != "all_reduce" {
		t.Errorf("%+v %v", product, err)
	}
	if _, err := autoshard.PriceMatmul(&autoshard.MatmulRequest{Setting: s, Product: "A"}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	sweep, err := autoshard.PriceSweep(&autoshard.SweepRequest{Sweep: "I=8:64",
		MatmulRequest: autoshard.MatmulRequest{Setting: s, Product: "A[I, J_X] * B[J_X, K]"}})
	if err != nil || sweep.Segments[0].From != 8 {
		t.Errorf("%+v %v", sweep, err)
	}
	sent, err := autoshard.PriceCollective(&autoshard.CollectiveRequest{Setting: s, Kind: "all_gather", Array: "A[I_X, J]", Over: "X"})
	if err != nil || sent.Bytes != 8192 || !slices.Contains(autoshard.CollectiveKinds(), sent.Kind) {
		t.Errorf("%+v %v", sent, err)
	}
	size, err := autoshard.PriceArray(&autoshard.ArrayRequest{Setting: s, Array: "f32[I_X, J]"})
	if err != nil || size.DeviceBytes != 4096 {
		t.Errorf("%+v %v", size, err)
	}
	moved, err := autoshard.PriceMove(t.Context(), &autoshard.MoveRequest{Setting: s, Move: "A[I_X, J] -> A[I, J_X]"})
	if err != nil || len(moved.Steps) != 1 || moved.Steps[0].Kind != "all_to_all" {
		t.Errorf("%+v %v", moved, err)
	}
}
