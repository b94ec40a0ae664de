package vhlo

import (
	"bytes"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

const (
	i1  = dtype.I1
	i64 = dtype.I64

	maxSplat = 1 << 10 // elements of a list of dimensions that is stored as one
)

// MaxAPIVersion is the newest version of the API of custom calls, typed FFI.
const MaxAPIVersion = 4

// kindOf returns the kind that an op of VHLO has in StableHLO or func, by its name without dialect and version.
func kindOf(name string) ir.Kind {
	if name == "func" || name == "call" {
		k, _ := ir.ParseKind("func." + name)
		return k
	}
	k, _ := ir.ParseKind("stablehlo." + name)
	return k
}

// defaultOf returns the value of a field that stands for an absent attribute, nil where none does (specification: bytecode.md section
// B.7.1): that of the attribute, except where VHLO differs from it.
func defaultOf(k ir.Kind, field string) ir.Attr {
	switch {
	case k == ir.OpFunc && field == "sym_visibility", (k == ir.OpInfeed || k == ir.OpOutfeed) && strings.HasSuffix(field, "_config"):
		return ir.StringAttr("")
	case k == ir.OpFunc && (field == "arg_attrs" || field == "res_attrs"):
		return ir.ArrayAttr{}
	case field == "channel_id" && k != ir.OpSend && k != ir.OpRecv:
		return ir.IntAttr{}
	}
	d, _ := k.DeclaredAttr(field)
	return d.Default
}

// isDefault says whether a field has the value that stands for an absent attribute.
func isDefault(k ir.Kind, field string, v ir.Attr) bool {
	switch want := defaultOf(k, field).(type) {
	case nil:
		return false
	case ir.Ints:
		if len(want) == 0 {
			return isEmpty(v)
		}
		return isAll(v, byte(want[0]))
	case ir.Bools:
		return isAll(v, 0)
	case ir.IntAttr:
		have, ok := v.(ir.IntAttr)
		return ok && have.Value == want.Value
	case ir.EnumAttr:
		return isCase(v, want)
	case *ir.ResultAccuracy:
		have, ok := v.(*ir.ResultAccuracy)
		return ok && *have == *want
	case ir.ArrayAttr:
		if len(want) > 0 {
			return allDefault(v, want[0].(ir.EnumAttr))
		}
		return isEmpty(v)
	case ir.BoolAttr:
		return v == want
	}
	return isEmpty(v)
}

func isCase(a ir.Attr, want ir.EnumAttr) bool {
	v, ok := a.(ir.EnumAttr)
	return ok && v.Value == want.Value
}

// isEmpty says whether a string, list, dictionary or tensor has no elements.
func isEmpty(a ir.Attr) bool {
	switch v := a.(type) {
	case ir.StringAttr:
		return v == ""
	case ir.ArrayAttr:
		return len(v) == 0
	case ir.DictAttr:
		return len(v) == 0
	case *ir.Dense:
		return len(v.Data) == 0
	}
	return false
}

// isAll says whether a tensor has elements, all of them a small number.
func isAll(a ir.Attr, n byte) bool {
	v, ok := a.(*ir.Dense)
	if !ok || !v.Splat { // equal elements are a splat
		return false
	}
	want := make([]byte, len(v.Data))
	want[0] = n
	return bytes.Equal(v.Data, want)
}

// allDefault says whether all elements of a list are a case.
func allDefault(a ir.Attr, want ir.EnumAttr) bool {
	v, ok := a.(ir.ArrayAttr)
	for _, e := range v {
		ok = ok && isCase(e, want)
	}
	return ok
}
