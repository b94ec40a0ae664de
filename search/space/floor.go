package space

import (
	"slices"

	"autoshard/ir"
	"autoshard/localform"
)

// Floor returns the picoseconds that the local ops of every program surely take: each as if cut evenly over all devices.
func (s *Space) Floor() int64 {
	return s.floor(s.m.MainFunc().Body, share{1, 1})
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
		case k == ir.OpSdyManualComputation:
			local, sent := s.inside(op)
			total += sure.of(local + sent)
		case k == ir.OpSdyShardingGroup || k.IsTerminator() || passesOn(k) || s.mayAddress(op):
		case m.Kind(op).HasBodies():
			for r := range m.NumRegions(op) {
				total += s.floor(m.RegionBlock(op, r), s.surely(op, r, sure))
			}
		default:
			total += sure.of(s.local(op)) / devices
		}
	}
	return total
}

// local returns the picoseconds of an op on the shapes that its values have in the module, without what it does not read of its
// operands.
func (s *Space) local(op ir.OpID) int64 {
	m := s.m
	shapes := func(values []ir.ValueID) [][]int64 {
		out := make([][]int64, len(values))
		for i, v := range values {
			if s.isTensor(v) {
				out[i] = m.Shape(v)
			}
		}
		return out
	}
	operands := shapes(m.Operands(op))
	for _, d := range localform.Dims(m, op, m.Shape) {
		for i, p := range d.Pieces(1) {
			dims := slices.Clone(operands[p.Operand])
			dims[p.Dim] = min(dims[p.Dim], d.Read(i))
			operands[p.Operand] = dims
		}
	}
	return s.model.Op(m, op, operands, shapes(m.ResultValues(op)), s.bare.Fused)
}

// inside returns the picoseconds that a manual computation surely takes for its local ops, whose shapes are those of one device, and for
// what the user lets it send: that is never merged, and no part of rings.
func (s *Space) inside(manual ir.OpID) (local, sent int64) {
	var block func(b ir.BlockID, sure share)
	block = func(b ir.BlockID, sure share) {
		for op := range s.m.Ops(b) {
			switch k := s.m.Kind(op); {
			case k.HasBodies() && k != ir.OpSdyManualComputation:
				for r := range s.m.NumRegions(op) {
					block(s.m.RegionBlock(op, r), s.surely(op, r, sure))
				}
			case computes(k):
				local += sure.of(s.local(op))
			default:
				sent += sure.of(s.model.Written(s.m, op))
			}
		}
	}
	block(s.m.RegionBlock(manual, 0), share{1, 1})
	return local, sent
}

// computes says whether an op inside a manual computation runs on one device alone, and always.
func computes(k ir.Kind) bool {
	return k.IsElementwise() || k == ir.OpDotGeneral || k == ir.OpConvolution
}
