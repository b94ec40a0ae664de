// Package priority owns the two schedules of propagation as data.
//
// User priorities come first: a dimension such as {"data"}p1 takes part from round 1 on, and until then its axes
// are reserved. Within each round, five op priorities say which ops may move shardings, and in which direction.
// Ops that only rearrange elements go first, since they never cost communication; every later level lets more
// ops join in, and the last one lets all move both ways:
//
//	priority.Of(m, op)                          // Broadcast for a stablehlo.broadcast_in_dim
//	priority.Schedule[3].Moves[priority.Broadcast] // {Backward Backward}: only from result to operand
//	priority.Rounds(m)                          // [0 1 3] for a module with p1 and p3
//
// Specification: shardy.md sections 4.6 and 4.7.
package priority

import (
	"slices"

	"autoshard/ir"
)

// Direction says which way shardings may move through an op along a factor.
type Direction uint8

// The directions. Forward is from operands to results. They form the lattice None < Forward, Backward < Both.
const (
	None     Direction = 0
	Forward  Direction = 1
	Backward Direction = 2
	Both     Direction = Forward | Backward
)

// String returns NONE, FORWARD, BACKWARD or BOTH.
func (d Direction) String() string { return [...]string{"NONE", "FORWARD", "BACKWARD", "BOTH"}[d] }

// ParseDirection reads what String returns.
func ParseDirection(s string) (Direction, bool) {
	for d := None; d <= Both; d++ {
		if d.String() == s {
			return d, true
		}
	}
	return None, false
}

// Class is a group of ops that the schedule treats alike.
type Class uint8

// The classes of ops.
const (
	Other         Class = iota // matrix products, reductions, gathers and all the rest
	Rearrange                  // elementwise ops, reshape, transpose, data-flow edges, moves between memories
	DynamicSlice               // dynamic_slice and dynamic_update_slice
	Broadcast                  // broadcast_in_dim
	numberClasses              // not a class
)

// String returns the name of the class.
func (c Class) String() string {
	return [...]string{"other", "rearrange", "dynamic slice", "broadcast"}[c]
}

// Of returns the class of an op.
func Of(m *ir.Module, op ir.OpID) Class {
	switch m.Kind(op) {
	case ir.OpReshape, ir.OpTranspose, ir.OpSdyDataFlowEdge, ir.OpSdyFuncDataFlowEdge:
		return Rearrange
	case ir.OpDynamicSlice, ir.OpDynamicUpdateSlice:
		return DynamicSlice
	case ir.OpBroadcastInDim:
		return Broadcast
	case ir.OpCustomCall:
		if target := m.OpAttrs(op).Str("call_target_name"); target == "MoveToDevice" || target == "MoveToHost" {
			return Rearrange
		}
		return Other
	}
	if IsElementwise(m, op) {
		return Rearrange
	}
	return Other
}

// OfReplaced returns the class that an op has in XLA, which replaces broadcasts that only add dimensions of one element by reshapes before
// it propagates. JAX writes the former wherever it keeps a reduced dimension or makes indices, and what holds axes back there spreads other
// axes instead: of a step whose optimizer state is sharded, those of the state to all activations.
func OfReplaced(m *ir.Module, op ir.OpID) Class {
	class := Of(m, op)
	if class == Broadcast && m.ValueType(m.Operand(op, 0)).Elements() == m.ValueType(m.Result(op, 0)).Elements() &&
		slices.IsSorted(m.OpAttrs(op).Ints("broadcast_dimensions")) {
		return Rearrange
	}
	return class
}

// IsElementwise says whether each result element depends on the operand elements at its place: the elementwise ops
// of StableHLO, bitcast_convert between equal shapes, constraints and barriers (source: shardy.md section 4.6).
func IsElementwise(m *ir.Module, op ir.OpID) bool {
	switch kind := m.Kind(op); kind {
	case ir.OpBitcastConvert:
		return slices.Equal(m.Shape(m.Operand(op, 0)), m.Shape(m.Result(op, 0)))
	case ir.OpChloMulhi, ir.OpChloNextAfter, ir.OpChloPolygamma, ir.OpChloZeta: // Shardy counts only their broadcasting forms
		return false
	case ir.OpChloConstantLike:
		return true
	default:
		return kind.IsElementwise() || kind.IsBroadcasting() || kind == ir.OpChloBroadcastSelect
	}
}

