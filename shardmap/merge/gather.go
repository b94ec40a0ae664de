package merge

import (
	"slices"

	"autoshard/ir"
)

// alongOne emits one all-gather for several before the last of them, and returns what each of these makes: along the dimension along which
// most is gathered that would have to be turned otherwise.
func alongOne(m *ir.Module, ops []ir.OpID) (merged ir.OpID, results []ir.ValueID) {
	dim := mostTurned(m, ops)
	last := ops[len(ops)-1]
	j := &joiner{m, m.BuilderBefore(last)}
	var types []ir.TypeID
	var operands []ir.ValueID
	for _, op := range ops {
		v, t := m.Operand(op, 0), m.Type(m.Result(op, 0))
		if dimension(m, op) != dim {
			v = j.reshaped(v, flat(dim, m.ValueType(v).Elements())...)
			t = m.WithDims(t, flat(dim, m.TypeOf(t).Elements()))
		}
		operands, types = append(operands, v), append(types, t)
	}
	merged = j.b.Op(m.Kind(last), types, m.OpAttrs(last).With("dim", m.I64(dim)), operands...)
	for i, op := range ops {
		v := m.Result(merged, i)
		if dimension(m, op) != dim {
			v = j.turned(op, v)
		}
		results = append(results, v)
	}
	return merged, results
}

// mostTurned returns the dimension along which gathers that turn make most, the least of several.
func mostTurned(m *ir.Module, ops []ir.OpID) int64 {
	bytes := map[int64]int64{}
	for _, op := range ops {
		if Turns(m, op) {
			bytes[dimension(m, op)] += m.ValueType(m.Result(op, 0)).Bytes()
		}
	}
	most := dimension(m, ops[0])
	for _, op := range ops {
		if d := dimension(m, op); bytes[d] > bytes[most] || bytes[d] == bytes[most] && d < most {
			most = d
		}
	}
	return most
}

// flat returns the shape of so many elements, one behind the other, along a dimension behind others of one.
func flat(dim, elements int64) []int64 { return append(slices.Repeat([]int64{1}, int(dim)), elements) }

// turned emits the result of an all-gather of what devices have one behind the other.
func (j *joiner) turned(op ir.OpID, v ir.ValueID) ir.ValueID {
	if Turns(j.m, op) {
		v = j.swapped(v, j.m.ValueType(v).Elements()/j.m.ValueType(j.m.Operand(op, 0)).Elements(), outside(j.m, op))
	}
	return j.reshaped(v, j.m.Shape(j.m.Result(op, 0))...)
}
