package propagate

import (
	"cmp"
	"slices"

	"autoshard/subaxis"
)

// source is the tensor that a factor's axes come from: the largest one that has them.
type source struct {
	tensor int   // -1 for none
	size   int64 // of the tensor, -1 for none
	shards int64 // that the axes make
}

// aggressive propagates to each tensor on its own: a conflict stops an axis only there, and factors of larger
// tensors win (source: shardy.md section 4.3).
func (s *step) aggressive() {
	if !s.collect() {
		return
	}
	s.sortFactors()
	for t := s.operands; t < len(s.tensors); t++ {
		s.serve(t)
	}
	for t := range s.operands {
		s.serve(t)
	}
}

// collect finds the compatible axes and the source of every factor; false if there are none at all.
func (s *step) collect() bool {
	n := len(s.rule.Sizes)
	s.perFactor = resize(s.perFactor, n)
	s.source = resize(s.source, n)
	s.lists = s.lists[:0]
	any := false
	for _, f := range s.open {
		axes := s.compatible(f)
		s.perFactor[f] = axes
		s.source[f] = source{-1, -1, subaxis.Product(axes)}
		any = any || len(axes) > 0
	}
	if !any {
		return false
	}
	for _, f := range s.open {
		s.findSource(f)
	}
	return true
}

func (s *step) findSource(f int32) {
	axes, best := s.perFactor[f], &s.source[f]
	if len(axes) == 0 {
		return
	}
	for t := range s.tensors {
		tf := &s.tensors[t]
		if fs := &tf.factors[f]; fs.mapped && tf.size > best.size && subaxis.PrefixStatus(axes, fs.axes) != subaxis.NotPrefix {
			best.tensor, best.size = t, tf.size
		}
	}
}

func (s *step) sortFactors() {
	s.order = append(s.order[:0], s.open...)
	slices.SortFunc(s.order, func(a, b int32) int {
		x, y := &s.source[a], &s.source[b]
		if c := cmp.Compare(y.size, x.size); c != 0 {
			return c
		}
		if c := cmp.Compare(y.shards, x.shards); c != 0 && s.elementwise {
			return c
		}
		return cmp.Or(cmp.Compare(x.tensor, y.tensor), cmp.Compare(a, b))
	})
}

// serve gives tensor t what it can take of each factor.
func (s *step) serve(t int) {
	tf := &s.tensors[t]
	for _, f := range s.order {
		fs := &tf.factors[f]
		if !fs.mapped {
			continue
		}
		axes := s.truncate(s.perFactor[f], func(axis subaxis.Ref, prevSize int64) subaxis.Ref {
			if axis, _ = tf.withinTensor(axis); axis.Size > 0 {
				axis, _ = s.withinFactor(tf, f, axis, prevSize)
			}
			return axis
		})
		if subaxis.PrefixStatus(fs.axes, axes) != subaxis.StrictPrefix {
			continue
		}
		axes = s.truncate(axes, func(axis subaxis.Ref, _ int64) subaxis.Ref {
			axis, _ = tf.acrossFactors(f, axis)
			return axis
		})
		if len(axes) == 0 {
			continue
		}
		if s.elementwise && t < s.operands {
			axes = s.cappedByResults(f, axes)
		}
		tf.expand(f, axes)
	}
}

// cappedByResults keeps operands of an elementwise op from getting more than its results got: what moves from one
// operand to another moves through the result.
func (s *step) cappedByResults(f int32, axes []subaxis.Ref) []subaxis.Ref {
	for t := s.operands; t < len(s.tensors); t++ {
		fs := &s.tensors[t].factors[f]
		if fs.mapped && subaxis.PrefixStatus(fs.axes, axes) == subaxis.StrictPrefix {
			axes = fs.axes
		}
	}
	return axes
}
