package autoshard_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// A mutation plants a small bug at an op of the program of one device. It returns false where it does not apply.
type mutation struct {
	name  string
	plant func(x *mutant, op ir.OpID) bool
}

// mutant is a program in which a bug is planted.
type mutant struct {
	m       *ir.Module
	devices int64
	rng     *rand.Rand
}

var mutations = []mutation{
	{"a collective is left out", func(x *mutant, op ir.OpID) bool {
		return isCollective(x.m.Kind(op)) && x.m.NumResults(op) == 1 && x.skip(op, 0)
	}},
	{"devices change groups", (*mutant).changeGroups},
	{"a group is in another order", (*mutant).reorderGroup},
	{"a permute goes to the wrong devices", (*mutant).wrongPairs},
	{"a sum becomes a maximum", (*mutant).otherReduction},
	{"a device takes another's block", (*mutant).otherBlock},
	{"an offset is one off", (*mutant).wrongOffset},
	{"a constant is a thousandth off", (*mutant).wrongConstant},
	{"operands are swapped", (*mutant).swapOperands},
	{"a gather runs along another dimension", (*mutant).otherDimension},
	{"a block is transposed", (*mutant).transposeBlock},
	{"a scale is forgotten", func(x *mutant, op ir.OpID) bool {
		k := x.m.Kind(op)
		return (k == ir.OpMultiply || k == ir.OpDivide) && isFloat(x.m, op) && x.skip(op, 0)
	}},
	{"a device skips an update", (*mutant).skipOnDevice},
	{"a value is rounded to bf16", (*mutant).roundLower},
	{"a vector is reversed", (*mutant).reverseVector},
	{"a mask is forgotten", func(x *mutant, op ir.OpID) bool { return x.m.Kind(op) == ir.OpSelect && x.skip(op, 1) }},
	{"one element is lost", (*mutant).loseElement},
	{"one element of a sum is counted twice", (*mutant).repeatElement},
	{"a sign is wrong", func(x *mutant, op ir.OpID) bool {
		m := x.m
		switch m.Kind(op) {
		case ir.OpAdd:
			m.SetKind(op, ir.OpSubtract)
		case ir.OpSubtract:
			m.SetKind(op, ir.OpAdd)
		case ir.OpNegate:
			return x.skip(op, 0)
		default:
			return false
		}
		return isFloat(m, op)
	}},
	{"a collective runs twice", func(x *mutant, op ir.OpID) bool {
		if x.m.Kind(op) != ir.OpAllReduce && x.m.Kind(op) != ir.OpCollectivePermute {
			return false
		}
		again := x.m.CloneOp(x.m.BuilderAfter(op), op, map[ir.ValueID]ir.ValueID{})
		x.m.ReplaceUsesIf(x.m.Result(op, 0), x.m.Result(again, 0), func(u ir.Use) bool { return u.Op != again })
		x.m.SetOperand(again, 0, x.m.Result(op, 0))
		return true
	}},
}

func isCollective(k ir.Kind) bool {
	switch k {
	case ir.OpAllReduce, ir.OpAllGather, ir.OpReduceScatter, ir.OpAllToAll, ir.OpCollectivePermute:
		return true
	}
	return false
}

func isFloat(m *ir.Module, op ir.OpID) bool {
	return m.NumResults(op) == 1 && m.ValueType(m.Result(op, 0)).DType.Kind() == dtype.Float
}

// skip takes an operand of an op for its result.
func (x *mutant) skip(op ir.OpID, operand int) bool {
	if x.m.Type(x.m.Result(op, 0)) != x.m.Type(x.m.Operand(op, operand)) {
		return false
	}
	x.m.ReplaceUses(x.m.Result(op, 0), x.m.Operand(op, operand))
	return true
}

// after gives the users of an op's result what emit makes of it.
func (x *mutant) after(op ir.OpID, emit func(b *ir.Builder, v ir.ValueID) ir.ValueID) bool {
	m := x.m
	v := m.Result(op, 0)
	first := ir.OpID(m.NumOps())
	with := emit(m.BuilderAfter(op), v)
	if m.Type(with) != m.Type(v) {
		return false
	}
	m.ReplaceUsesIf(v, with, func(u ir.Use) bool { return u.Op < first })
	return true
}

