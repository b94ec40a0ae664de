package ir

import (
	"fmt"
	"math"

	"autoshard/subaxis"
)

// CheckMesh returns what is wrong with the axes and device ids of a mesh, nil if nothing is (specification: shardy.md
// section 1.1). The message names no place.
func CheckMesh(mesh *subaxis.Mesh) error {
	seen := map[string]bool{}
	devices := int64(1)
	for _, a := range mesh.Axes {
		switch {
		case a.Size <= 0:
			return fmt.Errorf("axis size must be at least 1, got: %d for axis %q", a.Size, a.Name)
		case seen[a.Name]:
			return fmt.Errorf("duplicate axis name: %q", a.Name)
		case devices > math.MaxInt32/a.Size:
			return fmt.Errorf("mesh has more than %d devices", math.MaxInt32)
		}
		seen[a.Name] = true
		devices *= a.Size
	}
	for _, id := range mesh.DeviceIDs {
		if id < 0 {
			return fmt.Errorf("device id must be non-negative, got: %d", id)
		}
	}
	switch n := int64(len(mesh.DeviceIDs)); {
	case n == 0:
		return nil
	case len(mesh.Axes) == 0 && n > 1:
		return fmt.Errorf("mesh with device ids must have axes, or a single device id for a maximal mesh; got %d", n)
	case len(mesh.Axes) > 0 && n != devices:
		return fmt.Errorf("total product of axis sizes must match total number of device ids, got: %d and %d", devices, n)
	case len(mesh.Axes) > 0:
		return checkPermutation(mesh.DeviceIDs)
	}
	return nil
}

func checkPermutation(ids []int64) error {
	seen := make([]bool, len(ids))
	for _, id := range ids {
		if id >= int64(len(ids)) || seen[id] {
			return fmt.Errorf("device ids must be a permutation of 0 to %d, got %d", len(ids)-1, id)
		}
		seen[id] = true
	}
	return nil
}
