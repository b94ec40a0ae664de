package specfmt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// subgroup is the type of a tile dimension behind those of the tensor: what the devices along it have in common.
type subgroup uint8

// The subgroups in the order in which XLA writes them.
const (
	manualGroup subgroup = iota
	unreducedGroup
	replicatedGroup
)

var subgroupNames = []string{"manual", "unreduced", "replicated"}

// tiling is XLA's HloSharding of one tensor: tile dimensions, those of the tensor first, and the axes of the mesh in
// the order in which they number the tiles.
type tiling struct {
	dims   []int64
	groups []subgroup
	order  []subaxis.Ref // axes of a mesh without sub-axes, all but those of size 1
}

// formatHloSharding writes what Shardy exports for XLA: {devices=[2,1,4]<=[8] last_tile_dim_replicate}, the numbers of
// tiles along each dimension, and the devices that hold them: an iota reshaped to the mesh and transposed, or a list
// where the mesh numbers its devices otherwise.
func formatHloSharding(l *Layout) (string, []string, error) {
	s := &l.Sharding
	mesh := &l.Mesh.Mesh
	switch {
	case mesh.IsMaximal():
		return fmt.Sprintf("{maximal device=%d}", mesh.DeviceIDs[0]), nil, nil
	case mesh.IsEmpty():
		return "{replicated}", nil, nil
	}
	flat, ok := refine(l)
	if !ok {
		return "", nil, diag.Unsupported(diag.NotSupported, diag.Position{},
			"not expressible as %s: no split of the mesh axes has all sub-axes of %s", GSPMD.title(), sdyText(l))
	}
	var dropped left
	dropped.open(s, noneOpen)
	dropped.priorities(s)
	dropped.axes("replicated", mesh, s.Replicated)
	if len(s.Unreduced) > 0 && s.Reduction != ir.ReduceSum {
		dropped.add("the reduction %s of unreduced axes is left out", s.Reduction)
	}
	return tilingOf(&flat).format(&flat.Mesh.Mesh), dropped.list, nil
}

func sdyText(l *Layout) string {
	text, _, _ := formatSdy(l)
	return text
}

// tilingOf returns the tiling of a layout without sub-axes.
func tilingOf(l *Layout) *tiling {
	t := &tiling{}
	used := make([]bool, len(l.Mesh.Axes))
	add := func(refs ir.ShardAxes) int64 {
		for _, r := range refs {
			used[r.Axis] = true
			if r.Size > 1 {
				t.order = append(t.order, r)
			}
		}
		return subaxis.Product(refs)
	}
	t.dims = lists.Map(l.Sharding.Dims, func(d ir.DimSharding) int64 { return add(d.Axes) })
	group := func(g subgroup, refs ir.ShardAxes) {
		if size := add(refs); size > 1 {
			t.dims, t.groups = append(t.dims, size), append(t.groups, g)
		}
	}
	group(manualGroup, l.Manual)
	group(unreducedGroup, l.Sharding.Unreduced)
	var rest ir.ShardAxes
	for i := range l.Mesh.Axes {
		if !used[i] {
			rest = append(rest, l.Mesh.Full(i))
		}
	}
	group(replicatedGroup, rest)
	return t
}

func (t *tiling) format(mesh *subaxis.Mesh) string {
	rank := len(t.dims) - len(t.groups)
	tiled := slices.ContainsFunc(t.dims[:rank], func(d int64) bool { return d > 1 })
	switch {
	case !tiled && len(t.groups) == 1:
		return "{" + subgroupNames[t.groups[0]] + "}"
	case len(t.order) == 0:
		return "{replicated}"
	}
	var b strings.Builder
	b.WriteString("{devices=[")
	writeInts(&b, t.dims)
	b.WriteString("]")
	if mesh.DeviceIDs == nil {
		t.writeIota(&b, mesh)
	} else {
		writeInts(&b, t.devices(mesh))
	}
	switch {
	case len(t.groups) == 1 && t.groups[0] == replicatedGroup:
		b.WriteString(" last_tile_dim_replicate")
	case len(t.groups) > 0:
		names := lists.Map(t.groups, func(g subgroup) string { return subgroupNames[g] })
		b.WriteString(" last_tile_dims={" + strings.Join(names, ", ") + "}")
	}
	b.WriteString("}")
	return b.String()
}

// writeIota writes <=[4,2]T(1,0): the sizes of the mesh's axes, and the axes in the order of the tiles. Axes that are
// neighbours in both orders count as one, as in XLA.
func (t *tiling) writeIota(b *strings.Builder, mesh *subaxis.Mesh) {
	var runs [][]subaxis.Ref
	for i, r := range t.order {
		if i > 0 && nextAxis(mesh, t.order[i-1].Axis) == r.Axis {
			runs[len(runs)-1] = append(runs[len(runs)-1], r)
		} else {
			runs = append(runs, []subaxis.Ref{r})
		}
	}
	perm := lists.Range[int64](len(runs))
	slices.SortFunc(perm, func(i, j int64) int { return int(runs[i][0].Axis - runs[j][0].Axis) })
	sizes, inverse := make([]int64, len(runs)), make([]int64, len(runs))
	for to, run := range perm {
		sizes[to] = subaxis.Product(runs[run])
		inverse[run] = int64(to)
	}
	b.WriteString("<=[")
	writeInts(b, sizes)
	b.WriteString("]")
	if len(runs) > 1 {
		b.WriteString("T(")
		writeInts(b, inverse)
		b.WriteString(")")
	}
}

// nextAxis returns the axis behind another, without those of size 1.
func nextAxis(mesh *subaxis.Mesh, axis int32) int32 {
	for axis++; int(axis) < len(mesh.Axes) && mesh.Axes[axis].Size == 1; axis++ {
	}
	return axis
}

// devices returns the device ids in the order of the tiles. Those that hold the same data are in ascending order.
func (t *tiling) devices(mesh *subaxis.Mesh) []int64 {
	out := make([]int64, len(mesh.DeviceIDs))
	for logical, id := range mesh.DeviceIDs {
		out[mesh.ShardIndex(int64(logical), t.order)] = id
	}
	if n := len(t.groups); n > 0 && t.groups[n-1] == replicatedGroup {
		for same := range slices.Chunk(out, int(t.dims[len(t.dims)-1])) {
			slices.Sort(same)
		}
	}
	return out
}

func writeInts(b *strings.Builder, list []int64) {
	for i, n := range list {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
}

// TupleElements returns the elements of a tuple of GSPMD shardings, {{replicated}, {devices=[2,1]<=[2]}}, and the byte
// at which each begins. A text that is no tuple is its own only element.
func TupleElements(text string) (elements []string, at []int) {
	inner, ok := strings.CutPrefix(text, "{{")
	if !ok || !strings.HasSuffix(text, "}}") {
		return []string{text}, []int{0}
	}
	depth, from, quoted := 1, 1, false
	for i, c := range []byte(inner) {
		if c == '"' {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		switch c {
		case '{':
			if depth++; depth == 1 {
				from = i + 2
			}
		case '}':
			if depth--; depth == 0 {
				elements, at = append(elements, text[from:i+3]), append(at, from)
			}
		}
	}
	return elements, at
}
