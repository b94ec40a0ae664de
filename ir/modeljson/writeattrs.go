package modeljson

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// maxListed is the number of elements above which constants are written in hexadecimal.
const maxListed = 100

// maxExact bounds the integers that every reader of JSON numbers keeps.
const maxExact = int64(1) << 53

// isText says whether a string of the program can stand in JSON as it is.
func isText(s string) bool { return utf8.ValidString(s) }

func (w *writer) addAttrs(n *node, attrs ir.Attrs, k ir.Kind) {
	if len(attrs) == 0 {
		return
	}
	known, closed := knownAttrs(k)
	out := node{kind: objectKind}
	for _, a := range attrs {
		if !isText(a.Name) {
			w.unsupported("attribute name %q is not UTF-8", a.Name)
			continue
		}
		if closed && !strings.Contains(a.Name, ".") && !slices.Contains(known, a.Name) {
			out.add(a.Name, w.mlirAttr(a.Value))
			continue
		}
		out.add(a.Name, w.attrOrText(a.Value, formOf(k, a.Name)))
	}
	n.add("attributes", out)
}

// mlirAttr returns an attribute as MLIR text.
func (w *writer) mlirAttr(a ir.Attr) node {
	return object("mlir", text(mlir.FormatAttr(w.m, a)))
}

// attrOrText returns an attribute in a form, or as MLIR text where the form does not hold it.
func (w *writer) attrOrText(a ir.Attr, f attrForm) node {
	if v, ok := w.attr(a, f); ok {
		return v
	}
	return w.mlirAttr(a)
}

// attr returns the JSON of an attribute in a form, or false where the form does not hold it.
func (w *writer) attr(a ir.Attr, f attrForm) (node, bool) {
	switch a := a.(type) {
	case ir.BoolAttr:
		return boolean(bool(a)), f.form == ir.BoolForm || f.form == ir.AnyForm
	case ir.UnitAttr:
		return boolean(true), f.form == ir.UnitForm
	case ir.IntAttr:
		return w.intAttr(a, f.form)
	case ir.FloatAttr:
		return w.floatText(dtype.F32, a.Bits), f.form == ir.FloatForm && a.Type == w.m.ScalarType(dtype.F32)
	case ir.StringAttr:
		return text(string(a)), isText(string(a)) && (f.form == ir.StringForm || f.form == ir.AnyForm)
	case ir.SymbolAttr:
		return text("@" + a[0]), f.form == ir.SymbolForm && len(a) == 1 && isText(a[0])
	case ir.EnumAttr:
		return text(a.Value), f.form == ir.EnumForm && isCase(a, f.enum)
	case ir.Ints:
		return numbers(a), f.form == ir.IntsForm && exact(a)
	case ir.Bools:
		return each(a, boolean), f.form == ir.BoolsForm
	case ir.ArrayAttr:
		return w.arrayAttr(a, f)
	case ir.DictAttr:
		return w.dictAttr(a, f.form)
	case *ir.Dense:
		return w.matrix(a, f.form)
	}
	return w.dialectAttr(a, f.form)
}

// dialectAttr is attr for what StableHLO and Shardy define.
func (w *writer) dialectAttr(a ir.Attr, f ir.AttrForm) (node, bool) {
	switch a := a.(type) {
	case *ir.DotDims:
		return dimensionNumbers(a), f == ir.DotForm
	case *ir.GatherDims:
		return dimensionNumbers(a), f == ir.GatherForm
	case *ir.ScatterDims:
		return dimensionNumbers(a), f == ir.ScatterForm
	case *ir.ConvDims:
		full := mlir.FormatAttr(w.m, a)
		inner, ok := strings.CutPrefix(full, "#stablehlo.conv<")
		return text(strings.TrimSuffix(inner, ">")), ok && f == ir.ConvForm
	case ir.ChannelHandle:
		n := object("handle", number(a.Handle))
		n.add("type", number(a.Type))
		return n, f == ir.ChannelForm && exact([]int64{a.Handle, a.Type})
	case *ir.AxesAttr:
		return w.withMesh(a.Mesh, w.axes(a.Mesh, a.Axes)), f == ir.AxesForm
	case *ir.AxesPerDimAttr:
		n := each(a.Dims, func(axes ir.ShardAxes) node { return w.axes(a.Mesh, axes) })
		return w.withMesh(a.Mesh, n), f == ir.DimAxesForm
	case *ir.AllToAllAttr:
		n := each(a.Moves, func(move ir.AllToAllMove) node {
			e := object("axes", w.axes(a.Mesh, move.Axes))
			e.add("src", number(move.Src))
			e.add("dst", number(move.Dst))
			return e
		})
		return w.withMesh(a.Mesh, n), f == ir.MovesForm
	}
	return node{}, false
}

