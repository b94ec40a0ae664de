package bytecode

import (
	"strconv"
	"strings"

	"autoshard/ir"
)

// enumCases returns the cases of an enum by their numbers in bytecode (specification: bytecode.md section A.6.10). The first case
// of rng_distribution is number 1.
func enumCases(name string) []string {
	if name == "rng_distribution" {
		return append([]string{""}, ir.Enums[name].Cases...)
	}
	return ir.Enums[name].Cases
}

// enumForm is the form of an enum of a dialect.
func enumForm(code uint64, dialect, name string) form {
	return newForm(code, name, enum(enumCases(name)), func(_ *decoder, v string) any {
		return ir.EnumAttr{Dialect: dialect, Enum: name, Value: v}
	})
}

// pointerTo is a pointer that is an attribute.
type pointerTo[T any] interface {
	*T
	ir.Attr
}

// fieldForm is the form of an attribute that is a pointer to its parts.
func fieldForm[T any, P pointerTo[T]](code uint64, name string) form {
	return newForm(code, name, fields[T, P], func(_ *decoder, v T) any { return P(&v) })
}

// stablehloAttrs are the attributes of StableHLO (specification: bytecode.md section A.6.6).
var stablehloAttrs = []form{
	newForm(1, "channel_handle", fields[ir.ChannelHandle], func(_ *decoder, v ir.ChannelHandle) any { return v }),
	enumForm(2, "stablehlo", "comparison_direction"),
	enumForm(3, "stablehlo", "comparison_type"),
	fieldForm[ir.ConvDims](4, "conv"),
	fieldForm[ir.DotDims](5, "dot"),
	enumForm(6, "stablehlo", "fft_type"),
	fieldForm[ir.GatherDims](7, "gather"),
	enumForm(8, "stablehlo", "precision"),
	enumForm(9, "stablehlo", "rng_algorithm"),
	enumForm(10, "stablehlo", "rng_distribution"),
	fieldForm[ir.ScatterDims](11, "scatter"),
	enumForm(12, "stablehlo", "transpose"),
	newForm(13, "bounds", ints, func(_ *decoder, v []int64) any { return boundsAttr(v) }),
	fieldForm[ir.OutputAlias](14, "output_operand_alias"),
	fieldForm[ir.DotAlgorithm](15, "dot_algorithm"),
	enumForm(16, "stablehlo", "result_accuracy_mode"),
	fieldForm[ir.ResultAccuracy](17, "result_accuracy"),
	newForm(18, "replica_group_mesh_axes", stablehloMeshAxes, (*decoder).meshAxesGroups),
	newForm(19, "sub_axis_info", moveSubAxis, itself[subAxis]),
	newForm(20, "axis_ref", stablehloAxisRef, itself[axisRef]),
	newForm(21, "mesh_axis", moveMeshAxis, itself[meshAxis]),
	newForm(22, "mesh", stablehloMesh, itself[deviceMesh]),
}

// chloAttrs are those of CHLO that have codes; the others are text.
var chloAttrs = []form{
	enumForm(0, "chlo", "comparison_direction"),
	enumForm(1, "chlo", "comparison_type"),
}

// fields moves the parts of an attribute in their order. The mode of a result accuracy is an enum of its own.
func fields[T any, P pointerTo[T]](c codec, v *T) {
	for _, f := range ir.Fields(P(v)) {
		if value, ok := f.At.(*string); ok {
			mode := ir.EnumAttr{Dialect: "stablehlo", Enum: "result_accuracy_mode", Value: *value}
			refOf(c, &mode)
			*value = mode.Value
			continue
		}
		move(c, f.At)
	}
}

// boundsAttr is the encoding of a tensor with bounded dimensions, which the representation keeps as text.
func boundsAttr(sizes []int64) ir.Attr {
	parts := make([]string, len(sizes))
	for i, n := range sizes {
		parts[i] = "?"
		if n != ir.Dynamic {
			parts[i] = strconv.FormatInt(n, 10)
		}
	}
	return ir.OpaqueAttr("#stablehlo.bounds<" + strings.Join(parts, ", ") + ">")
}
