package programs

import (
	"fmt"
	"math"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Order draws a module with a function of one sort of one to three operands along some dimension, of which one may be the numbers of the
// elements, and adds the mesh. Its comparator has one or two keys, as JAX writes them or in total order, upwards and downwards, or is none
// of keys. The axes cut operands and results.
func Order(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	m, d := n.m, rapid.IntRange(0, len(cuts)-1).Draw(t, "sorted")
	whole := n.each(n.size)
	element := rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.BF16, dtype.I8, dtype.UI32})
	elements := rapid.SliceOfN(element, 1, 3).Draw(t, "elements")
	types := lists.Map(elements, func(e dtype.Type) ir.TypeID { return m.TensorType(e, whole...) })
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: types, Results: types}))
	b := m.BuilderAtEnd(f.Body)
	operands := slices.Clone(m.BlockArgs(f.Body))
	if last := len(elements) - 1; last > 0 && rapid.Bool().Draw(t, "numbered") {
		e := rapid.SampledFrom([]dtype.Type{dtype.I32, dtype.UI32, dtype.I8}).Draw(t, "number")
		elements[last], types[last] = e, m.TensorType(e, whole...)
		operands[last] = b.Op1(ir.OpIota, types[last], attrs("iota_dimension", m.I64(int64(d))))
		f.ResultTypes[last] = types[last]
	}
	if rapid.Bool().Draw(t, "counted from the last") {
		d -= len(cuts)
	}
	op := b.OpRegions(ir.OpSort, types, attrs("dimension", m.I64(int64(d)), "is_stable", ir.BoolAttr(true)), 1, operands...)
	n.comparator(op, elements)
	b.Op(ir.OpReturn, nil, nil, m.ResultValues(op)...)
	mesh := m.AddMesh("mesh", over, nil, 0)
	for i, v := range m.ResultValues(op) {
		n.place(mesh, v, cuts)
		n.place(mesh, operands[i], cuts)
		n.place(mesh, m.BlockArgs(f.Body)[i], cuts)
		f.ResultShardings[i] = m.Sharding(v)
	}
	return m, mesh
}

// comparator gives a sort its region.
func (n *neighbours) comparator(op ir.OpID, elements []dtype.Type) {
	m := n.m
	body := m.AddBlock(m.Regions(op)[0])
	var args []ir.ValueID
	for _, e := range elements {
		args = append(args, m.AddBlockArg(body, m.TensorType(e)), m.AddBlockArg(body, m.TensorType(e)))
	}
	in := m.BuilderAtEnd(body)
	i1 := m.TensorType(dtype.I1)
	if e := elements[0]; e.Kind() != dtype.Float && rapid.Bool().Draw(n.t, "by the last bits") {
		three := in.Integer(e, 3)
		bits := func(v ir.ValueID) ir.ValueID { return in.Op1(ir.OpAnd, m.Type(v), nil, v, three) }
		in.Op(ir.OpStablehloReturn, nil, nil, in.Op1(ir.OpCompare, i1, ir.CompareAttrs("LT", e), bits(args[0]), bits(args[1])))
		return
	}
	compare := func(direction string, x, y ir.ValueID) ir.ValueID {
		e := m.ValueType(x).DType
		a := ir.CompareAttrs(direction, e)
		if e.Kind() == dtype.Float {
			a = a.With("compare_type", ir.EnumAttr{Dialect: "stablehlo", Enum: "comparison_type", Value: "TOTALORDER"})
		}
		return in.Op1(ir.OpCompare, i1, a, x, y)
	}
	keys := int(n.between(1, int64(min(2, len(elements))), "keys"))
	var before ir.ValueID
	for k := keys - 1; k >= 0; k-- {
		x, y := args[2*k], args[2*k+1]
		if elements[k].Kind() == dtype.Float && rapid.Bool().Draw(n.t, "as JAX compares") {
			x, y = canonical(m, in, x), canonical(m, in, y)
		}
		first := compare(rapid.SampledFrom([]string{"LT", "GT"}).Draw(n.t, fmt.Sprint("direction ", k)), x, y)
		if before != 0 {
			first = in.Op1(ir.OpOr, i1, nil, first, in.Op1(ir.OpAnd, i1, nil, compare("EQ", x, y), before))
		}
		before = first
	}
	in.Op(ir.OpStablehloReturn, nil, nil, before)
}

// canonical emits a floating-point number with one zero and one NaN, as JAX sorts them.
func canonical(m *ir.Module, in *ir.Builder, x ir.ValueID) ir.ValueID {
	e, i1 := m.ValueType(x).DType, m.TensorType(dtype.I1)
	number := func(v float64) ir.ValueID {
		return in.Constant(m.Dense(m.TensorType(e), tensor.FromFloats(e, nil, v).Data))
	}
	zero := number(0)
	zeroed := in.Op1(ir.OpSelect, m.Type(x), nil, in.Op1(ir.OpCompare, i1, ir.CompareAttrs("EQ", e), x, zero), zero, x)
	nan := in.Op1(ir.OpCompare, i1, ir.CompareAttrs("NE", e), x, x)
	return in.Op1(ir.OpSelect, m.Type(x), nil, nan, number(math.NaN()), zeroed)
}

// ordered sorts a value along one dimension, as JAX does.
func (g *generator) ordered(v ir.ValueID, dims []int64) {
	d, ok := g.dim(dims)
	if !ok || dims[d] == 0 {
		return
	}
	n := &neighbours{t: g.t, m: g.m}
	op := g.b.OpRegions(ir.OpSort, []ir.TypeID{g.m.Type(v)}, attrs("dimension", g.m.I64(int64(d)), "is_stable", ir.BoolAttr(true)), 1, v)
	n.comparator(op, []dtype.Type{dtype.F32})
	g.add(g.m.Result(op, 0))
}
