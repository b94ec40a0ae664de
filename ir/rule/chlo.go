package rule

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
)

func init() {
	register(&Family{
		Name:  "chlo pointwise",
		Why:   "every result element depends only on the operand elements at its place",
		build: buildPointwise,
		local: true,
		own:   true,
		pads:  passing,
	}, pointwiseOps("chlo")...)
	register(&Family{
		Name:  "chlo broadcast",
		Why:   "operands are broadcast to the result's shape; a dimension that one of them repeats belongs to the others alone",
		build: buildBroadcasting,
		own:   true,
		pads:  passing,
	}, broadcastingOps()...)
	register(&Family{
		Name:  "chlo topk",
		Why:   "what is found along the searched dimension is exchanged; the others pass through",
		build: buildSearch,
		own:   true,
		seeks: true,

		judge: func(v *verdict) {
			for _, f := range v.rule.Permutation {
				v.cut(f, v.rule.Sizes[f])
			}
		},
		pads: owned,
	}, ir.OpChloTopK)
}

// buildSearch knows which dimension is searched, even where all of it is found.
func buildSearch(b *builder) bool {
	last := len(b.in[0]) - 1
	if !b.computing {
		return b.passing(b.in[0], func(d int) bool { return d < last }, needReplication, true)
	}
	b.pointwise(b.in[0][:last])
	b.operandsOnly(last, b.in[0][last], permutation)
	b.resultsOnly(last, b.out[0][last], needReplication)
	return true
}

func broadcastingOps() []ir.Kind {
	kinds := []ir.Kind{ir.OpChloBroadcastSelect}
	for k := range ir.NumKinds {
		if k.IsBroadcasting() {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// buildBroadcasting gives every dimension of the result a factor, which stands in those operands that do not repeat it.
func buildBroadcasting(b *builder) bool {
	places := lists.Map(b.in, func(shape []int64) []int { return b.broadcastPlaces(len(shape)) })
	for o, size := range b.out[0] {
		ins := slices.Repeat([]int{none}, len(b.in))
		for i, shape := range b.in {
			if d := slices.Index(places[i], o); d >= 0 && shape[d] == size {
				ins[i] = d
			}
		}
		b.factor(ins, []int{o}, size, passThrough, false)
	}
	return true
}

// broadcastPlaces returns the dimensions of the result where those of an operand of that rank are: the last ones, unless the
// operand has fewer than the result and broadcast_dimensions says where they are.
func (b *builder) broadcastPlaces(rank int) []int {
	out := make([]int, rank)
	given := b.ints("broadcast_dimensions")
	for d := range out {
		out[d] = len(b.out[0]) - rank + d
		if len(given) == rank && rank < len(b.out[0]) {
			out[d] = int(given[d])
		}
	}
	return out
}
