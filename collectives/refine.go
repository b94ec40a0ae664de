package collectives

import (
	"slices"

	"autoshard/subaxis"
)

func coexist(a, b Layout) bool {
	all := append(allAxes(&a), allAxes(&b)...)
	for i, r := range all {
		for _, o := range all[:i] {
			if !r.CanCoexist(o) {
				return false
			}
		}
	}
	return true
}

func allAxes(l *Layout) []subaxis.Ref {
	all := slices.Clone(l.Unreduced)
	for _, axes := range l.Dims {
		all = append(all, axes...)
	}
	return all
}

// cutPoints returns per mesh axis the sorted pre-sizes at which some ref of the layouts starts or ends.
func cutPoints(layouts ...*Layout) map[int32][]int64 {
	cuts := map[int32][]int64{}
	for _, l := range layouts {
		for _, r := range allAxes(l) {
			cuts[r.Axis] = append(cuts[r.Axis], int64(r.Pre), r.Next())
		}
	}
	for _, list := range cuts {
		slices.Sort(list)
	}
	return cuts
}

func refineAxes(axes []subaxis.Ref, cuts map[int32][]int64) []subaxis.Ref {
	var out []subaxis.Ref
	for _, r := range axes {
		pre := int64(r.Pre)
		for _, cut := range cuts[r.Axis] {
			if cut > pre && cut <= r.Next() {
				out = append(out, subaxis.Ref{Axis: r.Axis, Pre: int32(pre), Size: int32(cut / pre)})
				pre = cut
			}
		}
		if r.Size == 1 {
			out = append(out, r)
		}
	}
	return out
}

func merge(axes []subaxis.Ref) []subaxis.Ref { return subaxis.AppendMerge(nil, axes...) }
