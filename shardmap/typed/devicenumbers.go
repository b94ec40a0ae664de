package typed

import (
	"encoding/binary"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// maxNumbered bounds the numbers of all devices that are worked out for the integers that depend on partition ids.
const maxNumbered = 1 << 24

// number is an integer scalar that depends on the device alone: factor times its place along parts of axes, or the
// factor where there are none.
type number struct {
	value  ir.ValueID
	refs   []subaxis.Ref
	factor int64
}

// findNumbers works out what the program computes from partition ids, and refines the mesh so that it can be said with
// places along axes.
func (r *deviceReader) findNumbers() {
	e := &evaluator{m: r.m, mesh: &r.src.Mesh, tables: map[ir.ValueID][]int64{}}
	r.m.Walk(r.m.Func(r.src.Main).Body, func(op ir.OpID) {
		if r.m.Kind(op) == ir.OpDynamicSlice {
			r.findPiece(e, op)
		}
		table := e.evaluate(op)
		if table == nil {
			return
		}
		v := r.m.Result(op, 0)
		e.tables[v] = table
		if n, ok := numberOf(&r.src.Mesh, table); ok && len(r.m.Shape(v)) == 0 && r.m.Kind(op) != ir.OpPartitionId &&
			r.cuts.Add(n.refs...) == nil {
			n.value = v
			r.numbers = append(r.numbers, n)
		}
	})
}

// numberOf returns the form of the numbers of all devices.
func numberOf(mesh *subaxis.Mesh, table []int64) (number, bool) {
	least, gcd := slices.Min(table), int64(0)
	for _, x := range table {
		gcd = subaxis.GCD(gcd, x)
	}
	if least == slices.Max(table) {
		return number{factor: least}, true
	}
	if least != 0 {
		return number{}, false
	}
	places := make([]int64, len(table))
	for d, x := range table {
		places[d] = x / gcd
	}
	refs, ok := refine.Find(mesh, places)
	return number{refs: refs, factor: gcd}, ok
}

// findPiece notes a slice that takes the block at the device's own place along some axes.
func (r *deviceReader) findPiece(e *evaluator, op ir.OpID) {
	m := r.m
	x, sizes := m.Operand(op, 0), m.OpAttrs(op).Ints("slice_sizes")
	dims := make([][]subaxis.Ref, len(sizes))
	cut := false
	for d, size := range sizes {
		start, whole := m.Operand(op, 1+d), m.Shape(x)[d]
		if c, ok := m.ConstantInt(start); ok && c == 0 && size == whole {
			continue
		}
		n, ok := number{}, false
		if table := e.tables[start]; table != nil {
			n, ok = numberOf(e.mesh, table)
		}
		if !ok || len(n.refs) == 0 || n.factor != size || size*subaxis.Product(n.refs) != whole || r.cuts.Add(n.refs...) != nil {
			return
		}
		dims[d], cut = n.refs, true
	}
	if cut {
		r.pieces[op] = dims
	}
}

// replaceNumbers computes the numbers from places along axes, once for each list of axes, at the start of the body.
func (r *deviceReader) replaceNumbers() {
	m, body := r.m, r.m.Func(r.src.Main).Body
	indices := map[string]ir.ValueID{}
	index := func(axes []int) ir.ValueID {
		key := r.p.tuple(axes)
		if indices[key] == 0 {
			indices[key] = Edit(r.p, m.FirstOp(body)).Emit(Collective{Kind: ir.OpShardMapAxisIndex, Axes: axes})
		}
		return indices[key]
	}
	for _, n := range r.numbers {
		b := m.BuilderBefore(m.DefiningOp(n.value))
		t := m.Type(n.value)
		e := m.TypeOf(t).DType
		if len(n.refs) == 0 {
			m.ReplaceUses(n.value, constantOf(b, t, e, n.factor))
			continue
		}
		v := index(r.refined.Axes(n.refs))
		if wide := e == dtype.I64 || e == dtype.UI64; !wide {
			v = scaled(b, m, v, n.factor)
			v = converted(b, m, v, t)
		} else {
			v = scaled(b, m, converted(b, m, v, t), n.factor)
		}
		m.ReplaceUses(n.value, v)
	}
	ir.EraseDead(m)
	m.Walk(body, func(op ir.OpID) {
		switch m.Kind(op) {
		case ir.OpPartitionId:
			m.ReplaceUses(m.Result(op, 0), r.partitionID(m.BuilderBefore(op), index(r.p.allAxes().Axes())))
			m.Erase(op)
		case ir.OpReplicaId:
			t := m.Type(m.Result(op, 0))
			m.ReplaceUses(m.Result(op, 0), constantOf(m.BuilderBefore(op), t, dtype.UI32, 0))
			m.Erase(op)
		}
	})
}

// partitionID emits the id of the device at a place of the mesh.
func (r *deviceReader) partitionID(b *ir.Builder, place ir.ValueID) ir.ValueID {
	m, t := r.m, r.m.TensorType(dtype.UI32)
	ids := r.src.Mesh.DeviceIDs
	if ids == nil {
		return b.Op1(ir.OpConvert, t, nil, place)
	}
	list := &ir.Dense{Type: m.TensorType(dtype.UI32, int64(len(ids)))}
	for _, id := range ids {
		list.Data = binary.LittleEndian.AppendUint32(list.Data, uint32(id))
	}
	table := b.Op1(ir.OpConstant, list.Type, ir.MakeAttrs(attr("value", list)))
	one := b.Op1(ir.OpDynamicSlice, m.TensorType(dtype.UI32, 1), ir.MakeAttrs(attr("slice_sizes", ir.Ints{1})), table, place)
	return b.Op1(ir.OpReshape, t, nil, one)
}

// scaled emits a scalar times a factor.
func scaled(b *ir.Builder, m *ir.Module, v ir.ValueID, factor int64) ir.ValueID {
	if factor == 1 {
		return v
	}
	return b.Op1(ir.OpMultiply, m.Type(v), nil, v, constantOf(b, m.Type(v), m.ValueType(v).DType, factor))
}

func converted(b *ir.Builder, m *ir.Module, v ir.ValueID, t ir.TypeID) ir.ValueID {
	if m.Type(v) == t {
		return v
	}
	return b.Op1(ir.OpConvert, t, nil, v)
}

// evaluator works out integers with one element on all devices.
type evaluator struct {
	m      *ir.Module
	mesh   *subaxis.Mesh
	tables map[ir.ValueID][]int64 // by place of the device
	spent  int64
}

// evaluate returns the result of an op that depends on the device alone; nil where it does not depend on the device, or
// on data too.
func (e *evaluator) evaluate(op ir.OpID) []int64 {
	m := e.m
	if m.NumResults(op) != 1 || m.NumRegions(op) > 0 {
		return nil
	}
	t := m.ValueType(m.Result(op, 0))
	if t.Kind != ir.TensorKind || !t.IsStatic() || t.Elements() != 1 || t.DType.Kind() != dtype.Signed && t.DType.Kind() != dtype.Unsigned {
		return nil
	}
	var in []func(d int64) int64
	depends := m.Kind(op) == ir.OpPartitionId
	for i := range m.NumOperands(op) {
		at, varies := e.operand(op, i)
		if at == nil {
			return nil
		}
		in, depends = append(in, at), depends || varies
	}
	n := e.mesh.Devices()
	if e.spent += n; !depends || e.spent > maxNumbered {
		return nil
	}
	out := make([]int64, n)
	for d := range n {
		x, ok := e.apply(op, d, in)
		if !ok {
			return nil
		}
		out[d] = dtype.Wrap(t.DType, x)
	}
	return out
}

// operand returns what an operand is on every device, and whether that depends on the device. The first operand of a
// slice is the list that it looks a number up in, and what is returned is about the other one.
func (e *evaluator) operand(op ir.OpID, i int) (at func(d int64) int64, varies bool) {
	v := e.m.Operand(op, i)
	if table := e.tables[v]; table != nil {
		return func(d int64) int64 { return table[d] }, true
	}
	if e.m.Kind(op) == ir.OpDynamicSlice && i == 0 {
		return func(int64) int64 { return 0 }, false
	}
	if c, ok := e.m.ConstantInt(v); ok {
		return func(int64) int64 { return c }, false
	}
	return nil, false
}

// apply evaluates an op on one device.
func (e *evaluator) apply(op ir.OpID, d int64, in []func(int64) int64) (int64, bool) {
	at := func(i int) int64 { return in[i](d) }
	switch e.m.Kind(op) {
	case ir.OpPartitionId:
		return e.mesh.DeviceID(d), true
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
	case ir.OpDynamicSlice:
		return e.lookUp(op, at(len(in)-1))
	}
	return 0, false
}

// lookUp returns an element of the list that a slice takes one number from.
func (e *evaluator) lookUp(op ir.OpID, at int64) (int64, bool) {
	def := e.m.DefiningOp(e.m.Operand(op, 0))
	if def == 0 || e.m.Kind(def) != ir.OpConstant || e.m.NumOperands(op) != 2 {
		return 0, false
	}
	list, _ := e.m.Attr(def, "value").(*ir.Dense)
	t := e.m.ValueType(e.m.Operand(op, 0))
	width := int64(t.DType.Bytes())
	at = min(max(at, 0), t.Elements()-1)
	if list == nil || width == 0 {
		return 0, false
	}
	if list.Splat {
		at = 0
	}
	if at < 0 || int64(len(list.Data)) < (at+1)*width {
		return 0, false
	}
	var raw [8]byte
	copy(raw[:], list.Data[at*width:(at+1)*width])
	return dtype.Wrap(t.DType, int64(binary.LittleEndian.Uint64(raw[:]))), true
}