func (x *mutant) setInts(op ir.OpID, name string, change func([]int64) bool) bool {
	d, ok := x.m.Attr(op, name).(*ir.Dense)
	if !ok {
		return false
	}
	values := slices.Clone(d.Int64s())
	if !change(values) {
		return false
	}
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	x.m.SetAttrs(op, x.m.OpAttrs(op).With(name, &ir.Dense{Type: d.Type, Data: data}))
	return true
}

func (x *mutant) changeGroups(op ir.OpID) bool {
	return x.setInts(op, "replica_groups", func(ids []int64) bool {
		groups := x.m.TypeOf(x.m.Attr(op, "replica_groups").(*ir.Dense).Type).Dims[0]
		size := int64(len(ids)) / groups
		if groups < 2 || size < 2 {
			return false
		}
		ids[0], ids[size] = ids[size], ids[0]
		return true
	})
}

// reorderGroup changes what is gathered, not what is summed.
func (x *mutant) reorderGroup(op ir.OpID) bool {
	if k := x.m.Kind(op); k != ir.OpAllGather && k != ir.OpAllToAll && k != ir.OpReduceScatter {
		return false
	}
	return x.setInts(op, "replica_groups", func(ids []int64) bool {
		size := int64(len(ids)) / x.m.TypeOf(x.m.Attr(op, "replica_groups").(*ir.Dense).Type).Dims[0]
		if size < 2 {
			return false
		}
		ids[0], ids[size-1] = ids[size-1], ids[0]
		return true
	})
}

func (x *mutant) wrongPairs(op ir.OpID) bool {
	return x.setInts(op, "source_target_pairs", func(ids []int64) bool {
		if len(ids) < 4 {
			return false
		}
		ids[1], ids[3] = ids[3], ids[1]
		return true
	})
}

func (x *mutant) otherReduction(op ir.OpID) bool {
	m := x.m
	switch m.Kind(op) {
	case ir.OpAllReduce, ir.OpReduceScatter, ir.OpReduce:
	default:
		return false
	}
	inner := m.FirstOp(m.RegionBlock(op, 0))
	switch m.Kind(inner) {
	case ir.OpAdd:
		m.SetKind(inner, ir.OpMaximum)
	case ir.OpMaximum:
		m.SetKind(inner, ir.OpMinimum)
	default:
		return false
	}
	return true
}

// otherBlock swaps two entries of a table that says where a device stands.
func (x *mutant) otherBlock(op ir.OpID) bool {
	d, ok := x.m.Attr(op, "value").(*ir.Dense)
	if !ok || d.Splat || x.m.ValueType(x.m.Result(op, 0)).DType != dtype.I32 || int64(len(d.Data)) != 4*x.devices {
		return false
	}
	data := slices.Clone(d.Data)
	for k := 4; k < len(data); k += 4 {
		if string(data[k:k+4]) != string(data[:4]) {
			copy(data[:4], d.Data[k:k+4])
			copy(data[k:k+4], d.Data[:4])
			break
		}
	}
	x.m.SetAttrs(op, x.m.OpAttrs(op).With("value", &ir.Dense{Type: d.Type, Data: data}))
	return true
}

func (x *mutant) wrongOffset(op ir.OpID) bool {
	m := x.m
	if k := m.Kind(op); k != ir.OpDynamicSlice && k != ir.OpDynamicUpdateSlice && k != ir.OpGather {
		return false
	}
	at := m.NumOperands(op) - 1
	v := m.Operand(op, at)
	t := m.ValueType(v)
	if m.ValueType(v).DType.Kind() == dtype.Float || at == 0 {
		return false
	}
	b := m.BuilderBefore(op)
	m.SetOperand(op, at, b.Op1(ir.OpAdd, m.Type(v), nil, v, x.splat(b, m.Type(v), dtype.Wrap(t.DType, 1))))
	return true
}

// splat emits a constant of equal integers.
func (x *mutant) splat(b *ir.Builder, t ir.TypeID, value int64) ir.ValueID {
	data := binary.LittleEndian.AppendUint64(nil, uint64(value))[:x.m.TypeOf(t).DType.Bytes()]
	return b.Op1(ir.OpConstant, t, ir.MakeAttrs(ir.NamedAttr{Name: "value", Value: &ir.Dense{Type: t, Data: data, Splat: true}}))
}

