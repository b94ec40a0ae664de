package subaxis

import "slices"

// Ref is an axis of a mesh or a part of one: the part x:(Pre)Size of the axis with index Axis. It is comparable.
type Ref struct {
	Axis int32
	Pre  int32
	Size int32
}

// Next returns Pre*Size, the pre-size of the part that follows.
func (r Ref) Next() int64 { return int64(r.Pre) * int64(r.Size) }

// Contains says whether o lies within r.
func (r Ref) Contains(o Ref) bool {
	return r.Axis == o.Axis && r.Pre <= o.Pre && r.Next() >= o.Next()
}

// PrefixOf says whether r is a major part of o, or equal to it.
func (r Ref) PrefixOf(o Ref) bool { return o.Contains(r) && r.Pre == o.Pre }

// SuffixOf says whether r is a minor part of o, or equal to it.
func (r Ref) SuffixOf(o Ref) bool { return o.Contains(r) && r.Next() == o.Next() }

// Overlaps says whether some part of the axis belongs to both. An axis of size 1 overlaps itself.
func (r Ref) Overlaps(o Ref) bool {
	return r == o || r.Axis == o.Axis && int64(r.Pre) < o.Next() && int64(o.Pre) < r.Next()
}

// CanCoexist says whether one refinement of the axis has both as products of its parts.
func (r Ref) CanCoexist(o Ref) bool {
	if r.Axis != o.Axis {
		return true
	}
	minPre, maxPre := int64(min(r.Pre, o.Pre)), int64(max(r.Pre, o.Pre))
	minNext, maxNext := min(r.Next(), o.Next()), max(r.Next(), o.Next())
	if minNext > maxPre {
		return minNext%maxPre == 0 && maxPre%minPre == 0 && maxNext%minNext == 0
	}
	return maxPre%minNext == 0
}

// Overlap returns the common part.
func (r Ref) Overlap(o Ref) (Ref, bool) {
	if !r.Overlaps(o) || !r.CanCoexist(o) {
		return Ref{}, false
	}
	pre := max(r.Pre, o.Pre)
	return Ref{r.Axis, pre, int32(min(r.Next(), o.Next()) / int64(pre))}, true
}

// PrefixWithout returns the largest major part of r that does not overlap o.
func (r Ref) PrefixWithout(o Ref) (Ref, bool) {
	switch {
	case !r.CanCoexist(o):
		return Ref{}, false
	case !r.Overlaps(o):
		return r, true
	case r.Pre >= o.Pre:
		return Ref{}, false
	}
	return Ref{r.Axis, r.Pre, o.Pre / r.Pre}, true
}

// SuffixWithout returns the largest minor part of r that does not overlap o.
func (r Ref) SuffixWithout(o Ref) (Ref, bool) {
	switch {
	case !r.CanCoexist(o):
		return Ref{}, false
	case !r.Overlaps(o):
		return r, true
	case r.Next() <= o.Next():
		return Ref{}, false
	}
	return Ref{r.Axis, int32(o.Next()), int32(r.Next() / o.Next())}, true
}

// CommonPrefix returns the larger of the two parts' common major parts: the one that is a prefix of the other.
func (r Ref) CommonPrefix(o Ref) (Ref, bool) {
	switch {
	case !r.CanCoexist(o):
		return Ref{}, false
	case r.PrefixOf(o):
		return r, true
	case o.PrefixOf(r):
		return o, true
	}
	return Ref{}, false
}

// CanMerge says whether o continues r: together they are one part with r major.
func (r Ref) CanMerge(o Ref) bool {
	return r.Axis == o.Axis && o.Size > 1 && r.Next() == int64(o.Pre)
}

// Merge joins two parts for which CanMerge holds.
func (r Ref) Merge(o Ref) Ref { return Ref{r.Axis, r.Pre, r.Size * o.Size} }

// Compare orders refs by mesh order: axis, then pre-size, then size.
func Compare(a, b Ref) int {
	switch {
	case a.Axis != b.Axis:
		return int(a.Axis - b.Axis)
	case a.Pre != b.Pre:
		return int(a.Pre - b.Pre)
	}
	return int(a.Size - b.Size)
}

