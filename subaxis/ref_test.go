package subaxis_test

import (
	"slices"
	"testing"

	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// parts returns all valid parts of an axis of size n, the whole axis among them.
func parts(n int64) []subaxis.Ref {
	var list []subaxis.Ref
	for pre := int64(1); pre <= n; pre++ {
		for size := int64(1); pre*size <= n; size++ {
			if n%(pre*size) == 0 && (size > 1 || n == 1) {
				list = append(list, subaxis.Ref{Pre: int32(pre), Size: int32(size)})
			}
		}
	}
	return list
}

// digits describes a part of an axis of size n by what it does to coordinates: it keeps coordinate / minor % size.
// Two parts overlap exactly if they are not independent: some pair of their digits never occurs together.
func independent(n int64, a, b subaxis.Ref) bool {
	seen := map[[2]int64]bool{}
	for c := range n {
		seen[[2]int64{digit(n, c, a), digit(n, c, b)}] = true
	}
	return int64(len(seen)) == int64(a.Size)*int64(b.Size)
}

func digit(n, coordinate int64, r subaxis.Ref) int64 {
	return coordinate / (n / r.Next()) % int64(r.Size)
}

var sizes = []int64{1, 2, 3, 4, 6, 8, 12, 16, 24, 36, 60}

// TestPartsAgainstCoordinates checks the algebra of all pairs of parts of small axes against what they mean for
// device coordinates.
func TestPartsAgainstCoordinates(t *testing.T) {
	for _, n := range sizes {
		for _, a := range parts(n) {
			for _, b := range parts(n) {
				checkPair(t, n, a, b)
			}
		}
	}
}

func checkPair(t *testing.T, n int64, a, b subaxis.Ref) {
	t.Helper()
	if n > 1 && a.CanCoexist(b) && a.Overlaps(b) == independent(n, a, b) {
		t.Errorf("size %d: %v.Overlaps(%v) = %v, but independent = %v", n, a, b, a.Overlaps(b), independent(n, a, b))
	}
	if a.CanCoexist(b) != b.CanCoexist(a) || a.Overlaps(b) != b.Overlaps(a) {
		t.Errorf("size %d: %v and %v: CanCoexist and Overlaps must be symmetric", n, a, b)
	}
	if got := refines(n, a, b); got != a.CanCoexist(b) {
		t.Errorf("size %d: %v.CanCoexist(%v) = %v, but a common refinement exists: %v", n, a, b, a.CanCoexist(b), got)
	}
	checkPieces(t, n, a, b)
	if a.CanMerge(b) {
		checkMerge(t, n, a, b)
	}
	if a.CanCoexist(b) && n > 1 {
		checkWithin(t, n, a, b)
	}
}

// checkWithin checks the relations "within", "prefix" and "suffix" of parts that coexist: b lies within a if the digit
// of a tells that of b, is a major part if it is the leading digits, a minor one if it is the trailing digits.
func checkWithin(t *testing.T, n int64, a, b subaxis.Ref) {
	t.Helper()
	told, within, major, minor := map[int64]int64{}, true, true, true
	for c := range n {
		da, db := digit(n, c, a), digit(n, c, b)
		if d, ok := told[da]; ok && d != db {
			within = false
		}
		told[da] = db
		major = major && a.Size%b.Size == 0 && da/int64(a.Size/b.Size) == db
		minor = minor && da%int64(b.Size) == db
	}
	if a.Contains(b) != within || b.PrefixOf(a) != major || b.SuffixOf(a) != minor {
		t.Errorf("size %d: %v contains %v: %v, as prefix %v, as suffix %v; by coordinates %v, %v, %v", n, a, b,
			a.Contains(b), b.PrefixOf(a), b.SuffixOf(a), within, major, minor)
	}
	if p, ok := a.CommonPrefix(b); ok != (a.PrefixOf(b) || b.PrefixOf(a)) || ok && p.Size != min(a.Size, b.Size) {
		t.Errorf("size %d: common prefix of %v and %v is %v, %v", n, a, b, p, ok)
	}
}

// refines says whether one factorization of the axis has both parts as products of neighbouring factors: the
// cuts of both, sorted, divide each other.
func refines(n int64, a, b subaxis.Ref) bool {
	cuts := []int64{1, int64(a.Pre), a.Next(), int64(b.Pre), b.Next(), n}
	slices.Sort(cuts)
	for i := range len(cuts) - 1 {
		if cuts[i+1]%cuts[i] != 0 {
			return false
		}
	}
	return true
}

// checkPieces checks that the pieces of a around b are parts of a that are independent of b and as large as can be.
func checkPieces(t *testing.T, n int64, a, b subaxis.Ref) {
	t.Helper()
	prefix, hasPrefix := a.PrefixWithout(b)
	suffix, hasSuffix := a.SuffixWithout(b)
	if !a.CanCoexist(b) {
		if hasPrefix || hasSuffix {
			t.Errorf("size %d: %v without %v, which cannot coexist, leaves something", n, a, b)
		}
		return
	}
	product := int64(1)
	if overlap, ok := a.Overlap(b); ok {
		product *= int64(overlap.Size)
		if !a.Contains(overlap) || !b.Contains(overlap) {
			t.Errorf("size %d: overlap of %v and %v is %v, not in both", n, a, b, overlap)
		}
	}
	if hasPrefix {
		product *= int64(prefix.Size)
		if !prefix.PrefixOf(a) || prefix.Overlaps(b) {
			t.Errorf("size %d: %v.PrefixWithout(%v) = %v", n, a, b, prefix)
		}
	}
	if hasSuffix && a.Overlaps(b) {
		product *= int64(suffix.Size)
		if !suffix.SuffixOf(a) || suffix.Overlaps(b) {
			t.Errorf("size %d: %v.SuffixWithout(%v) = %v", n, a, b, suffix)
		}
	}
	if product != int64(a.Size) {
		t.Errorf("size %d: prefix, overlap and suffix of %v and %v make %d", n, a, b, product)
	}
}

// checkMerge checks that a merged part enumerates blocks as its two parts do, one after the other.
func checkMerge(t *testing.T, n int64, a, b subaxis.Ref) {
	t.Helper()
	whole := a.Merge(b)
	for c := range n {
		if digit(n, c, whole) != digit(n, c, a)*int64(b.Size)+digit(n, c, b) {
			t.Errorf("size %d: %v merged with %v is %v", n, a, b, whole)
			return
		}
	}
}

func TestAxisOfSizeOneOverlapsItself(t *testing.T) {
	r := subaxis.Ref{Pre: 1, Size: 1}
	if !r.Overlaps(r) {
		t.Error("an axis of size 1 used twice has to count as used twice")
	}
	if _, ok := r.PrefixWithout(r); ok {
		t.Error("nothing is left of an axis of size 1 without itself")
	}
}

// mesh returns a small mesh and draws lists of parts of it that overlap nowhere.
func drawMesh(t *rapid.T) *subaxis.Mesh {
	names := []string{"a", "b", "c"}
	m := &subaxis.Mesh{}
	for i := range rapid.IntRange(1, 3).Draw(t, "axes") {
		m.Axes = append(m.Axes, subaxis.Axis{Name: names[i], Size: rapid.SampledFrom([]int64{2, 3, 4, 6, 8}).Draw(t, "size")})
	}
	return m
}

func drawList(t *rapid.T, m *subaxis.Mesh, label string) []subaxis.Ref {
	var list []subaxis.Ref
	for range rapid.IntRange(0, 4).Draw(t, label) {
		i := rapid.IntRange(0, len(m.Axes)-1).Draw(t, "axis")
		r := rapid.SampledFrom(parts(m.Axes[i].Size)).Draw(t, "part")
		r.Axis = int32(i)
		if !slices.ContainsFunc(list, func(o subaxis.Ref) bool { return o.Overlaps(r) || !o.CanCoexist(r) }) {
			list = append(list, r)
		}
	}
	return list
}

// TestListLaws checks the operations on lists against block numbers of devices.
func TestListLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMesh(t)
		a, b := drawList(t, m, "a"), drawList(t, m, "b")
		checkDifference(t, a, b)
		if cut := subaxis.TruncateOverlap(a, b); subaxis.PrefixStatus(cut, a) == subaxis.NotPrefix {
			t.Fatalf("TruncateOverlap(%v, %v) = %v is no prefix", a, b, cut)
		} else if subaxis.Intersect(cut, b) {
			t.Fatalf("TruncateOverlap(%v, %v) = %v still overlaps", a, b, cut)
		}
		common := subaxis.CommonPrefix(a, b)
		if subaxis.PrefixStatus(common, a) == subaxis.NotPrefix || subaxis.PrefixStatus(common, b) == subaxis.NotPrefix {
			t.Fatalf("CommonPrefix(%v, %v) = %v is not a prefix of both", a, b, common)
		}
		// PrefixStatus compares sizes alone, so (1)2 counts as a prefix of (1)3; a common prefix has to be one of both in one refinement.
		if subaxis.PrefixStatus(a, b) != subaxis.NotPrefix && coexist(a, b) && !slices.Equal(common, a) {
			t.Fatalf("%v is a prefix of %v, but their common prefix is %v", a, b, common)
		}
		checkMergedOrder(t, m, a)
		checkGroups(t, m, a)
	})
}

