package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// BatchGathers turns gathers and scatters that go through dimension 0 of operand and indices in step into ones with
// an explicit batching dimension, along which shardings propagate: those whose index of operand dimension 0 is an
// iota along dimension 0 of the indices,
//
//	%i = concatenate(iota dim = 0, %j)   gather(%x, %i), collapsed_slice_dims = [0], start_index_map = [0, 1]
//	                                  → gather(%x, %j), operand_batching_dims = [0], start_index_map = [1]
//
// The iota may be reshaped, broadcast, clamped, and chosen by a select. Programs guard their indices in these ways; that the guards
// never change an index is taken for granted. Shardy: -sdy-explicit-gather-scatter-batching.
func BatchGathers(m *ir.Module) { batch(m, false) }

// BatchSteps does it where it is plain to see that the guards never change an index.
func BatchSteps(m *ir.Module) { batch(m, true) }

// guarded returns the operands of a clamp or a select of which one may be what it guards.
func guarded(m *ir.Module, guard ir.OpID) []ir.ValueID {
	if m.Kind(guard) == ir.OpClamp {
		return []ir.ValueID{m.Operand(guard, 1)}
	}
	return m.Operands(guard)[1:]
}

// unchanged returns what a guard surely leaves as it is if that counts up: a select of something else where it is below zero, and a clamp
// from zero or less to the last element or more.
func unchanged(m *ir.Module, guard ir.OpID) []ir.ValueID {
	if m.Kind(guard) == ir.OpClamp {
		low, okLow := bound(m, m.Operand(guard, 0))
		high, okHigh := bound(m, m.Operand(guard, 2))
		if v := m.Operand(guard, 1); okLow && okHigh && low <= 0 && high >= m.Shape(v)[0]-1 {
			return []ir.ValueID{v}
		}
		return nil
	}
	compare, v := m.DefiningOp(m.Operand(guard, 0)), m.Operand(guard, 2)
	if compare == 0 || m.Kind(compare) != ir.OpCompare || m.OpAttrs(compare).Str("comparison_direction") != "LT" ||
		m.Operand(compare, 0) != v {
		return nil
	}
	if n, ok := bound(m, m.Operand(compare, 1)); !ok || n > 0 {
		return nil
	}
	return []ir.ValueID{v}
}

// bound returns the number that a constant, or the broadcast of one, repeats.
func bound(m *ir.Module, v ir.ValueID) (int64, bool) {
	if def := m.DefiningOp(v); def != 0 && m.Kind(def) == ir.OpBroadcastInDim {
		v = m.Operand(def, 0)
	}
	return m.ConstantInt(v)
}

func batch(m *ir.Module, exact bool) {
	m.Walk(m.Body(), func(op ir.OpID) {
		if dims, ok := m.Attr(op, gatherDims).(*ir.GatherDims); ok {
			batchGather(m, op, dims, exact)
		}
		if dims, ok := m.Attr(op, scatterDims).(*ir.ScatterDims); ok {
			batchScatter(m, op, dims, exact)
		}
	})
	ir.EraseDead(m)
}

// The attributes that hold the dimension numbers.
const (
	gatherDims  = "dimension_numbers"
	scatterDims = "scatter_dimension_numbers"
)

func batchGather(m *ir.Module, op ir.OpID, dims *ir.GatherDims, exact bool) {
	if m.Kind(op) != ir.OpGather || len(dims.OperandBatch) > 0 {
		return
	}
	f := indexing{dims.Collapsed, dims.StartIndexMap, int(dims.IndexVectorDim), exact}
	k := f.batched(m, m.Operand(op, 0), m.Operand(op, 1))
	if k < 0 {
		return
	}
	batched := *dims
	batched.OperandBatch, batched.IndicesBatch = []int64{0}, []int64{0}
	batched.Collapsed, batched.StartIndexMap = without0(dims.Collapsed), without0(dims.StartIndexMap)
	m.SetOperand(op, 1, f.dropIndex(m, op, m.Operand(op, 1), k))
	m.SetAttrs(op, m.OpAttrs(op).With(gatherDims, &batched))
}

func batchScatter(m *ir.Module, op ir.OpID, dims *ir.ScatterDims, exact bool) {
	if m.Kind(op) != ir.OpScatter || len(dims.InputBatch) > 0 || m.NumOperands(op)%2 == 0 {
		return
	}
	f := indexing{dims.InsertedWindow, dims.ToOperand, int(dims.IndexVectorDim), exact}
	at := m.NumOperands(op) / 2
	k := f.batched(m, m.Operand(op, 0), m.Operand(op, at))
	if k < 0 {
		return
	}
	batched := *dims
	batched.InputBatch, batched.IndicesBatch = []int64{0}, []int64{0}
	batched.InsertedWindow, batched.ToOperand = without0(dims.InsertedWindow), without0(dims.ToOperand)
	m.SetOperand(op, at, f.dropIndex(m, op, m.Operand(op, at), k))
	m.SetAttrs(op, m.OpAttrs(op).With(scatterDims, &batched))
}

func without0(list []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(list), func(d int64) bool { return d == 0 })
}

