package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// remember keeps the axes of all factors as they are before the strategy runs.
func (s *step) remember() {
	s.before = resize(s.before, len(s.factors))
	for i := range s.factors {
		s.before[i] = s.factors[i].axes
	}
}

func (s *step) had(t int, f int32) []subaxis.Ref { return s.before[t*len(s.rule.Sizes)+int(f)] }

// place returns the dimension of a tensor that has a factor, in terms of a pattern of the trace.
func (s *step) place(t int, f int32) trace.Place {
	for d, factors := range s.dims(t) {
		if slices.Contains(factors, f) {
			return tensorPlace(t, d)
		}
	}
	return tensorPlace(t, -1)
}

// tensorPlace names a dimension of a tensor of any op, -1 for the whole tensor.
func tensorPlace(t, dim int) trace.Place { return trace.Place{Value: int32(t) + 1, Dim: int32(dim)} }

// moves appends to a list the axes that a tensor got, by dimension and factor. old is its sharding before, 0 for none.
func (s *step) moves(list []trace.Event, tr *trace.Trace, t int, old []ir.DimSharding, new *ir.Sharding) []trace.Event {
	tf := &s.tensors[t]
	for d, factors := range s.dims(t) {
		var axes []subaxis.Ref
		first := true
		for _, f := range factors {
			fs := &tf.factors[f]
			if added := addedAxes(s.had(t, f), fs.axes); len(added) > 0 {
				if first && old != nil {
					axes = slices.Clone(old[d].Axes)
				}
				first = false
				apart := isApart(axes, added[0], new.Dims[d].Axes)
				axes = trace.Extend(axes, added, apart)
				list = append(list, trace.Event{Kind: trace.Move, Factor: f, Mesh: int32(new.Mesh), Axes: tr.Intern(added), Apart: apart,
					From: s.place(s.sender(t, f, fs.axes), f), To: tensorPlace(t, d)})
			}
			if len(fs.overflow) > 0 || subaxis.Product(fs.axes) < s.rule.Sizes[f] {
				break
			}
		}
	}
	return list
}

// isApart says whether an axis that continues the last one of a list stays an axis of its own in the result.
func isApart(list []subaxis.Ref, next subaxis.Ref, result []subaxis.Ref) bool {
	n := len(list)
	return n > 0 && list[n-1].CanMerge(next) && n < len(result) && result[n-1] == list[n-1]
}

// addedAxes returns what a list has beyond an earlier state of it: of a part that grew the rest, or all of it where it
// is no multiple of what it was, as 3 of 6 is none of 2.
func addedAxes(old, new []subaxis.Ref) []subaxis.Ref {
	n := len(old)
	if n == 0 || n > len(new) || old[n-1] == new[n-1] {
		return new[min(n, len(new)):]
	}
	last, grown := old[n-1], new[n-1]
	if grown.Size%last.Size != 0 {
		return new[n-1:]
	}
	rest := subaxis.Ref{Axis: last.Axis, Pre: last.Pre * last.Size, Size: grown.Size / last.Size}
	return append([]subaxis.Ref{rest}, new[n:]...)
}

// sender returns the tensor that the axes of a factor came from: the first that had them all (source: shardy.md
// section 6.1), else the first that had some of them.
func (s *step) sender(t int, f int32, axes []subaxis.Ref) int {
	some := t
	for u := range s.tensors {
		if u == t || !s.tensors[u].factors[f].mapped {
			continue
		}
		had := s.had(u, f)
		if subaxis.PrefixStatus(axes, had) != subaxis.NotPrefix {
			return u
		}
		if some == t && len(subaxis.CommonPrefix(had, axes)) > len(s.had(t, f)) {
			some = u
		}
	}
	return some
}
