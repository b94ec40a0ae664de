package rule

import "autoshard/ir"

func init() {
	register(&Family{
		Name:  "chlo pointwise",
		Why:   "every result element depends only on the operand elements at its place",
		build: buildPointwise,
		local: true,
		own:   true,
	}, pointwiseOps("chlo")...)
	register(&Family{
		Name:  "chlo topk",
		Why:   "the searched dimension has to be whole; the others pass through",
		build: buildTopK,
		own:   true,
	}, ir.OpChloTopK)
}
