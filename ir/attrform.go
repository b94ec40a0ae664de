package ir

import (
	"slices"
	"strings"

	"autoshard/ir/dtype"
)

// AttrForm is what a declared attribute of an op must be.
type AttrForm uint8

// The forms of declared attributes.
const (
	AnyForm        AttrForm = iota
	BoolForm                // BoolAttr
	UnitForm                // UnitAttr: true if it is there
	Int64Form               // IntAttr of type i64
	Int32Form               // IntAttr of type i32
	FloatForm               // FloatAttr
	IntsForm                // Ints
	BoolsForm               // Bools
	StringForm              // StringAttr
	SymbolForm              // SymbolAttr: the name of a function
	DictForm                // DictAttr
	ConfigForm              // StringAttr or DictAttr
	ArrayForm               // ArrayAttr
	SymbolsForm             // ArrayAttr of SymbolAttr
	LayoutsForm             // ArrayAttr of Dense
	AliasesForm             // ArrayAttr of OutputAlias
	PrecisionsForm          // ArrayAttr of EnumAttr
	ConstantForm            // Dense
	MatrixForm              // Dense with its elements in place: rows of i64
	GroupsForm              // Dense with its elements in place, or MeshAxesGroups
	EnumForm                // EnumAttr of the enum that the attribute names
	AccuracyForm            // ResultAccuracy
	DotForm                 // DotDims
	AlgorithmForm           // DotAlgorithm
	GatherForm              // GatherDims
	ScatterForm             // ScatterDims
	ConvForm                // ConvDims
	ChannelForm             // ChannelHandle
	AxesForm                // AxesAttr
	DimAxesForm             // AxesPerDimAttr
	MovesForm               // AllToAllAttr
	ShardingForm            // a sharding or several: they lie with the values, not among the attributes
)

// attrForms say of each form what is wanted, as MLIR's messages do, and which attributes are it. The forms without a test are
// seen to by readers and by the checks of their ops.
var attrForms = [...]struct {
	what string
	fits func(f *inference, a Attr) bool
}{
	BoolForm:       {"bool attribute", is[BoolAttr]},
	UnitForm:       {"unit attribute", is[UnitAttr]},
	Int64Form:      {"64-bit signless integer attribute", isInt(dtype.I64)},
	Int32Form:      {"32-bit signless integer attribute", isInt(dtype.I32)},
	FloatForm:      {"32-bit float attribute", is[FloatAttr]},
	IntsForm:       {"i64 dense array attribute", is[Ints]},
	BoolsForm:      {"i1 dense array attribute", is[Bools]},
	StringForm:     {"string attribute", is[StringAttr]},
	SymbolForm:     {"symbol reference attribute", is[SymbolAttr]},
	DictForm:       {"dictionary of named attribute values", is[DictAttr]},
	ConfigForm:     {"string attribute or dictionary of named attribute values", either(is[StringAttr], is[DictAttr])},
	ArrayForm:      {"array attribute", is[ArrayAttr]},
	SymbolsForm:    {"array of symbol references", isList(is[SymbolAttr])},
	LayoutsForm:    {"array of constant tensors", isList(isPlaced)},
	AliasesForm:    {"array of aliases of outputs and operands", isList(is[*OutputAlias])},
	PrecisionsForm: {"precision config attribute", isList(isCase("precision"))},
	ConstantForm:   {"constant tensor attribute", is[*Dense]},
	MatrixForm:     {"constant tensor attribute", isPlaced},
	GroupsForm:     {"constant tensor or axes of a mesh", either(isPlaced, is[*MeshAxesGroups])},
	AccuracyForm:   {"result accuracy attribute", is[*ResultAccuracy]},
	DotForm:        {"dimension numbers of a dot product", is[*DotDims]},
	AlgorithmForm:  {"algorithm of a dot product", is[*DotAlgorithm]},
	GatherForm:     {"dimension numbers of the op", is[*GatherDims]},
	ScatterForm:    {"dimension numbers of a scatter", is[*ScatterDims]},
	ConvForm:       {"dimension numbers of the op", is[*ConvDims]},
	ChannelForm:    {"two 64-bit integers 'handle' and 'type'", is[ChannelHandle]},
	ShardingForm:   {},
}

