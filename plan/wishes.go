package plan

import (
	"fmt"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// wish is that some inputs are cut more plainly, in the first of a few ways that costs next to nothing.
type wish struct {
	inputs []int
	ways   [][]collectives.Layout // of the inputs, one after the other
	odd    string                 // what a reader stumbles over; "" for what is not worth a word
}

// granted says whether layouts are as a wish has them, in one of its ways.
func (w *wish) granted(layouts []collectives.Layout) bool {
	return slices.ContainsFunc(w.ways, func(way []collectives.Layout) bool {
		for k, i := range w.inputs {
			if !way[k].Equal(&layouts[i]) {
				return false
			}
		}
		return true
	})
}

// grant changes layouts to one of the ways of a wish.
func (w *wish) grant(layouts []collectives.Layout, way int) []collectives.Layout {
	out := slices.Clone(layouts)
	for k, i := range w.inputs {
		out[i] = w.ways[way][k]
	}
	return out
}

// wisher knows which inputs should be cut alike.
type wisher struct {
	*likeness
	module *ir.Module
	mesh   *subaxis.Mesh
	free   []bool // inputs to which the user gave no sharding
	slack  int64  // bytes by which what a device holds may grow
}

// wishes lists what is odd about layouts, the oddest first. What cannot be changed is no wish.
func (x *wisher) wishes(layouts []collectives.Layout) (list []wish) {
	add := func(w wish) {
		bound := func(k int) bool { return !x.free[w.inputs[k]] && x.changes(&w, k, layouts) }
		if len(w.ways) > 0 && !w.granted(layouts) && !slices.ContainsFunc(lists.Range[int](len(w.inputs)), bound) {
			list = append(list, w)
		}
	}
	for _, group := range x.batch {
		add(x.batchWish(group, layouts))
	}
	for _, group := range x.layers {
		common := commonest(group, layouts)
		add(wish{group, [][]collectives.Layout{lists.Map(group, func(int) collectives.Layout { return common })},
			withoutNumbers(x.names[group[0]]) + " are of equal layers, and cut differently"})
	}
	for _, pair := range x.states {
		p, s := layouts[pair[0]], layouts[pair[1]]
		if !refines(&s, &p) {
			add(wish{pair[:], [][]collectives.Layout{{p, p}, {s, s}},
				fmt.Sprintf("%s is the state of %s, and cut differently", x.names[pair[1]], x.names[pair[0]])})
		}
	}
	add(x.plainWish(layouts))
	return list
}

// changes says whether a way of a wish changes one of its inputs.
func (x *wisher) changes(w *wish, k int, layouts []collectives.Layout) bool {
	return slices.ContainsFunc(w.ways, func(way []collectives.Layout) bool { return !way[k].Equal(&layouts[w.inputs[k]]) })
}

// batchWish is that the leading dimensions of inputs of one batch are cut as that of the one that is cut most, or as others that are
// cut.
func (x *wisher) batchWish(group []int, layouts []collectives.Layout) wish {
	w := wish{inputs: group}
	var leading [][]subaxis.Ref
	for _, i := range group {
		axes := layouts[i].Dims[0]
		if len(axes) > 0 && !slices.ContainsFunc(leading, func(l []subaxis.Ref) bool { return slices.Equal(l, axes) }) {
			leading = append(leading, axes)
		}
	}
	slices.SortStableFunc(leading, func(a, b []subaxis.Ref) int { return int(subaxis.Product(b) - subaxis.Product(a)) })
	for _, axes := range leading {
		w.ways = append(w.ways, lists.Map(group, func(i int) collectives.Layout { return led(&layouts[i], axes) }))
	}
	w.odd = lists.Joined(group, func(i int) string { return x.names[i] }) + " are parts of one batch, and cut differently"
	return w
}

// plainWish is that no dimension of small inputs that are none of the batch is cut along several axes, or along a part of one: of those
// that together fit into the slack so.
func (x *wisher) plainWish(layouts []collectives.Layout) wish {
	w := wish{ways: [][]collectives.Layout{nil}}
	args, left := x.module.BlockArgs(x.module.MainFunc().Body), x.slack
	for i, v := range args {
		if !x.free[i] || slices.ContainsFunc(x.batch, func(group []int) bool { return slices.Contains(group, i) }) {
			continue
		}
		l, t := x.plain(&layouts[i]), x.module.ValueType(v)
		if l.Equal(&layouts[i]) {
			continue
		}
		if more := t.Bytes()/l.Shards() - t.Bytes()/layouts[i].Shards(); more <= left {
			w.inputs, w.ways[0], left = append(w.inputs, i), append(w.ways[0], l), left-more
		}
	}
	return w
}

// plain returns a layout with at most one axis to a dimension, which is whole.
func (x *wisher) plain(from *collectives.Layout) (l collectives.Layout) {
	for _, axes := range from.Dims {
		if len(axes) > 0 && !x.mesh.IsFull(axes[0]) {
			axes = nil
		}
		l.Dims = append(l.Dims, axes[:min(1, len(axes))])
	}
	return l
}

// led returns a layout with some axes at the leading dimension, and at no other.
func led(from *collectives.Layout, axes []subaxis.Ref) (l collectives.Layout) {
	l.Dims = append(l.Dims, axes)
	for _, others := range from.Dims[1:] {
		l.Dims = append(l.Dims, lists.Filter(others, func(r subaxis.Ref) bool {
			_, taken := subaxis.Overlapping(axes, r)
			return !taken
		}))
	}
	return l
}

// commonest returns the layout of most of some inputs, of the first of them where there are several.
func commonest(group []int, layouts []collectives.Layout) (out collectives.Layout) {
	most := 0
	for _, i := range group {
		if n := len(lists.Filter(group, func(j int) bool { return layouts[i].Equal(&layouts[j]) })); n > most {
			most, out = n, layouts[i]
		}
	}
	return out
}

// refines says whether a layout cuts every dimension along the axes of another one, and then perhaps along more.
func refines(l, of *collectives.Layout) bool {
	for d, axes := range of.Dims {
		if len(l.Dims[d]) < len(axes) || !slices.Equal(l.Dims[d][:len(axes)], axes) {
			return false
		}
	}
	return true
}
