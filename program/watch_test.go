package program_test

import (
	"errors"
	"fmt"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/diag"
	"autoshard/ir/dtype"
)

// The program of a plan is watched as the shard_map program that it is: what a device gathers, and where it is on the mesh.
func TestWatch(t *testing.T) {
	p := read(t, product)
	x, w := tensor.New(dtype.F32, []int64{8, 4}), tensor.New(dtype.F32, []int64{4, 6})
	watched, err := p.Watch(t.Context(), []*tensor.Tensor{&x, &w}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &watched.Sights[0]
	last := s.Devices[len(s.Devices)-1]
	if got := fmt.Sprintf("%v %s %d %v", watched.Axes, s.Moment, last.Device, last.Coordinates); got != "[x] before 3 [3]" {
		t.Errorf("the first sight is %+v of axes %v", s, watched.Axes)
	}
	if len(watched.Result.Outputs) != 1 || len(watched.Result.Collectives) == 0 {
		t.Errorf("the run returns %+v", watched.Result)
	}
	if _, err := p.Watch(t.Context(), []*tensor.Tensor{&x, &w}, []string{"nothing"}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("an unknown name: %v", err)
	}
}
