package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Level is how finely the axes of the mesh are placed on dimensions. The zero value splits axes where that is called for: one
// that does not divide a dimension is split where a suggestion splits it, the major part cuts that dimension, and the rest
// any other or none.
type Level struct {
	Apart bool // the parts of axes that suggestions name are placed apart, on all tensors
	Whole bool // axes stay whole unless the user's shardings cut them
	// Groups, if not 0, is the most parts that are placed on their own: leading axes that are neighbours go together.
	Groups int
}

// Levels returns the levels of the space that differ, the finest first.
func (s *Space) Levels() []Level {
	levels := []Level{{}}
	if slices.ContainsFunc(s.majors(), func(parts []subaxis.Ref) bool { return len(parts) > 0 }) {
		levels = []Level{{Apart: true}, {}, {Whole: true}}
	}
	for groups := len(s.atoms()) - 1; groups >= 2; groups-- {
		levels = append(levels, Level{Whole: true, Groups: groups})
	}
	return levels
}

// At returns a space with the same pins and suggestions at another level.
func (s *Space) At(level Level) *Space {
	c := *s
	c.level = level
	c.suggested = slices.Clone(s.suggested)
	c.tensors, c.nodes, c.links, c.groups, c.effort, c.err = nil, nil, nil, nil, nil, nil
	c.watched, c.holders, c.paired, c.time, c.priced = nil, nil, nil, nil, nil
	return &c
}

// group is a part of the mesh that is placed at once, and where it may be split.
type group struct {
	axes   []subaxis.Ref
	majors []subaxis.Ref
}

// grouped returns the parts of the mesh that the level places, each at once.
func (s *Space) grouped() []group {
	atoms, majors := s.atoms(), s.majors()
	if s.level.Apart {
		atoms = apart(atoms, majors)
	}
	together := 1
	if s.level.Groups > 0 {
		together = max(1, len(atoms)-s.level.Groups+1)
	}
	var groups []group
	for i := 0; i < len(atoms); i += together {
		g := group{axes: atoms[i:min(i+together, len(atoms))]}
		if !s.level.Apart && !s.level.Whole {
			g.majors = majors[i]
		}
		groups = append(groups, g)
		if i == 0 {
			i, together = together-1, 1
		}
	}
	return groups
}

// atoms returns the axes that have more than one device, cut at the ends of the sub-axes that pins name.
func (s *Space) atoms() []subaxis.Ref {
	mesh := &s.m.Mesh(s.mesh).Mesh
	atoms := []subaxis.Ref{}
	for i, a := range mesh.Axes {
		if a.Size > 1 {
			atoms = append(atoms, mesh.Full(i))
		}
	}
	cut := func(id ir.ShardingID) {
		s.parts(id, func(r subaxis.Ref) { atoms = cutAtoms(atoms, r) })
	}
	for v := ir.ValueID(1); int(v) < s.m.NumValues(); v++ {
		cut(s.pins[v])
	}
	for _, id := range s.outPins {
		cut(id)
	}
	return atoms
}

// parts calls visit with the parts of the mesh that a sharding names.
func (s *Space) parts(id ir.ShardingID, visit func(r subaxis.Ref)) {
	if id == 0 {
		return
	}
	for _, d := range s.m.ShardingOf(id).Dims {
		for _, r := range d.Axes {
			visit(r)
		}
	}
}

// majors returns for each atom its major parts at whose ends suggestions split it, the largest first.
func (s *Space) majors() [][]subaxis.Ref {
	atoms := s.atoms()
	out := make([][]subaxis.Ref, len(atoms))
	split := func(axis int32, at int64) {
		for i, a := range atoms {
			if a.Axis != axis || at <= int64(a.Pre) || at >= a.Next() || at%int64(a.Pre) != 0 || a.Next()%at != 0 {
				continue
			}
			if major := (subaxis.Ref{Axis: axis, Pre: a.Pre, Size: int32(at) / a.Pre}); !slices.Contains(out[i], major) {
				out[i] = append(out[i], major)
			}
		}
	}
	seen := map[ir.ShardingID]bool{}
	for _, g := range s.suggested {
		for _, id := range slices.Concat(g.values, g.out) {
			if !seen[id] {
				seen[id] = true
				s.parts(id, func(r subaxis.Ref) { split(r.Axis, int64(r.Pre)); split(r.Axis, r.Next()) })
			}
		}
	}
	for _, parts := range out {
		slices.SortFunc(parts, func(a, b subaxis.Ref) int { return int(b.Size - a.Size) })
	}
	return out
}

// apart cuts atoms at the ends of their major parts.
func apart(atoms []subaxis.Ref, majors [][]subaxis.Ref) []subaxis.Ref {
	for _, r := range slices.Concat(majors...) {
		atoms = cutAtoms(atoms, r)
	}
	return atoms
}

func cutAtoms(atoms []subaxis.Ref, r subaxis.Ref) []subaxis.Ref {
	var out []subaxis.Ref
	for _, a := range atoms {
		part, ok := a.Overlap(r)
		if !ok || part == a {
			out = append(out, a)
			continue
		}
		if head, ok := a.PrefixWithout(part); ok {
			out = append(out, head)
		}
		out = append(out, part)
		if tail, ok := a.SuffixWithout(part); ok {
			out = append(out, tail)
		}
	}
	return out
}

// Respects says whether a settled copy of the module, with the same ids, keeps what is pinned.
func (s *Space) Respects(settled *ir.Module) bool {
	layout := func(id ir.ShardingID, rank int) *collectives.Layout {
		l := collectives.Layout{Dims: make([][]subaxis.Ref, rank)}
		if id != 0 {
			l = collectives.LayoutOf(settled.ShardingOf(id))
		}
		return &l
	}
	for v := range s.pins {
		if int(v) >= settled.NumValues() || !s.Allows(v, layout(settled.Sharding(v), len(s.m.Shape(v)))) {
			return false
		}
	}
	f := settled.MainFunc()
	for i := range s.outPins {
		if s.tied[i] < 0 && !s.AllowsResult(i, layout(f.ResultShardings[i], len(s.m.TypeOf(f.ResultTypes[i]).Dims))) {
			return false
		}
	}
	return true
}

// Allows says whether a layout of a value keeps what is pinned.
func (s *Space) Allows(v ir.ValueID, l *collectives.Layout) bool {
	pin, ok := s.pins[v]
	return !ok || s.allows(pin, l)
}

// AllowsResult says so of a result of the main function.
func (s *Space) AllowsResult(i int, l *collectives.Layout) bool {
	return s.outPins[i] == 0 || s.allows(s.outPins[i], l)
}
