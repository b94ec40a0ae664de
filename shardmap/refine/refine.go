// Package refine replaces a mesh by one with smaller axes, so that parts of axes become whole axes, which is all that
// a PartitionSpec or a collective of shard_map can name.
//
// A part "x":(m)k of an axis of size n is the middle factor of [m, k, n/(m·k)], major to minor. Where the parts in use
// cut the axis at sizes that divide one another, the axis is replaced by the factors between the cuts:
//
//	cuts := refine.New(mesh)                // x=8
//	err := cuts.Add(ref)                    // "x":(2)2
//	fine := cuts.Mesh()                     // x_0=2, x_1=2, x_2=2
//	fine.Axes([]subaxis.Ref{ref})           // [1]
//	fine.Parts([]int{1, 2})                 // "x":(2)4
//
// Devices keep their numbers, so every device keeps its blocks and its groups. Specification: shardmap.md section 8.
package refine

import (
	"slices"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// Cuts collects where the axes of a mesh have to be cut.
type Cuts struct {
	mesh subaxis.Mesh
	at   [][]int64       // of each axis: the products of the sizes before each cut, 1 and the size among them
	used [][]subaxis.Ref // of each axis: the parts that made the cuts
}

// New returns a mesh's cuts before there are any. The mesh is not changed.
func New(mesh subaxis.Mesh) *Cuts {
	c := &Cuts{mesh: mesh, at: make([][]int64, len(mesh.Axes)), used: make([][]subaxis.Ref, len(mesh.Axes))}
	for i, a := range mesh.Axes {
		c.at[i] = slices.Compact([]int64{1, a.Size})
	}
	return c
}

// Add cuts axes so that every one of the parts is a list of whole axes. It returns an error of class
// diag.ErrUnsupported, without a position, and changes nothing where a part and one that was added before have no
// common refinement: (1)2 and (1)3 of an axis of size 6 (E_SUBAXIS_CONFLICT).
func (c *Cuts) Add(refs ...subaxis.Ref) error {
	at, used := slices.Clone(c.at), slices.Clone(c.used)
	for _, r := range refs {
		list, ok := insert(at[r.Axis], r)
		if !ok {
			return c.conflict(r, used[r.Axis])
		}
		at[r.Axis] = list
		if !c.mesh.IsFull(r) && !slices.Contains(used[r.Axis], r) {
			used[r.Axis] = append(slices.Clip(used[r.Axis]), r)
		}
	}
	c.at, c.used = at, used
	return nil
}

// insert returns the cuts of an axis with those of a part, and whether each divides the next.
func insert(at []int64, r subaxis.Ref) ([]int64, bool) {
	list := append(slices.Clone(at), int64(r.Pre), r.Next())
	slices.Sort(list)
	list = slices.Compact(list)
	for i := 1; i < len(list); i++ {
		if list[i]%list[i-1] != 0 {
			return nil, false
		}
	}
	return list, true
}

// conflict names the part that another one does not go with.
func (c *Cuts) conflict(r subaxis.Ref, used []subaxis.Ref) error {
	name := c.mesh.Axes[r.Axis].Name
	for _, other := range used {
		if _, ok := insert([]int64{int64(other.Pre), other.Next()}, r); !ok {
			return diag.Unsupported(diag.NotSupported, diag.Position{},
				"the parts %s and %s of axis `%s` have no common refinement, since the sizes at which they cut it do not divide one another; "+
					"use parts that do, or write the mesh with smaller axes (E_SUBAXIS_CONFLICT)", c.mesh.Format(other), c.mesh.Format(r), name)
		}
	}
	panic("refine: the part " + c.mesh.Format(r) + " does not divide its axis")
}

// Mesh is a mesh and its refinement.
type Mesh struct {
	Coarse subaxis.Mesh
	Fine   subaxis.Mesh // lists the same devices in the same order
	at     [][]int64
	first  []int // of each coarse axis: the number of its first fine axis
}

// Mesh returns the mesh with the cuts so far. An axis without cuts keeps its name, the parts of an axis x are x_0,
// x_1 and so on, major to minor, with more underscores where the mesh has such a name already.
func (c *Cuts) Mesh() *Mesh {
	m := &Mesh{Coarse: c.mesh, Fine: subaxis.Mesh{DeviceIDs: c.mesh.DeviceIDs}, at: c.at}
	taken := map[string]bool{}
	for _, a := range c.mesh.Axes {
		taken[a.Name] = true
	}
	for i, a := range c.mesh.Axes {
		m.first = append(m.first, len(m.Fine.Axes))
		if len(c.at[i]) <= 2 {
			m.Fine.Axes = append(m.Fine.Axes, a)
			continue
		}
		for k := range len(c.at[i]) - 1 {
			name := a.Name + "_" + strconv.Itoa(k)
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			m.Fine.Axes = append(m.Fine.Axes, subaxis.Axis{Name: name, Size: c.at[i][k+1] / c.at[i][k]})
		}
	}
	return m
}

// Axes returns the numbers of the fine axes that parts of coarse axes consist of, in order. The parts must have been
// added to the cuts.
func (m *Mesh) Axes(refs []subaxis.Ref) []int {
	out := []int{}
	for _, r := range refs {
		at := m.at[r.Axis]
		if len(at) == 1 { // an axis of size 1
			out = append(out, m.first[r.Axis])
		}
		for k := range len(at) - 1 {
			if at[k] >= int64(r.Pre) && at[k+1] <= r.Next() {
				out = append(out, m.first[r.Axis]+k)
			}
		}
	}
	return out
}

// Names returns the names of fine axes, given by their numbers.
func (m *Mesh) Names(axes []int) []string {
	return lists.Map(axes, func(a int) string { return m.Fine.Axes[a].Name })
}

// Parts is the inverse of Axes: it returns fine axes as parts of coarse axes, neighbours merged into the largest.
func (m *Mesh) Parts(axes []int) []subaxis.Ref {
	var out []subaxis.Ref
	for _, a := range axes {
		axis, _ := slices.BinarySearch(m.first, a+1)
		axis--
		at, k := m.at[axis], a-m.first[axis]
		r := m.Coarse.Full(axis)
		if len(at) > 1 {
			r.Pre, r.Size = int32(at[k]), int32(at[k+1]/at[k])
		}
		out = subaxis.AppendMerge(out, r)
	}
	return out
}
