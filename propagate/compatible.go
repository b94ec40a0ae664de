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

// obstacle is why an axis, or the minor part of one, does not fit a tensor along a factor. Without a reason there is none.
type obstacle struct {
	reason trace.Reason
	axes   []subaxis.Ref // that are in the way; none where it is the dimension itself
	factor int32         // that has these axes, trace.NoFactor where the tensor as a whole has them
}

// The three functions that follow ask whether an axis fits a tensor. They return the major part of it that does, the zero Ref
// for none, and the obstacle where that is not the whole axis.

// withinTensor asks for the axes that the tensor keeps from all of its dimensions.
func (t *tensorFactors) withinTensor(axis subaxis.Ref) (subaxis.Ref, obstacle) {
	part, replicated := avoiding(axis, t.replicated, trace.Replicated, trace.NoFactor)
	part, unreduced := avoiding(part, t.unreduced, trace.Unreduced, trace.NoFactor)
	return part, replicated.or(unreduced)
}

// acrossFactors asks for the axes that the other factors of the tensor have.
func (t *tensorFactors) acrossFactors(f int32, axis subaxis.Ref) (subaxis.Ref, obstacle) {
	var first obstacle
	for g := range t.factors {
		other := &t.factors[g]
		if int32(g) == f || !other.mapped {
			continue
		}
		var o obstacle
		axis, o = avoiding(axis, other.axes, trace.Conflict, int32(g))
		first = first.or(o)
		axis, o = avoiding(axis, other.overflow, trace.Conflict, int32(g))
		first = first.or(o)
	}
	return axis, first
}

// withinFactor asks whether the factor of the tensor has the axis or can take it, given how many shards the axes before it make.
// Where its size lets it take a part of the axis, it is the rest that meets the obstacle.
func (s *step) withinFactor(t *tensorFactors, f int32, axis subaxis.Ref, prevSize int64) (subaxis.Ref, obstacle) {
	fs := &t.factors[f]
	for _, have := range fs.axes {
		if have.Contains(axis) {
			return axis, obstacle{}
		}
	}
	o := obstacle{reason: trace.NotDivisible}
	if fs.closed {
		o.reason = trace.Closed
	} else if len(fs.overflow) == 0 {
		if fs.minorMost {
			return axis, obstacle{}
		}
		if size := s.rule.Sizes[f]; size%prevSize == 0 {
			if g := subaxis.GCD(size/prevSize, int64(axis.Size)); g == int64(axis.Size) || g > 1 {
				axis.Size = int32(g)
				return axis, obstacle{}
			}
		}
	}
	if n := len(fs.axes); n > 0 && fs.axes[n-1].PrefixOf(axis) {
		return fs.axes[n-1], o
	}
	return subaxis.Ref{}, o
}

// avoiding returns the largest major part of an axis that overlaps none of a list, the zero Ref for none, and the first of the list that
// the axis meets. reason is that of two axes that overlap; they may also be parts of one axis that cannot exist side by side.
func avoiding(axis subaxis.Ref, list []subaxis.Ref, reason trace.Reason, factor int32) (subaxis.Ref, obstacle) {
	var first obstacle
	part := axis
	for i := 0; i < len(list) && part.Size > 0; i++ {
		rest, _ := part.PrefixWithout(list[i])
		if rest != part && first.reason == trace.NoReason {
			first = obstacle{reason, list[i : i+1], factor}
			if !axis.CanCoexist(list[i]) {
				first.reason = trace.SubAxes
			}
		}
		part = rest
	}
	return part, first
}

// or returns the first of two obstacles that is there.
func (o obstacle) or(other obstacle) obstacle {
	if o.reason != trace.NoReason {
		return o
	}
	return other
}

// rejected says whether the conservative mode refuses an axis for being a part.
func (s *step) rejected(axis subaxis.Ref) bool { return s.conservative && !s.mesh.IsFull(axis) }

// truncate cuts a list at the first axis of which fit does not return the whole. fit gets each axis and the number of
// shards that those before it make.
func (s *step) truncate(list []subaxis.Ref, fit func(axis subaxis.Ref, prevSize int64) subaxis.Ref) []subaxis.Ref {
	prevSize := int64(1)
	for i, axis := range list {
		part := fit(axis, prevSize)
		if part.Size == 0 || s.rejected(part) {
			return list[:i:i]
		}
		if part != axis {
			return append(list[:i:i], part)
		}
		prevSize *= int64(axis.Size)
	}
	return list
}
