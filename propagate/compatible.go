package propagate

import (
	"autoshard/priority"
	"autoshard/subaxis"
	"autoshard/trace"
)

// step is one propagation through one op: the projection, the allowed directions, and scratch memory.
type step struct {
	projection
	directions   []priority.Direction // by factor
	conservative bool                 // no sub-axes
	elementwise  bool
	open         []int32 // the factors along which tensors differ; nothing happens along others

	before    [][]subaxis.Ref // axes by tensor and factor, as they were
	perFactor [][]subaxis.Ref // compatible axes by factor
	lists     []subaxis.Ref   // memory of perFactor
	order     []int32         // factors in the order in which the aggressive strategy serves them
	source    []source        // by factor
	refused   []trace.Event   // memory of refusals
}

// compatible returns the longest list of major axes of a factor on which the tensors agree, ignoring conflicts
// with other factors (source: shardy.md section 4.1). Only tensors on the sending side of the direction
// contribute; the other side can only veto.
func (s *step) compatible(f int32) []subaxis.Ref {
	direction := s.directions[f]
	if direction == priority.None {
		return nil
	}
	c := compatibility{list: s.lists[len(s.lists):], expand: true}
	first, second := s.tensors[:s.operands], s.tensors[s.operands:]
	if direction == priority.Backward {
		first, second = second, first
	}
	c.fold(first, f)
	if direction != priority.Both {
		c.expand = false
	}
	c.fold(second, f)
	s.lists = append(s.lists, c.list...)
	return s.lists[len(s.lists)-len(c.list) : len(s.lists) : len(s.lists)]
}

type compatibility struct {
	list   []subaxis.Ref
	expand bool // false once a tensor disagreed: nothing can be appended any more
}

func (c *compatibility) fold(tensors []tensorFactors, f int32) {
	for t := range tensors {
		if fs := &tensors[t].factors[f]; fs.mapped {
			c.merge(fs.axes)
		}
	}
}

// merge replaces the list by what it has in common with new, and where expansion is still possible, by what new
// adds to it.
func (c *compatibility) merge(new []subaxis.Ref) {
	old := c.list
	for i := range min(len(old), len(new)) {
		switch {
		case old[i] == new[i]:
			continue
		case new[i].PrefixOf(old[i]):
			if len(new) > i+1 {
				c.list, c.expand = append(old[:i], new[i]), false
				return
			}
		case old[i].PrefixOf(new[i]):
			if !c.expand || len(old) > i+1 {
				c.list, c.expand = old[:i+1], false
				return
			}
			old[i] = new[i]
		default:
			c.list, c.expand = old[:i], false
			return
		}
	}
	if c.expand && len(new) > len(old) {
		c.list = append(old, new[len(old):]...)
	}
}

// acrossFactors returns the part of an axis that overlaps no other factor of the tensor.
func (s *step) acrossFactors(t *tensorFactors, f int32, axis subaxis.Ref) (subaxis.Ref, bool) {
	ok := true
	for g := range t.factors {
		other := &t.factors[g]
		if int32(g) == f || !other.mapped {
			continue
		}
		for _, o := range other.overflow {
			if axis, ok = axis.PrefixWithout(o); !ok {
				return axis, false
			}
		}
		for _, o := range other.axes {
			if axis, ok = axis.PrefixWithout(o); !ok {
				return axis, false
			}
		}
	}
	return axis, true
}

// withinFactor returns the part of an axis that the factor of the tensor has or can take, given how many shards
// the axes before it make.
func (s *step) withinFactor(t *tensorFactors, f int32, axis subaxis.Ref, prevSize int64) (subaxis.Ref, bool) {
	ok := true
	for _, o := range t.replicated {
		if axis, ok = axis.PrefixWithout(o); !ok {
			return axis, false
		}
	}
	for _, o := range t.unreduced {
		if axis, ok = axis.PrefixWithout(o); !ok {
			return axis, false
		}
	}
	fs := &t.factors[f]
	for _, have := range fs.axes {
		if have.Contains(axis) {
			return axis, true
		}
	}
	if !fs.closed && len(fs.overflow) == 0 {
		if fs.minorMost {
			return axis, true
		}
		if size := s.rule.Sizes[f]; size%prevSize == 0 {
			if g := subaxis.GCD(size/prevSize, int64(axis.Size)); g == int64(axis.Size) || g > 1 {
				axis.Size = int32(g)
				return axis, true
			}
		}
	}
	if n := len(fs.axes); n > 0 && fs.axes[n-1].PrefixOf(axis) {
		return fs.axes[n-1], true
	}
	return axis, false
}

// rejected says whether the conservative mode refuses an axis for being a part.
func (s *step) rejected(axis subaxis.Ref) bool { return s.conservative && !s.mesh.IsFull(axis) }

// truncate cuts a list at the first axis that fit does not accept as a whole. fit gets each axis and the number of
// shards of those before it.
func (s *step) truncate(list []subaxis.Ref, fit func(axis subaxis.Ref, prevSize int64) (subaxis.Ref, bool)) []subaxis.Ref {
	prevSize := int64(1)
	for i, axis := range list {
		part, ok := fit(axis, prevSize)
		if !ok || s.rejected(part) {
			return list[:i:i]
		}
		if part != axis {
			return append(list[:i:i], part)
		}
		prevSize *= int64(axis.Size)
	}
	return list
}
