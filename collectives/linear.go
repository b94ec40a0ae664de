package collectives

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// Linear returns the operand of an op that adds up as its only result does, with the other operands as they are: of partial sums the op
// makes partial sums of what it makes of the sum. What is moved into larger tensors is moved among zeros; factors are constants, such as
// those of a mean, or inputs, such as masks.
func Linear(m *ir.Module, op ir.OpID) (operand int, ok bool) {
	switch m.Kind(op) {
	case ir.OpTranspose, ir.OpReshape, ir.OpReverse, ir.OpBroadcastInDim, ir.OpSlice, ir.OpDynamicSlice, ir.OpGather, ir.OpNegate:
		return 0, true
	case ir.OpConvert:
		from, to := m.ValueType(m.Operand(op, 0)).DType, m.ValueType(m.Result(op, 0)).DType
		return 0, from.Kind() == dtype.Float && to.Kind() == dtype.Float && from.Bits() <= to.Bits()
	case ir.OpReduce:
		return 0, addsInto(m, op, m.NumOperands(op) == 2 && rule.IsZero(m, m.Operand(op, 1)))
	case ir.OpScatter:
		return 2, addsInto(m, op, m.NumOperands(op) == 3 && IsZeros(m, m.Operand(op, 0)))
	case ir.OpPad:
		return 0, rule.IsZero(m, m.Operand(op, 1))
	case ir.OpDynamicUpdateSlice:
		return 1, IsZeros(m, m.Operand(op, 0))
	case ir.OpSelect:
		if IsZeros(m, m.Operand(op, 1)) {
			return 2, true
		}
		return 1, IsZeros(m, m.Operand(op, 2))
	case ir.OpMultiply:
		if isGiven(m, m.Operand(op, 0)) {
			return 1, true
		}
		return 0, isGiven(m, m.Operand(op, 1))
	case ir.OpDivide:
		return 0, isGiven(m, m.Operand(op, 1)) && m.ValueType(m.Operand(op, 0)).DType.Kind() == dtype.Float
	}
	return 0, false
}

// addsInto says whether an op with a reducer adds what it reads, to zeros.
func addsInto(m *ir.Module, op ir.OpID, zeros bool) bool {
	if !zeros {
		return false
	}
	kind, known := ir.ReducerOf(m, op, 0, ir.Computed)
	return known && kind == ir.OpAdd
}

// isGiven says whether a value is a constant or an argument of a block, or made of one by moving elements.
func isGiven(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	for op != 0 && slices.Contains(movingZeros, m.Kind(op)) {
		op = m.DefiningOp(m.Operand(op, 0))
	}
	return op == 0 || m.Kind(op) == ir.OpConstant
}

// keepsBlocks says whether a linear op makes a block of its result of one block of its operand, however that is cut.
func keepsBlocks(k ir.Kind) bool { return k == ir.OpTranspose || k.IsElementwise() }

// addsUp says whether an op is the sum of two tensors of numbers.
func addsUp(m *ir.Module, op ir.OpID) bool {
	return m.Kind(op) == ir.OpAdd && isTensor(m, m.Result(op, 0)) && m.ValueType(m.Result(op, 0)).DType.Bits() > 1
}

// accumulator returns the op that adds to what a loop carries in a place, if nothing else in the loop reads it and the loop hands back the
// sum of it and others; 0 if there is none.
func accumulator(m *ir.Module, loop ir.OpID, place int) ir.OpID {
	body := m.RegionBlock(loop, 1)
	v, end := m.BlockArgs(body)[place], m.LastOp(body)
	if m.HasUses(m.BlockArgs(m.RegionBlock(loop, 0))[place]) {
		return 0
	}
	for {
		use, once := m.OnlyUse(v)
		switch {
		case !once:
			return 0
		case use.Op == end && m.Operand(end, place) == v:
			return m.DefiningOp(v)
		case m.OpBlock(use.Op) != body || !addsUp(m, use.Op):
			return 0
		}
		v = m.Result(use.Op, 0)
	}
}

// IsZeros says whether a value is known to be zeros.
func IsZeros(m *ir.Module, v ir.ValueID) bool {
	for !rule.IsZero(m, v) {
		op := m.DefiningOp(v)
		if op == 0 || !slices.Contains(movingZeros, m.Kind(op)) {
			return false
		}
		v = m.Operand(op, 0)
	}
	return true
}

// mayBePartial says whether a value that is read once may be the sum of partial values, or what linear ops make of one.
func mayBePartial(m *ir.Module, v ir.ValueID) bool {
	for m.HasOneUse(v) {
		op := m.DefiningOp(v)
		if op == 0 || m.Kind(op) == ir.OpConstant {
			return false
		}
		operand, isLinear := Linear(m, op)
		switch {
		case addsUp(m, op):
			return mayBePartial(m, m.Operand(op, 0)) && mayBePartial(m, m.Operand(op, 1))
		case makesPartial(m, op):
			return true
		case !isLinear:
			return !m.Kind(op).IsElementwise()
		}
		v = m.Operand(op, operand)
	}
	return false
}

// makesPartial says whether an op makes partial values of blocks if it is cut along some dimensions.
func makesPartial(m *ir.Module, op ir.OpID) bool {
	r := rule.Computing(m, op)
	return r != nil && len(r.Reduction) > 0
}

// movingZeros are ops that make zeros of zeros.
var movingZeros = []ir.Kind{ir.OpSdyReshard, ir.OpBroadcastInDim, ir.OpReshape, ir.OpTranspose, ir.OpConvert, ir.OpSlice, ir.OpNegate}

// permuted returns the layout of the transpose of a tensor.
func permuted(l Layout, permutation []int64) Layout {
	dims := make([][]subaxis.Ref, len(permutation))
	for i, d := range permutation {
		dims[i] = l.Dims[d]
	}
	l.Dims = dims
	return l
}
