package collectives

import (
	"slices"

	"autoshard/ir"
	rules "autoshard/ir/rule"
)

// restrictCustomCall leaves the factors along which a custom call works block by block: where the target is known, the
// dimensions of independent problems; where it is not but the model gives it a rule, what the rule lets pass from
// operands to every result.
func restrictCustomCall(m *ir.Module, op ir.OpID, rule *ir.Rule, shardable []bool) {
	independent := m.IndependentDims(op)
	_, given := m.Attr(op, rules.Attr).(*ir.RuleAttr)
	switch {
	case independent != nil:
		tensors := slices.Concat(rule.Operands, rule.Results)
		for f := range shardable {
			shardable[f] = shardable[f] && alongOneDim(tensors, int32(f), independent)
		}
	case given:
		for f := range shardable {
			has := func(mapping [][]int32) bool { return holds(mapping, int32(f)) }
			missing := func(mapping [][]int32) bool { return !has(mapping) }
			shardable[f] = shardable[f] && slices.ContainsFunc(rule.Operands, has) &&
				len(rule.Results) > 0 && !slices.ContainsFunc(rule.Results, missing) && !slices.Contains(rule.Reduction, int32(f))
		}
	default:
		clearAll(shardable)
	}
}

// alongOneDim says whether a factor alone makes one and the same independent dimension of all tensors, scalars excepted.
func alongOneDim(tensors [][][]int32, f int32, independent func(d int) bool) bool {
	at := -1
	for _, mapping := range tensors {
		if len(mapping) == 0 {
			continue
		}
		d := slices.IndexFunc(mapping, func(dim []int32) bool { return slices.Contains(dim, f) })
		if d < 0 || at >= 0 && d != at || len(mapping[d]) != 1 || !independent(d) {
			return false
		}
		at = d
	}
	return at >= 0
}

func holds(mapping [][]int32, f int32) bool {
	return slices.ContainsFunc(mapping, func(dim []int32) bool { return slices.Contains(dim, f) })
}

func clearAll(shardable []bool) {
	for f := range shardable {
		shardable[f] = false
	}
}
