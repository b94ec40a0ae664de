package plan

import (
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
)

// joins is which dimensions of values ops bring together: those with one factor, the major one where there are several.
type joins struct {
	first  []int32 // per value: the number of its first dimension
	parent []int32 // per dimension: one that it is together with, or itself
}

// joined finds the dimensions of a module that are together.
func joined(m *ir.Module) *joins {
	j := &joins{first: make([]int32, m.NumValues())}
	for v := ir.ValueID(1); int(v) < len(j.first); v++ {
		j.first[v] = int32(len(j.parent))
		for range m.Shape(v) {
			j.parent = append(j.parent, int32(len(j.parent)))
		}
	}
	rules := rule.NewCache(false)
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if dataflow.Has(m.Kind(op)) {
			j.flow(m, op)
		} else if r := rules.Of(m, op); r != nil {
			j.factors(m, op, r)
		}
	})
	return j
}

// flow brings what flows together in loops and branches together.
func (j *joins) flow(m *ir.Module, op ir.OpID) {
	for _, owner := range dataflow.Owners(m, op) {
		values := dataflow.OtherTargets(m, owner)
		for _, u := range dataflow.Sources(m, owner) {
			values = append(values, m.Operand(u.Op, u.Index))
		}
		for _, v := range values {
			for d := range min(len(m.Shape(v)), len(m.Shape(owner))) {
				j.join(j.first[v]+int32(d), j.first[owner]+int32(d))
			}
		}
	}
}

// factors brings the dimensions of what an op reads and makes together that have one major factor.
func (j *joins) factors(m *ir.Module, op ir.OpID, r *ir.Rule) {
	with := map[int32]int32{} // by factor
	add := func(v ir.ValueID, dims [][]int32) {
		for d, list := range dims {
			if len(list) == 0 {
				continue
			}
			at := j.first[v] + int32(d)
			if other, ok := with[list[0]]; ok {
				j.join(at, other)
			}
			with[list[0]] = at
		}
	}
	for k, dims := range r.Operands {
		add(m.Operand(op, k), dims)
	}
	for i, dims := range r.Results {
		add(m.Result(op, i), dims)
	}
}

// find returns the dimension that stands for all that one is together with.
func (j *joins) find(d int32) int32 {
	for j.parent[d] != d {
		j.parent[d] = j.parent[j.parent[d]]
		d = j.parent[d]
	}
	return d
}

func (j *joins) join(a, b int32) { j.parent[j.find(a)] = j.find(b) }
