package refine

import (
	"slices"

	"autoshard/subaxis"
)

// Find returns the list of axes and parts along which every device has the number that the table says, by its place
// in the mesh: the inverse of subaxis.Mesh.ShardIndex. It returns false for a table that is no such numbering.
//
//	Find(mesh, []int64{0, 2, 1, 3}) // of x=2, y=2: "y", "x"
func Find(mesh *subaxis.Mesh, table []int64) ([]subaxis.Ref, bool) {
	type digit struct {
		ref    subaxis.Ref
		weight int64
	}
	var digits []digit
	stride := mesh.Devices()
	if int64(len(table)) != stride {
		return nil, false
	}
	for a, axis := range mesh.Axes {
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
			digits = append(digits, digit{subaxis.Ref{Axis: int32(a), Pre: int32(axis.Size / (s * k)), Size: int32(k)}, w})
			s *= k
			found = s
		}
	}
	slices.SortStableFunc(digits, func(a, b digit) int { return int(min(max(b.weight-a.weight, -1), 1)) })
	var refs []subaxis.Ref
	for _, d := range digits {
		refs = subaxis.AppendMerge(refs, d.ref)
	}
	for d, want := range table {
		if mesh.ShardIndex(int64(d), refs) != want {
			return nil, false
		}
	}
	return refs, true
}

// FindGroups returns the list of axes and parts along which groups of devices run, members in order. It returns false
// for groups that run along none.
func FindGroups(mesh *subaxis.Mesh, groups [][]int64) ([]subaxis.Ref, bool) {
	table := slices.Repeat([]int64{-1}, int(mesh.Devices()))
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
	refs, ok := Find(mesh, table)
	if !ok {
		return nil, false
	}
	for _, g := range mesh.Groups(refs) {
		if !slices.Equal(first[g[0]], g) {
			return nil, false
		}
	}
	return refs, true
}
