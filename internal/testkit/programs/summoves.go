package programs

import (
	"encoding/binary"
	"math"

	"autoshard/ir"
	"autoshard/ir/dtype"

	"pgregory.net/rapid"
)

// moved writes a term of which some elements are moved, among zeros or along the first dimension, masked or left out, as gradients of
// slices, tables, masked weights and triangles are.
func (s *summing) moved(v ir.ValueID) ir.ValueID {
	switch rapid.SampledFrom([]string{"no", "padded", "updates", "scattered", "gathered", "masked", "selected"}).Draw(s.t, "moved") {
	case "padded":
		part, low := s.rows(v)
		return s.b.Op1(ir.OpPad, s.typ, attrs("edge_padding_low", ir.Ints{low, 0}, "edge_padding_high", ir.Ints{2 - low, 0},
			"interior_padding", ir.Ints{0, 0}), part, s.zero())
	case "updates":
		part, start := s.rows(v)
		return s.b.Op1(ir.OpDynamicUpdateSlice, s.typ, nil, s.zeros(), part, s.numbers(nil, start), s.numbers(nil, 0))
	case "scattered":
		d := &ir.ScatterDims{UpdateWindow: []int64{1}, InsertedWindow: []int64{0}, ToOperand: []int64{0}, IndexVectorDim: 1}
		op := s.b.OpRegions(ir.OpScatter, []ir.TypeID{s.typ}, attrs("scatter_dimension_numbers", d, "indices_are_sorted", ir.BoolAttr(false),
			"unique_indices", ir.BoolAttr(false)), 1, s.zeros(), s.numbers(ir.Ints{sumRows, 1}, s.indices()...), v)
		combiner(s.m, op, ir.OpAdd)
		return s.m.Result(op, 0)
	case "gathered":
		d := &ir.GatherDims{Offset: []int64{1}, Collapsed: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: 1}
		return s.b.Op1(ir.OpGather, s.typ, attrs("dimension_numbers", d, "slice_sizes", ir.Ints{1, sumCols}, "indices_are_sorted",
			ir.BoolAttr(false)), v, s.numbers(ir.Ints{sumRows, 1}, s.indices()...))
	case "masked":
		return s.b.Op1(ir.OpMultiply, s.typ, nil, v, s.inputs[len(s.inputs)-1])
	case "selected":
		zeros, truth := s.zeros(), s.m.TensorType(dtype.I1, sumRows, sumCols)
		where := s.b.Op1(ir.OpCompare, truth, ir.CompareAttrs("LT", dtype.F32), s.inputs[len(s.inputs)-1], zeros)
		if rapid.Bool().Draw(s.t, "elsewhere") {
			return s.b.Op1(ir.OpSelect, s.typ, nil, where, zeros, v)
		}
		return s.b.Op1(ir.OpSelect, s.typ, nil, where, v, zeros)
	}
	return v
}

// rows writes two rows of a term, fixed ones or those that an index says, and draws a place for them among the rows of a matrix.
func (s *summing) rows(v ir.ValueID) (part ir.ValueID, place int64) {
	from, typ := rapid.Int64Range(0, 2).Draw(s.t, "from"), s.m.TensorType(dtype.F32, 2, sumCols)
	if rapid.Bool().Draw(s.t, "by index") {
		part = s.b.Op1(ir.OpDynamicSlice, typ, attrs("slice_sizes", ir.Ints{2, sumCols}), v, s.numbers(nil, from), s.numbers(nil, 0))
	} else {
		part = s.b.Op1(ir.OpSlice, typ, attrs("start_indices", ir.Ints{from, 0}, "limit_indices", ir.Ints{from + 2, sumCols},
			"strides", ir.Ints{1, 1}), v)
	}
	return part, rapid.Int64Range(0, 2).Draw(s.t, "place")
}

// indices draws a row for each row.
func (s *summing) indices() []int64 {
	return rapid.SliceOfN(rapid.Int64Range(0, sumRows-1), sumRows, sumRows).Draw(s.t, "indices")
}

// numbers writes a constant of integers.
func (s *summing) numbers(dims ir.Ints, of ...int64) ir.ValueID {
	var data []byte
	for _, n := range of {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	return s.b.Constant(s.m.Dense(s.m.TensorType(dtype.I32, dims...), data))
}

func (s *summing) zero() ir.ValueID { return s.b.Constant(s.m.Zeros(s.m.TensorType(dtype.F32))) }

func (s *summing) zeros() ir.ValueID { return s.spread(0) }

// spread writes a matrix of one number.
func (s *summing) spread(x float32) ir.ValueID {
	number := s.b.Constant(s.m.Dense(s.m.TensorType(dtype.F32), binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))))
	return s.b.Op1(ir.OpBroadcastInDim, s.typ, attrs("broadcast_dimensions", ir.Ints{}), number)
}
