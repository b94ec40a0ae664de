// Package fusion says which values of a program whoever fuses ops computes where they are read, and which take memory. Of
//
//	%0 = stablehlo.tanh %x
//	%1 = stablehlo.multiply %0, %y
//	%2 = stablehlo.dot_general %1, %w
//
// the first is nowhere: the product with %y computes it, element by element. Prices, memory, plans and virtual devices go by it.
// Specification: cost.md section 5.4.
package fusion

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Values says of every value of a module what fusing compilers make of it.
type Values struct {
	// Fused values never reach memory, so that nobody writes or reads them there: an integer scalar that is computed, and the result of
	// an elementwise op, broadcast, iota or splat constant whose only user is elementwise too, or a broadcast or reduction, which read it
	// on the fly. A reshape does nothing: what it makes is fused where that of which it makes it is.
	Fused []bool
	// Unheld values take no memory of their own: those that are fused, what a reshape alone reads, which is held as the reshape's result,
	// and the result of a reshape that one op reads on the fly.
	Unheld []bool
	// Flowing values have one reader that may compute them: it does, and what they are made of is held until then, if they are unheld. They
	// are held if more than one value as large would be needed for longer otherwise.
	Flowing []bool
}

// Of returns how the main function of a module is fused. Of
//
//	%0 = stablehlo.tanh %x
//	%1 = stablehlo.reshape %0
//	%2 = stablehlo.dot_general %1, %w
//
// both values are written once and read once, and held once.
func Of(m *ir.Module) Values {
	f := None(m)
	main, ok := m.Main()
	if !ok {
		return f
	}
	var ops []ir.OpID
	m.Walk(m.Func(main).Body, func(op ir.OpID) {
		if m.NumResults(op) == 1 {
			ops = append(ops, op)
		}
	})
	flows := make([]bool, m.NumValues()) // to one op, which reads it on the fly
	for _, op := range slices.Backward(ops) {
		v := m.Result(op, 0)
		if reader := onlyReader(m, v); reader != 0 {
			flows[v] = readsOnTheFly(m.Kind(reader)) || m.Kind(reader) == ir.OpReshape && flows[m.Result(reader, 0)]
		}
	}
	for _, op := range ops {
		v := m.Result(op, 0)
		switch {
		case isScalar(m, v) && Addresses(m, op, 1):
			f.Set(v, true)
			continue
		case m.Kind(op) == ir.OpReshape:
			f.Fused[v], f.Unheld[v] = flows[v] && f.Fused[m.Operand(op, 0)], flows[v]
		case producesOnTheFly(m, op):
			reader := onlyReader(m, v)
			f.Fused[v], f.Unheld[v] = flows[v], flows[v] || reader != 0 && m.Kind(reader) == ir.OpReshape
		}
		f.Flowing[v] = f.Unheld[v]
	}
	f.hold(m, ops)
	return f
}

// OnTheFly says of every value whether its reader computes it.
func (f Values) OnTheFly() []bool {
	out := slices.Clone(f.Flowing)
	for v := range out {
		out[v] = out[v] && f.Unheld[v]
	}
	return out
}

// MayBeUnheld says of every value whether it is unheld, or would be if others were sent or held for other reasons.
func (f Values) MayBeUnheld() []bool {
	out := slices.Clone(f.Unheld)
	for v := range out {
		out[v] = out[v] || f.Flowing[v]
	}
	return out
}

// hold decides which values are held that might be computed where they are read.
func (f Values) hold(m *ir.Module, ops []ir.OpID) {
	l := ir.NewLiveness(m, m.MainFunc().Body)
	for _, op := range slices.Backward(ops) {
		v := m.Result(op, 0)
		if !f.Flowing[v] {
			continue
		}
		if len(f.sources(m, l, op, l.Reads(m.OnlyReader(v)), FarthestSource, nil)) > 1 {
			f.Unheld[v] = false
		} else {
			l.Delay(op)
		}
	}
}

