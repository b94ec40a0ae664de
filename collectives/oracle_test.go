package collectives

import (
	"math"
	"slices"
	"testing"

	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// everyLayout returns all ways to put axes in some order on two dimensions, to leave them free or to leave them pending.
func everyLayout(axes []subaxis.Ref, at Layout, visit func(Layout)) {
	visit(at)
	used := allAxes(&at)
	for _, r := range axes {
		if slices.Contains(used, r) {
			continue
		}
		for d := range at.Dims {
			next := Layout{Dims: slices.Clone(at.Dims), Unreduced: at.Unreduced}
			next.Dims[d] = append(slices.Clone(at.Dims[d]), r)
			everyLayout(axes, next, visit)
		}
		if n := len(at.Unreduced); n == 0 || subaxis.Compare(at.Unreduced[n-1], r) < 0 {
			everyLayout(axes, Layout{Dims: at.Dims, Unreduced: append(slices.Clone(at.Unreduced), r)}, visit)
		}
	}
}

// layoutsOf returns the layouts of a tensor, each once.
func layoutsOf(axes []subaxis.Ref, dims []int64) []Layout {
	var all []Layout
	seen := map[string]bool{}
	everyLayout(axes, Layout{Dims: make([][]subaxis.Ref, len(dims))}, func(l Layout) {
		if key := string(appendLayout(nil, &l)); !seen[key] && l.Divides(dims) {
			seen[key] = true
			all = append(all, l)
		}
	})
	return all
}

// changed returns the dimensions that one layout cuts further than another, and those that it cuts less; twice where it is neither.
func changed(a, b *Layout) (longer, shorter []int) {
	for d := range a.Dims {
		switch x, y := a.Dims[d], b.Dims[d]; {
		case slices.Equal(x, y):
		case len(y) > len(x) && slices.Equal(x, y[:len(x)]):
			longer = append(longer, d)
		case len(x) > len(y) && slices.Equal(x[:len(y)], y):
			shorter = append(shorter, d)
		default:
			longer, shorter = append(longer, d, d), append(shorter, d, d)
		}
	}
	return longer, shorter
}

// sameBlocks says whether two layouts cut every dimension into as many blocks.
func sameBlocks(a, b *Layout) bool {
	return slices.EqualFunc(a.Dims, b.Dims, func(x, y []subaxis.Ref) bool { return subaxis.Product(x) == subaxis.Product(y) })
}

// stepPrice says from two layouts alone whether one step leads from one to the other, and what the cheapest one costs.
func stepPrice(pricer Pricer, a, b *Layout, bytes int64) int64 {
	best := int64(math.MaxInt64)
	offer := func(kind Kind, list []subaxis.Ref) {
		best = min(best, pricer.Price(kind, list, bytes/a.Shards()))
	}
	gone := subaxis.Difference(a.Unreduced, b.Unreduced)
	if len(subaxis.Difference(b.Unreduced, a.Unreduced)) > 0 {
		return best
	}
	longer, shorter := changed(a, b)
	var added, removed []subaxis.Ref
	if len(longer) == 1 {
		added = b.Dims[longer[0]][len(a.Dims[longer[0]]):]
	}
	if len(shorter) == 1 {
		removed = a.Dims[shorter[0]][len(b.Dims[shorter[0]]):]
	}
	switch {
	case len(gone) > 0 && len(longer)+len(shorter) == 0:
		offer(AllReduce, gone)
	case len(gone) > 0 && len(shorter) == 0 && len(added) == len(gone) && len(subaxis.Difference(gone, added)) == 0:
		offer(ReduceScatter, added)
	case len(gone) > 0:
	case len(shorter) == 0 && len(added) > 0 && len(subaxis.Difference(added, a.Unreduced)) == len(added):
		offer(AllSlice, added)
	case len(longer) == 0 && len(removed) > 0:
		offer(AllGather, removed)
	case len(added) > 0 && slices.Equal(added, removed):
		offer(AllToAll, added)
	}
	if len(gone) == 0 && sameBlocks(a, b) {
		offer(Permute, union(allAxes(&Layout{Dims: a.Dims}), allAxes(&Layout{Dims: b.Dims})))
	}
	return best
}

// cheapest is Dijkstra's algorithm as it is written in books, over pairs of layouts whose blocks take at most so many bytes together.
func cheapest(pricer Pricer, all []Layout, from Layout, bytes, most int64) []int64 {
	price, done := make([]int64, len(all)), make([]bool, len(all))
	for i := range price {
		if price[i] = math.MaxInt64; all[i].Equal(&from) {
			price[i] = 0
		}
	}
	for {
		at := -1
		for i := range all {
			if !done[i] && price[i] < math.MaxInt64 && (at < 0 || price[i] < price[at]) {
				at = i
			}
		}
		if at < 0 {
			return price
		}
		done[at] = true
		for i := range all {
			if done[i] || bytes/all[at].Shards()+bytes/all[i].Shards() > most {
				continue
			}
			if step := stepPrice(pricer, &all[at], &all[i], bytes); step < math.MaxInt64 {
				price[i] = min(price[i], price[at]+step)
			}
		}
	}
}

// drawAxes draws up to three axes of two to four devices, or two of which one is named in halves.
func drawAxes(t *rapid.T) (mesh []subaxis.Axis, axes []subaxis.Ref, halves bool) {
	if rapid.Bool().Draw(t, "halves") {
		mesh = []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: rapid.Int64Range(2, 4).Draw(t, "size")}}
		return mesh, []subaxis.Ref{{Axis: 0, Pre: 1, Size: 2}, {Axis: 0, Pre: 2, Size: 2}, {Axis: 1, Pre: 1, Size: int32(mesh[1].Size)}}, true
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "axes") {
		size := rapid.Int64Range(2, 4).Draw(t, "size")
		mesh = append(mesh, subaxis.Axis{Name: string(rune('x' + i)), Size: size})
		axes = append(axes, subaxis.Ref{Axis: int32(i), Pre: 1, Size: int32(size)})
	}
	return mesh, axes, false
}

