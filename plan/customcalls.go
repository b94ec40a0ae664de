package plan

import (
	"autoshard/ir"
	"autoshard/ir/rule"
)

// settleCalls prepares what a plan does not cut as it is written: tokens of the main function, which hold no elements,
// and custom calls.
func settleCalls(m *ir.Module) {
	if main, ok := m.Main(); ok {
		m.DropTokens(main)
	}
	giveBatchRules(m)
}

// isCallback says whether an op calls a function in Python.
func isCallback(m *ir.Module, op ir.OpID) bool {
	return m.Kind(op) == ir.OpCustomCall && ir.IsPythonCallback(m.OpAttrs(op).Str("call_target_name"))
}

// giveBatchRules gives custom calls a rule whose target is known to work on each problem of a batch by itself, so that
// batches are cut.
func giveBatchRules(m *ir.Module) {
	m.Walk(m.Body(), func(op ir.OpID) {
		if r := rule.Batch(m, op); r != nil {
			m.SetAttrs(op, m.OpAttrs(op).With(rule.Attr, &ir.RuleAttr{Rule: r}))
		}
	})
}
