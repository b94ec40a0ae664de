package bytecode

import (
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/vhlo"
)

// typeCodes are the codes of types without fields, by dialect and text.
var typeCodes = func() map[string]map[string]uint64 {
	out := map[string]map[string]uint64{}
	for dialect, forms := range typeForms {
		out[dialect] = map[string]uint64{}
		for _, f := range forms {
			out[dialect][f.name] = f.code
		}
	}
	return out
}()

func (w *writer) typeEntry(id ir.TypeID, artifact bool) writtenEntry {
	if artifact {
		v, ok := w.vhloType(id)
		if !ok {
			w.refuse("type '%s' has no counterpart in portable artifacts", w.m.FormatType(id))
			return writtenEntry{}
		}
		w.needForm("type '"+w.m.FormatType(id)+"'", vhlo.TypeSince(v.code))
		return w.encode(typeForms, v)
	}
	if v, ok := w.typeForm(id); ok {
		return w.encode(typeForms, v)
	}
	return w.textEntry(w.m.FormatType(id))
}

// typeForm returns the form of a type, not for those that are written as text.
func (w *writer) typeForm(id ir.TypeID) (written, bool) {
	switch t := w.m.TypeOf(id); t.Kind {
	case ir.TensorKind:
		v := w.tensorOf(t)
		switch {
		case t.Unranked:
			return written{builtin, 18, v.elem}, true
		case v.encoding != nil:
			return written{builtin, 14, v}, true
		}
		return written{builtin, 13, v}, true
	case ir.ScalarKind:
		return w.scalarForm(t.DType)
	case ir.FunctionKind:
		return written{builtin, 2, functionType{t.Elems[:t.Inputs], t.Elems[t.Inputs:]}}, true
	case ir.TupleKind:
		return written{builtin, 15, t.Elems}, true
	case ir.TokenKind:
		return written{"stablehlo", 0, struct{}{}}, true
	case ir.IndexKind, ir.NoneKind:
		return written{builtin, typeCodes[builtin][w.m.FormatType(id)], struct{}{}}, true
	}
	return written{}, false
}

// tensorOf returns the fields of a tensor type.
func (w *writer) tensorOf(t *ir.Type) tensorType {
	v := tensorType{dims: t.Dims, elem: t.Quant}
	if v.elem == 0 {
		v.elem = w.m.ScalarType(t.DType)
	}
	if t.Encoding != "" {
		v.encoding = ir.OpaqueAttr(t.Encoding)
	}
	return v
}

func (w *writer) scalarForm(t dtype.Type) (written, bool) {
	switch t.Kind() {
	case dtype.Complex:
		return written{builtin, 9, w.m.ScalarType(t.Part())}, true
	case dtype.Bool, dtype.Signed:
		return written{builtin, 0, integerFields(t, signless)}, true
	case dtype.Unsigned:
		return written{builtin, 0, integerFields(t, unsigned)}, true
	}
	code, ok := typeCodes[builtin][t.String()]
	return written{builtin, code, struct{}{}}, ok
}

func integerFields(t dtype.Type, signedness uint64) uint64 { return uint64(t.Bits())<<2 | signedness }

// elementsOf returns the types between the angle brackets of a text such as !stablehlo.future<…>.
func (w *writer) elementsOf(text, prefix string) ([]ir.TypeID, bool) {
	rest, ok := strings.CutPrefix(text, prefix+"<")
	if !ok {
		return nil, false
	}
	id, err := w.asm.Type("tuple<" + rest)
	if err != nil || w.m.TypeOf(id).Kind != ir.TupleKind {
		return nil, false
	}
	return w.m.TypeOf(id).Elems, true
}
