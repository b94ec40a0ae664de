package bytecode

import (
	"strconv"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/vhlo"
)

const vhloDialect = "vhlo"

// needForm refuses what the target does not know yet.
func (w *writer) needForm(what string, since vhlo.Version) {
	if w.target.Before(since) {
		w.refuse("%s needs StableHLO %s or newer; the target is %s", what, since, w.target)
	}
}

// vhloAttr returns the form of an attribute that has a counterpart in the dialect of artifacts (specification:
// bytecode.md section B.5). Others stay what they are.
func (w *writer) vhloAttr(a any) (written, bool) {
	form := func(code uint64, v any) (written, bool) { return written{vhloDialect, code, v}, true }
	switch v := a.(type) {
	case parts:
		return form(1, v)
	case ir.ArrayAttr:
		return form(1, partsOf(v))
	case ir.BoolAttr:
		return form(2, bool(v))
	case ir.EnumAttr:
		if v.Dialect != "stablehlo" {
			return written{}, false
		}
		code, ok := enumCode(attrForms[vhloDialect], v)
		return written{vhloDialect, code, v.Value}, ok
	case vhlo.APIVersion:
		return form(5, uint64(v.Value))
	case ir.DictAttr:
		return form(6, []ir.NamedAttr(v))
	case ir.FloatAttr:
		return form(8, number{v.Type, []uint64{v.Bits}})
	case ir.IntAttr:
		return form(9, w.number(v))
	case *ir.OutputAlias:
		return form(10, *v)
	case ir.StringAttr:
		return form(14, v)
	case ir.SymbolAttr:
		if len(v) != 1 {
			return written{}, false
		}
		return form(14, ir.StringAttr(v[0]))
	case *ir.Dense:
		return form(15, w.elements(v))
	case ir.Ints:
		return form(15, elements{w.m.TensorType(dtype.I64, int64(len(v))), int64Bytes(v)})
	case ir.Bools:
		d := &ir.Dense{Type: w.m.TensorType(dtype.I1, int64(len(v))), Data: boolBytes(v)}
		return form(15, w.elements(d))
	case ir.TypeAttr:
		return form(17, ir.TypeID(v))
	case ir.OpaqueAttr:
		bounds, ok := boundsOf(string(v))
		return written{vhloDialect, 18, bounds}, ok
	case *ir.ResultAccuracy:
		return form(20, *v)
	case subAxis:
		return form(21, v)
	case axisRef:
		return form(22, v)
	case *ir.MeshAxesGroups:
		return form(23, meshAxesGroupsOf(w.m, v))
	case meshAxis:
		return form(24, v)
	case deviceMesh:
		return form(25, v)
	}
	return written{}, false
}

// boundsOf reads #stablehlo.bounds<?, 7>.
func boundsOf(text string) ([]int64, bool) {
	list, ok := strings.CutPrefix(text, "#stablehlo.bounds<")
	if !ok {
		return nil, false
	}
	var out []int64
	for part := range strings.SplitSeq(strings.TrimSuffix(list, ">"), ",") {
		part = strings.TrimSpace(part)
		n, err := strconv.ParseInt(part, 10, 64)
		if part == "?" {
			n, err = ir.Dynamic, nil
		}
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// vhloType returns the form of a type in the dialect of artifacts (specification: bytecode.md section B.3).
func (w *writer) vhloType(id ir.TypeID) (written, bool) {
	form := func(code uint64, v any) (written, bool) { return written{vhloDialect, code, v}, true }
	t := w.m.TypeOf(id)
	switch t.Kind {
	case ir.TensorKind:
		v := w.tensorOf(t)
		switch {
		case t.Unranked:
			return form(25, v.elem)
		case v.encoding != nil:
			if _, ok := boundsOf(t.Encoding); !ok {
				return written{}, false
			}
			return form(21, v)
		}
		return form(20, v)
	case ir.ScalarKind:
		if t.DType.Kind() == dtype.Complex {
			return form(1, w.m.ScalarType(t.DType.Part()))
		}
	case ir.FunctionKind:
		return form(8, functionType{t.Elems[:t.Inputs], t.Elems[t.Inputs:]})
	case ir.TupleKind:
		return form(23, t.Elems)
	case ir.QuantizedKind:
		v, perAxis, ok := w.quantOf(t.Text)
		if perAxis {
			return written{vhloDialect, 30, v}, ok
		}
		return written{vhloDialect, 24, v}, ok
	case ir.OpaqueKind:
		if elems, ok := w.elementsOf(t.Text, "!stablehlo.future"); ok {
			return form(42, elems)
		}
		if rest, ok := strings.CutPrefix(t.Text, "memref<"); ok && !strings.Contains(rest, ",") {
			if id, err := w.asm.Type("tensor<" + rest); err == nil {
				v := w.tensorOf(w.m.TypeOf(id))
				return form(41, memrefType{dims: v.dims, elem: v.elem})
			}
		}
	}
	code, ok := typeCodes[vhloDialect][w.m.FormatType(id)]
	return written{vhloDialect, code, struct{}{}}, ok
}

// quantOf reads !quant.uniform<i8<-127:127>:f32:0, {2.0e-1:3, 1.0e-1}>.
func (w *writer) quantOf(text string) (v quantType, perAxis, ok bool) {
	rest, ok := strings.CutPrefix(text, "!quant.uniform<")
	head, params, ok2 := strings.Cut(strings.TrimSuffix(rest, ">"), ", ")
	if !ok || !ok2 {
		return v, false, false
	}
	stored, head, ranged := strings.Cut(head, "<")
	if !ranged {
		stored, head, _ = strings.Cut(stored, ":")
	}
	width, err := strconv.Atoi(strings.TrimLeft(stored, "ui"))
	if err != nil || width < 1 || width > 32 {
		return v, false, false
	}
	v.min, v.max = 0, int64(1)<<width-1
	if stored[0] == 'i' {
		v.flags, v.min, v.max = quantSigned, -int64(1)<<(width-1), int64(1)<<(width-1)-1
	}
	if ranged {
		var lo, hi string
		lo, head, _ = strings.Cut(head, ":")
		hi, head, _ = strings.Cut(head, ">:")
		v.min, err = strconv.ParseInt(lo, 10, 64)
		if v.max, ok = int64Of(hi); !ok || err != nil {
			return v, false, false
		}
	}
	expressed, axis, perAxis := strings.Cut(head, ":")
	if v.storage, err = w.asm.Type("i" + strconv.Itoa(width)); err == nil {
		v.expressed, err = w.asm.Type(expressed)
	}
	if err != nil {
		return v, perAxis, false
	}
	if !perAxis {
		v.scale, v.zero, ok = quantParam(params)
		return v, false, ok
	}
	v.axis, err = strconv.ParseUint(axis, 10, 31)
	for part := range strings.SplitSeq(strings.Trim(params, "{}"), ",") {
		scale, zero, ok := quantParam(strings.TrimSpace(part))
		if !ok {
			return v, true, false
		}
		v.scales, v.zeros = append(v.scales, scale), append(v.zeros, zero)
	}
	return v, true, err == nil
}

func int64Of(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// quantParam reads a scale with an optional zero point.
func quantParam(text string) (scale float64, zero int64, ok bool) {
	number, point, has := strings.Cut(text, ":")
	scale, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, 0, false
	}
	if has {
		zero, ok = int64Of(point)
		return scale, zero, ok
	}
	return scale, 0, true
}
