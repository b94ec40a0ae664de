package rule

import (
	"strings"

	"autoshard/ir"
)

func init() {
	var elementwise []ir.Kind
	for k := ir.Kind(1); k < ir.NumKinds; k++ {
		if strings.HasPrefix(k.String(), "chlo.") && k.IsElementwise() {
			elementwise = append(elementwise, k)
		}
	}
	register(&Family{
		Name:  "chlo pointwise",
		Why:   "every result element depends only on the operand elements at its place",
		build: buildPointwise,
		local: true,
		own:   true,
	}, elementwise...)
	register(&Family{
		Name:  "chlo topk",
		Why:   "the searched dimension has to be whole; the others pass through",
		build: buildTopK,
		own:   true,
	}, ir.OpChloTopK)
}