// Move says which way a class moves: along pass-through factors and along all others.
type Move struct{ PassThrough, Special Direction }

// Level is one op priority.
type Level struct {
	Name string
	Why  string
	// SingleUse restricts the level to ops whose tensor operands are used nowhere else.
	SingleUse bool
	Moves     [numberClasses]Move
}

// Levels is the number of op priorities.
const Levels = 5

// Schedule lists what each op priority adds; a level includes all before it.
var Schedule = [Levels]Level{
	{
		Name:      "rearranging ops, single use",
		Why:       "producer and only consumer agree at no cost",
		SingleUse: true,
		Moves:     [numberClasses]Move{Rearrange: {Both, Both}, DynamicSlice: {Forward, Forward}},
	},
	{
		Name:  "rearranging ops",
		Why:   "operands and results of an elementwise op rarely want different shardings",
		Moves: [numberClasses]Move{Rearrange: {Both, Both}, DynamicSlice: {Forward, Forward}},
	},
	{
		Name: "pass-through factors",
		Why:  "sharding them needs no communication inside the op",
		Moves: [numberClasses]Move{Other: {Both, None}, Rearrange: {Both, None}, DynamicSlice: {Both, None},
			Broadcast: {Backward, None}},
	},
	{
		Name: "all but broadcasts forward",
		Why:  "what a broadcast repeats can take any sharding later; its users know better",
		Moves: [numberClasses]Move{Other: {Both, Both}, Rearrange: {Both, Both}, DynamicSlice: {Both, Both},
			Broadcast: {Backward, Backward}},
	},
	{
		Name: "everything",
		Why:  "what nothing contradicts may spread",
		Moves: [numberClasses]Move{Other: {Both, Both}, Rearrange: {Both, Both}, DynamicSlice: {Both, Both},
			Broadcast: {Both, Both}},
	},
}

// At returns how a class moves at an op priority, that level and all before it taken together. singleUse says
// whether every tensor operand of the op is used nowhere else.
func At(class Class, singleUse bool, level int) Move {
	var move Move
	for i := range Schedule[:level+1] {
		l := &Schedule[i]
		if l.SingleUse && !singleUse {
			continue
		}
		move.PassThrough |= l.Moves[class].PassThrough
		move.Special |= l.Moves[class].Special
	}
	return move
}

// SingleUse says whether every operand of the op that is not a scalar has exactly one use.
func SingleUse(m *ir.Module, op ir.OpID) bool {
	for i := range m.NumOperands(op) {
		if v := m.Operand(op, i); len(m.Shape(v)) > 0 && !m.HasOneUse(v) {
			return false
		}
	}
	return true
}

// IsPassThrough says whether sharding a factor needs no communication: it is neither reduced nor permuted nor
// needed whole.
func IsPassThrough(r *ir.Rule, factor int32) bool {
	return !slices.Contains(r.Reduction, factor) && !slices.Contains(r.Permutation, factor) &&
		!slices.Contains(r.NeedReplication, factor)
}

// Rounds returns the user priorities of the module's shardings in ascending order. Round 0 is always there.
func Rounds(m *ir.Module) []int32 {
	rounds := []int32{0}
	add := func(id ir.ShardingID) {
		if id == 0 {
			return
		}
		for _, d := range m.ShardingOf(id).Dims {
			if d.Priority > 0 && !slices.Contains(rounds, d.Priority) {
				rounds = append(rounds, d.Priority)
			}
		}
	}
	for v := 1; v < m.NumValues(); v++ {
		add(m.Sharding(ir.ValueID(v)))
	}
	for f := range m.Funcs() {
		for _, id := range m.Func(f).ResultShardings {
			add(id)
		}
	}
	slices.Sort(rounds)
	return rounds
}