func (w *writer) intAttr(a ir.IntAttr, f ir.AttrForm) (node, bool) {
	fits := exact([]int64{a.Value})
	switch f {
	case ir.Int64Form, ir.AnyForm:
		return number(a.Value), fits && a.Type == w.m.ScalarType(dtype.I64)
	case ir.Int32Form:
		return number(a.Value), fits && a.Type == w.m.ScalarType(dtype.I32)
	}
	return node{}, false
}

// exact says whether all numbers survive readers that keep JSON numbers as doubles.
func exact(list []int64) bool {
	return !slices.ContainsFunc(list, func(v int64) bool { return v < -maxExact || v > maxExact })
}

func isCase(a ir.EnumAttr, enum string) bool {
	return a.Dialect == ir.Enums[enum].Dialect && a.Enum == enum && slices.Contains(ir.Enums[enum].Cases, a.Value)
}

func (w *writer) arrayAttr(a ir.ArrayAttr, f attrForm) (node, bool) {
	n := node{kind: arrayKind}
	for _, e := range a {
		switch f.form {
		case ir.PrecisionsForm:
			c, ok := e.(ir.EnumAttr)
			if !ok || !isCase(c, f.enum) {
				return n, false
			}
			n.elems = append(n.elems, text(c.Value))
		case ir.AnyForm:
			n.elems = append(n.elems, w.attrOrText(e, attrForm{}))
		default:
			return n, false
		}
	}
	return n, true
}

func (w *writer) dictAttr(a ir.DictAttr, f ir.AttrForm) (node, bool) {
	n := node{kind: objectKind}
	if f != ir.AnyForm || len(a) == 1 && a[0].Name == "mlir" {
		return n, false
	}
	for _, e := range a {
		if !isText(e.Name) {
			return n, false
		}
		n.add(e.Name, w.attrOrText(e.Value, attrForm{}))
	}
	return n, true
}

// dimensionNumbers writes lists that are not empty, and the index vector's dimension unless it is 0.
func dimensionNumbers(a ir.Attr) node {
	n := node{kind: objectKind}
	for _, f := range ir.Fields(a) {
		switch at := f.At.(type) {
		case *[]int64:
			if len(*at) > 0 {
				n.add(f.Name, numbers(*at))
			}
		case *int64:
			if *at != 0 {
				n.add(f.Name, number(*at))
			}
		}
	}
	return n
}

// matrix writes a constant of tensor<RxCxi64> as rows.
func (w *writer) matrix(d *ir.Dense, f ir.AttrForm) (node, bool) {
	t := w.m.TypeOf(d.Type)
	n := node{kind: arrayKind}
	values := w.m.Int64s(d)
	if f != ir.MatrixForm || d.Resource != "" || t.DType != dtype.I64 || !t.IsStatic() || t.Rank() != 2 ||
		t.Elements() == 0 || !exact(values) || len(values) == 0 {
		return n, false
	}
	for i := range t.Dims[0] {
		row := node{kind: arrayKind}
		for j := range t.Dims[1] {
			row.elems = append(row.elems, number(values[i*t.Dims[1]+j]))
		}
		n.elems = append(n.elems, row)
	}
	return n, true
}

// withMesh adds the mesh to lists of its axes unless the reader will think of it by itself.
func (w *writer) withMesh(mesh ir.MeshID, axes node) node {
	if len(axes.elems) == 0 || mesh == w.axesMesh() {
		return axes
	}
	n := object("mesh", text(w.m.Mesh(mesh).FormatRef()))
	n.add("axes", axes)
	return n
}

