package space_test

import (
	"context"
	"errors"
	"testing"

	"autoshard/search/space"
	"autoshard/subaxis"
)

// What building says it needs is enough, and a byte less is refused; then, too, it says what it needs at least. With just enough,
// where ways between layouts are forgotten again and again, the problem is the same.
func TestBuildWithinMemory(t *testing.T) {
	m, mesh, model := load(t, "../../examples/mlp_train.mlir", subaxis.Axis{Name: "x", Size: 4}, subaxis.Axis{Name: "y", Size: 2})
	free := space.Effort{}
	s := space.New(m, mesh, model)
	problem, err := s.Build(context.Background(), 0, &free)
	if err != nil {
		t.Fatal(err)
	}
	z := problem.Size()
	if least := s.Bytes() + z.Bytes() + z.Solving(); free.Need < least*9/10 || free.Need > least*11/10 {
		t.Errorf("it needs %d bytes, space and problem have %d", free.Need, least)
	}
	just := space.Effort{Memory: free.Need}
	same, err := space.New(m, mesh, model).Build(context.Background(), 0, &just)
	if err != nil || same.Size() != z {
		t.Errorf("with %d bytes: %v", free.Need, err)
	}
	for _, memory := range []int64{-1, 1, free.Need / 2, free.Need - 1} {
		e := space.Effort{Memory: memory}
		if _, err := space.New(m, mesh, model).Build(context.Background(), 0, &e); !errors.Is(err, space.ErrMemory) || e.Need <= memory {
			t.Errorf("with %d bytes: %v, it needs %d", memory, err, e.Need)
		}
	}
	if _, err := s.Relaxed(context.Background(), 0, &space.Effort{Memory: free.Need}, space.Kept); !errors.Is(err, space.ErrMemory) {
		t.Errorf("a relaxed problem beside the problem in the same memory: %v", err)
	}
}
