// Package rule derives for every operation its sharding rule: which dimensions of operands and results are the
// same thing and therefore may be sharded alike.
//
// A rule names each independent extent of an op a factor and says of which factors, major to minor, each
// dimension consists. A matrix product has three:
//
//	([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}
//
// A reshape of 8x4 to 32 joins two factors in one dimension: ([i, j])->([ij]) {i=8, j=4}. Factors are of four
// types: pass-through ones may be sharded freely, reduction ones need an all-reduce afterwards, permutation ones
// need communication with neighbours, and need-replication ones must not be sharded while the op runs.
//
// Every op family has a file with its builder and a row in the table of families, with a name and a reason that
// explanations show. Specification: shardy.md section 2.
package rule

import (
	"autoshard/ir"
)

// Family is a group of ops that share one way of deriving rules.
type Family struct {
	Name  string // such as "dot_general"
	Why   string // one line that says why the factors are as they are
	build func(b *builder) bool
	// local families look at the attributes of reads and at types alone, of tensors at the shapes, so that equal ops have
	// equal rules.
	local bool
	reads []string
	// own families are of ops that Shardy has no rule for, since XLA replaces them before Shardy sees them.
	own bool
	// seeks says that Computing returns other rules than Complete.
	seeks bool

	// What Shardable asks. combine says how partial results along reduction factors combine, false where they do not; nil: they
	// do not. judge corrects what follows from the types of the factors, as the local form of the op has it; nil: nothing.
	combine func(m *ir.Module, op ir.OpID) (ir.Reduction, bool)
	judge   func(v *verdict)
	pads    padding // see Paddable
}

// Of returns the sharding rule of an op, nil where nothing propagates through it. A rule that the op carries in
// its sdy.sharding_rule attribute wins. Conservative rules keep dimensions apart that windows, slices and paddings
// relate only roughly. The op must be well-formed; the rule must not be changed. Source: shardy.md section 2.2.
func Of(m *ir.Module, op ir.OpID, conservative bool) *ir.Rule {
	if given, ok := m.Attr(op, Attr).(*ir.RuleAttr); ok {
		return given.Rule
	}
	return Derive(m, op, conservative)
}

// Complete returns the rule of an op like Of, which is not conservative, and for ops of CHLO, where Shardy has none, ours.
// Plans are made with it, and propagation that compares with them.
func Complete(m *ir.Module, op ir.OpID) *ir.Rule {
	if given, ok := m.Attr(op, Attr).(*ir.RuleAttr); ok {
		return given.Rule
	}
	return derive(m, op, FamilyOf(m, op), false)
}

// Computing returns the rule by which an op is computed on blocks: that of Complete but for two kinds of ops. The result of one has a part
// of a dimension of an operand that only run time finds. No axes propagate between the two, which are one factor that needs replication.
// On blocks they are two: every device gives what it has of the part, and zeros, and the results are added. Reductions of several operands
// have partial results that no collective adds: on blocks what they reduce is permuted, as the devices exchange those and reduce them.
func Computing(m *ir.Module, op ir.OpID) *ir.Rule {
	family := FamilyOf(m, op)
	if family == nil || !family.seeks || m.Attr(op, Attr) != nil || !ranked(m, op) {
		return Complete(m, op)
	}
	b := newBuilder(m, op, false)
	b.computing = true
	family.build(b)
	return b.finish()
}

// Attr is the name of the attribute that holds a given rule.
const Attr = "sdy.sharding_rule"

// Derive returns the rule that follows from the op itself, whatever its attribute says.
func Derive(m *ir.Module, op ir.OpID, conservative bool) *ir.Rule {
	if family := FamilyOf(m, op); family != nil && !family.own {
		return derive(m, op, family, conservative)
	}
	return nil
}

func derive(m *ir.Module, op ir.OpID, family *Family, conservative bool) *ir.Rule {
	if family == nil || !ranked(m, op) {
		return nil
	}
	b := newBuilder(m, op, conservative)
	if !family.build(b) {
		return nil
	}
	return b.finish()
}

// FamilyOf returns the family of an op, nil where nothing propagates through it.
func FamilyOf(m *ir.Module, op ir.OpID) *Family {
	kind := m.Kind(op)
	if kind == ir.OpCustomCall {
		return customCallFamily(m, op)
	}
	return KindFamily(kind)
}

// KindFamily returns the family of a kind of ops, nil where nothing propagates through it. Custom calls have
// families by target.
func KindFamily(k ir.Kind) *Family { return families[k] }

// ranked says whether the op has operands or results and all of those that are tensors have static shapes.
func ranked(m *ir.Module, op ir.OpID) bool {
	if m.NumOperands(op) == 0 || m.NumResults(op) == 0 {
		return false
	}
	for i := range m.NumOperands(op) {
		if !rankedOrToken(m.ValueType(m.Operand(op, i))) {
			return false
		}
	}
	for _, v := range m.Results(op) {
		if !rankedOrToken(m.ValueType(v)) {
			return false
		}
	}
	return true
}

func rankedOrToken(t *ir.Type) bool { return t.IsStatic() || t.Kind == ir.TokenKind }

var families [ir.NumKinds]*Family

// register puts a family in the table under all its kinds.
func register(f *Family, kinds ...ir.Kind) {
	for _, k := range kinds {
		families[k] = f
	}
}