// FarthestSource is how many ops away what a value is made of is looked for; what lies farther counts as held.
const FarthestSource = 32

// sources adds to the values that would be needed for longer if an op read at a later time: results that are held, and donated inputs, but
// for scalars, constants, and what is broadcast. It ends at the second.
func (f Values) sources(m *ir.Module, l *ir.Liveness, op ir.OpID, at int32, ops int, found []ir.ValueID) []ir.ValueID {
	if m.Kind(op) == ir.OpBroadcastInDim {
		return found
	}
	for _, v := range m.DistinctOperands(op) {
		if f.Flowing[v] && f.Unheld[v] && ops > 0 {
			found = f.sources(m, l, m.DefiningOp(v), at, ops-1, found)
		} else if MayBeHeldLonger(m, v) && !slices.Contains(found, v) {
			if _, end := l.Interval(v); end <= at {
				found = append(found, v)
			}
		}
		if len(found) > 1 {
			break
		}
	}
	return found
}

// MayBeHeldLonger says whether a value may be held for longer because another one is made of it later: it is no scalar, constant or
// argument that is there anyway.
func MayBeHeldLonger(m *ir.Module, v ir.ValueID) bool {
	if m.ValueType(v).Kind != ir.TensorKind || len(m.Shape(v)) == 0 {
		return false
	}
	if op := m.DefiningOp(v); op != 0 {
		return !m.Kind(op).IsConstant()
	}
	f := m.MainFunc()
	return m.ArgBlock(v) == f.Body && f.ArgAttrs[m.Index(v)].Donated()
}

// None says that no value is fused.
func None(m *ir.Module) Values {
	return Values{make([]bool, m.NumValues()), make([]bool, m.NumValues()), make([]bool, m.NumValues())}
}

// Set says of a value that it is nowhere, or in memory of its own.
func (f Values) Set(v ir.ValueID, fused bool) { f.Fused[v], f.Unheld[v] = fused, fused }

// onlyReader returns the only op that uses a value, in the block in which it is made; 0 where there is none.
func onlyReader(m *ir.Module, v ir.ValueID) ir.OpID {
	if op := m.OnlyReader(v); op != 0 && m.OpBlock(op) == m.BlockOf(v) {
		return op
	}
	return 0
}

// addressing are the kinds of ops beside elementwise ones that may compute what other ops count or address by.
var addressing = []ir.Kind{ir.OpConstant, ir.OpSdyConstant, ir.OpIota, ir.OpReshape, ir.OpDynamicSlice, ir.OpShardMapPscatter,
	ir.OpPartitionId, ir.OpShardMapAxisIndex}

// Addresses says whether an op whose result has so many elements computes one integer. Compilers fold such ops into what they count or
// address.
func Addresses(m *ir.Module, op ir.OpID, elements int64) bool {
	if m.NumResults(op) != 1 || elements != 1 {
		return false
	}
	t := m.ValueType(m.Result(op, 0))
	return t.Kind == ir.TensorKind && (t.DType.Kind() == dtype.Signed || t.DType.Kind() == dtype.Unsigned) &&
		(m.Kind(op).IsElementwise() || slices.Contains(addressing, m.Kind(op)))
}

func isScalar(m *ir.Module, v ir.ValueID) bool {
	return m.ValueType(v).Kind == ir.TensorKind && len(m.Shape(v)) == 0
}

func producesOnTheFly(m *ir.Module, op ir.OpID) bool {
	k := m.Kind(op)
	if slices.Contains([]ir.Kind{ir.OpBroadcastInDim, ir.OpIota, ir.OpShardMapAxisIndex}, k) {
		return true
	}
	if k.IsConstant() {
		return m.IsSplat(op)
	}
	return computesElements(k)
}

func readsOnTheFly(k ir.Kind) bool {
	return computesElements(k) || k == ir.OpBroadcastInDim || k == ir.OpReduce
}

func computesElements(k ir.Kind) bool {
	return k.IsElementwise() && k != ir.OpSdyShardingConstraint && k != ir.OpSdyReshard
}
