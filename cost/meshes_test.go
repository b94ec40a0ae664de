package cost_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/cost"
)

// meshesOf lists the meshes of some devices on a built-in profile, the simplest first.
func meshesOf(t *testing.T, profile, topology string, devices int64) string {
	t.Helper()
	hw, err := cost.Lookup(profile)
	if err == nil && topology != "" {
		hw, err = hw.On(topology)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := hw.MeshSizes(devices, 3)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), "] [", ", ")
}

// Meshes lie on the network as their axes do: on a torus of 4x4x4 those of axes of 4 and 16 come before those that cut an axis, on nodes of
// 8 no axis of 3 leaves one half way, and a slice has no mesh that does not divide its axes.
func TestMeshSizes(t *testing.T) {
	for _, c := range []struct {
		profile, topology string
		devices           int64
		want              string
	}{
		{"tpu-v5p", "", 1, "1"},
		{"tpu-v5p", "", 7, "7"},
		{"tpu-v5p", "", 8, "8, 4 2, 2 4, 2 2 2"},
		{"tpu-v5p", "", 64, "64, 16 4, 4 16, 32 2, 8 8, 2 32, 4 4 4, 16 2 2, 8 2 4, 4 8 2, 4 2 8"},
		{"h100", "", 24, "24, 3 8, 12 2, 6 4, 3 4 2, 3 2 4, 6 2 2"},
		{"tpu-v5e", "4x2", 6, "a mesh of 6 devices is no multiple of a slice [4 2]"},
		{"tpu-v5e", "", 0, "a mesh has from 1 to 16777216 devices, not 0"},
	} {
		if got := meshesOf(t, c.profile, c.topology, c.devices); !strings.Contains(got, c.want) {
			t.Errorf("%d devices of %s %s: %s, not %s", c.devices, c.profile, c.topology, got, c.want)
		}
	}
}