// Product returns the number of shards that a list of refs makes.
func Product(refs []Ref) int64 {
	n := int64(1)
	for _, r := range refs {
		n *= int64(r.Size)
	}
	return n
}

// Dividing returns the longest major part of the refs that divides a dimension of that size: whole refs as long as
// they divide it, then the largest major part of the next that does (specification: shardy.md section 5.1).
func Dividing(refs []Ref, size int64) []Ref {
	var out []Ref
	for _, r := range refs {
		g := GCD(int64(r.Size), size)
		if g == 1 {
			break
		}
		out = append(out, Ref{r.Axis, r.Pre, int32(g)})
		if g != int64(r.Size) {
			break
		}
		size /= g
	}
	return out
}

// GCD returns the greatest common divisor of two sizes; that of 0 and n is n.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// AppendMerge appends refs to the list, merging each with the last element where it continues that one.
func AppendMerge(list []Ref, refs ...Ref) []Ref {
	for _, r := range refs {
		if n := len(list); n > 0 && list[n-1].CanMerge(r) {
			list[n-1] = list[n-1].Merge(r)
		} else {
			list = append(list, r)
		}
	}
	return list
}

// SortMerge sorts refs in mesh order and merges neighbours. The refs must not overlap. It works in place.
func SortMerge(refs []Ref) []Ref {
	slices.SortFunc(refs, Compare)
	return AppendMerge(refs[:0], refs...)
}

// Difference returns the parts of a that overlap nothing in b, in the order of a.
func Difference(a, b []Ref) []Ref {
	var out []Ref
	for _, r := range a {
		out = appendDifference(out, r, b)
	}
	return out
}

func appendDifference(out []Ref, r Ref, b []Ref) []Ref {
	for _, o := range b {
		if !r.Overlaps(o) {
			continue
		}
		if prefix, ok := r.PrefixWithout(o); ok {
			out = appendDifference(out, prefix, b)
		}
		if suffix, ok := r.SuffixWithout(o); ok {
			out = appendDifference(out, suffix, b)
		}
		return out
	}
	return append(out, r)
}

// Overlapping returns the first ref of the list that overlaps r.
func Overlapping(list []Ref, r Ref) (Ref, bool) {
	for _, o := range list {
		if o.Overlaps(r) {
			return o, true
		}
	}
	return Ref{}, false
}

// Intersect says whether two lists have a part of an axis in common.
func Intersect(a, b []Ref) bool {
	return slices.ContainsFunc(a, func(r Ref) bool {
		_, ok := Overlapping(b, r)
		return ok
	})
}

// TruncateOverlap cuts the list before the first part that overlaps others: what remains is a prefix of it.
func TruncateOverlap(list, others []Ref) []Ref {
	for i, r := range list {
		whole, ok := r, true
		for _, o := range others {
			if r, ok = r.PrefixWithout(o); !ok {
				return list[:i]
			}
		}
		if r != whole {
			return append(slices.Clone(list[:i]), r)
		}
	}
	return list
}

// CommonPrefix returns the longest list that is a prefix of both.
func CommonPrefix(a, b []Ref) []Ref {
	var out []Ref
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			out = append(out, a[i])
			continue
		}
		if p, ok := a[i].CommonPrefix(b[i]); ok {
			out = append(out, p)
		}
		break
	}
	return out
}

// Order relates two axis lists as PrefixStatus does.
type Order int

// The results of PrefixStatus.
const (
	NotPrefix Order = iota
	StrictPrefix
	EqualLists
)

// PrefixStatus says whether a is a prefix of b, the last element of a counting as one where it is a major part of
// its counterpart (specification: shardy.md section 3.4). It compares sizes alone: parts that cannot coexist, such as
// (1)2 and (1)3, count as prefixes where the arithmetic says so.
func PrefixStatus(a, b []Ref) Order {
	switch {
	case len(a) == 0 && len(b) == 0:
		return EqualLists
	case len(a) == 0:
		return StrictPrefix
	case len(a) > len(b):
		return NotPrefix
	}
	n := len(a) - 1
	if !slices.Equal(a[:n], b[:n]) {
		return NotPrefix
	}
	switch {
	case a[n] == b[n] && len(a) == len(b):
		return EqualLists
	case a[n].PrefixOf(b[n]):
		return StrictPrefix
	}
	return NotPrefix
}