func (x *mutant) wrongConstant(op ir.OpID) bool {
	d, ok := x.m.Attr(op, "value").(*ir.Dense)
	if !ok || !isFloat(x.m, op) {
		return false
	}
	e := x.m.ValueType(x.m.Result(op, 0)).DType
	data := slices.Clone(d.Data)
	changed := false
	for k := 0; k+e.Bytes() <= len(data); k += e.Bytes() {
		var raw [8]byte
		copy(raw[:], data[k:k+e.Bytes()])
		v := dtype.Decode(e, binary.LittleEndian.Uint64(raw[:]))
		binary.LittleEndian.PutUint64(raw[:], dtype.Encode(e, v*1.001))
		copy(data[k:], raw[:e.Bytes()])
		changed = changed || string(data[k:k+e.Bytes()]) != string(d.Data[k:k+e.Bytes()])
	}
	x.m.SetAttrs(op, x.m.OpAttrs(op).With("value", &ir.Dense{Type: d.Type, Data: data, Splat: d.Splat}))
	return changed
}

func (x *mutant) swapOperands(op ir.OpID) bool {
	m := x.m
	a, b := 0, 1
	switch m.Kind(op) {
	case ir.OpSubtract, ir.OpDivide, ir.OpPower, ir.OpDotGeneral:
	case ir.OpSelect:
		a, b = 1, 2
	default:
		return false
	}
	v, w := m.Operand(op, a), m.Operand(op, b)
	if v == w || m.Type(v) != m.Type(w) {
		return false
	}
	m.SetOperand(op, a, w)
	m.SetOperand(op, b, v)
	return true
}

// otherDimension gathers or scatters along another dimension and reads what comes of it as the right shape.
func (x *mutant) otherDimension(op ir.OpID) bool {
	m := x.m
	name := map[ir.Kind]string{ir.OpAllGather: "all_gather_dim", ir.OpReduceScatter: "scatter_dimension"}[m.Kind(op)]
	if name == "" {
		return false
	}
	v := m.Operand(op, 0)
	d, rank := m.OpAttrs(op).Int(name, 0), int64(len(m.Shape(v)))
	if rank < 2 {
		return false
	}
	e := (d + 1) % rank
	dims, final := slices.Clone(m.Shape(v)), m.Shape(m.Result(op, 0))
	dims[e] = dims[e] * final[d] / dims[d]
	if dims[e] == 0 || dims[e]*m.Shape(v)[d] != m.Shape(v)[e]*final[d] {
		return false
	}
	a := m.Attr(op, name).(ir.IntAttr)
	a.Value = e
	m.SetAttrs(op, m.OpAttrs(op).With(name, a))
	right := m.Type(m.Result(op, 0))
	wrong := m.WithDims(right, dims)
	m.SetType(m.Result(op, 0), wrong)
	r := m.BuilderAfter(op).Op1(ir.OpReshape, right, nil, m.Result(op, 0))
	m.ReplaceUsesIf(m.Result(op, 0), r, func(u ir.Use) bool { return u.Op != m.DefiningOp(r) })
	return true
}

func (x *mutant) transposeBlock(op ir.OpID) bool {
	m := x.m
	if m.NumResults(op) != 1 || m.Kind(op) == ir.OpConstant {
		return false
	}
	dims := m.Shape(m.Result(op, 0))
	n := len(dims)
	if n < 2 || dims[n-1] != dims[n-2] || dims[n-1] < 2 {
		return false
	}
	perm := make(ir.Ints, n)
	for i := range perm {
		perm[i] = int64(i)
	}
	perm[n-1], perm[n-2] = perm[n-2], perm[n-1]
	return x.after(op, func(b *ir.Builder, v ir.ValueID) ir.ValueID {
		return b.Op1(ir.OpTranspose, m.Type(v), ir.MakeAttrs(ir.NamedAttr{Name: "permutation", Value: perm}), v)
	})
}

