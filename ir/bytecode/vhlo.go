package bytecode

import (
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/vhlo"
)

// vhloAttrs are the attributes of portable artifacts (specification: bytecode.md section B.2). They mean what the
// builtin and StableHLO attributes mean that they stand for: reading makes those of them.
var vhloAttrs = []form{
	newForm(1, "array_v1", array, (*decoder).array),
	newForm(2, "bool_v1", moveBool, func(_ *decoder, v bool) any { return ir.BoolAttr(v) }),
	enumForm(3, "stablehlo", "comparison_direction"),
	enumForm(4, "stablehlo", "comparison_type"),
	newForm(5, "api_version_v1", codec.varint, (*decoder).apiVersion),
	newForm(6, "dict_v1", dictionary, (*decoder).dictionary),
	enumForm(7, "stablehlo", "fft_type"),
	newForm(8, "float_v1", typedNumber, (*decoder).float),
	newForm(9, "integer_v1", typedNumber, (*decoder).integer),
	fieldForm[ir.OutputAlias](10, "output_operand_alias_v1"),
	enumForm(11, "stablehlo", "precision"),
	enumForm(12, "stablehlo", "rng_algorithm"),
	enumForm(13, "stablehlo", "rng_distribution"),
	newForm(14, "string_v1", stringOnly, func(_ *decoder, v ir.StringAttr) any { return v }),
	newForm(15, "tensor_v1", denseElements, (*decoder).dense),
	enumForm(16, "stablehlo", "transpose"),
	newForm(17, "type_v1", typeOnly, func(_ *decoder, v ir.TypeID) any { return ir.TypeAttr(v) }),
	newForm(18, "type_extensions_v1", ints, func(_ *decoder, v []int64) any { return boundsAttr(v) }),
	enumForm(19, "stablehlo", "result_accuracy_mode"),
	fieldForm[ir.ResultAccuracy](20, "result_accuracy_v1"),
	newForm(21, "sub_axis_info_v1", moveSubAxis, itself[subAxis]),
	newForm(22, "axis_ref_v1", vhloAxisRef, itself[axisRef]),
	newForm(23, "replica_group_mesh_axes_v1", vhloMeshAxes, (*decoder).meshAxesGroups),
	newForm(24, "mesh_axis_v1", vhloMeshAxis, itself[meshAxis]),
	newForm(25, "mesh_v1", vhloMesh, itself[deviceMesh]),
}

// vhloTypes are the types of portable artifacts (specification: bytecode.md section B.3), which likewise stand for
// builtin ones.
var vhloTypes = append([]form{
	newForm(1, "complex_v1", typeOnly, (*decoder).complexType),
	newForm(8, "func_v1", moveFunction, (*decoder).functionType),
	newForm(20, "tensor_v1", moveTensor, (*decoder).tensorType),
	newForm(21, "tensor_v1 with encoding", moveEncodedTensor, (*decoder).tensorType),
	newForm(23, "tuple_v1", typeList, (*decoder).tupleType),
	newForm(24, "quant_v1", moveQuant, (*decoder).uniform),
	newForm(25, "unranked_tensor_v1", typeOnly, (*decoder).unrankedTensor),
	newForm(30, "quant_per_axis_v1", moveQuantPerAxis, (*decoder).perAxis),
	newForm(41, "buffer_v1", moveBuffer, (*decoder).memrefType),
	newForm(42, "future_v1", typeList, (*decoder).futureType),
}, namedTypes(map[uint64]string{0: "i1", 2: "bf16", 3: "f16", 4: "f32", 5: "f64", 6: "f8E4M3FN", 7: "f8E5M2", 9: "index",
	10: "i4", 11: "i8", 12: "i16", 13: "i32", 14: "i64", 15: "ui4", 16: "ui8", 17: "ui16", 18: "ui32", 19: "ui64",
	22: "!stablehlo.token", 26: "!shape.witness", 27: "f8E4M3FNUZ", 28: "f8E5M2FNUZ", 29: "f8E4M3B11FNUZ", 31: "i2", 32: "ui2",
	33: "none", 34: "tf32", 35: "f8E4M3", 36: "f8E3M4", 37: "f4E2M1FN", 38: "f6E2M3FN", 39: "f6E3M2FN", 40: "f8E8M0FNU"})...)

// apiVersion is an enum that StableHLO keeps as a number of 32 bits.
func (d *decoder) apiVersion(v uint64) any {
	if v > vhlo.MaxAPIVersion {
		d.invalid("unknown version of the API of custom calls")
	}
	return ir.IntAttr{Value: int64(v), Type: d.m.ScalarType(dtype.I32)}
}

func moveBool(c codec, v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	c.varint(&n)
	if n > 1 {
		c.invalid("expected 0 or 1")
	}
	*v = n == 1
}

func moveBuffer(c codec, v *memrefType) { move(c, &v.dims, &v.elem) }

func vhloAxisRef(c codec, v *axisRef) {
	name := ir.StringAttr(v.name)
	refOf(c, &name)
	v.name = string(name)
	has := v.part != nil
	moveBool(c, &has)
	refIf(c, has, &v.part)
}

func vhloMeshAxis(c codec, v *meshAxis) {
	name := ir.StringAttr(v.name)
	refOf(c, &name)
	v.name = string(name)
	c.svarint(&v.size)
}

func vhloMesh(c codec, v *deviceMesh) {
	refParts(c, &v.axes)
	devices := any(nil)
	if v.devices != nil {
		devices = v.devices
	}
	c.optional(&devices)
	if devices == nil {
		return
	}
	var ok bool
	if v.devices, ok = devices.(*ir.Dense); !ok {
		c.invalid("device ids of a mesh must be a tensor")
	}
}