// unfit says what an attribute must be if it is not, "" if it is.
func (d *DeclaredAttr) unfit(f *inference, a Attr) string {
	form := attrForms[d.Form]
	switch {
	case d.Form == EnumForm && !isCase(d.Enum)(f, a):
		return "a case of " + d.Enum
	case form.fits == nil || form.fits(f, a):
		return ""
	case (d.Form == SymbolsForm || d.Form == LayoutsForm || d.Form == AliasesForm) && !is[ArrayAttr](f, a):
		return attrForms[ArrayForm].what
	}
	return form.what
}

func is[T Attr](_ *inference, a Attr) bool {
	_, ok := a.(T)
	return ok
}

// isPlaced says whether an attribute is a constant whose elements are in place, not in a resource that may be missing.
func isPlaced(_ *inference, a Attr) bool {
	d, ok := a.(*Dense)
	return ok && d.Resource == ""
}

func isInt(t dtype.Type) func(*inference, Attr) bool {
	return func(f *inference, a Attr) bool {
		i, ok := a.(IntAttr)
		if !ok {
			return false
		}
		have := f.m.TypeOf(i.Type)
		return have.Kind == ScalarKind && have.DType == t
	}
}

func isCase(enum string) func(*inference, Attr) bool {
	return func(_ *inference, a Attr) bool {
		e, ok := a.(EnumAttr)
		return ok && e.Enum == enum
	}
}

func either(one, other func(*inference, Attr) bool) func(*inference, Attr) bool {
	return func(f *inference, a Attr) bool { return one(f, a) || other(f, a) }
}

func isList(element func(*inference, Attr) bool) func(*inference, Attr) bool {
	return func(f *inference, a Attr) bool {
		list, ok := a.(ArrayAttr)
		return ok && !slices.ContainsFunc(list, func(e Attr) bool { return !element(f, e) })
	}
}

// declared checks the attributes that an op of StableHLO, CHLO, func or Shardy declares. The rules behind it rely on them: required
// attributes are there, and all whose form has a test are of their form.
func (f *inference) declared() error {
	switch f.kind.Dialect() {
	case "stablehlo", "sdy", "func", "chlo":
	default:
		return nil
	}
	for _, d := range f.kind.Declared() {
		if d.Required && d.Form != ShardingForm && f.attrs.Get(d.Name) == nil {
			return missing(d.Name)
		}
	}
	for _, e := range f.attrs {
		d, ok := f.kind.DeclaredAttr(e.Name)
		if !ok {
			continue
		}
		if want := d.unfit(f, e.Value); want != "" {
			return badAttr("attribute '%s' failed to satisfy constraint: %s", e.Name, want)
		}
	}
	return nil
}

// DeclaredAttr is an attribute that an op declares.
type DeclaredAttr struct {
	Name     string
	Required bool
	Form     AttrForm
	Enum     string // of an EnumForm or PrecisionsForm
	// Default is what the absence of the attribute means, nil where nothing does. A list of one number, or a constant of one
	// element, stands for as many equal ones as the op's window or its tensors ask for.
	Default Attr
}

// parseDeclared parses the attributes of a row.
func parseDeclared(text string) (out []DeclaredAttr) {
	for _, key := range strings.Fields(text) {
		key, required := strings.CutSuffix(key, "!")
		d, ok := attrVocabulary[key]
		if !ok {
			panic("unknown attribute " + key)
		}
		d.Name, _, _ = strings.Cut(key, "/")
		if d.Required = required; required {
			d.Default = nil
		}
		out = append(out, d)
	}
	return out
}
