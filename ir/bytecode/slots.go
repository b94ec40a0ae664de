package bytecode

import (
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/vhlo"
)

// slot is the place of a property among those of an op. A required one holds a reference, another one perhaps none.
type slot struct {
	name     string
	required bool
}

// segments are the properties that say how operands and results are grouped. From version 6 on they come behind the
// others, as numbers (specification: bytecode.md section A.7.4).
const (
	operandSegments = "operandSegmentSizes"
	resultSegments  = "resultSegmentSizes"
)

// otherSlots are the properties of ops where they are not those that the kind declares, the ones with an exclamation
// mark required.
var otherSlots = map[string]string{
	"func.func":          "arg_attrs function_type! no_inline res_attrs sym_name! sym_visibility",
	"func.constant":      "value!",
	"func.call_indirect": "arg_attrs res_attrs",
	"builtin.module":     "sym_name sym_visibility",
	"sdy.mesh":           "mesh! sym_name!",
	"cf.cond_br":         "branch_weights operandSegmentSizes!",
	"arith.constant":     "value!",
	"shape.const_shape":  "shape!",
	"stablehlo.infeed":   "infeed_config layout",
	"stablehlo.outfeed":  "outfeed_config",
}

// slotsOf returns the properties of an op in stored order, which is that of their names (specification: bytecode.md
// section A.7.3), and whether the op is known.
func slotsOf(op string) ([]slot, bool) {
	var out []slot
	if names, ok := otherSlots[op]; ok {
		for _, name := range strings.Fields(names) {
			bare := strings.TrimSuffix(name, "!")
			out = append(out, slot{bare, bare != name})
		}
		return out, true
	}
	if name, ok := strings.CutPrefix(op, "vhlo."); ok {
		v, ok := vhlo.Lookup(name)
		return lists.Map(v.Fields, func(field string) slot { return slot{field, true} }), ok
	}
	kind, ok := ir.ParseKind(op)
	if ok {
		out = lists.Map(kind.Declared(), func(d ir.DeclaredAttr) slot { return slot{d.Name, d.Required} })
	}
	return out, ok
}
