package mlir

import (
	"encoding/hex"
	"strconv"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// dialectAttr prints an attribute of StableHLO or Shardy.
func (pr *printer) dialectAttr(a ir.Attr) {
	switch v := a.(type) {
	case *ir.DotDims:
		pr.fields("#stablehlo.dot", dotLists(v), 0)
	case *ir.GatherDims:
		pr.fields("#stablehlo.gather", gatherLists(v), v.IndexVectorDim)
	case *ir.ScatterDims:
		pr.fields("#stablehlo.scatter", scatterLists(v), v.IndexVectorDim)
	case *ir.ConvDims:
		pr.str("#stablehlo.conv<")
		pr.convDims(v)
		pr.byte('>')
	case ir.ChannelHandle:
		pr.str("#stablehlo.channel_handle<handle = ")
		pr.int(v.Handle)
		pr.str(", type = ")
		pr.int(v.Type)
		pr.byte('>')
	case *ir.OutputAlias:
		pr.str("#stablehlo.output_operand_alias<output_tuple_indices = ")
		pr.ints(v.OutputIndices)
		pr.str(", operand_index = ")
		pr.int(v.OperandIndex)
		pr.str(", operand_tuple_indices = ")
		pr.ints(v.OperandIndices)
		pr.byte('>')
	case *ir.MeshAxesGroups:
		pr.meshAxesGroups(v)
	case *ir.ResultAccuracy:
		pr.resultAccuracy(v)
	case *ir.DotAlgorithm:
		pr.str("#stablehlo.dot_algorithm")
		pr.dotAlgorithm(v)
	case ir.ShardingAttr:
		pr.str("#sdy.sharding")
		pr.sharding(ir.ShardingID(v))
	case ir.ShardingsAttr:
		pr.str("#sdy.sharding_per_value<[")
		for i, s := range v {
			if i > 0 {
				pr.str(", ")
			}
			pr.sharding(s)
		}
		pr.str("]>")
	case ir.PropagationEdges:
		pr.str(v.String())
	case *ir.RuleAttr:
		pr.rule(v.Rule)
	case *ir.AxesAttr:
		pr.str("#sdy<axis_ref_list")
		pr.axesAttr(v)
		pr.byte('>')
	case *ir.AxesPerDimAttr:
		pr.str("#sdy<list_of_axis_ref_lists")
		pr.axesAttr(v)
		pr.byte('>')
	case *ir.AllToAllAttr:
		pr.str("#sdy<all_to_all_param_list")
		pr.axesAttr(v)
		pr.byte('>')
	}
}

// fields prints the lists of dimension numbers that are not empty, and the index vector's dimension unless it is 0.
func (pr *printer) fields(name string, lists []dimList, index int64) {
	pr.str(name)
	separator := "<"
	for _, l := range lists {
		if len(*l.list) == 0 {
			continue
		}
		pr.str(separator + l.name + " = ")
		pr.ints(*l.list)
		separator = ", "
	}
	if index != 0 {
		pr.str(separator + "index_vector_dim = ")
		pr.int(index)
		separator = ", "
	}
	if separator == "<" {
		pr.byte('<')
	}
	pr.byte('>')
}

// convDims prints [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1].
func (pr *printer) convDims(d *ir.ConvDims) {
	pr.convSide("b", "f", d.InBatch, d.InFeature, d.InSpatial)
	pr.byte('x')
	pr.convSide("i", "o", d.KernelIn, d.KernelOut, d.KernelSpatial)
	pr.str("->")
	pr.convSide("b", "f", d.OutBatch, d.OutFeature, d.OutSpatial)
}

func (pr *printer) convSide(first, second string, firstAt, secondAt int64, spatial []int64) {
	last := max(firstAt, secondAt)
	for _, at := range spatial {
		last = max(last, at)
	}
	names := make([]string, last+1)
	for i := range names {
		names[i] = "?"
	}
	for n, at := range spatial {
		names[at] = strconv.Itoa(n)
	}
	names[firstAt], names[secondAt] = first, second
	pr.str("[" + strings.Join(names, ", ") + "]")
}

func (pr *printer) dotAlgorithm(a ir.Attr) {
	v, ok := a.(*ir.DotAlgorithm)
	if !ok {
		return
	}
	pr.str("<lhs_precision_type = ")
	pr.typ(v.LhsType)
	pr.str(", rhs_precision_type = ")
	pr.typ(v.RhsType)
	pr.str(", accumulation_type = ")
	pr.typ(v.AccumulationType)
	pr.str(", lhs_component_count = ")
	pr.int(v.LhsCount)
	pr.str(", rhs_component_count = ")
	pr.int(v.RhsCount)
	pr.str(", num_primitive_operations = ")
	pr.int(v.Operations)
	pr.str(", allow_imprecise_accumulation = ")
	pr.str(strconv.FormatBool(v.AllowImprecise))
	pr.byte('>')
}

func (pr *printer) resultAccuracy(v *ir.ResultAccuracy) {
	pr.str("#stablehlo.result_accuracy<")
	if v.Atol != 0 {
		pr.str("atol = ")
		pr.out = appendF64(pr.out, v.Atol)
		pr.str(", ")
	}
	if v.Rtol != 0 {
		pr.str("rtol = ")
		pr.out = appendF64(pr.out, v.Rtol)
		pr.str(", ")
	}
	if v.Ulps != 0 {
		pr.str("ulps = ")
		pr.int(v.Ulps)
		pr.str(", ")
	}
	pr.str("mode = #stablehlo.result_accuracy_mode<" + v.Mode + ">>")
}

func (pr *printer) meshAxesGroups(v *ir.MeshAxesGroups) {
	d := pr.m.Mesh(v.Mesh)
	pr.str("#stablehlo.replica_group_mesh_axes<mesh = ")
	if d.Name != "" {
		pr.str("@" + ir.FormatSymbol(d.Name))
	} else {
		pr.inlineMesh(d)
	}
	pr.str(", axes = [")
	for i, r := range v.Axes {
		if i > 0 {
			pr.str(", ")
		}
		pr.str("#stablehlo.axis_ref<name = ")
		pr.quoted(d.Axes[r.Axis].Name)
		if !d.IsFull(r) {
			pr.str(", sub_axis_info = (")
			pr.int(int64(r.Pre))
			pr.byte(')')
			pr.int(int64(r.Size))
		}
		pr.byte('>')
	}
	pr.str("]>")
}

func (pr *printer) inlineMesh(d *ir.MeshDecl) {
	pr.str("#stablehlo.mesh<axes=[")
	for i, a := range d.Axes {
		if i > 0 {
			pr.str(", ")
		}
		pr.str("<name = ")
		pr.quoted(a.Name)
		pr.str(", size = ")
		pr.int(a.Size)
		pr.byte('>')
	}
	pr.byte(']')
	if d.DeviceIDs != nil {
		pr.str(", device_ids=dense<")
		pr.ints(d.DeviceIDs)
		pr.str("> : tensor<")
		pr.int(int64(len(d.DeviceIDs)))
		pr.str("xi64>")
	}
	pr.byte('>')
}

// typ prints a type.
func (pr *printer) typ(id ir.TypeID) {
	if int(id) < len(pr.typeText) {
		if text := pr.typeText[id]; text != "" {
			pr.str(text)
			return
		}
	}
	start := len(pr.out)
	pr.out = pr.m.AppendType(pr.out, id)
	if int(id) < len(pr.typeText) {
		pr.typeText[id] = string(pr.out[start:])
	}
}

// resources prints the trailer with the bytes of dense_resource constants.
func (pr *printer) resources() {
	list := pr.m.Resources()
	if len(list) == 0 {
		return
	}
	pr.str("\n{-#\n  dialect_resources: {\n    builtin: {\n")
	for i, r := range list {
		if i > 0 {
			pr.str(",\n")
		}
		pr.str("      ")
		if isBareName(r.Name) {
			pr.str(r.Name)
		} else {
			pr.quoted(r.Name)
		}
		pr.str(`: "0x`)
		align := []byte{byte(r.Align), byte(r.Align >> 8), byte(r.Align >> 16), byte(r.Align >> 24)}
		pr.str(strings.ToUpper(hex.EncodeToString(align)))
		pr.str(strings.ToUpper(hex.EncodeToString(r.Data)))
		pr.byte('"')
	}
	pr.str("\n    }\n  }\n#-}\n")
}

func appendF64(out []byte, v float64) []byte {
	return dtype.AppendFloat(out, dtype.F64, dtype.Encode(dtype.F64, v))
}
