package plan

import (
	"cmp"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/ir/rule"
)

// wholeOps are the ops of one name that no plan can cut.
type wholeOps struct {
	name    string
	first   ir.OpID
	count   int
	bytes   int64  // that they read and make, together
	reason  string // that the first of them gives
	python  bool   // a function in Python is called
	results bool   // and computes something
}

// why says why the ops stay whole.
func (g *wholeOps) why() string {
	switch {
	case g.python && g.results:
		return "it calls a function in Python, which cannot be run here"
	case g.python:
		return "it calls a function in Python, which runs here leave out"
	}
	return g.reason
}

// whole notes the ops that every device computes alike, because no rule says how to cut them or the rule leaves no
// dimension to cut. Ops of one name are one finding.
func (f *findings) whole() {
	m := f.Module
	var groups []*wholeOps
	byName, rules := map[string]*wholeOps{}, rule.NewComputingCache()
	f.walkPlanned(m.MainFunc().Body, func(op ir.OpID) {
		reason, whole := staysWhole(m, op, rules)
		if !whole {
			return
		}
		name := called(m, op)
		g := byName[name]
		if g == nil {
			g = &wholeOps{name: name, first: op, reason: reason, python: isCallback(m, op)}
			groups, byName[name] = append(groups, g), g
		}
		g.count++
		for _, v := range append(m.Operands(op), m.ResultValues(op)...) {
			if t := m.ValueType(v); t.Kind == ir.TensorKind {
				g.bytes += t.Bytes()
			}
		}
		g.results = g.results || slices.ContainsFunc(m.ResultValues(op), func(v ir.ValueID) bool { return m.ValueType(v).Kind != ir.TokenKind })
	})
	slices.SortStableFunc(groups, func(a, b *wholeOps) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, g := range groups {
		times := ""
		if g.count > 1 {
			times = " in " + diag.Count(g.count, "place", "places")
		}
		f.Add(lint.WholeOp, g.first, "", "%s stays whole on every device%s, %s read and made: %s", g.name, times, diag.Bytes(g.bytes), g.why())
	}
}

// called returns what people call an op: a custom call by its target.
func called(m *ir.Module, op ir.OpID) string {
	if m.Kind(op) == ir.OpCustomCall {
		return "custom call `" + m.OpAttrs(op).Str("call_target_name") + "`"
	}
	return "`" + m.OpName(op) + "`"
}

// walkPlanned visits the ops of a block that a plan decides about: not those of manual computations, nor of the regions
// that are part of an op, such as reducers.
func (f *findings) walkPlanned(b ir.BlockID, visit func(ir.OpID)) {
	m := f.Module
	for op := range m.Ops(b) {
		visit(op)
		if !m.Kind(op).HasBodies() {
			continue
		}
		for inner := range m.InnerBlocks(op) {
			f.walkPlanned(inner, visit)
		}
	}
}

// staysWhole says whether an op that has arrays cannot be cut, and why.
func staysWhole(m *ir.Module, op ir.OpID, rules *rule.Cache) (why string, whole bool) {
	k := m.Kind(op)
	isArray := func(v ir.ValueID) bool { t := m.ValueType(v); return t.Kind == ir.TensorKind && t.Elements() > 1 }
	switch k {
	case ir.OpConstant, ir.OpSdyConstant, ir.OpIota, ir.OpOptimizationBarrier, ir.OpSdyManualComputation, ir.OpSdyShardingConstraint,
		ir.OpSdyReshard, ir.OpSdyPropagationBarrier, ir.OpSdyShardingGroup:
		return "", false
	}
	if k.IsTerminator() || k.HasBodies() || !slices.ContainsFunc(append(m.Operands(op), m.ResultValues(op)...), isArray) {
		return "", false
	}
	r := rules.Of(m, op)
	if r == nil {
		return "no sharding rule says how to cut it", true
	}
	parts, _ := rule.Shardable(m, op, r)
	if len(parts) > 0 && slices.Max(parts) > 1 || slices.Contains(rule.Paddable(m, op, r), true) {
		return "", false
	}
	for f, n := range r.Sizes {
		switch reason := rule.Obstacle(m, op, r, int32(f), n); {
		case n == 1 || reason == "" || reason == why:
		case why != "":
			return "no dimension of it can be cut", true
		default:
			why = reason
		}
	}
	return cmp.Or(why, "no dimension of it can be cut"), true
}