func coexist(a, b []subaxis.Ref) bool {
	return !slices.ContainsFunc(a, func(r subaxis.Ref) bool {
		return slices.ContainsFunc(b, func(o subaxis.Ref) bool { return !r.CanCoexist(o) })
	})
}

func checkDifference(t *rapid.T, a, b []subaxis.Ref) {
	common := slices.ContainsFunc(a, func(r subaxis.Ref) bool { return slices.ContainsFunc(b, r.Overlaps) })
	if subaxis.Intersect(a, b) != common {
		t.Fatalf("Intersect(%v, %v) is %t", a, b, !common)
	}
	rest := subaxis.Difference(a, b)
	if subaxis.Intersect(rest, b) {
		t.Fatalf("Difference(%v, %v) = %v overlaps the second list", a, b, rest)
	}
	if !common && !slices.Equal(a, rest) {
		t.Fatalf("Difference(%v, %v) = %v lost something", a, b, rest)
	}
	if len(subaxis.Difference(a, a)) != 0 {
		t.Fatalf("Difference(%v, itself) is not empty", a)
	}
}

// checkMergedOrder checks that merging neighbours keeps every device's block.
func checkMergedOrder(t *rapid.T, m *subaxis.Mesh, a []subaxis.Ref) {
	var merged []subaxis.Ref
	for _, r := range a {
		merged = subaxis.AppendMerge(merged, r)
	}
	for d := range m.Devices() {
		if m.ShardIndex(d, a) != m.ShardIndex(d, merged) {
			t.Fatalf("device %d has block %d of %v but %d of the merged %v", d, m.ShardIndex(d, a), a, m.ShardIndex(d, merged), merged)
		}
	}
	sorted := subaxis.SortMerge(slices.Clone(a))
	if subaxis.Product(sorted) != subaxis.Product(a) || !slices.IsSortedFunc(sorted, subaxis.Compare) {
		t.Fatalf("SortMerge(%v) = %v", a, sorted)
	}
}

// checkGroups checks that groups partition the devices, ordered by block, and differ in nothing but the refs.
func checkGroups(t *rapid.T, m *subaxis.Mesh, a []subaxis.Ref) {
	seen := map[int64]bool{}
	for _, group := range m.Groups(a) {
		if int64(len(group)) != subaxis.Product(a) {
			t.Fatalf("groups along %v have %d devices, not %d", a, len(group), subaxis.Product(a))
		}
		for i, d := range group {
			if seen[d] || m.ShardIndex(d, a) != int64(i) {
				t.Fatalf("device %d is at %d of its group along %v", d, i, a)
			}
			seen[d] = true
		}
	}
	if int64(len(seen)) != m.Devices() {
		t.Fatalf("groups along %v hold %d of %d devices", a, len(seen), m.Devices())
	}
}
