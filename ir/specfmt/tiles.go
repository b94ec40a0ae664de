package specfmt

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// factorDevices finds the axes and parts of axes that make the tile dimensions: tile i, counted row-major, is on
// device devices[i], and along the dimensions from own on the order of devices does not matter.
//
// From the last dimension to the first, the smallest step to another device says which part of which axis comes next,
// and how far the steps go on says how large the part is.
func factorDevices(mesh *subaxis.Mesh, dims []int64, own int, devices []int64) ([]ir.ShardAxes, bool) {
	devices = sortGroups(dims, own, devices)
	lists := make([]ir.ShardAxes, len(dims))
	if len(devices) == 0 || devices[0] != 0 {
		return nil, false
	}
	step := int64(1)
	for d := len(dims) - 1; d >= 0; d-- {
		for rest := dims[d]; rest > 1; {
			r, ok := minorPart(mesh, devices, step, rest)
			if !ok {
				return nil, false
			}
			lists[d] = append(lists[d], r)
			rest /= int64(r.Size)
			step *= int64(r.Size)
		}
		slices.Reverse(lists[d])
		lists[d] = subaxis.AppendMerge(nil, lists[d]...)
	}
	all := slices.Concat(lists...)
	for logical := range int64(len(devices)) {
		if devices[mesh.ShardIndex(logical, all)] != logical {
			return nil, false
		}
	}
	return lists, true
}

// minorPart returns the largest part of an axis along which the tiles go from tile 0 in steps, as long as it divides
// rest.
func minorPart(mesh *subaxis.Mesh, devices []int64, step, rest int64) (subaxis.Ref, bool) {
	stride := devices[step]
	below := int64(1)
	for i := len(mesh.Axes) - 1; i >= 0; i-- {
		size := mesh.Axes[i].Size
		if above := below * size; stride >= above {
			below = above
			continue
		}
		if stride < below || stride%below != 0 || size%(stride/below) != 0 {
			return subaxis.Ref{}, false
		}
		minor := stride / below // what of the axis lies below the part
		best := int64(1)
		for k := int64(2); k <= rest && devices[(k-1)*step] == (k-1)*stride; k++ {
			if rest%k == 0 && size%(minor*k) == 0 {
				best = k
			}
		}
		if best == 1 {
			return subaxis.Ref{}, false
		}
		return subaxis.Ref{Axis: int32(i), Pre: int32(size / (minor * best)), Size: int32(best)}, true
	}
	return subaxis.Ref{}, false
}

// sortGroups orders the devices along each dimension from own on.
func sortGroups(dims []int64, own int, devices []int64) []int64 {
	out := slices.Clone(devices)
	step := int64(1)
	for d := len(dims) - 1; d >= own; d-- {
		if dims[d] == 1 {
			continue
		}
		line := make([]int64, dims[d])
		for i := range int64(len(out)) {
			if i/step%dims[d] != 0 {
				continue
			}
			for k := range line {
				line[k] = out[i+int64(k)*step]
			}
			slices.Sort(line)
			for k := range line {
				out[i+int64(k)*step] = line[k]
			}
		}
		step *= dims[d]
	}
	return out
}

// NewMesh returns a mesh without a name over axes. Ids, unless nil, are the devices in row-major order of the axes.
// Errors are of class diag.ErrInvalid. The axes are taken as checked.
func NewMesh(axes []subaxis.Axis, ids []int64) (*ir.MeshDecl, error) {
	d := &ir.MeshDecl{Mesh: subaxis.Mesh{Axes: axes}}
	if ids == nil {
		return d, nil
	}
	var ok bool
	if d.DeviceIDs, ok = deviceIDs(axes, ids); !ok {
		return nil, diag.Invalid(diag.BadMesh, diag.Position{}, "%s", badDevices)
	}
	return d, nil
}

const badDevices = "the device ids of a mesh must be the numbers of its devices, from 0, each once"

// deviceIDs returns ids as a mesh over the axes keeps them: nil where they are in order. It returns false where they
// do not number the devices.
func deviceIDs(axes []subaxis.Axis, ids []int64) ([]int64, bool) {
	switch {
	case !isPermutation(ids) || !sizeIs(&subaxis.Mesh{Axes: axes}, len(ids)):
		return nil, false
	case slices.IsSorted(ids):
		return nil, true
	}
	return ids, true
}

// sizeIs says whether a mesh has that many devices. Unlike Mesh.Devices it never overflows.
func sizeIs(mesh *subaxis.Mesh, devices int) bool {
	left := int64(devices)
	for _, a := range mesh.Axes {
		if left%a.Size != 0 {
			return false
		}
		left /= a.Size
	}
	return left == 1
}

// isPermutation says whether the list has each of 0..n-1 once.
func isPermutation(list []int64) bool {
	seen := make([]bool, len(list))
	for _, n := range list {
		if n < 0 || n >= int64(len(list)) || seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}
