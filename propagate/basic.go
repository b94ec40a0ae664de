package propagate

import "autoshard/subaxis"

// basic propagates along each factor what all tensors of the op can take: one conflict anywhere stops it
// everywhere (source: shardy.md section 4.2).
func (s *step) basic() {
	s.lists = s.lists[:0]
	for _, f := range s.open {
		axes := s.truncate(s.compatible(f), func(axis subaxis.Ref, prevSize int64) subaxis.Ref { return s.fitsAll(f, axis, prevSize) })
		for t := range s.tensors {
			s.tensors[t].expand(f, axes)
		}
	}
}

// fitsAll returns the part of an axis that fits every tensor.
func (s *step) fitsAll(f int32, axis subaxis.Ref, prevSize int64) subaxis.Ref {
	for t := range s.tensors {
		tf := &s.tensors[t]
		if axis, _ = tf.acrossFactors(f, axis); axis.Size == 0 {
			break
		}
		if !tf.factors[f].mapped {
			continue
		}
		if axis, _ = tf.withinTensor(axis); axis.Size == 0 {
			break
		}
		if axis, _ = s.withinFactor(tf, f, axis, prevSize); axis.Size == 0 {
			break
		}
	}
	return axis
}