// axesMesh returns the mesh that the reader takes lists of axes to speak of, in the operation at hand.
func (w *writer) axesMesh() ir.MeshID {
	mesh := ir.MeshID(0)
	see := func(v ir.ValueID) {
		if s := w.m.Sharding(v); s != 0 {
			mesh = preferredMesh(w.m, mesh, w.m.ShardingOf(s).Mesh)
		}
	}
	for _, v := range w.m.Results(w.at) {
		see(v)
	}
	for _, r := range w.m.Regions(w.at) {
		if blocks := w.m.Blocks(r); len(blocks) > 0 {
			for _, v := range w.m.BlockArgs(blocks[0]) {
				see(v)
			}
		}
	}
	if mesh == 0 {
		mesh = onlyMesh(w.m)
	}
	return mesh
}

// axes writes axes as x, or x:(2)4 for parts.
func (w *writer) axes(mesh ir.MeshID, axes ir.ShardAxes) node {
	d := w.m.Mesh(mesh)
	return each(axes, func(r subaxis.Ref) node {
		if d.IsFull(r) {
			return text(d.Axes[r.Axis].Name)
		}
		return text(fmt.Sprintf("%s:(%d)%d", d.Axes[r.Axis].Name, r.Pre, r.Size))
	})
}

// constant writes the value of a constant of a result type.
func (w *writer) constant(d *ir.Dense, result ir.TypeID) node {
	t := w.m.TypeOf(d.Type)
	if d.Resource != "" {
		if d.Type != result || !isText(d.Resource) {
			return w.mlirAttr(d)
		}
		return object("resource", text(d.Resource))
	}
	if d.Type != result || !t.IsStatic() || t.Quant != 0 || t.Encoding != "" {
		return w.mlirAttr(d)
	}
	switch size := t.DType.Bytes(); {
	case d.Splat:
		return w.element(d.Data, t.DType)
	case t.Elements() > maxListed || t.Elements() == 0:
		return object("hex", text(hex.EncodeToString(d.Data)))
	default:
		v, _ := w.elements(d.Data, t.Dims, t.DType, size)
		return v
	}
}

// elements writes nested lists and returns the bytes behind them.
func (w *writer) elements(data []byte, dims []int64, e dtype.Type, size int) (node, []byte) {
	if len(dims) == 0 {
		return w.element(data[:size], e), data[size:]
	}
	n := node{kind: arrayKind}
	for range dims[0] {
		var v node
		v, data = w.elements(data, dims[1:], e, size)
		n.elems = append(n.elems, v)
	}
	return n, data
}

func (w *writer) element(data []byte, e dtype.Type) node {
	bits := dtype.LoadBits(data[:min(len(data), e.Bytes())])
	switch e.Kind() {
	case dtype.Bool:
		return boolean(bits != 0)
	case dtype.Float:
		return w.floatText(e, bits)
	case dtype.Complex:
		part := e.Part()
		return list(w.floatText(part, dtype.LoadBits(data[:part.Bytes()])), w.floatText(part, dtype.LoadBits(data[part.Bytes():])))
	case dtype.Unsigned:
		if bits > uint64(maxExact) {
			return text(strconv.FormatUint(bits, 10))
		}
		return number(int64(bits))
	}
	v := dtype.Wrap(e, int64(bits))
	if !exact([]int64{v}) {
		return text(strconv.FormatInt(v, 10))
	}
	return number(v)
}

// floatText writes the shortest decimal that reads back to the same bits, also by way of a double.
func (w *writer) floatText(e dtype.Type, bits uint64) node {
	v := dtype.Decode(e, bits)
	switch {
	case math.IsInf(v, 1):
		return text("Infinity")
	case math.IsInf(v, -1):
		return text("-Infinity")
	case math.IsNaN(v):
		return text("0x" + strings.ToUpper(strconv.FormatUint(bits, 16)))
	}
	if e != dtype.F64 {
		short := strconv.FormatFloat(v, 'g', -1, 32)
		double, _ := strconv.ParseFloat(short, 64)
		direct, err := dtype.ParseFloat(e, floatLiteral(short))
		if err == nil && direct == bits && dtype.Encode(e, double) == bits {
			return literal(short)
		}
	}
	return literal(strconv.FormatFloat(v, 'g', -1, 64))
}
