// Package specfmt writes shardings in the forms that other systems use, and reads them back.
//
// The PartitionSpec form is JAX's, with marks for what JAX has no words for:
//
//	P('data', None, ('x', 'y'))         dimension 0 over data, 1 whole, 2 over x (major) and y
//	P('x':(1)2, ?)                      over the major half of x, of size 2; dimension 1 is open: free to be sharded
//	P(('data', ?)p1, ()p0)              over data and open, with priority 1; closed and whole, with priority 0
//	P('data', unreduced={'model'})      every device holds a partial sum along model
//	P(None, replicated={'model'})       model may not shard any dimension
//	P(device=3)                         all of it on device 3: the sharding of a maximal mesh
//
// The mesh is not part of the text.
package specfmt

import (
	"strconv"
	"strings"

	"autoshard/ir"
	"autoshard/subaxis"
)

// PartitionSpec returns a sharding in the PartitionSpec form.
func PartitionSpec(m *ir.Module, id ir.ShardingID) string {
	s := m.ShardingOf(id)
	mesh := &m.Mesh(s.Mesh).Mesh
	if mesh.IsMaximal() {
		return "P(device=" + strconv.FormatInt(mesh.DeviceIDs[0], 10) + ")"
	}
	var parts []string
	for _, d := range s.Dims {
		parts = append(parts, dimension(mesh, d))
	}
	if len(s.Replicated) > 0 {
		parts = append(parts, "replicated={"+axes(mesh, s.Replicated)+"}")
	}
	if len(s.Unreduced) > 0 {
		kind := ""
		if s.Reduction != ir.ReduceSum {
			kind = s.Reduction.String()
		}
		parts = append(parts, "unreduced="+kind+"{"+axes(mesh, s.Unreduced)+"}")
	}
	return "P(" + strings.Join(parts, ", ") + ")"
}

func dimension(mesh *subaxis.Mesh, d ir.DimSharding) string {
	priority := ""
	if d.Priority != ir.NoPriority {
		priority = "p" + strconv.Itoa(int(d.Priority))
	}
	switch {
	case len(d.Axes) == 0 && d.Closed && priority == "":
		return "None"
	case len(d.Axes) == 0 && !d.Closed && priority == "":
		return "?"
	case len(d.Axes) == 1 && d.Closed:
		return axis(mesh, d.Axes[0]) + priority
	}
	list := axes(mesh, d.Axes)
	if !d.Closed {
		list = strings.TrimPrefix(list+", ?", ", ")
	}
	return "(" + list + ")" + priority
}

func axes(mesh *subaxis.Mesh, refs []subaxis.Ref) string {
	parts := make([]string, len(refs))
	for i, r := range refs {
		parts[i] = axis(mesh, r)
	}
	return strings.Join(parts, ", ")
}

// axis returns a quoted name, with pre-size and size for a part of an axis.
func axis(mesh *subaxis.Mesh, r subaxis.Ref) string {
	name := "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(mesh.Axes[r.Axis].Name) + "'"
	if mesh.IsFull(r) {
		return name
	}
	return name + ":(" + strconv.Itoa(int(r.Pre)) + ")" + strconv.Itoa(int(r.Size))
}
