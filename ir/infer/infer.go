// Package infer says which result types follow from the operands and attributes of an op:
//
//	types, known, problem := infer.Results(m, ir.OpTranspose, operands, attrs)
//
// A reader of programs without types, and whoever changes the sizes of a program, need it; programs that have all types
// are checked by ir.Verify instead.
package infer

import (
	"fmt"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Results returns the result types that follow from operands and attributes (specification: stablehlo.md section 2).
// known is false where they do not follow; a problem says why the operands cannot be right. Only tensors of known
// shape are looked at; the verifier checks the rest.
func Results(m *ir.Module, k ir.Kind, operands []ir.ValueID, attrs ir.Attrs) (types []ir.TypeID, known bool, problem string) {
	in := inference{m: m, kind: k, operands: operands, attrs: attrs}
	if want, ok := minOperands[k]; ok && len(operands) < want {
		return nil, false, fmt.Sprintf("expected at least %d operands, found %d", want, len(operands))
	}
	switch {
	case k == ir.OpConvert || k == ir.OpUniformQuantize || k == ir.OpUniformDequantize:
		return nil, false, ""
	case k.IsUnary() || k.IsBinary():
		return in.elementwise()
	case slices.Contains(keepTypes, k):
		return in.same(len(operands))
	case slices.Contains(keepFirst, k):
		return in.same(1)
	}
	if f, ok := inferences[k]; ok && in.static() {
		t, problem := f(&in)
		if problem == "" && slices.ContainsFunc(t, func(id ir.TypeID) bool { return TooLarge(m.TypeOf(id)) }) {
			problem = "result is larger than 2^56 bytes"
		}
		return t, problem == "", problem
	}
	return nil, false, ""
}

// keepTypes are the operations whose results have the types of all operands, keepFirst those of the first.
var (
	keepTypes = []ir.Kind{ir.OpWhile, ir.OpSort, ir.OpOptimizationBarrier}
	keepFirst = []ir.Kind{ir.OpClamp, ir.OpReverse, ir.OpDynamicUpdateSlice, ir.OpCholesky, ir.OpAllReduce, ir.OpCollectivePermute,
		ir.OpCollectiveBroadcast, ir.OpSelectAndScatter, ir.OpSetDimensionSize, ir.OpBatchNormInference,
		ir.OpSdyShardingConstraint, ir.OpSdyReshard, ir.OpSdyPropagationBarrier, ir.OpSdyAllGather, ir.OpSdyAllSlice,
		ir.OpSdyAllReduce, ir.OpSdyAllToAll, ir.OpSdyCollectivePermute, ir.OpSdyReduceScatter, ir.OpSdyReplicatedToUnreduced,
		ir.OpSdyShardedToUnreduced, ir.OpSdyDataFlowEdge, ir.OpSdyFuncDataFlowEdge}
)

// inferences are the rules of single operations on operands of known shape.
var inferences = map[ir.Kind]func(*inference) ([]ir.TypeID, string){
	ir.OpSelect:           func(in *inference) ([]ir.TypeID, string) { return []ir.TypeID{in.m.Type(in.operands[1])}, "" },
	ir.OpTriangularSolve:  func(in *inference) ([]ir.TypeID, string) { return []ir.TypeID{in.m.Type(in.operands[1])}, "" },
	ir.OpScatter:          (*inference).scatter,
	ir.OpDotGeneral:       (*inference).dotGeneral,
	ir.OpTranspose:        (*inference).transpose,
	ir.OpReduce:           (*inference).reduce,
	ir.OpConcatenate:      (*inference).concatenate,
	ir.OpSlice:            (*inference).slice,
	ir.OpDynamicSlice:     (*inference).dynamicSlice,
	ir.OpPad:              (*inference).pad,
	ir.OpGather:           (*inference).gather,
	ir.OpReduceWindow:     (*inference).reduceWindow,
	ir.OpConvolution:      (*inference).convolution,
	ir.OpGetDimensionSize: func(in *inference) ([]ir.TypeID, string) { return []ir.TypeID{in.m.TensorType(dtype.I32)}, "" },
}

// minOperands is how many operands the rules look at.
var minOperands = func() map[ir.Kind]int {
	n := map[ir.Kind]int{ir.OpSelect: 3, ir.OpTriangularSolve: 2, ir.OpScatter: 3, ir.OpDotGeneral: 2, ir.OpTranspose: 1, ir.OpReduce: 2,
		ir.OpConcatenate: 1, ir.OpSlice: 1, ir.OpDynamicSlice: 1, ir.OpPad: 2, ir.OpGather: 2, ir.OpReduceWindow: 2,
		ir.OpConvolution: 2, ir.OpGetDimensionSize: 1, ir.OpClamp: 3}
	for k := ir.OpUnregistered + 1; k < ir.NumKinds; k++ {
		if k.IsUnary() {
			n[k] = 1
		} else if k.IsBinary() {
			n[k] = 2
		}
	}
	for _, k := range keepFirst {
		n[k] = max(n[k], 1)
	}
	return n
}()

// MaxTensorBytes bounds the size of one tensor type, so that products of sizes stay within 63 bits.
const MaxTensorBytes = int64(1) << 56

// TooLarge says whether a type of known shape exceeds MaxTensorBytes.
func TooLarge(t *ir.Type) bool {
	bytes := int64(t.DType.Bytes())
	for _, d := range t.Dims {
		if d > 0 && bytes > MaxTensorBytes/d {
			return true
		}
		bytes *= max(d, 1)
	}
	return false
}

type inference struct {
	m        *ir.Module
	kind     ir.Kind
	operands []ir.ValueID
	attrs    ir.Attrs
}

func (in *inference) static() bool {
	for _, v := range in.operands {
		if t := in.m.ValueType(v); !t.IsStatic() || t.Quant != 0 {
			return false
		}
	}
	return true
}

func (in *inference) dims(i int) []int64 { return in.m.Shape(in.operands[i]) }

// like returns the type with other sizes and the elements of operand i.
func (in *inference) like(i int, dims []int64) ([]ir.TypeID, string) {
	return []ir.TypeID{in.m.TensorType(in.m.ValueType(in.operands[i]).DType, dims...)}, ""
}

func (in *inference) same(n int) ([]ir.TypeID, bool, string) {
	at := 0
	if in.kind == ir.OpClamp {
		at = 1
	}
	types := make([]ir.TypeID, n)
	for i := range types {
		types[i] = in.m.Type(in.operands[at+i])
	}
	return types, true, ""
}

func (in *inference) elementwise() ([]ir.TypeID, bool, string) {
	t := *in.m.ValueType(in.operands[0])
	for _, v := range in.operands[1:] {
		if o := in.m.ValueType(v); o.Kind != t.Kind || !slices.Equal(o.Dims, t.Dims) && o.IsStatic() && t.IsStatic() {
			return nil, false, fmt.Sprintf("operands have shapes %v and %v; there is no implicit broadcasting: bring them to one shape "+
				"by broadcast_in_dim", t.Dims, o.Dims)
		} else if o.DType != t.DType {
			return nil, false, fmt.Sprintf("operands have elements of types %s and %s: convert one of them", t.DType, o.DType)
		}
	}
	switch in.kind {
	case ir.OpCompare, ir.OpIsFinite, ir.OpChloIsInf, ir.OpChloIsNegInf, ir.OpChloIsPosInf:
		t.DType = dtype.I1
	case ir.OpComplex:
		switch t.DType {
		case dtype.F32:
			t.DType = dtype.C64
		case dtype.F64:
			t.DType = dtype.C128
		}
	case ir.OpReal, ir.OpImag, ir.OpAbs:
		switch t.DType {
		case dtype.C64:
			t.DType = dtype.F32
		case dtype.C128:
			t.DType = dtype.F64
		}
	}
	return []ir.TypeID{in.m.InternType(t)}, true, ""
}

// inRange says whether all are different dimensions of a tensor of that rank.
func inRange(dims []int64, rank int) bool {
	for i, d := range dims {
		if d < 0 || d >= int64(rank) || slices.Contains(dims[:i], d) {
			return false
		}
	}
	return true
}

func (in *inference) transpose() ([]ir.TypeID, string) {
	dims, perm := in.dims(0), in.attrs.Ints("permutation")
	if len(perm) != len(dims) || !inRange(perm, len(dims)) {
		return nil, fmt.Sprintf("permutation %v is not one of the %d dimensions", perm, len(dims))
	}
	out := make([]int64, len(perm))
	for i, p := range perm {
		out[i] = dims[p]
	}
	return in.like(0, out)
}

func (in *inference) dotGeneral() ([]ir.TypeID, string) {
	d, ok := in.attrs.Get("dot_dimension_numbers").(*ir.DotDims)
	if !ok {
		return nil, "attribute \"dot_dimension_numbers\" is missing: add it, or use einsum"
	}
	x, y := in.dims(0), in.dims(1)
	if !inRange(slices.Concat(d.LhsBatch, d.LhsContract), len(x)) || !inRange(slices.Concat(d.RhsBatch, d.RhsContract), len(y)) {
		return nil, "dot_dimension_numbers names a dimension twice or one that does not exist"
	}
	out := []int64{}
	for _, b := range d.LhsBatch {
		out = append(out, x[b])
	}
	for i, n := range x {
		if !slices.Contains(d.LhsBatch, int64(i)) && !slices.Contains(d.LhsContract, int64(i)) {
			out = append(out, n)
		}
	}
	for i, n := range y {
		if !slices.Contains(d.RhsBatch, int64(i)) && !slices.Contains(d.RhsContract, int64(i)) {
			out = append(out, n)
		}
	}
	return in.like(0, out)
}

func (in *inference) reduce() ([]ir.TypeID, string) {
	drop := in.attrs.Ints("dimensions")
	n := len(in.operands) / 2
	if len(in.operands)%2 != 0 {
		return nil, "expected as many initial values as inputs"
	}
	types := make([]ir.TypeID, n)
	for i := range types {
		dims := in.dims(i)
		if !inRange(drop, len(dims)) {
			return nil, fmt.Sprintf("dimensions %v are not all among the %d of the operand", drop, len(dims))
		}
		out := []int64{}
		for d, size := range dims {
			if !slices.Contains(drop, int64(d)) {
				out = append(out, size)
			}
		}
		types[i] = in.m.TensorType(in.m.ValueType(in.operands[n+i]).DType, out...)
	}
	return types, ""
}

func (in *inference) concatenate() ([]ir.TypeID, string) {
	d := in.attrs.Int("dimension", -1)
	out := slices.Clone(in.dims(0))
	if d < 0 || d >= int64(len(out)) {
		return nil, fmt.Sprintf("dimension %d does not exist", d)
	}
	for i := range in.operands[1:] {
		other := in.dims(i + 1)
		if len(other) != len(out) {
			return nil, "operands have different ranks"
		}
		out[d] += other[d]
	}
	return in.like(0, out)
}

func (in *inference) slice() ([]ir.TypeID, string) {
	dims := in.dims(0)
	start, limit, strides := in.attrs.Ints("start_indices"), in.attrs.Ints("limit_indices"), in.attrs.Ints("strides")
	if len(start) != len(dims) || len(limit) != len(dims) || len(strides) != len(dims) {
		return nil, fmt.Sprintf("start_indices, limit_indices and strides need %d elements each", len(dims))
	}
	out := make([]int64, len(dims))
	for i := range out {
		if start[i] < 0 || limit[i] < start[i] || limit[i] > dims[i] || strides[i] < 1 {
			return nil, fmt.Sprintf("slice %d:%d:%d does not fit dimension %d of size %d", start[i], limit[i], strides[i], i, dims[i])
		}
		out[i] = (limit[i]-start[i]-1)/strides[i] + 1
		if limit[i] == start[i] {
			out[i] = 0
		}
	}
	return in.like(0, out)
}

func (in *inference) dynamicSlice() ([]ir.TypeID, string) {
	sizes := in.attrs.Ints("slice_sizes")
	if len(sizes) != len(in.dims(0)) {
		return nil, fmt.Sprintf("slice_sizes needs %d elements", len(in.dims(0)))
	}
	return in.like(0, sizes)
}

func (in *inference) pad() ([]ir.TypeID, string) {
	dims := in.dims(0)
	low, high, interior := in.attrs.Ints("edge_padding_low"), in.attrs.Ints("edge_padding_high"), in.attrs.Ints("interior_padding")
	if len(low) != len(dims) || len(high) != len(dims) || len(interior) != len(dims) {
		return nil, fmt.Sprintf("edge_padding_low, edge_padding_high and interior_padding need %d elements each", len(dims))
	}
	out := make([]int64, len(dims))
	for i, n := range dims {
		out[i] = low[i] + n + max(n-1, 0)*interior[i] + high[i]
		if out[i] < 0 || interior[i] < 0 {
			return nil, fmt.Sprintf("padding of dimension %d leaves a negative size", i)
		}
	}
	return in.like(0, out)
}

func (in *inference) gather() ([]ir.TypeID, string) {
	d, ok := in.attrs.Get("dimension_numbers").(*ir.GatherDims)
	sizes, indices := in.attrs.Ints("slice_sizes"), in.dims(1)
	if !ok || len(sizes) != len(in.dims(0)) {
		return nil, fmt.Sprintf("attributes \"dimension_numbers\" and \"slice_sizes\" of %d elements are needed", len(in.dims(0)))
	}
	var batch, window []int64
	for i, n := range indices {
		if int64(i) != d.IndexVectorDim {
			batch = append(batch, n)
		}
	}
	for i, n := range sizes {
		if !slices.Contains(d.Collapsed, int64(i)) && !slices.Contains(d.OperandBatch, int64(i)) {
			window = append(window, n)
		}
	}
	out := make([]int64, len(batch)+len(window))
	if len(window) != len(d.Offset) || !inRange(d.Offset, len(out)) {
		return nil, fmt.Sprintf("offset_dims needs %d different dimensions of the %d of the result", len(window), len(out))
	}
	for i := range out {
		from := &batch
		if slices.Contains(d.Offset, int64(i)) {
			from = &window
		}
		out[i], *from = (*from)[0], (*from)[1:]
	}
	return in.like(0, out)
}

func (in *inference) scatter() ([]ir.TypeID, string) {
	types, _, _ := in.same(len(in.operands) / 2)
	return types, ""
}