// joined returns a layout with the halves of an axis as the axis where they follow each other.
func joined(l *Layout) Layout {
	out := Layout{Dims: make([][]subaxis.Ref, len(l.Dims)), Unreduced: subaxis.SortMerge(slices.Clone(l.Unreduced))}
	for d, list := range l.Dims {
		out.Dims[d] = merge(list)
	}
	return out
}

// Prices are those of plain shortest paths over all layouts, and prices and steps are the same whatever was asked before, also
// where that was forgotten. Layouts that do not divide the tensor are no stops. Halves of axes are stops where one of the ends
// names them.
func TestWaysAreShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh, axes, halves := drawAxes(t)
		r := Reshard{Bytes: 48 * 16 * 100,
			Shape: []int64{rapid.SampledFrom([]int64{2, 6, 8, 48}).Draw(t, "rows"), rapid.SampledFrom([]int64{3, 4, 16}).Draw(t, "columns")}}
		all := layoutsOf(axes, r.Shape)
		sources := all
		if halves {
			sources = slices.DeleteFunc(slices.Clone(all), func(l Layout) bool { return !namesHalf(l) })
		}
		if len(sources) == 0 {
			return // no half divides the tensor
		}
		p := NewPlanner(ring{}, mesh)
		for range 2 {
			p.Tensor(r.Shape, r.Bytes).Forget()
			from := rapid.SampledFrom(sources).Draw(t, "from")
			alone := rapid.IntRange(0, len(all)-1).Draw(t, "asked alone")
			for to, want := range cheapest(ring{}, all, from, r.Bytes, math.MaxInt64) {
				if want == math.MaxInt64 {
					continue
				}
				r.From, r.To = joined(&from), joined(&all[to])
				way := p.Way(p.Tensor(r.Shape, r.Bytes), p.Intern(r.From), p.Intern(r.To))
				if way.Price() != want {
					t.Fatalf("from %v to %v costs %d, the shortest path %d", from, all[to], way.Price(), want)
				}
				if to != alone {
					continue
				}
				checkBack(t, &way, &r)
				if a, b := describe(way.Steps()), describe(NewPlanner(ring{}, mesh).Cheapest(&r)); a != b {
					t.Fatalf("asked alone the steps are %s, asked later %s", b, a)
				}
			}
		}
	})
}

