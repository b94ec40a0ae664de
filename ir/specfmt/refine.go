package specfmt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Refine splits the axes of a layout's mesh so that the layout needs no sub-axes: an axis x of size 8, of which it uses
// x:(1)2, becomes x_0=2, x_1=4. The devices keep their places. It returns false where there is nothing to split, or no
// split has all parts.
func Refine(l *Layout) (Layout, bool) {
	refined, ok := refine(l)
	return refined, ok && len(refined.Mesh.Axes) > len(l.Mesh.Axes)
}

// refine is Refine that also returns a layout without sub-axes as it is.
func refine(l *Layout) (Layout, bool) {
	s := l.Sharding.Clone()
	r := refiner{from: &l.Mesh.Mesh, cuts: make([][]int64, len(l.Mesh.Axes))}
	for i, a := range l.Mesh.Axes {
		r.cuts[i] = []int64{1, a.Size}
	}
	all := lists.Of(len(s.Dims), func(i int) *ir.ShardAxes { return &s.Dims[i].Axes })
	all = append(all, &s.Replicated, &s.Unreduced)
	for _, list := range all {
		for _, ref := range *list {
			r.cuts[ref.Axis] = append(r.cuts[ref.Axis], int64(ref.Pre), ref.Next())
		}
	}
	if !r.split() {
		return Layout{}, false
	}
	for _, list := range all {
		*list = r.refs(*list)
	}
	return Layout{Mesh: r.mesh(l.Mesh), Sharding: s, Manual: r.refs(l.Manual)}, true
}

// refiner cuts axes at the boundaries of the parts in use.
type refiner struct {
	from  *subaxis.Mesh
	cuts  [][]int64 // of each axis, the pre-sizes at which its pieces begin, and its size
	first []int     // the number of each axis's first piece
	axes  []subaxis.Axis
}

// split makes the pieces. It returns false where a boundary does not divide the next.
func (r *refiner) split() bool {
	taken := map[string]bool{}
	for _, a := range r.from.Axes {
		taken[a.Name] = true
	}
	for i, a := range r.from.Axes {
		slices.Sort(r.cuts[i])
		r.cuts[i] = slices.Compact(r.cuts[i])
		if len(r.cuts[i]) == 1 { // an axis of size 1
			r.cuts[i] = []int64{1, 1}
		}
		r.first = append(r.first, len(r.axes))
		pieces := len(r.cuts[i]) - 1
		names := pieceNames(a.Name, pieces, taken)
		for j := range pieces {
			from, to := r.cuts[i][j], r.cuts[i][j+1]
			if to%from != 0 {
				return false
			}
			r.axes = append(r.axes, subaxis.Axis{Name: names[j], Size: to / from})
		}
	}
	return true
}

// pieceNames returns the names of the pieces of an axis: x_0, x_1, with more underscores where those are taken.
func pieceNames(axis string, pieces int, taken map[string]bool) []string {
	if pieces == 1 {
		return []string{axis}
	}
	for separator := "_"; ; separator += "_" {
		names := lists.Of(pieces, func(j int) string { return axis + separator + strconv.Itoa(j) })
		if !slices.ContainsFunc(names, func(n string) bool { return taken[n] }) {
			for _, n := range names {
				taken[n] = true
			}
			return names
		}
	}
}

// refs returns the pieces of a list of refs.
func (r *refiner) refs(list ir.ShardAxes) ir.ShardAxes {
	var out ir.ShardAxes
	for _, ref := range list {
		cuts := r.cuts[ref.Axis]
		for j := range len(cuts) - 1 {
			if int64(ref.Pre) <= cuts[j] && cuts[j+1] <= ref.Next() {
				piece := r.first[ref.Axis] + j
				out = append(out, subaxis.Ref{Axis: int32(piece), Pre: 1, Size: int32(r.axes[piece].Size)})
			}
		}
	}
	return out
}

func (r *refiner) mesh(from *ir.MeshDecl) *ir.MeshDecl {
	return &ir.MeshDecl{Name: from.Name, Mesh: subaxis.Mesh{Axes: r.axes, DeviceIDs: from.DeviceIDs}}
}

// splitAxes returns the pieces of the axes that a refined mesh has in place of one, such as x_0=2.
func splitAxes(l, refined *Layout) []string {
	var out []string
	for _, a := range refined.Mesh.Axes {
		if _, whole := l.Mesh.Lookup(a.Name); !whole {
			out = append(out, a.String())
		}
	}
	return out
}

// FormatMesh returns a mesh as options write it: x=2,y=4. Device ids that are not in order follow.
func FormatMesh(mesh *subaxis.Mesh) string {
	text := strings.Join(lists.Map(mesh.Axes, subaxis.Axis.String), ",")
	if mesh.DeviceIDs != nil {
		text = strings.TrimPrefix(fmt.Sprintf("%s device_ids=%s", text, strings.ReplaceAll(fmt.Sprint(mesh.DeviceIDs), " ", ",")), " ")
	}
	return text
}
