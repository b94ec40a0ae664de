package collectives

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// Factors gives for each factor of an op's sharding rule the axes that shard it, major to minor. No axis stands
// twice. It is how the op's work is cut: every operand is needed, and every result made, in the layouts that
// [Project] derives from it.
type Factors [][]subaxis.Ref

// Project returns the layouts in which an op with these factors reads its operands and makes its results. Results
// are partial along the axes of reduction factors. It returns false where a tensor cannot be cut so: a minor
// factor of a dimension is sharded although a factor before it is not cut to single elements, or a factor does
// not divide evenly.
func Project(rule *ir.Rule, factors Factors, reduction ir.Reduction) (operands, results []Layout, ok bool) {
	for f, axes := range factors {
		if rule.Sizes[f]%subaxis.Product(axes) != 0 {
			return nil, nil, false
		}
	}
	var unreduced []subaxis.Ref
	for _, f := range rule.Reduction {
		unreduced = append(unreduced, factors[f]...)
	}
	unreduced = subaxis.SortMerge(unreduced)
	for _, mapping := range rule.Operands {
		l, ok := projectTensor(rule, factors, mapping)
		if !ok {
			return nil, nil, false
		}
		operands = append(operands, l)
	}
	for _, mapping := range rule.Results {
		l, ok := projectTensor(rule, factors, mapping)
		if !ok {
			return nil, nil, false
		}
		l.Unreduced = unreduced
		l.Reduction = reduction
		results = append(results, l)
	}
	return operands, results, true
}

func projectTensor(rule *ir.Rule, factors Factors, mapping [][]int32) (Layout, bool) {
	l := Layout{Dims: make([][]subaxis.Ref, len(mapping))}
	for d, dim := range mapping {
		whole := true // all factors so far are cut to single elements
		for _, f := range dim {
			if len(factors[f]) > 0 && !whole {
				return Layout{}, false
			}
			for _, r := range factors[f] {
				l.Dims[d] = subaxis.AppendMerge(l.Dims[d], r)
			}
			whole = whole && subaxis.Product(factors[f]) == rule.Sizes[f]
		}
	}
	return l, true
}

// Shardable returns for each factor of an op's rule whether its local form computes the right result with the
// factor sharded, and how partial results along reduction factors combine. Factors that would need neighbour
// communication or the whole tensor are not shardable: such operands are gathered first.
func Shardable(m *ir.Module, op ir.OpID, rule *ir.Rule) (shardable []bool, reduction ir.Reduction) {
	shardable = make([]bool, len(rule.Sizes))
	reduction, reduces := reductionOf(m, op)
	for f := range shardable {
		shardable[f] = rule.Sizes[f] > 1
	}
	for _, f := range slices.Concat(rule.NeedReplication, rule.Permutation) {
		shardable[f] = false
	}
	for _, f := range rule.Reduction {
		shardable[f] = shardable[f] && reduces
	}
	restrict(m, op, rule, shardable)
	return shardable, reduction
}

// restrict clears the factors that the rule lets pass but whose local form would differ.
func restrict(m *ir.Module, op ir.OpID, rule *ir.Rule, shardable []bool) {
	clear := func(mapping [][]int32, d int) {
		for _, f := range mapping[d] {
			shardable[f] = false
		}
	}
	switch m.Kind(op) {
	case ir.OpRngBitGenerator, ir.OpRng, ir.OpUnregistered, ir.OpComposite:
		// Every device would draw the same numbers, or run code that nobody here knows.
		clearAll(shardable)
	case ir.OpCustomCall:
		restrictCustomCall(m, op, rule, shardable)
	case ir.OpPad:
		// A dimension can keep its size and still shift: low -1, high 1.
		a := m.OpAttrs(op)
		low, high, interior := a.Ints("edge_padding_low"), a.Ints("edge_padding_high"), a.Ints("interior_padding")
		for d := range rule.Results[0] {
			if low[d] != 0 || high[d] != 0 || interior[d] != 0 {
				clear(rule.Results[0], d)
			}
		}
	case ir.OpDynamicUpdateSlice:
		for d, n := range m.Shape(m.Operand(op, 0)) {
			if m.Shape(m.Operand(op, 1))[d] != n {
				clear(rule.Operands[0], d)
				clear(rule.Operands[1], d)
			}
		}
	case ir.OpConvolution:
		// Windows reach across the borders of blocks, and padding belongs to the outer borders alone.
		if dims, ok := m.Attr(op, "dimension_numbers").(*ir.ConvDims); ok {
			for _, d := range dims.KernelSpatial {
				clear(rule.Operands[1], int(d))
			}
		}
	case ir.OpGather:
		restrictGather(m, op, rule, clear)
	case ir.OpScatter:
		restrictScatter(m, op, rule, clear)
	}
}

// restrictGather keeps dimensions of the operand whole that slices of size one are taken from without an index.
func restrictGather(m *ir.Module, op ir.OpID, rule *ir.Rule, clear func([][]int32, int)) {
	dims, _ := m.Attr(op, "dimension_numbers").(*ir.GatherDims)
	for d, size := range m.OpAttrs(op).Ints("slice_sizes") {
		indexed := slices.Contains(dims.StartIndexMap, int64(d)) || slices.Contains(dims.OperandBatch, int64(d))
		if size != m.Shape(m.Operand(op, 0))[d] && !indexed {
			clear(rule.Operands[0], d)
		}
	}
}

// restrictScatter keeps inserted dimensions whole that no index addresses, and partial updates apart from
// combiners that have no reduction.
func restrictScatter(m *ir.Module, op ir.OpID, rule *ir.Rule, clear func([][]int32, int)) {
	dims, _ := m.Attr(op, "scatter_dimension_numbers").(*ir.ScatterDims)
	for _, d := range dims.InsertedWindow {
		if !slices.Contains(dims.ToOperand, d) {
			clear(rule.Operands[0], int(d))
		}
	}
}

// reductionOf says how partial results of an op along reduction factors combine, false if they do not.
func reductionOf(m *ir.Module, op ir.OpID) (ir.Reduction, bool) {
	switch m.Kind(op) {
	case ir.OpDot, ir.OpDotGeneral, ir.OpConvolution, ir.OpGather:
		return ir.ReduceSum, true
	case ir.OpReduce:
		return reducer(m, op, m.Operand(op, m.NumOperands(op)-1))
	case ir.OpScatter:
		return ir.ReductionOf(m, op, 0)
	}
	return ir.ReduceSum, false
}

// reducer recognises a reduce of one operand whose partial results combine. A sum counts its initial value once per
// device, so it must be zero; minima and maxima may repeat theirs.
func reducer(m *ir.Module, op ir.OpID, init ir.ValueID) (ir.Reduction, bool) {
	if m.NumResults(op) != 1 {
		return ir.ReduceSum, false
	}
	r, ok := ir.ReductionOf(m, op, 0)
	if ok && r == ir.ReduceSum && !isZero(m, init) {
		return r, false
	}
	return r, ok
}

// isZero says whether a value is a constant of zeros, of either sign.
func isZero(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	if op == 0 || m.Kind(op) != ir.OpConstant && m.Kind(op) != ir.OpSdyConstant {
		return false
	}
	dense, ok := m.Attr(op, "value").(*ir.Dense)
	if !ok || dense.Resource != "" {
		return false
	}
	width := m.ValueType(v).DType.Bytes()
	for i, b := range dense.Data {
		sign := i%width == width-1 && b == 0x80 && m.ValueType(v).DType.Kind() >= dtype.Float
		if b != 0 && !sign {
			return false
		}
	}
	return true
}
