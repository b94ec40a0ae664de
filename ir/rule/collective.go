package rule

import (
	"slices"

	"autoshard/ir"
)

func init() {
	register(&Family{
		Name:  "all_gather",
		Why:   "the gathered dimension has another extent on each side; the others pass through",
		build: func(b *builder) bool { return b.resized(int(b.int("all_gather_dim", 0))) },
	}, ir.OpAllGather)
	register(&Family{
		Name:  "reduce_scatter",
		Why:   "the scattered dimension has another extent on each side; the others pass through",
		build: func(b *builder) bool { return b.resized(int(b.int("scatter_dimension", 0))) },
	}, ir.OpReduceScatter)
	register(&Family{
		Name:  "all_to_all",
		Why:   "the split and the joined dimension have other extents on each side; the others pass through",
		build: buildAllToAll,
	}, ir.OpAllToAll)
}

func buildAllToAll(b *builder) bool {
	split, concat := int(b.int("split_dimension", 0)), int(b.int("concat_dimension", 0))
	if split == concat {
		return b.resized(split)
	}
	return b.resized(split, concat)
}

// resized keeps all dimensions but the given ones, whose two sides get factors of their own.
func (b *builder) resized(changed ...int) bool {
	b.pointwiseIf(b.in[0], func(d int) bool { return !slices.Contains(changed, d) })
	for _, d := range changed {
		b.operandsOnly(d, b.in[0][d], needReplication)
		b.resultsOnly(d, b.out[0][d], needReplication)
	}
	return true
}
