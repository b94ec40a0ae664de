package autoshard

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir/rule"
)

// WithRules returns the model with sharding rules for operations whose rule does not follow from what they are, such as
// custom calls. Each is NAME: RULE, in the form
//
//	my_attention: (b s h d, b t h d, b t h d) -> (b s h d) reduction={t}
//
// where NAME is the target of custom calls, the name of composites, or the full name of an operation. A rule takes the
// place of the one that the model gives. Errors are of class diag.ErrInvalid and point into the rule.
func (m *Model) WithRules(rules []string) (out *Model, err error) {
	defer diag.Recover("rules", &err)
	var named []*rule.Named
	for _, text := range rules {
		r, err := rule.ParseNamed(text, diag.Position{File: "--rule", Line: 1, Col: 1})
		if err != nil {
			return nil, err
		}
		named = append(named, r)
	}
	c := m.module.Clone()
	if err := rule.ApplyUser(c, named); err != nil {
		return nil, err
	}
	out = m.with(c)
	out.given.Rules = append(slices.Clip(out.given.Rules), rules...)
	return out, nil
}
