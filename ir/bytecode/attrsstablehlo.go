package bytecode

import (
	"math"
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

// pointer is the meaning of a value whose attribute is a pointer to it.
func pointer[T any, P interface {
	*T
	ir.Attr
}](_ *decoder, v T) any {
	return P(&v)
}

// stablehloAttrs are the attributes of StableHLO (specification: bytecode.md section A.6.6).
var stablehloAttrs = []form{
	newForm(1, "channel_handle", channelHandle, func(_ *decoder, v ir.ChannelHandle) any { return v }),
	enumForm(2, "stablehlo", "comparison_direction"),
	enumForm(3, "stablehlo", "comparison_type"),
	newForm(4, "conv", convDims, pointer[ir.ConvDims]),
	newForm(5, "dot", dotDims, pointer[ir.DotDims]),
	enumForm(6, "stablehlo", "fft_type"),
	newForm(7, "gather", gatherDims, pointer[ir.GatherDims]),
	enumForm(8, "stablehlo", "precision"),
	enumForm(9, "stablehlo", "rng_algorithm"),
	enumForm(10, "stablehlo", "rng_distribution"),
	newForm(11, "scatter", scatterDims, pointer[ir.ScatterDims]),
	enumForm(12, "stablehlo", "transpose"),
	newForm(13, "bounds", ints, func(_ *decoder, v []int64) any { return boundsAttr(v) }),
	newForm(14, "output_operand_alias", outputAlias, pointer[ir.OutputAlias]),
	newForm(15, "dot_algorithm", dotAlgorithm, pointer[ir.DotAlgorithm]),
	enumForm(16, "stablehlo", "result_accuracy_mode"),
	newForm(17, "result_accuracy", resultAccuracy, pointer[ir.ResultAccuracy]),
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

func channelHandle(c codec, v *ir.ChannelHandle) {
	c.svarint(&v.Handle)
	c.svarint(&v.Type)
}

func convDims(c codec, v *ir.ConvDims) {
	c.svarint(&v.InBatch)
	c.svarint(&v.InFeature)
	ints(c, &v.InSpatial)
	c.svarint(&v.KernelIn)
	c.svarint(&v.KernelOut)
	ints(c, &v.KernelSpatial)
	c.svarint(&v.OutBatch)
	c.svarint(&v.OutFeature)
	ints(c, &v.OutSpatial)
}

func dotDims(c codec, v *ir.DotDims) {
	ints(c, &v.LhsBatch)
	ints(c, &v.RhsBatch)
	ints(c, &v.LhsContract)
	ints(c, &v.RhsContract)
}

func gatherDims(c codec, v *ir.GatherDims) {
	ints(c, &v.Offset)
	ints(c, &v.Collapsed)
	ints(c, &v.OperandBatch)
	ints(c, &v.IndicesBatch)
	ints(c, &v.StartIndexMap)
	c.svarint(&v.IndexVectorDim)
}

func scatterDims(c codec, v *ir.ScatterDims) {
	ints(c, &v.UpdateWindow)
	ints(c, &v.InsertedWindow)
	ints(c, &v.InputBatch)
	ints(c, &v.IndicesBatch)
	ints(c, &v.ToOperand)
	c.svarint(&v.IndexVectorDim)
}

func outputAlias(c codec, v *ir.OutputAlias) {
	ints(c, &v.OutputIndices)
	c.svarint(&v.OperandIndex)
	ints(c, &v.OperandIndices)
}

func dotAlgorithm(c codec, v *ir.DotAlgorithm) {
	c.typ(&v.LhsType)
	c.typ(&v.RhsType)
	c.typ(&v.AccumulationType)
	c.svarint(&v.LhsCount)
	c.svarint(&v.RhsCount)
	c.svarint(&v.Operations)
	c.flag(&v.AllowImprecise)
}

func resultAccuracy(c codec, v *ir.ResultAccuracy) {
	float64Bits(c, &v.Atol)
	float64Bits(c, &v.Rtol)
	c.svarint(&v.Ulps)
	mode := ir.EnumAttr{Dialect: "stablehlo", Enum: "result_accuracy_mode", Value: v.Mode}
	refOf(c, &mode)
	v.Mode = mode.Value
}

// float64Bits moves the pattern of an f64 as a number.
func float64Bits(c codec, v *float64) {
	n := int64(math.Float64bits(*v))
	c.svarint(&n)
	*v = math.Float64frombits(uint64(n))
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
