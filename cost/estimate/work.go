package estimate

import (
	"encoding/binary"

	"autoshard/cost"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/fusion"
	"autoshard/localform"
)

// WorkOf returns the work of an op on blocks of the given local shapes (nil for what is not a tensor). A contraction
// counts two operations per combination of its dimensions (cost.md section 3); anything else one per element of its
// largest tensor. Values that fused says never reach memory are neither read nor written; gathers, slices
// and their reverses touch only the elements they move. Single integers cost nothing.
func WorkOf(m *ir.Module, op ir.OpID, operands, results [][]int64, fused []bool) cost.Work {
	w := cost.Work{DType: elementType(m, op)}
	largest := int64(0)
	sizes := func(values []ir.ValueID, dims [][]int64) []int64 {
		bytes := make([]int64, len(values))
		for i, v := range values {
			if m.ValueType(v).Kind != ir.TensorKind {
				continue
			}
			n := product(dims[i])
			largest = max(largest, n)
			if !fused[v] {
				bytes[i] = n * int64(m.ValueType(v).DType.Bytes())
			}
		}
		return bytes
	}
	in := sizes(m.Operands(op), operands)
	out := sizes(m.ResultValues(op), results)
	if m.NumResults(op) == 1 && fusion.Addresses(m, op, product(results[0])) {
		return cost.Work{DType: w.DType}
	}
	w.FLOPs = float64(largest)
	w.Bytes = float64(sum(in) + sum(out))
	if c, ok := contractionOf(m, op); ok {
		matmul := c.of(operands, results)
		w.FLOPs, w.Matrix = matmul.FLOPs(), true
		return w
	}
	switch m.Kind(op) {
	case ir.OpGather:
		w.Bytes = float64(in[1] + 2*sum(out))
	case ir.OpSlice, ir.OpDynamicSlice, ir.OpShardMapPscatter:
		w.Bytes = 2 * float64(sum(out))
	case ir.OpDynamicUpdateSlice:
		w.Bytes = 2 * float64(in[1])
	case ir.OpScatter:
		n := len(out)
		w.Bytes = float64(in[n] + 3*sum(in[n+1:]))
	case ir.OpConstant, ir.OpSdyConstant, ir.OpReshape, ir.OpOptimizationBarrier, ir.OpWhile, ir.OpCase, ir.OpIf,
		ir.OpSdyShardingConstraint, ir.OpSdyReshard, ir.OpPartitionId, ir.OpShardMapAxisIndex:
		return cost.Work{DType: w.DType}
	}
	return w
}

func elementType(m *ir.Module, op ir.OpID) dtype.Type {
	if m.NumOperands(op) > 0 {
		return m.ValueType(m.Operand(op, 0)).DType
	}
	if m.NumResults(op) > 0 {
		return m.ValueType(m.Result(op, 0)).DType
	}
	return dtype.Invalid
}

// AppendSignature appends to a key what [Model.Op], [Model.Fetch] and [Model.Counting] depend on of an op itself. Ops with equal
// signatures whose operands and results have the same types, and are fused alike, cost the same on blocks of the same shapes.
func AppendSignature(key []byte, m *ir.Module, op ir.OpID) []byte {
	key = binary.AppendUvarint(key, uint64(m.Kind(op)))
	if c, ok := contractionOf(m, op); ok {
		key = c.appendTo(key)
	}
	if m.Kind(op) == ir.OpIota {
		key = binary.AppendVarint(key, m.OpAttrs(op).Int("iota_dimension", 0))
	}
	return localform.AppendSignature(key, m, op)
}

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

func sum(values []int64) int64 {
	total := int64(0)
	for _, v := range values {
		total += v
	}
	return total
}
