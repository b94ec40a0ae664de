package ir

import "slices"

// CheckRule returns what is wrong with a sharding rule for an op, nil if nothing is (specification: shardy.md section
// 1.9): one mapping for each operand and result, of the tensor's rank, with at least one factor in each dimension and
// no factor twice in a tensor; special factors sorted and apart.
func CheckRule(m *Module, op OpID, r *Rule) error {
	if n := m.NumOperands(op); n != len(r.Operands) {
		return badAttr("number of operands and mappings must match: %d != %d", n, len(r.Operands))
	}
	if n := m.NumResults(op); n != len(r.Results) {
		return badAttr("number of results and mappings must match: %d != %d", n, len(r.Results))
	}
	if len(r.Operands) == 0 || len(r.Results) == 0 {
		return badAttr("a sharding rule needs at least one operand and one result")
	}
	used := make([]bool, len(r.Sizes))
	for i, dims := range r.Operands {
		if err := r.checkTensor(m.ValueType(m.Operand(op, i)), "operand", i, dims, used); err != nil {
			return err
		}
	}
	for i, dims := range r.Results {
		if err := r.checkTensor(m.ValueType(m.Result(op, i)), "result", i, dims, used); err != nil {
			return err
		}
	}
	if f := slices.Index(used, false); f >= 0 {
		return badAttr("has factor %s=%d that isn't used in operand and result mappings", FactorName(int32(f)), r.Sizes[f])
	}
	return r.checkGroups()
}

func (r *Rule) checkTensor(t *Type, what string, i int, dims [][]int32, used []bool) error {
	if !t.IsStatic() {
		return badAttr("%s %d - expected a ranked tensor with a static shape", what, i)
	}
	if len(dims) != t.Rank() {
		return badAttr("%s %d - mapping rank must match: %d != %d", what, i, len(dims), t.Rank())
	}
	seen := make([]bool, len(r.Sizes))
	for _, factors := range dims {
		if len(factors) == 0 {
			return badAttr("%s %d - dim mapping must have at least one factor", what, i)
		}
		for _, f := range factors {
			switch {
			case f < 0 || int(f) >= len(r.Sizes):
				return badAttr("%s %d - index must be less than %d, got: %d", what, i, len(r.Sizes), f)
			case seen[f]:
				return badAttr("%s %d - cannot reuse factors for the same tensor value: %s", what, i, FactorName(f))
			case len(factors) > 1 && r.Sizes[f] == 1:
				return badAttr("%s %d - dim mapping can't have a factor of size 1 if there are multiple factors", what, i)
			}
			seen[f], used[f] = true, true
		}
	}
	return nil
}

// checkGroups checks the special factors.
func (r *Rule) checkGroups() error {
	group := make([]int, len(r.Sizes))
	for g, special := range r.Groups() {
		factors := *special.Factors
		for i, f := range factors {
			switch {
			case f < 0 || int(f) >= len(r.Sizes):
				return badAttr("index must be less than %d, got: %d", len(r.Sizes), f)
			case i > 0 && f < factors[i-1]:
				return badAttr("indices of special factors must be sorted")
			case i > 0 && f == factors[i-1]:
				return badAttr("indices of special factors must be unique")
			case g < 3 && group[f] != 0:
				return badAttr("a factor can only be in one of the reduction, need replication, or permutation factor sets")
			case g < 3:
				group[f] = g + 1
			}
		}
	}
	for _, dims := range r.Results {
		for _, factors := range dims {
			for _, f := range factors {
				if group[f] == 1 {
					return badAttr("reduction factor %s must not be in a result", FactorName(f))
				}
			}
		}
	}
	return nil
}
