package ir

import (
	"slices"
	"strings"

	"autoshard/ir/dtype"
)

// attrKind is what an attribute that an op declares must be.
type attrKind uint8

const (
	anyAttr attrKind = iota
	boolKind
	unitKind
	i64Kind
	i32Kind
	intsKind
	boolsKind
	stringKind
	denseKind    // with its elements in place
	elementsKind // perhaps in a resource
	arrayKind
	symbolKind
	accuracyKind
	precisionKind
	dictKind
)

// attrKinds are the declared attributes of ops by name (specification: stablehlo.md section 1.5). A name means the same
// in every op that has it.
var attrKinds = map[string]attrKind{
	"has_side_effect": boolKind, "indices_are_sorted": boolKind, "unique_indices": boolKind, "is_stable": boolKind, "left_side": boolKind,
	"lower": boolKind, "unit_diagonal": boolKind, "is_host_transfer": boolKind, "is_reverse": boolKind,
	"use_global_device_ids": unitKind,
	"iota_dimension":        i64Kind, "all_gather_dim": i64Kind, "scatter_dimension": i64Kind, "split_dimension": i64Kind,
	"concat_dimension": i64Kind, "split_count": i64Kind, "feature_group_count": i64Kind, "batch_group_count": i64Kind, "feature_index": i64Kind,
	"group_id": i64Kind, "k": i64Kind, "dimension": i64Kind,
	"api_version": i32Kind, "exponent_bits": i32Kind, "mantissa_bits": i32Kind, "version": i32Kind, "index": i32Kind,
	"broadcast_dimensions": intsKind, "broadcast_sizes": intsKind, "permutation": intsKind, "dimensions": intsKind, "slice_sizes": intsKind,
	"start_indices": intsKind, "limit_indices": intsKind, "strides": intsKind, "edge_padding_low": intsKind, "edge_padding_high": intsKind,
	"interior_padding": intsKind, "fft_length": intsKind, "window_dimensions": intsKind, "window_strides": intsKind, "window_dilations": intsKind,
	"base_dilations": intsKind, "lhs_dilation": intsKind, "rhs_dilation": intsKind, "known_expanding_dimensions": intsKind,
	"known_nonexpanding_dimensions": intsKind,
	"window_reversal":               boolsKind,
	"call_target_name":              stringKind, "einsum_config": stringKind,
	"padding": denseKind, "source_target_pairs": denseKind, "value": elementsKind,
	"result_accuracy": accuracyKind, "precision_config": precisionKind, "called_computations": arrayKind, "output_operand_aliases": arrayKind, "operand_layouts": arrayKind,
	"result_layouts": arrayKind,
	"callee":         symbolKind, "decomposition": symbolKind, "composite_attributes": dictKind,
}

var attrKindNames = [...]string{boolKind: "bool", unitKind: "unit", i64Kind: "64-bit signless integer", i32Kind: "32-bit signless integer",
	intsKind: "i64 dense array", boolsKind: "i1 dense array", stringKind: "string", denseKind: "constant tensor", elementsKind: "constant tensor", arrayKind: "array",
	symbolKind: "symbol reference", accuracyKind: "result accuracy", precisionKind: "precision config",
	dictKind: "dictionary of named attribute values"}

// declared checks the kinds of the attributes that an op of StableHLO, CHLO, func or Shardy declares.
func (f *inference) declared() error {
	name := f.kind.String()
	if !strings.HasPrefix(name, "stablehlo.") && !strings.HasPrefix(name, "sdy.") && !strings.HasPrefix(name, "func.") && !strings.HasPrefix(name, "chlo.") {
		return nil
	}
	for _, d := range declaredAttrs[f.kind] {
		if d.Required && f.attrs.Get(d.Name) == nil && !strings.Contains(d.Name, "sharding") {
			return missing(d.Name)
		}
	}
	if f.kind == OpChloConstantLike { // its value is a number
		return nil
	}
	for _, e := range f.attrs {
		if want := attrKinds[e.Name]; want != anyAttr && !f.isKind(e.Value, want) {
			return badAttr("attribute '%s' failed to satisfy constraint: %s", e.Name, want)
		}
		if form, ok := attrForms[e.Name]; ok && f.kind.Declares(e.Name) && !form.fits(f.kind, e.Value) {
			return badAttr("attribute '%s' failed to satisfy constraint: %s", e.Name, form.what)
		}
	}
	return nil
}

// String says what is wanted, as MLIR's messages do.
func (k attrKind) String() string {
	if k == dictKind {
		return attrKindNames[k]
	}
	return attrKindNames[k] + " attribute"
}

func (f *inference) isKind(a Attr, want attrKind) bool {
	switch a := a.(type) {
	case BoolAttr:
		return want == boolKind
	case UnitAttr:
		return want == unitKind
	case IntAttr:
		t := f.m.TypeOf(a.Type)
		return t.Kind == ScalarKind && (want == i64Kind && t.DType == dtype.I64 || want == i32Kind && t.DType == dtype.I32)
	case Ints:
		return want == intsKind
	case Bools:
		return want == boolsKind
	case StringAttr:
		return want == stringKind
	case *Dense:
		return want == elementsKind || want == denseKind && a.Resource == ""
	case ArrayAttr:
		return want == arrayKind || want == precisionKind && !slices.ContainsFunc(a, notPrecision)
	case *ResultAccuracy:
		return want == accuracyKind
	case SymbolAttr:
		return want == symbolKind
	case DictAttr:
		return want == dictKind
	}
	return false
}

func notPrecision(a Attr) bool {
	e, ok := a.(EnumAttr)
	return !ok || e.Enum != "precision"
}
