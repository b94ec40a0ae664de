package ir

// attrForm says which attributes may stand under a name of an op that declares it.
type attrForm struct {
	what string // for messages
	fits func(k Kind, a Attr) bool
}

// attrForms are the forms of declared attributes that the text form of an op cannot get wrong, but its generic form and
// bytecode can.
var attrForms = map[string]attrForm{
	"comparison_direction":      enumForm("comparison_direction"),
	"compare_type":              enumForm("comparison_type"),
	"fft_type":                  enumForm("fft_type"),
	"rng_algorithm":             enumForm("rng_algorithm"),
	"rng_distribution":          enumForm("rng_distribution"),
	"transpose_a":               enumForm("transpose"),
	"allowed_direction":         enumForm("propagation_direction"),
	"reduction_op":              enumForm("reduction_op"),
	"dot_dimension_numbers":     formOf[*DotDims]("dimension numbers of a dot product"),
	"scatter_dimension_numbers": formOf[*ScatterDims]("dimension numbers of a scatter"),
	"dimension_numbers":         {"dimension numbers of the op", fitsDimensionNumbers},
	"channel_handle":            formOf[ChannelHandle]("two 64-bit integers 'handle' and 'type'"),
	"algorithm":                 formOf[*DotAlgorithm]("algorithm of a dot product"),
	"epsilon":                   formOf[FloatAttr]("32-bit float attribute"),
	"has_dynamic_root":          formOf[UnitAttr]("unit attribute"),
	"infeed_config":             formOf[StringAttr]("string attribute"),
	"outfeed_config":            formOf[StringAttr]("string attribute"),
	"name":                      formOf[StringAttr]("string attribute"),
	"composite_attributes":      formOf[DictAttr]("dictionary of named attribute values"),
	"backend_config":            eitherForm[StringAttr, DictAttr]("string attribute or dictionary of named attribute values"),
	"replica_groups":            eitherForm[*Dense, *MeshAxesGroups]("constant tensor or axes of a mesh"),
	"layout":                    formOf[ArrayAttr]("array attribute"),
	"result_tilings":            formOf[ArrayAttr]("array attribute"),
	"called_computations":       listForm[SymbolAttr]("symbol references"),
	"operand_layouts":           listForm[*Dense]("constant tensors"),
	"result_layouts":            listForm[*Dense]("constant tensors"),
	"output_operand_aliases":    listForm[*OutputAlias]("aliases of outputs and operands"),
}

func is[T Attr](a Attr) bool {
	if d, ok := a.(*Dense); ok && d.Resource != "" {
		return false // its elements may be missing
	}
	_, ok := a.(T)
	return ok
}

func formOf[T Attr](what string) attrForm {
	return attrForm{what, func(_ Kind, a Attr) bool { return is[T](a) }}
}

func eitherForm[T, U Attr](what string) attrForm {
	return attrForm{what, func(_ Kind, a Attr) bool { return is[T](a) || is[U](a) }}
}

func listForm[T Attr](elements string) attrForm {
	return attrForm{"array of " + elements, func(_ Kind, a Attr) bool {
		list, ok := a.(ArrayAttr)
		for _, e := range list {
			ok = ok && is[T](e)
		}
		return ok
	}}
}

func enumForm(enum string) attrForm {
	return attrForm{"a case of " + enum, func(_ Kind, a Attr) bool {
		e, ok := a.(EnumAttr)
		return ok && e.Enum == enum
	}}
}

func fitsDimensionNumbers(k Kind, a Attr) bool {
	switch k {
	case OpConvolution, OpDynamicConv:
		return is[*ConvDims](a)
	case OpGather, OpDynamicGather:
		return is[*GatherDims](a)
	}
	return true
}
