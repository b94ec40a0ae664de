package collectives

import (
	"encoding/binary"
	"slices"

	"autoshard/subaxis"
)

// atoms are what layouts are made of: axes of a mesh, cut where some layouts cut them, or neighbours that these layouts keep
// together. The parts in a run go together.
type atoms struct {
	cuts map[int32][]int64 // see cutPoints
	runs [][]subaxis.Ref
	at   map[subaxis.Ref]uint8 // the run that begins with a part
}

// newAtoms cuts the axes of a mesh where layouts cut them. Axes of one device count only where a layout names them.
func newAtoms(mesh []subaxis.Axis, layouts ...*Layout) *atoms {
	a := &atoms{cuts: cutPoints(layouts...)}
	named := map[subaxis.Ref]bool{}
	for _, l := range layouts {
		for _, r := range allAxes(l) {
			if r.Size == 1 {
				named[r] = true
			}
		}
	}
	for i, axis := range mesh {
		whole := subaxis.Ref{Axis: int32(i), Pre: 1, Size: int32(axis.Size)}
		a.cuts[whole.Axis] = append(a.cuts[whole.Axis], axis.Size)
		slices.Sort(a.cuts[whole.Axis])
		if axis.Size > 1 {
			for _, part := range refineAxes([]subaxis.Ref{whole}, a.cuts) {
				a.runs = append(a.runs, []subaxis.Ref{part})
			}
		}
	}
	alone := make([]subaxis.Ref, 0, len(named))
	for r := range named {
		alone = append(alone, r)
	}
	slices.SortFunc(alone, subaxis.Compare)
	for _, r := range alone {
		a.runs = append(a.runs, []subaxis.Ref{r})
	}
	a.number()
	return a
}

func (a *atoms) number() {
	a.at = map[subaxis.Ref]uint8{}
	for i, run := range a.runs {
		a.at[run[0]] = uint8(i)
	}
}

// join makes runs of neighbours that two layouts always hold one directly after the other, or not at all.
func (a *atoms) join(layouts ...*Layout) {
	after := map[subaxis.Ref]map[subaxis.Ref]int{} // how many layouts hold a part directly after another
	held := map[subaxis.Ref]int{}
	for _, l := range layouts {
		for _, axes := range append(slices.Clone(l.Dims), l.Unreduced) {
			parts := refineAxes(axes, a.cuts)
			for i, r := range parts {
				held[r]++
				if i > 0 {
					if after[parts[i-1]] == nil {
						after[parts[i-1]] = map[subaxis.Ref]int{}
					}
					after[parts[i-1]][r]++
				}
			}
		}
	}
	var runs [][]subaxis.Ref
	for _, run := range a.runs {
		if n := len(runs); n > 0 {
			last := runs[n-1][len(runs[n-1])-1]
			if held[last] == held[run[0]] && after[last][run[0]] == held[last] {
				runs[n-1] = append(slices.Clip(runs[n-1]), run[0])
				continue
			}
		}
		runs = append(runs, run)
	}
	a.runs = runs
	a.number()
}

// of returns the atoms of a list of axes.
func (a *atoms) of(axes []subaxis.Ref) []uint8 {
	parts := refineAxes(axes, a.cuts)
	var out []uint8
	for i := 0; i < len(parts); {
		n := a.at[parts[i]]
		out = append(out, n)
		i += len(a.runs[n])
	}
	return out
}

// axes returns the axes that atoms are made of.
func (a *atoms) axes(list []uint8) []subaxis.Ref {
	var out []subaxis.Ref
	for _, n := range list {
		out = subaxis.AppendMerge(out, a.runs[n]...)
	}
	return out
}

// product returns the number of blocks that atoms cut a dimension into.
func (a *atoms) product(list []uint8) int64 {
	n := int64(1)
	for _, i := range list {
		n *= subaxis.Product(a.runs[i])
	}
	return n
}

// key tells atoms apart.
func (a *atoms) key() string {
	var key []byte
	for _, run := range a.runs {
		key = append(key, byte(len(run)))
		for _, r := range run {
			key = binary.AppendUvarint(key, uint64(r.Axis))
			key = binary.AppendUvarint(key, uint64(r.Pre))
			key = binary.AppendUvarint(key, uint64(r.Size))
		}
	}
	return string(key)
}
