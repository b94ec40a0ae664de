package specfmt

import (
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Notation returns a sharding in autoshard's own notation: a PartitionSpec with marks for what JAX has no words for.
// It says all that a sharding says, but for the mesh:
//
//	P('data', None, ('x', 'y'))         dimension 0 over data, 1 whole, 2 over x (major) and y
//	P('x':(1)2, ?)                      over the major half of x, of size 2; dimension 1 is open: free to be sharded
//	P(('data', ?)p1, (?)p0)             over data and open, with priority 1; open, with priority 0
//	P('data', unreduced={'model'})      every device holds a partial sum along model
//	P(None, replicated={'model'})       model may not shard any dimension
//	P(device=3)                         all of it on device 3: the sharding of a maximal mesh
func Notation(m *ir.Module, id ir.ShardingID) string {
	s := m.ShardingOf(id)
	mesh := &m.Mesh(s.Mesh).Mesh
	if mesh.IsMaximal() {
		return "P(device=" + strconv.FormatInt(mesh.DeviceIDs[0], 10) + ")"
	}
	parts := lists.Map(s.Dims, func(d ir.DimSharding) string { return dimension(mesh, d) })
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
	return lists.Joined(refs, func(r subaxis.Ref) string { return axis(mesh, r) })
}

// axis returns a quoted name, with pre-size and size for a part of an axis.
func axis(mesh *subaxis.Mesh, r subaxis.Ref) string {
	name := formatName(mesh.Axes[r.Axis].Name)
	if mesh.IsFull(r) {
		return name
	}
	return name + ":(" + strconv.Itoa(int(r.Pre)) + ")" + strconv.Itoa(int(r.Size))
}

// formatName quotes a name as Python does.
func formatName(name string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '\\' || c == '\'':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c == 0x7f:
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
