package cost

import (
	"cmp"
	"slices"

	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// MeshSizes returns the sizes of the axes, from major to minor, of the meshes of some devices that the network has a place for: with no
// more than a number of axes, each of more than one device, and each made of whole physical axes or dividing parts of them, or of
// switches. The simplest come first: those of the fewest axes, then those whose axes lie in the fewest parts of the network, then those
// whose major axes are the largest.
//
// It fails with diag.ErrInvalid where no such mesh has a place.
func (h Hardware) MeshSizes(devices int64, most int) ([][]int64, error) {
	if devices < 1 || devices > maxDevices {
		return nil, diag.Invalid(diag.BadMesh, diag.Position{}, "a mesh has from 1 to %d devices, not %d", maxDevices, devices)
	}
	type placed struct {
		sizes []int64
		parts int
	}
	var found []placed
	var refused error
	for _, sizes := range factorisations(devices, most) {
		axes := make([]subaxis.Axis, len(sizes))
		for i, size := range sizes {
			axes[i].Size = size
		}
		t, err := NewTopology(h, subaxis.Mesh{Axes: axes}, Planning())
		if err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		if parts, whole := t.parts(); whole {
			found = append(found, placed{sizes, parts})
		}
	}
	if len(found) == 0 {
		return nil, refused
	}
	slices.SortStableFunc(found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(len(a.sizes), len(b.sizes)), cmp.Compare(a.parts, b.parts), slices.Compare(b.sizes, a.sizes))
	})
	var out [][]int64
	for _, x := range found {
		out = append(out, x.sizes)
	}
	return out, nil
}

// parts returns how many parts of the network the axes of the mesh lie in. On switches it is not whole where an axis leaves a switch half
// way: where what the axis and those behind it have is neither a divisor nor a multiple of what a switch connects.
func (t *Topology) parts() (n int, whole bool) {
	if t.hw.Torus != nil {
		return countParts(t.axes), true
	}
	for i := range t.mesh.Axes {
		inner := t.mesh.Stride(t.mesh.Full(i))
		outer, block := inner*t.mesh.Axes[i].Size, int64(1)
		for j := range t.hw.Levels {
			child := block
			if block *= t.hw.Levels[j].Degree; j == len(t.hw.Levels)-1 || block > t.devices {
				block = t.devices
			}
			if outer > child && inner < block {
				n++
			}
			if outer%block != 0 && block%outer != 0 {
				return 0, false
			}
		}
	}
	return n, true
}

// factorisations returns the ways to write n as a product of up to a number of factors above 1 in some order; 1 is a product of itself.
func factorisations(n int64, most int) [][]int64 {
	if n == 1 {
		return [][]int64{{1}}
	}
	var out [][]int64
	var extend func(before []int64, left int64)
	extend = func(before []int64, left int64) {
		out = append(out, append(slices.Clone(before), left))
		if len(before)+1 == most {
			return
		}
		for _, d := range divisors(left) {
			if d > 1 && d < left {
				extend(append(slices.Clone(before), d), left/d)
			}
		}
	}
	extend(nil, n)
	return out
}