// indexing is what gather and scatter have in common: the operand dimensions of which an index takes one element, the
// operand dimension of each component of an index, and the dimension of the indices that holds the components.
type indexing struct {
	collapsed, indexMap []int64
	vectorDim           int
	exact               bool // guards must be seen to change nothing
}

// batched returns the component that indexes dimension 0 of the operand in step with dimension 0 of the indices,
// -1 if there is none or it is the only component.
func (f indexing) batched(m *ir.Module, operand, indices ir.ValueID) int {
	k := slices.Index(f.indexMap, 0)
	from, shape := m.Shape(operand), m.Shape(indices)
	if k < 0 || !slices.Contains(f.collapsed, 0) || f.vectorDim < 1 || f.vectorDim >= len(shape) || len(from) == 0 ||
		shape[f.vectorDim] < 2 || from[0] != shape[0] || from[0] == ir.Dynamic || !f.countsUp(m, indices, k) {
		return -1
	}
	return k
}

// countsUp says whether component k of the indices is an iota along dimension 0.
func (f indexing) countsUp(m *ir.Module, indices ir.ValueID, k int) bool {
	def := m.DefiningOp(indices)
	if def == 0 || m.Kind(def) != ir.OpConcatenate || m.OpAttrs(def).Int("dimension", -1) != int64(f.vectorDim) {
		return f.isIota0(m, indices)
	}
	for i := range m.NumOperands(def) {
		part := m.Operand(def, i)
		if k -= int(m.Shape(part)[f.vectorDim]); k < 0 {
			return f.isIota0(m, part)
		}
	}
	return false
}

// isIota0 says whether a value counts up along dimension 0, as far as shapes tell.
func (f indexing) isIota0(m *ir.Module, v ir.ValueID) bool {
	for {
		def := m.DefiningOp(v)
		if def == 0 {
			return false
		}
		switch m.Kind(def) {
		case ir.OpIota:
			_, most := dtype.IntRange(m.ValueType(v).DType)
			return m.OpAttrs(def).Int("iota_dimension", -1) == 0 && (!f.exact || uint64(m.Shape(v)[0]) <= most)
		case ir.OpReshape, ir.OpBroadcastInDim:
			from, to := m.Shape(m.Operand(def, 0)), m.Shape(v)
			if len(from) == 0 || len(to) == 0 || from[0] != to[0] {
				return false
			}
			if dims := m.OpAttrs(def).Ints("broadcast_dimensions"); len(dims) > 0 && dims[0] != 0 {
				return false
			}
			v = m.Operand(def, 0)
		case ir.OpClamp, ir.OpSelect:
			behind := guarded(m, def)
			if f.exact {
				behind = unchanged(m, def)
			}
			return slices.ContainsFunc(behind, func(v ir.ValueID) bool { return f.isIota0(m, v) })
		default:
			return false
		}
	}
}

// dropIndex returns the indices without component k: without an operand of the concatenation that made them, if each
// operand is one component, otherwise cut out by slices before the op that uses them.
func (f indexing) dropIndex(m *ir.Module, user ir.OpID, indices ir.ValueID, k int) ir.ValueID {
	shape := m.Shape(indices)
	n := shape[f.vectorDim]
	var parts []ir.ValueID
	b := m.BuilderBefore(user)
	def := m.DefiningOp(indices)
	if def != 0 && m.Kind(def) == ir.OpConcatenate && m.OpAttrs(def).Int("dimension", -1) == int64(f.vectorDim) &&
		m.NumOperands(def) == int(n) {
		parts = slices.Delete(m.Operands(def), k, k+1)
	} else {
		if k > 0 {
			parts = append(parts, f.slice(m, b, indices, 0, int64(k)))
		}
		if int64(k+1) < n {
			parts = append(parts, f.slice(m, b, indices, int64(k+1), n))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	dimension := ir.NamedAttr{Name: "dimension", Value: m.I64(int64(f.vectorDim))}
	return b.Op1(ir.OpConcatenate, f.resized(m, indices, n-1), ir.MakeAttrs(dimension), parts...)
}

// slice cuts components out of the indices.
func (f indexing) slice(m *ir.Module, b *ir.Builder, indices ir.ValueID, from, to int64) ir.ValueID {
	shape := m.Shape(indices)
	start, strides := make(ir.Ints, len(shape)), make(ir.Ints, len(shape))
	limit := ir.Ints(slices.Clone(shape))
	for d := range strides {
		strides[d] = 1
	}
	start[f.vectorDim], limit[f.vectorDim] = from, to
	return b.Op1(ir.OpSlice, f.resized(m, indices, to-from), ir.MakeAttrs(ir.NamedAttr{Name: "start_indices", Value: start},
		ir.NamedAttr{Name: "limit_indices", Value: limit}, ir.NamedAttr{Name: "strides", Value: strides}), indices)
}

// resized returns the type of the indices with another number of components.
func (f indexing) resized(m *ir.Module, indices ir.ValueID, n int64) ir.TypeID {
	t := *m.ValueType(indices)
	t.Dims = slices.Clone(t.Dims)
	t.Dims[f.vectorDim] = n
	return m.InternType(t)
}
