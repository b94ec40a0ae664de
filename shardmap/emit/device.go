package emit

import (
	"encoding/binary"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// maxTabled bounds the devices for which device numbers are worked out one by one.
const maxTabled = 1 << 16

// deviceIndex is an integer scalar that depends on the device alone: the index along some axes.
type deviceIndex struct{ refs []subaxis.Ref }

// findDeviceIndices evaluates what a program computes from partition ids, and remembers what is an index along mesh
// axes, so that arithmetic on partition ids becomes lax.axis_index.
func (e *emitter) findDeviceIndices(b ir.BlockID) {
	if e.mesh == nil || e.mesh.Devices() > maxTabled {
		return
	}
	tables := map[ir.ValueID][]int64{}
	e.m.Walk(b, func(op ir.OpID) {
		table := e.deviceTable(op, tables)
		if table == nil {
			return
		}
		v := e.m.Result(op, 0)
		tables[v] = table
		if varies(table) && len(e.m.Shape(v)) == 0 {
			if refs, ok := refine.Find(&e.mesh.Mesh, table); ok && e.mesh.cut(refs) {
				e.indices[v] = deviceIndex{refs}
			}
		}
	})
}

func varies(table []int64) bool {
	for _, v := range table {
		if v != table[0] {
			return true
		}
	}
	return false
}

// deviceTable returns the value of an op's result on each logical device; nil where it is not an integer with one
// element, or depends on data.
func (e *emitter) deviceTable(op ir.OpID, tables map[ir.ValueID][]int64) []int64 {
	m := e.m
	if m.NumResults(op) != 1 {
		return nil
	}
	v := m.Result(op, 0)
	t := m.ValueType(v)
	if t.Kind != ir.TensorKind || !t.IsStatic() || t.Elements() != 1 || t.DType.Kind() != dtype.Signed && t.DType.Kind() != dtype.Unsigned {
		return nil
	}
	in := make([][]int64, m.NumOperands(op))
	if m.Kind(op) == ir.OpDynamicSlice {
		return e.lookedUp(op, tables)
	}
	for i := range in {
		if in[i] = tables[m.Operand(op, i)]; in[i] == nil {
			return nil
		}
	}
	out := make([]int64, e.mesh.Devices())
	for d := range out {
		x, ok := e.deviceValue(op, int64(d), in)
		if !ok {
			return nil
		}
		out[d] = dtype.Wrap(t.DType, x)
	}
	return out
}

// deviceValue evaluates one op on one device.
func (e *emitter) deviceValue(op ir.OpID, d int64, in [][]int64) (int64, bool) {
	at := func(i int) int64 { return in[i][d] }
	switch e.m.Kind(op) {
	case ir.OpPartitionId:
		return e.mesh.DeviceID(d), true
	case ir.OpConstant:
		if values := e.integers(e.m.Attr(op, "value")); len(values) == 1 {
			return values[0], true
		}
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

// lookedUp evaluates the look-up of an element in a constant list.
func (e *emitter) lookedUp(op ir.OpID, tables map[ir.ValueID][]int64) []int64 {
	m := e.m
	source := m.DefiningOp(m.Operand(op, 0))
	if source == 0 || m.Kind(source) != ir.OpConstant || m.NumOperands(op) != 2 {
		return nil
	}
	values, at := e.integers(m.Attr(source, "value")), tables[m.Operand(op, 1)]
	if at == nil || len(values) == 0 || int64(len(values)) != m.ValueType(m.Operand(op, 0)).Elements() {
		return nil
	}
	out := make([]int64, len(at))
	for d, k := range at {
		out[d] = values[min(max(k, 0), int64(len(values)-1))]
	}
	return out
}

// integers returns the elements of a constant of integers as they are stored: one for a splat.
func (e *emitter) integers(a ir.Attr) []int64 {
	d, ok := a.(*ir.Dense)
	if !ok {
		return nil
	}
	t := e.m.TypeOf(d.Type).DType
	width := t.Bytes()
	if k := t.Kind(); k == dtype.Float || k == dtype.Complex || width == 0 {
		return nil
	}
	var out []int64
	for at := 0; at+width <= len(d.Data); at += width {
		var raw [8]byte
		copy(raw[:], d.Data[at:at+width])
		out = append(out, dtype.Wrap(t, int64(binary.LittleEndian.Uint64(raw[:]))))
	}
	return out
}
