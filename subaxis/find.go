package subaxis

import "slices"

// Find returns the list of axes and parts along which every device has the number that the table says, by its place
// in the mesh: the inverse of [Mesh.ShardIndex]. It returns false for a table that is no such numbering.
//
//	m.Find([]int64{0, 2, 1, 3}) // of x=2, y=2: "y", "x"
func (m *Mesh) Find(table []int64) ([]Ref, bool) {
	type digit struct {
		ref    Ref
		weight int64
	}
	var digits []digit
	stride := m.Devices()
	if int64(len(table)) != stride {
		return nil, false
	}
	for a, axis := range m.Axes {
		stride /= axis.Size
		at := func(c int64) int64 { return table[c*stride] }
		// Walk from the minor end, past what is found: a part begins at the first place that has a number, and goes on
		// while the numbers grow evenly.
		for s, found := int64(1), int64(1); s < axis.Size; {
			w := at(s)
			if w <= 0 {
				s += found
				continue
			}
			k := int64(1)
			for k*s < axis.Size && at(k*s) == k*w {
				k++
			}
			if axis.Size%(s*k) != 0 {
				return nil, false
			}
			digits = append(digits, digit{Ref{Axis: int32(a), Pre: int32(axis.Size / (s * k)), Size: int32(k)}, w})
			s *= k
			found = s
		}
	}
	slices.SortStableFunc(digits, func(a, b digit) int { return int(min(max(b.weight-a.weight, -1), 1)) })
	var refs []Ref
	for _, d := range digits {
		refs = AppendMerge(refs, d.ref)
	}
	for d, want := range table {
		if m.ShardIndex(int64(d), refs) != want {
			return nil, false
		}
	}
	return refs, true
}

// Numbers returns the number that each device of the mesh, by its place, has along parts of another mesh of the same devices, as
// [Mesh.ShardIndex] counts; false where that one has others.
func (m *Mesh) Numbers(other *Mesh, refs ...Ref) ([]int64, bool) {
	n := m.Devices()
	if other.Devices() != n {
		return nil, false
	}
	place := map[int64]int64{}
	for p := range n {
		place[other.DeviceID(p)] = p
	}
	table := make([]int64, n)
	for p := range n {
		at, ok := place[m.DeviceID(p)]
		if !ok {
			return nil, false
		}
		table[p] = other.ShardIndex(at, refs)
	}
	return table, true
}

// FindGroups returns the list of axes and parts along which groups of devices run, members in order: the inverse of
// [Mesh.Groups]. It returns false for groups that run along none.
func (m *Mesh) FindGroups(groups [][]int64) ([]Ref, bool) {
	table := slices.Repeat([]int64{-1}, int(m.Devices()))
	first := map[int64][]int64{}
	for _, g := range groups {
		for k, d := range g {
			if d < 0 || d >= int64(len(table)) || table[d] >= 0 {
				return nil, false
			}
			table[d] = int64(k)
		}
		if len(g) > 0 {
			first[g[0]] = g
		}
	}
	if slices.Contains(table, -1) {
		return nil, false
	}
	refs, ok := m.Find(table)
	if !ok {
		return nil, false
	}
	for _, g := range m.Groups(refs) {
		if !slices.Equal(first[g[0]], g) {
			return nil, false
		}
	}
	return refs, true
}
