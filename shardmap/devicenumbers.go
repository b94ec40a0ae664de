package shardmap

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// maxTabled bounds the devices for which what is computed of partition ids is worked out one by one.
const maxTabled = 1 << 20

// deviceNumbers finds the integer scalars that are the number of a device along axes: partition ids, and what the program makes of
// them by arithmetic.
type deviceNumbers struct {
	m      *ir.Module
	mesh   *subaxis.Mesh
	tables map[ir.ValueID][]int64 // values that depend on the device alone, by place
	found  []deviceNumber
}

// deviceNumber is a value that is the number of the device along axes.
type deviceNumber struct {
	op   ir.OpID
	axes []subaxis.Ref
}

// see looks at the next op of the program.
func (n *deviceNumbers) see(op ir.OpID) {
	if n.m.Kind(op) == ir.OpPartitionId && n.mesh.DeviceIDs == nil {
		n.found = append(n.found, deviceNumber{op, n.mesh.All()})
	}
	table := n.table(op)
	if table == nil {
		return
	}
	v := n.m.Result(op, 0)
	n.tables[v] = table
	if n.m.Kind(op) == ir.OpPartitionId {
		return
	}
	if varies := slices.ContainsFunc(table, func(d int64) bool { return d != table[0] }); varies && len(n.m.Shape(v)) == 0 {
		if axes, ok := n.mesh.Find(table); ok && allFull(n.mesh, axes) {
			n.found = append(n.found, deviceNumber{op, axes})
		}
	}
}

// table returns the value of an op's result on each device, nil where it does not depend on the device, is not an integer with one
// element, or depends on data.
func (n *deviceNumbers) table(op ir.OpID) []int64 {
	m := n.m
	if m.NumResults(op) != 1 || n.mesh.Devices() > maxTabled || m.Kind(op) != ir.OpPartitionId && len(n.tables) == 0 {
		return nil
	}
	t := m.ValueType(m.Result(op, 0))
	if t.Kind != ir.TensorKind || !t.IsStatic() || t.Elements() != 1 || t.DType.Kind() != dtype.Signed && t.DType.Kind() != dtype.Unsigned {
		return nil
	}
	if looked := n.lookedUp(op); looked != nil {
		return looked
	}
	operands, depends := n.operands(op)
	if !depends && m.Kind(op) != ir.OpPartitionId {
		return nil
	}
	out := make([]int64, n.mesh.Devices())
	for d := range out {
		x, ok := n.mesh.DeviceID(int64(d)), true
		if depends {
			x, ok = arithmetic(m.Kind(op), func(i int) int64 { return operands[i][d%len(operands[i])] })
		}
		if !ok {
			return nil
		}
		out[d] = dtype.Wrap(t.DType, x)
	}
	return out
}

// lookedUp returns what each device finds in a table at its number, nil where the op is no such look-up.
func (n *deviceNumbers) lookedUp(op ir.OpID) []int64 {
	m := n.m
	if m.Kind(op) != ir.OpDynamicSlice || m.NumOperands(op) != 2 {
		return nil
	}
	index, from := n.tables[m.Operand(op, 1)], m.DefiningOp(m.Operand(op, 0))
	if index == nil || from == 0 {
		return nil
	}
	dense, ok := m.Attr(from, "value").(*ir.Dense)
	if !ok || m.Kind(from) != ir.OpConstant || dense.Splat || len(dense.Data) == 0 {
		return nil
	}
	t := m.TypeOf(dense.Type).DType
	var list []int64
	for bits := range slices.Chunk(dense.Data, t.Bytes()) {
		list = append(list, dtype.Wrap(t, int64(dtype.LoadBits(bits))))
	}
	return lists.Map(index, func(i int64) int64 { return list[min(max(i, 0), int64(len(list))-1)] })
}

// operands returns the values of the operands of an op, one for those that are constant, and whether some depend on the device but
// none on data.
func (n *deviceNumbers) operands(op ir.OpID) (values [][]int64, depends bool) {
	for _, v := range n.m.Operands(op) {
		if table := n.tables[v]; table != nil {
			values, depends = append(values, table), true
		} else if x, ok := n.m.ConstantInt(v); ok {
			values = append(values, []int64{x})
		} else {
			return nil, false
		}
	}
	return values, depends
}

// arithmetic evaluates an op on integers.
func arithmetic(kind ir.Kind, at func(operand int) int64) (int64, bool) {
	switch kind {
	case ir.OpReshape, ir.OpConvert:
		return at(0), true
	case ir.OpAdd:
		return at(0) + at(1), true
	case ir.OpSubtract:
		return at(0) - at(1), true
	case ir.OpMultiply:
		return at(0) * at(1), true
	case ir.OpDivide:
		if at(0) >= 0 && at(1) > 0 {
			return at(0) / at(1), true
		}
	case ir.OpRemainder:
		if at(0) >= 0 && at(1) > 0 {
			return at(0) % at(1), true
		}
	}
	return 0, false
}

// number puts an axis_index in the place of a number along axes.
func (r *groupReader) number(n deviceNumber) {
	m := r.m
	t := m.Type(m.Result(n.op, 0))
	b := m.BuilderBefore(n.op)
	v := b.Op1(ir.OpShardMapAxisIndex, m.TensorType(dtype.I32), r.along(n.axes))
	if m.Type(v) != t {
		v = b.Op1(ir.OpConvert, t, nil, v)
	}
	r.put(n.op, v)
}
