package autoshard_test

import (
	"errors"
	"testing"

	"autoshard"
)

// A reshard is answered with its steps; one that no collective does is refused, and so is one for which memory is too small.
func TestReshard(t *testing.T) {
	r := autoshard.ReshardRequest{Mesh: []autoshard.MeshAxis{{Name: "x", Size: 2}}, Tensor: "f32[8]", From: "P('x')", To: "P()"}
	a, err := autoshard.Reshard(t.Context(), &r)
	if err != nil || len(a.Steps) != 1 || a.Steps[0].Kind != "all_gather" || a.Bytes != 32 || a.PeakBytes != 48 {
		t.Errorf("%+v, %v", a, err)
	}
	for class, change := range map[error]func(*autoshard.ReshardRequest){
		autoshard.ErrInvalid:     func(r *autoshard.ReshardRequest) { r.From = "P('y')" },
		autoshard.ErrUnsupported: func(r *autoshard.ReshardRequest) { r.Tensor = "f32[7]" },
		autoshard.ErrInfeasible:  func(r *autoshard.ReshardRequest) { r.Memory = 47 },
		autoshard.ErrTooLarge:    func(r *autoshard.ReshardRequest) { r.Tensor = "f32[1000000000000]" },
	} {
		wrong := r
		change(&wrong)
		if _, err := autoshard.Reshard(t.Context(), &wrong); !errors.Is(err, class) {
			t.Errorf("want %v, got %v", class, err)
		}
	}
}

// The façade reads the sharding of any system, and fails with the classes that it promises.
func TestShowBlocks(t *testing.T) {
	axes := []autoshard.MeshAxis{{Name: "x", Size: 2}}
	a, err := autoshard.ShowBlocks(&autoshard.BlocksRequest{Text: "[Shard(0)] : f32[8]", Mesh: axes})
	if err != nil || a.Bytes.Block != 16 || len(a.Devices) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	for text, class := range map[string]error{"P('y') : f32[8]": autoshard.ErrInvalid, "{manual} : f32[8]": autoshard.ErrUnsupported,
		"P() : f32[1000000000000]": autoshard.ErrTooLarge} {
		if _, err := autoshard.ShowBlocks(&autoshard.BlocksRequest{Text: text, Mesh: axes}); !errors.Is(err, class) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
