package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Level is how finely the axes of the mesh are placed on dimensions. The zero value is the finest.
type Level struct {
	// Whole keeps axes whole unless the user's shardings cut them. Otherwise suggestions cut them too.
	Whole bool
	// Groups, if not 0, is the most parts that are placed on their own: leading axes that are neighbours go together.
	Groups int
}

// Levels returns the levels of the space that differ, the finest first.
func (s *Space) Levels() []Level {
	levels := []Level{{}}
	whole := s.atoms(Level{Whole: true})
	if len(s.atoms(Level{})) > len(whole) {
		levels = append(levels, Level{Whole: true})
	}
	for groups := len(whole) - 1; groups >= 2; groups-- {
		levels = append(levels, Level{Whole: true, Groups: groups})
	}
	return levels
}

// At returns a space with the same pins and suggestions at another level.
func (s *Space) At(level Level) *Space {
	c := *s
	c.level = level
	c.suggested = slices.Clone(s.suggested)
	c.layouts, c.known, c.layoutIDs, c.nodes, c.links, c.groups, c.effort, c.err = nil, nil, nil, nil, nil, nil, nil, nil
	return &c
}

// grouped returns the parts of the mesh that the level places, each at once.
func (s *Space) grouped() [][]subaxis.Ref {
	atoms := s.atoms(s.level)
	together := 1
	if s.level.Groups > 0 {
		together = max(1, len(atoms)-s.level.Groups+1)
	}
	var groups [][]subaxis.Ref
	for i := 0; i < len(atoms); i += together {
		groups = append(groups, atoms[i:min(i+together, len(atoms))])
		if i == 0 {
			i, together = together-1, 1
		}
	}
	return groups
}

// atoms returns the axes that have more than one device, cut at the ends of the sub-axes that pins and, unless the
// level keeps axes whole, suggestions name.
func (s *Space) atoms(level Level) []subaxis.Ref {
	mesh := &s.m.Mesh(s.mesh).Mesh
	atoms := []subaxis.Ref{}
	for i, a := range mesh.Axes {
		if a.Size > 1 {
			atoms = append(atoms, mesh.Full(i))
		}
	}
	cut := func(id ir.ShardingID) {
		if id == 0 {
			return
		}
		for _, d := range s.m.ShardingOf(id).Dims {
			for _, r := range d.Axes {
				atoms = cutAtoms(atoms, r)
			}
		}
	}
	for v := ir.ValueID(1); int(v) < s.m.NumValues(); v++ {
		cut(s.pins[v])
	}
	for _, id := range s.outPins {
		cut(id)
	}
	if level.Whole {
		return atoms
	}
	for _, g := range s.suggested {
		for _, id := range slices.Concat(g.values, g.out) {
			cut(id)
		}
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
	allowed := func(pin, id ir.ShardingID, rank int) bool {
		l := collectives.Layout{Dims: make([][]subaxis.Ref, rank)}
		if id != 0 {
			l = collectives.LayoutOf(settled.ShardingOf(id))
		}
		return s.allows(pin, &l)
	}
	for v, pin := range s.pins {
		if int(v) >= settled.NumValues() || !allowed(pin, settled.Sharding(v), len(s.m.Shape(v))) {
			return false
		}
	}
	f := settled.MainFunc()
	for i, pin := range s.outPins {
		if pin != 0 && s.tied[i] < 0 && !allowed(pin, f.ResultShardings[i], len(s.m.TypeOf(f.ResultTypes[i]).Dims)) {
			return false
		}
	}
	return true
}