// Ways within a memory limit are those of plain shortest paths whose steps keep it, and there is none where there is no such path.
func TestWaysWithinMemory(t *testing.T) {
	none := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, axes, halves := drawAxes(t)
		r := Reshard{Bytes: 48 * 16 * 100, Shape: []int64{48, 16}}
		all := layoutsOf(axes, r.Shape)
		sources := all
		if halves {
			sources = slices.DeleteFunc(slices.Clone(all), func(l Layout) bool { return !namesHalf(l) })
		}
		p := NewPlanner(ring{}, mesh)
		from := rapid.SampledFrom(sources).Draw(t, "from")
		most := r.Bytes / rapid.SampledFrom([]int64{1, 2, 3, 5, 8, 20}).Draw(t, "part of the tensor")
		for to, want := range cheapest(ring{}, all, from, r.Bytes, most) {
			r.From, r.To = joined(&from), joined(&all[to])
			if len(subaxis.Difference(r.To.Unreduced, r.From.Unreduced)) > 0 {
				continue
			}
			way, ok := p.Within(&r, most)
			if ok != (want < math.MaxInt64) || ok && way.Price() != want {
				t.Fatalf("from %v to %v within %d bytes costs %d (%v), the shortest path %d", from, all[to], most, way.Price(), ok, want)
			}
			if !ok {
				none++
			}
		}
	})
	t.Logf("%d pairs have no way", none)
}

// checkBack expects that the steps told from the last to the first end on the blocks of the goal and cost what the way costs.
func checkBack(t *rapid.T, way *Way, r *Reshard) {
	total, blocks := int64(0), []int64{}
	before, sliced := int64(0), false // the bytes that the step told last began with, and whether it was a slice
	way.Back(func(h Hop) {
		if h.Joined != (sliced && h.Kind == AllSlice) {
			t.Fatalf("from %v to %v: a %v is joined with the step after it: %v", r.From, r.To, h.Kind, h.Joined)
		}
		sliced = h.Kind == AllSlice
		if len(blocks) > 0 && before != h.After {
			t.Fatalf("from %v to %v: a step ends on %d bytes, the next begins with %d", r.From, r.To, h.After, before)
		}
		total, blocks, before = total+h.Price, append(blocks, h.After), h.Before
	})
	if len(blocks) > 0 && before != r.Bytes/r.From.Shards() {
		t.Fatalf("from %v to %v: told back, the first step begins with %d bytes", r.From, r.To, before)
	}
	if total != way.Price() || len(blocks) > 0 && blocks[0] != r.Bytes/r.To.Shards() || len(blocks) != len(way.Steps()) {
		t.Fatalf("from %v to %v: told back are %d steps that cost %d and end on %v", r.From, r.To, len(blocks), total, blocks)
	}
}

// namesHalf says whether a layout holds one half of the first axis apart from the other.
func namesHalf(l Layout) bool {
	tidy := joined(&l)
	return slices.ContainsFunc(allAxes(&tidy), func(r subaxis.Ref) bool { return r.Axis == 0 && r.Size == 2 })
}

// Where a mesh has too many axes for all layouts, ways are no dearer than those of the layouts between both ends.
func TestManyAxes(t *testing.T) {
	var mesh []subaxis.Axis
	var all []subaxis.Ref
	for i := range 9 {
		mesh = append(mesh, subaxis.Axis{Name: string(rune('a' + i)), Size: 2})
		all = append(all, subaxis.Ref{Axis: int32(i), Pre: 1, Size: 2})
	}
	back := slices.Clone(all)
	slices.Reverse(back)
	p := NewPlanner(ring{}, mesh)
	for _, c := range []struct {
		from, to Layout
		want     int64
	}{
		{layout(all, nil), layout(nil, all), ring{}.Price(AllToAll, all, 1)},                  // together
		{layout(all[:4], all[4:8]), layout(all[4:8], all[:4]), ring{}.Price(Permute, nil, 2)}, // in two runs
		{layout(all, nil), layout(back, nil), ring{}.Price(Permute, nil, 1)},                  // no two go together
		{layout(back, nil), layout(nil, nil), ring{}.Price(AllGather, all, 1)},
	} {
		way := p.Way(p.Tensor([]int64{512, 512}, 512), p.Intern(c.from), p.Intern(c.to))
		if way.Price() > c.want {
			t.Errorf("from %v to %v costs %d, one step %d", c.from, c.to, way.Price(), c.want)
		}
	}
}
