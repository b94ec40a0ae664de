package rule

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// Named is a rule for all operations of a name: my_attention: (b s h d, b t h d) -> (b s h d) reduction={t}.
type Named struct {
	Name string // target of a custom call, name of a composite, or full name of an operation
	Rule *Text
	pos  diag.Position
	line string
}

// ParseNamed reads NAME: RULE. pos is where the text begins, for errors, which are of class diag.ErrInvalid.
func ParseNamed(text string, pos diag.Position) (*Named, error) {
	name, rule, found := strings.Cut(text, ":")
	if !found || strings.TrimSpace(name) == "" {
		return nil, failAt(pos, text, 0, "rule has no name before it: write NAME: (a b, b c) -> (a c)")
	}
	at := pos
	at.Col += len(name) + 1
	t, err := ParseText(rule, at, text)
	if err != nil {
		return nil, err
	}
	return &Named{strings.TrimSpace(name), t, pos, text}, nil
}

// ApplyUser gives every operation that a rule names that rule, in place of any that it has: custom calls by their
// target, composites and others by their name. Errors are of class diag.ErrInvalid: a name that no operation has, a name
// given twice, a rule that does not fit an operation's types.
func ApplyUser(m *ir.Module, rules []*Named) error {
	ops := map[string][]ir.OpID{}
	m.Walk(m.Body(), func(op ir.OpID) {
		for _, name := range names(m, op) {
			ops[name] = append(ops[name], op)
		}
	})
	for i, r := range rules {
		if slices.ContainsFunc(rules[:i], func(o *Named) bool { return o.Name == r.Name }) {
			return failAt(r.pos, r.line, 0, "operation `%s` has two rules", r.Name)
		}
		if len(ops[r.Name]) == 0 {
			return unknownName(m, r)
		}
		for _, op := range ops[r.Name] {
			rule, err := r.Rule.Rule(m, op)
			if err != nil {
				return err
			}
			m.SetAttrs(op, m.OpAttrs(op).With(Attr, &ir.RuleAttr{Rule: rule}))
		}
	}
	return nil
}

// names returns what a rule may call an operation.
func names(m *ir.Module, op ir.OpID) []string {
	out := []string{m.OpName(op)}
	switch m.Kind(op) {
	case ir.OpCustomCall:
		out = append(out, m.OpAttrs(op).Str("call_target_name"))
	case ir.OpComposite:
		out = append(out, m.OpAttrs(op).Str("name"))
	}
	return out
}

// unknownName says that no operation has a rule's name, with the nearest of those that rules are mostly for.
func unknownName(m *ir.Module, r *Named) error {
	var known []string
	m.Walk(m.Body(), func(op ir.OpID) {
		switch list := names(m, op); {
		case len(list) > 1:
			known = append(known, list[1])
		case m.Kind(op) == ir.OpUnregistered:
			known = append(known, list[0])
		}
	})
	slices.Sort(known)
	return failAt(r.pos, r.line, 0, "the model has no operation `%s`%s", r.Name, diag.DidYouMean(r.Name, known))
}
