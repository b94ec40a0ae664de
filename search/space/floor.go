package space

import "autoshard/ir"

// Floor returns the picoseconds that the local ops of every program surely take: each as if cut evenly over all devices.
func (s *Space) Floor() int64 {
	main, _ := s.m.Main()
	return s.floor(s.m.Func(main).Body, share{1, 1})
}

// mayAddress says whether an op may come to compute one integer on each device, which costs nothing.
func (s *Space) mayAddress(op ir.OpID) bool {
	if s.m.NumResults(op) != 1 || !s.isTensor(s.m.Result(op, 0)) {
		return false
	}
	t := s.m.ValueType(s.m.Result(op, 0))
	return t.Elements() <= s.m.Mesh(s.mesh).Devices()
}

func (s *Space) floor(b ir.BlockID, sure share) int64 {
	m := s.m
	devices := s.m.Mesh(s.mesh).Devices()
	total := int64(0)
	for op := range m.Ops(b) {
		switch k := m.Kind(op); {
		case k == ir.OpSdyManualComputation || k == ir.OpSdyShardingGroup || k.IsTerminator() || passesOn(k) || s.mayAddress(op):
		case m.Kind(op).HasBodies():
			inside := s.inBranch(op, sure)
			if k == ir.OpWhile {
				_, inside = s.inLoop(op, 1, sure)
			}
			for r := range m.NumRegions(op) {
				total += s.floor(m.RegionBlock(op, r), inside)
			}
		default:
			shapes := func(values []ir.ValueID) [][]int64 {
				out := make([][]int64, len(values))
				for i, v := range values {
					if s.isTensor(v) {
						out[i] = m.Shape(v)
					}
				}
				return out
			}
			whole := s.model.Op(m, op, shapes(m.Operands(op)), shapes(m.ResultValues(op)), s.gone)
			total += sure.of(whole) / devices
		}
	}
	return total
}
