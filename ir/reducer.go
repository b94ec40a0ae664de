package ir

import (
	"encoding/binary"
	"math"

	"autoshard/ir/dtype"
)

// Recognition says how closely [ReducerOf] looks at a region.
type Recognition uint8

const (
	// Computed asks what the region computes: the one op of each pair must be the only op on the way to the return.
	Computed Recognition = iota
	// Written asks besides that the region is the op and the return and nothing else, that the operands stand in order and
	// that there is one pair: the form that short texts stand for.
	Written
	// AsShardy asks for the kind of the ops that the returned values come from and for nothing else, which may be wrong about
	// what the region computes: that is how Shardy chooses the reduction of a reduce or scatter whose results it adds up.
	AsShardy
)

// ReducerOf returns the op with which a region of an op combines accumulators with elements, the first and the second half of
// its arguments, where it is one op of two values and the same for all pairs:
//
//	^bb0(%total: tensor<f32>, %x: tensor<f32>):
//	  %0 = stablehlo.add %total, %x : tensor<f32>
//	  stablehlo.return %0 : tensor<f32>           OpAdd, true
//
// It is OpUnregistered, true for a region that returns the elements as they are, and OpUnregistered, false for any other: one that adds an
// argument to itself, returns one that it was to add, mixes ops, or has effects. The operands of commutative ops may be swapped.
// On truth values the kind says what it says in StableHLO: OpAdd is a disjunction there.
func ReducerOf(m *Module, op OpID, region int, how Recognition) (Kind, bool) {
	if region >= m.NumRegions(op) || len(m.Blocks(m.Regions(op)[region])) != 1 {
		return OpUnregistered, false
	}
	body := m.RegionBlock(op, region)
	args, ret := m.BlockArgs(body), m.LastOp(body)
	n := m.NumOperands(ret)
	if n == 0 || !m.Kind(ret).IsTerminator() {
		return OpUnregistered, false
	}
	if how == AsShardy {
		return m.returnedKind(ret)
	}
	first := m.FirstOp(body)
	if len(args) != 2*n || how == Written && (n != 1 || m.NextOp(first) != ret || m.DefiningOp(m.Operand(ret, 0)) != first) {
		return OpUnregistered, false
	}
	kind, ok := m.combines(m.Operand(ret, 0), args[0], args[n], how == Computed)
	for i := 1; i < n && ok; i++ {
		same, also := m.combines(m.Operand(ret, i), args[i], args[n+i], true)
		ok = also && same == kind
	}
	if !ok || !m.isPureBody(body) {
		return OpUnregistered, false
	}
	return kind, true
}

// ReductionOf returns how the region of an op combines one accumulator with one element, where partial results combine so:
// for truth values a disjunction is their maximum, and a conjunction their minimum.
func ReductionOf(m *Module, op OpID, region int) (Reduction, bool) {
	kind, ok := ReducerOf(m, op, region, Computed)
	if !ok || len(m.BlockArgs(m.RegionBlock(op, region))) != 2 {
		return ReduceSum, false
	}
	boolean := m.ValueType(m.BlockArgs(m.RegionBlock(op, region))[0]).DType.Bits() == 1
	switch {
	case kind == OpAdd && !boolean:
		return ReduceSum, true
	case kind == OpMaximum, boolean && (kind == OpOr || kind == OpAdd):
		return ReduceMax, true
	case kind == OpMinimum, boolean && kind == OpAnd:
		return ReduceMin, true
	}
	return ReduceSum, false
}

// returnedKind returns the kind of the ops that define the operands of a return, if they are of one kind.
func (m *Module) returnedKind(ret OpID) (Kind, bool) {
	kind := m.Kind(m.DefiningOp(m.Operand(ret, 0)))
	for _, v := range m.Operands(ret) {
		if by := m.DefiningOp(v); by == 0 || m.Kind(by) != kind {
			return OpUnregistered, false
		}
	}
	return kind, true
}

// combines returns the op of two values that makes v of an accumulator and an element, OpUnregistered if v is the element.
// Commutative ops may take them the other way round where that is allowed.
func (m *Module) combines(v, total, x ValueID, swapped bool) (Kind, bool) {
	by := m.DefiningOp(v)
	kind := m.Kind(by)
	switch {
	case v == x:
		return OpUnregistered, true
	case by == 0 || !kind.IsCombiner():
		return OpUnregistered, false
	}
	a, b := m.Operand(by, 0), m.Operand(by, 1)
	return kind, a == total && b == x || swapped && kind.IsCommutative() && a == x && b == total
}

// isPureBody says whether a block does nothing but compute what it returns.
func (m *Module) isPureBody(b BlockID) bool {
	for op := range m.Ops(b) {
		if !isFree(m, op) {
			return false
		}
	}
	return true
}

// AddReducer gives the last region of an op a body that combines two scalars of an element type with an op, or that returns the second
// one for OpUnregistered: what [ReducerOf] finds.
func (m *Module) AddReducer(op OpID, with Kind, e dtype.Type) {
	regions, t := m.Regions(op), m.TensorType(e)
	body := m.AddBlock(regions[len(regions)-1])
	x, y := m.AddBlockArg(body, t), m.AddBlockArg(body, t)
	b := m.BuilderAtEnd(body)
	if with != OpUnregistered {
		y = b.Op1(with, t, nil, x, y)
	}
	b.Op(OpStablehloReturn, nil, nil, y)
}

// Identity returns the element of a type that a reduction leaves unchanged, little-endian.
func Identity(e dtype.Type, r Reduction) []byte {
	switch r {
	case ReduceMax:
		return Extreme(e, false)
	case ReduceMin:
		return Extreme(e, true)
	}
	return make([]byte, e.Bytes())
}

// Extreme returns the least or greatest element of a type, little-endian: an infinity where it has one.
func Extreme(e dtype.Type, greatest bool) []byte {
	var bits uint64
	if e.Kind() == dtype.Float {
		bits = extremeFloat(e, greatest)
	} else if lo, hi := dtype.IntRange(e); greatest {
		bits = hi
	} else {
		bits = uint64(lo)
	}
	return binary.LittleEndian.AppendUint64(nil, bits)[:e.Bytes()]
}

// extremeFloat returns the bits of an infinity, or of the last number of a type that has none: one of few, all of which are looked at.
func extremeFloat(e dtype.Type, greatest bool) (bits uint64) {
	sign := -1
	if greatest {
		sign = 1
	}
	if bits = dtype.Encode(e, math.Inf(sign)); !math.IsNaN(dtype.Decode(e, bits)) {
		return bits
	}
	most := math.Inf(-sign)
	for code := range uint64(1) << e.Bits() {
		if v := dtype.Decode(e, code); v > most == greatest && v != most && !math.IsNaN(v) {
			bits, most = code, v
		}
	}
	return bits
}
