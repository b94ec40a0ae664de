package rule

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// Verify checks that a rule is well-formed and fits an op: one mapping for each operand and result, of the
// tensor's rank, with at least one factor in each dimension and no factor twice in a tensor
// (source: shardy.md section 1.9). The error is ErrInvalid.
func Verify(m *ir.Module, op ir.OpID, r *ir.Rule) error {
	pos := position(m, op)
	if len(r.Operands) != m.NumOperands(op) || len(r.Results) != m.NumResults(op) {
		return diag.Invalid(diag.BadAttribute, pos, "sharding rule maps %d operands and %d results, `%s` has %d and %d",
			len(r.Operands), len(r.Results), m.OpName(op), m.NumOperands(op), m.NumResults(op))
	}
	if len(r.Operands) == 0 || len(r.Results) == 0 {
		return diag.Invalid(diag.BadAttribute, pos, "sharding rule needs at least one operand and one result")
	}
	used := make([]bool, len(r.Sizes))
	for i, dims := range r.Operands {
		if err := verifyTensor(r, pos, m.ValueType(m.Operand(op, i)), dims, used); err != nil {
			return err
		}
	}
	for i, dims := range r.Results {
		if err := verifyTensor(r, pos, m.ValueType(m.Result(op, i)), dims, used); err != nil {
			return err
		}
	}
	if f := slices.Index(used, false); f >= 0 {
		return diag.Invalid(diag.BadAttribute, pos, "factor %s of the sharding rule is in no dimension", FactorName(int32(f)))
	}
	return verifyGroups(r, pos)
}

func verifyTensor(r *ir.Rule, pos diag.Position, t *ir.Type, dims [][]int32, used []bool) error {
	if !rankedOrToken(t) {
		return diag.Invalid(diag.BadAttribute, pos, "sharding rules are for tensors of static shape")
	}
	if len(dims) != t.Rank() {
		return diag.Invalid(diag.BadAttribute, pos, "sharding rule maps %d dimensions of a tensor of rank %d", len(dims), t.Rank())
	}
	seen := map[int32]bool{}
	for d, factors := range dims {
		if len(factors) == 0 {
			return diag.Invalid(diag.BadAttribute, pos, "dimension %d has no factor in the sharding rule", d)
		}
		for _, f := range factors {
			switch {
			case f < 0 || int(f) >= len(r.Sizes):
				return diag.Invalid(diag.BadAttribute, pos, "factor %s of the sharding rule has no size", FactorName(max(f, 0)))
			case seen[f]:
				return diag.Invalid(diag.BadAttribute, pos, "factor %s is twice in one tensor of the sharding rule", FactorName(f))
			case len(factors) > 1 && r.Sizes[f] == 1:
				return diag.Invalid(diag.BadAttribute, pos, "factor %s of size 1 shares dimension %d with others", FactorName(f), d)
			}
			seen[f], used[f] = true, true
		}
	}
	return nil
}

// verifyGroups checks the special factors: sorted, unique and known; the first three groups share none; factors
// that are reduced are in no result.
func verifyGroups(r *ir.Rule, pos diag.Position) error {
	kind := make([]string, len(r.Sizes))
	for _, g := range []struct {
		name    string
		factors []int32
	}{{"reduction", r.Reduction}, {"need_replication", r.NeedReplication}, {"permutation", r.Permutation}, {"", r.Blocked}} {
		for i, f := range g.factors {
			switch {
			case f < 0 || int(f) >= len(r.Sizes):
				return diag.Invalid(diag.BadAttribute, pos, "special factor %d of the sharding rule is out of range", f)
			case i > 0 && f <= g.factors[i-1]:
				return diag.Invalid(diag.BadAttribute, pos, "special factors of the sharding rule have to be sorted and unique")
			case g.name != "" && kind[f] != "":
				return diag.Invalid(diag.BadAttribute, pos, "factor %s of the sharding rule is both %s and %s", FactorName(f), kind[f], g.name)
			case g.name != "":
				kind[f] = g.name
			}
		}
	}
	for _, dims := range r.Results {
		for _, factors := range dims {
			for _, f := range factors {
				if kind[f] == "reduction" {
					return diag.Invalid(diag.BadAttribute, pos, "factor %s is reduced, but a result has it", FactorName(f))
				}
			}
		}
	}
	return nil
}

func position(m *ir.Module, op ir.OpID) diag.Position {
	l := m.FileLoc(m.OpLoc(op))
	return diag.Position{File: l.File, Line: l.Line, Col: l.Col}
}
