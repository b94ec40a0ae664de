package autoshard

import (
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// Annotated returns the plan as a program for another partitioner, such as XLA's: every value has the sharding in
// which it is made, and a sharding constraint stands where the plan moves it.
func (p *Plan) Annotated() (text string, err error) {
	defer recoverBug("annotate", &err)
	m, _, err := p.global()
	if err != nil {
		return "", err
	}
	main, _ := m.Main()
	m.Walk(m.Func(main).Body, func(op ir.OpID) {
		for _, v := range m.Results(op) {
			if id := m.Sharding(v); id != 0 {
				s := m.ShardingOf(id).Clone()
				s.Unreduced, s.Reduction = nil, ir.ReduceSum
				m.SetSharding(v, m.InternSharding(s))
			}
		}
		if isCommunication(m.Kind(op)) {
			constrain(m, op)
		}
	})
	ir.ForgetTrips(m)
	return string(mlir.Print(m, mlir.PrintOptions{})), nil
}

func isCommunication(k ir.Kind) bool {
	switch k {
	case ir.OpSdyAllGather, ir.OpSdyAllSlice, ir.OpSdyAllReduce, ir.OpSdyReduceScatter, ir.OpSdyAllToAll,
		ir.OpSdyCollectivePermute:
		return true
	}
	return false
}

// constrain replaces a communication by a constraint to its sharding, or by nothing where only partial values end.
func constrain(m *ir.Module, op ir.OpID) {
	from, to := m.Operand(op, 0), m.Result(op, 0)
	v := from
	if m.Sharding(from) != m.Sharding(to) {
		v = m.BuilderBefore(op).Op1(ir.OpSdyShardingConstraint, m.Type(from), nil, from)
		m.SetSharding(v, m.Sharding(to))
	}
	m.ReplaceUses(to, v)
	m.Erase(op)
}
