package bytecode

import (
	"encoding/binary"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

func (w *writer) attrText(a ir.Attr) string { return mlir.FormatAttr(w.m, a) }

// attrForm returns the form of an attribute or a part of one, in the terms of the dialect that refers to it; not for
// what is written as text.
func (w *writer) attrForm(a any, dialect string) (written, bool) {
	switch v := a.(type) {
	case parts:
		return written{builtin, 0, v}, true
	case ir.ArrayAttr:
		return written{builtin, 0, partsOf(v)}, true
	case ir.DictAttr:
		return written{builtin, 1, []ir.NamedAttr(v)}, true
	case ir.StringAttr:
		return written{builtin, 2, v}, true
	case ir.SymbolAttr:
		return symbolForm(v), true
	case ir.TypeAttr:
		return written{builtin, 6, ir.TypeID(v)}, true
	case ir.UnitAttr:
		return written{builtin, 7, struct{}{}}, true
	case ir.BoolAttr:
		return written{builtin, 8, w.number(v)}, true
	case ir.IntAttr:
		return written{builtin, 8, w.number(v)}, true
	case ir.FloatAttr:
		return written{builtin, 9, number{v.Type, []uint64{v.Bits}}}, true
	case ir.LocAttr:
		return w.locForm(v), true
	case *ir.Dense:
		if v.Resource != "" {
			return written{builtin, 16, storedResource{v.Type, v.Resource}}, true
		}
		return written{builtin, 18, w.elements(v)}, true
	case ir.Ints, ir.Bools, *ir.DenseArray:
		return written{builtin, 17, w.storedArray(a)}, true
	}
	if v, ok := stablehloForm(w.m, a); ok {
		return v, true
	}
	return w.partForm(a, dialect)
}

func partsOf(list ir.ArrayAttr) parts {
	return parts(lists.Map(list, func(a ir.Attr) any { return a }))
}

func symbolForm(v ir.SymbolAttr) written {
	if len(v) == 1 {
		return written{builtin, 4, ir.StringAttr(v[0])}
	}
	nested := lists.Map(v[1:], func(name string) ir.SymbolAttr { return ir.SymbolAttr{name} })
	return written{builtin, 5, symbolPath{root: ir.StringAttr(v[0]), nested: nested}}
}

// number returns the pattern of a boolean or an integer.
func (w *writer) number(a ir.Attr) number {
	if b, ok := a.(ir.BoolAttr); ok {
		bit := uint64(0)
		if b {
			bit = 1
		}
		return number{w.m.ScalarType(dtype.I1), []uint64{bit}}
	}
	v := a.(ir.IntAttr)
	_, width := storage(w.m, v.Type)
	words := []uint64{uint64(v.Value)}
	for width > 64*len(words) && v.Value < 0 {
		words = append(words, 1<<64-1)
	}
	if top := width % 64; top > 0 && width <= 64*len(words) {
		words[len(words)-1] &= 1<<top - 1
	}
	return number{v.Type, words}
}

// locForm returns the form of a location.
func (w *writer) locForm(a ir.LocAttr) written {
	l := w.m.LocOf(ir.LocID(a))
	children := lists.Map(l.Children, func(c ir.LocID) ir.LocAttr { return ir.LocAttr(c) })
	switch l.Kind {
	case ir.LocFile:
		place := filePlace{ir.StringAttr(l.File), []uint64{uint64(l.Line), uint64(l.Col)}}
		switch {
		case l.EndLine == 0:
			return written{builtin, 11, place}
		case l.EndLine == l.Line:
			place.numbers = append(place.numbers, uint64(l.EndCol))
		default:
			place.numbers = append(place.numbers, uint64(l.EndLine), uint64(l.EndCol))
		}
		return written{builtin, 22, place}
	case ir.LocName:
		return written{builtin, 14, namedLoc{ir.StringAttr(l.Name), slices.Concat(children, []ir.LocAttr{0})[0]}}
	case ir.LocCallSite:
		return written{builtin, 10, callSiteLoc{children[0], children[1]}}
	case ir.LocFused:
		if l.Metadata != nil {
			return written{builtin, 13, fusedLoc{children, l.Metadata}}
		}
		return written{builtin, 12, children}
	}
	return written{builtin, 15, struct{}{}}
}

// elements returns a constant as it is stored.
func (w *writer) elements(v *ir.Dense) elements {
	t := w.m.TypeOf(v.Type)
	data := stored(w.m, v)
	if width := t.DType.Bits(); t.DType != dtype.I1 && width > 0 {
		data = cleared(data, width)
	}
	return elements{v.Type, data}
}

func (w *writer) storedArray(a any) storedArray {
	switch v := a.(type) {
	case ir.Ints:
		return storedArray{w.m.ScalarType(dtype.I64), uint64(len(v)), int64Bytes(v)}
	case ir.Bools:
		return storedArray{w.m.ScalarType(dtype.I1), uint64(len(v)), boolBytes(v)}
	}
	v := a.(*ir.DenseArray)
	size, _ := storage(w.m, v.Elem)
	return storedArray{v.Elem, uint64(len(v.Data)) / uint64(max(1, size)), v.Data}
}

func int64Bytes(v []int64) []byte {
	out, _ := binary.Append(make([]byte, 0, 8*len(v)), binary.LittleEndian, v)
	return out
}

func boolBytes(v []bool) []byte {
	out := make([]byte, len(v))
	for i, b := range v {
		if b {
			out[i] = 1
		}
	}
	return out
}

// enumCode returns the code of an enum that has one.
func enumCode(forms []form, v ir.EnumAttr) (uint64, bool) {
	cases := enumCases(v.Enum)
	for _, f := range forms {
		if f.name == v.Enum && v.Value != "" && slices.Contains(cases, v.Value) {
			return f.code, true
		}
	}
	return 0, false
}

// stablehloForm returns the form of an attribute of StableHLO or CHLO.
func stablehloForm(m *ir.Module, a any) (written, bool) {
	const dialect = "stablehlo"
	switch v := a.(type) {
	case ir.EnumAttr:
		if forms := attrForms[v.Dialect]; v.Dialect == dialect || v.Dialect == "chlo" {
			code, ok := enumCode(forms, v)
			return written{v.Dialect, code, v.Value}, ok
		}
	case ir.ChannelHandle:
		return written{dialect, 1, v}, true
	case *ir.ConvDims:
		return written{dialect, 4, *v}, true
	case *ir.DotDims:
		return written{dialect, 5, *v}, true
	case *ir.GatherDims:
		return written{dialect, 7, *v}, true
	case *ir.ScatterDims:
		return written{dialect, 11, *v}, true
	case *ir.OutputAlias:
		return written{dialect, 14, *v}, true
	case *ir.DotAlgorithm:
		return written{dialect, 15, *v}, true
	case *ir.ResultAccuracy:
		return written{dialect, 17, *v}, true
	case *ir.MeshAxesGroups:
		return written{dialect, 18, meshAxesGroupsOf(m, v)}, true
	case deviceMesh:
		return written{dialect, 22, v}, true
	}
	return written{}, false
}

func meshAxesGroupsOf(m *ir.Module, v *ir.MeshAxesGroups) meshGroups {
	d := m.Mesh(v.Mesh)
	out := meshGroups{axes: axisRefs(d, v.Axes), mesh: ir.SymbolAttr{d.Name}}
	if d.Name == "" {
		mesh := deviceMesh{axes: meshAxes(d)}
		if d.DeviceIDs != nil {
			mesh.devices = m.DenseInts(d.DeviceIDs, int64(len(d.DeviceIDs)))
		}
		out.mesh = mesh
	}
	return out
}

func meshAxes(d *ir.MeshDecl) []meshAxis {
	return lists.Map(d.Axes, func(a subaxis.Axis) meshAxis { return meshAxis{a.Name, a.Size} })
}

func axisRefs(d *ir.MeshDecl, axes ir.ShardAxes) []axisRef {
	return lists.Map(axes, func(r subaxis.Ref) axisRef { return axisRefOf(d, r) })
}

func axisRefOf(d *ir.MeshDecl, r subaxis.Ref) axisRef {
	a := axisRef{name: d.Axes[r.Axis].Name}
	if !d.IsFull(r) {
		a.part = &subAxis{int64(r.Pre), int64(r.Size)}
	}
	return a
}