// skipOnDevice has one device keep the first operand.
func (x *mutant) skipOnDevice(op ir.OpID) bool {
	m := x.m
	switch m.Kind(op) {
	case ir.OpAdd, ir.OpSubtract, ir.OpAllReduce, ir.OpMultiply, ir.OpDynamicUpdateSlice:
	default:
		return false
	}
	old := m.Operand(op, 0)
	if m.Type(old) != m.Type(m.Result(op, 0)) || m.ParentOp(op) != m.Func(mainOf(m)).Op {
		return false
	}
	return x.after(op, func(b *ir.Builder, v ir.ValueID) ir.ValueID {
		id := b.Op1(ir.OpPartitionId, m.TensorType(dtype.UI32), nil)
		it := x.splat(b, m.TensorType(dtype.UI32), x.rng.Int64N(x.devices))
		is := b.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.MakeAttrs(
			ir.NamedAttr{Name: "comparison_direction", Value: ir.EnumAttr{Dialect: "stablehlo", Enum: "comparison_direction", Value: "EQ"}},
			ir.NamedAttr{Name: "compare_type", Value: ir.EnumAttr{Dialect: "stablehlo", Enum: "comparison_type", Value: "UNSIGNED"}}), id, it)
		return b.Op1(ir.OpSelect, m.Type(v), nil, is, old, v)
	})
}

func mainOf(m *ir.Module) ir.FuncID {
	main, _ := m.Main()
	return main
}

func (x *mutant) roundLower(op ir.OpID) bool {
	m := x.m
	if m.Kind(op) == ir.OpConstant || !isFloat(m, op) || m.ValueType(m.Result(op, 0)).DType.Bits() < 32 {
		return false
	}
	return x.after(op, func(b *ir.Builder, v ir.ValueID) ir.ValueID {
		low := b.Op1(ir.OpConvert, m.InternType(ir.Type{Kind: ir.TensorKind, DType: dtype.BF16, Dims: m.Shape(v)}), nil, v)
		return b.Op1(ir.OpConvert, m.Type(v), nil, low)
	})
}

func (x *mutant) reverseVector(op ir.OpID) bool {
	m := x.m
	if m.NumResults(op) != 1 || len(m.Shape(m.Result(op, 0))) != 1 || m.Kind(op) == ir.OpConstant {
		return false
	}
	return x.after(op, func(b *ir.Builder, v ir.ValueID) ir.ValueID {
		return b.Op1(ir.OpReverse, m.Type(v), ir.MakeAttrs(ir.NamedAttr{Name: "dimensions", Value: ir.Ints{0}}), v)
	})
}

// element emits a block with one element at a random place, and the indices of the place.
func (x *mutant) element(b *ir.Builder, v ir.ValueID) (one ir.ValueID, at []ir.ValueID) {
	m := x.m
	sizes := slices.Repeat(ir.Ints{1}, len(m.Shape(v)))
	for _, n := range m.Shape(v) {
		at = append(at, x.splat(b, m.TensorType(dtype.I32), x.rng.Int64N(n)))
	}
	one = b.Op1(ir.OpDynamicSlice, m.WithDims(m.Type(v), sizes), ir.MakeAttrs(ir.NamedAttr{Name: "slice_sizes", Value: sizes}),
		append([]ir.ValueID{v}, at...)...)
	return one, at
}

func (x *mutant) changeElement(op ir.OpID, change func(b *ir.Builder, one ir.ValueID) ir.ValueID) bool {
	m := x.m
	if !isFloat(m, op) || len(m.Shape(m.Result(op, 0))) == 0 || slices.Contains(m.Shape(m.Result(op, 0)), 0) || m.Kind(op) == ir.OpConstant {
		return false
	}
	return x.after(op, func(b *ir.Builder, v ir.ValueID) ir.ValueID {
		one, at := x.element(b, v)
		return b.Op1(ir.OpDynamicUpdateSlice, m.Type(v), nil, append([]ir.ValueID{v, change(b, one)}, at...)...)
	})
}

func (x *mutant) loseElement(op ir.OpID) bool {
	return x.changeElement(op, func(b *ir.Builder, one ir.ValueID) ir.ValueID {
		return b.Op1(ir.OpSubtract, x.m.Type(one), nil, one, one)
	})
}

func (x *mutant) repeatElement(op ir.OpID) bool {
	return x.changeElement(op, func(b *ir.Builder, one ir.ValueID) ir.ValueID { return b.Op1(ir.OpAdd, x.m.Type(one), nil, one, one) })
}
