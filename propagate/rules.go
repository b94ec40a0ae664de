package propagate

import (
	"autoshard/ir"
	"autoshard/ir/rule"
)

// PopulateRules attaches to every op that has a rule its rule. Shardy: -sdy-populate-op-sharding-rules.
func PopulateRules(m *ir.Module, conservative bool) {
	rules := rule.NewCache(conservative)
	m.Walk(m.Body(), func(op ir.OpID) {
		if r := rules.Of(m, op); r != nil {
			attachRule(m, op, r)
		}
	})
}

// rules returns a cache of the rules by which to propagate.
func (o Options) rules() *rule.Cache {
	if o.CompleteRules {
		return rule.NewCompleteCache()
	}
	return rule.NewCache(o.Conservative)
}

func attachRule(m *ir.Module, op ir.OpID, r *ir.Rule) {
	if m.Attr(op, rule.Attr) == nil {
		m.SetAttrs(op, m.OpAttrs(op).With(rule.Attr, &ir.RuleAttr{Rule: r}))
	}
}

// attachRules attaches to every op that is still there the rule by which it propagated.
func (t *tables) attachRules() {
	attrs := make([]*ir.RuleAttr, len(t.plans))
	var room ir.Attrs // for many dictionaries
	for i := range t.rows {
		op, row := ir.OpID(i), &t.rows[i]
		if row.plan == 0 || row.barrier || row.exempt || t.m.OpBlock(op) == 0 || t.m.Attr(op, rule.Attr) != nil {
			continue
		}
		if attrs[row.plan] == nil {
			attrs[row.plan] = &ir.RuleAttr{Rule: t.plans[row.plan].rule}
		}
		old := t.m.OpAttrs(op)
		n := len(old) + 1
		if len(room) < n {
			room = make(ir.Attrs, n+1024)
		}
		at := 0
		for at < len(old) && old[at].Name < rule.Attr {
			at++
		}
		copy(room, old[:at])
		room[at] = ir.NamedAttr{Name: rule.Attr, Value: attrs[row.plan]}
		copy(room[at+1:], old[at:])
		t.m.SetAttrs(op, room[:n:n])
		room = room[n:]
	}
}

// DropRules removes all attached rules but those that a user gave. Shardy: -sdy-drop-sharding-rules.
func DropRules(m *ir.Module) {
	m.Walk(m.Body(), func(op ir.OpID) {
		if a, ok := m.Attr(op, rule.Attr).(*ir.RuleAttr); ok && !a.Rule.Custom {
			m.SetAttrs(op, m.OpAttrs(op).Without(rule.Attr))
		}
	})
}
