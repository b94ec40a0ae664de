package modeljson

import (
	"slices"

	"autoshard/ir"
)

// attrForm says how an attribute looks in JSON: its form with the enum that its cases belong to. What does not fit its form is
// written {"mlir": TEXT}; AnyForm is told by the JSON value: boolean, whole number (i64), string, list, object.
type attrForm struct {
	form ir.AttrForm
	enum string
}

// int32Attrs are the attributes of other dialects that are 32-bit integers.
var int32Attrs = []string{"mhlo.num_partitions", "mhlo.num_replicas", ir.AliasAttr}

// formOf returns the form of an attribute of an operation, or of a function or module.
func formOf(k ir.Kind, name string) attrForm {
	if d, ok := k.DeclaredAttr(name); ok {
		return attrForm{jsonForm(d.Form), d.Enum}
	}
	if slices.Contains(int32Attrs, name) {
		return attrForm{form: ir.Int32Form}
	}
	return attrForm{}
}

// jsonForm returns the form of JSON that attributes of a form are written in.
func jsonForm(f ir.AttrForm) ir.AttrForm {
	switch f {
	case ir.ConfigForm:
		return ir.StringForm
	case ir.GroupsForm:
		return ir.MatrixForm
	case ir.DictForm, ir.ArrayForm, ir.SymbolsForm, ir.LayoutsForm, ir.AliasesForm, ir.ConstantForm, ir.AccuracyForm, ir.AlgorithmForm,
		ir.ShardingForm:
		return ir.AnyForm
	}
	return f
}

// knownAttrs returns the names of the attributes that an operation may have; ok is false where any may occur. Attributes of
// other dialects, such as mhlo.frontend_attributes, may stand on every operation.
func knownAttrs(k ir.Kind) (names []string, ok bool) {
	if d := k.Dialect(); d != "stablehlo" && d != "chlo" && d != "sdy" && k != ir.OpCall {
		return nil, false
	}
	for _, d := range k.Declared() {
		if d.Form != ir.ShardingForm {
			names = append(names, d.Name)
		}
	}
	return names, true
}
