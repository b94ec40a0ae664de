package plan_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
)

// Shardings by name are a Python file for JAX and one for PyTorch, over a mesh with the parts of axes as axes.
func TestPython(t *testing.T) {
	p := recordedPlan(t)
	for form, want := range map[string]string{
		"partition-spec": `"""Shardings of products on x_0=4,x_1=2,y=4, as autoshard planned them."""

from jax.sharding import PartitionSpec as P

MESH = {"x_0": 4, "x_1": 2, "y": 4}  # jax.make_mesh(tuple(MESH.values()), tuple(MESH))

INPUTS = {
    "arg0": P('y', 'x_0'),
    "arg1": P(),
}

OUTPUTS = {
    "out0": P('y', 'x_0'),
}
`,
		"dtensor": `"""Shardings of products on x_0=4,x_1=2,y=4, as autoshard planned them."""

from torch.distributed.tensor import Replicate, Shard

MESH = {"x_0": 4, "x_1": 2, "y": 4}  # init_device_mesh(kind, tuple(MESH.values()), mesh_dim_names=tuple(MESH))

INPUTS = {
    "arg0": [Shard(1), Replicate(), Shard(0)],
    "arg1": [Replicate(), Replicate(), Replicate()],
}

OUTPUTS = {
    "out0": [Shard(1), Replicate(), Shard(0)],
}
`,
	} {
		got, err := p.Python(form)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", form, d)
		}
	}
	for _, form := range []string{"gspmd", "flax"} {
		if text, err := p.Python(form); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%s: %s, %v", form, text, err)
		}
	}
	p.RefinedMesh = nil
	if text, err := p.Python("partition-spec"); !errors.Is(err, diag.ErrUnsupported) {
		t.Errorf("without a refined mesh: %s, %v", text, err)
	}
}
