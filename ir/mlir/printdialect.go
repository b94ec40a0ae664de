package mlir

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// dialectAttr prints an attribute of StableHLO or Shardy.
func (pr *printer) dialectAttr(a ir.Attr) {
	switch v := a.(type) {
	case *ir.DotDims:
		pr.compound("#stablehlo.dot", v, someFields)
	case *ir.RaggedDims:
		pr.compound("#chlo.ragged_dot", v, someFields)
	case *ir.GatherDims:
		pr.compound("#stablehlo.gather", v, someFields)
	case *ir.ScatterDims:
		pr.compound("#stablehlo.scatter", v, someFields)
	case *ir.ConvDims:
		pr.str("#stablehlo.conv<")
		pr.convDims(v)
		pr.byte('>')
	case ir.ChannelHandle:
		pr.compound("#stablehlo.channel_handle", &v, allFields)
	case *ir.OutputAlias:
		pr.compound("#stablehlo.output_operand_alias", v, allFields)
	case *ir.MeshAxesGroups:
		pr.meshAxesGroups(v)
	case *ir.ResultAccuracy:
		pr.compound("#stablehlo.result_accuracy", v, someFields)
	case *ir.DotAlgorithm:
		pr.compound("#stablehlo.dot_algorithm", v, allFields)
	case ir.ShardingAttr:
		pr.str("#sdy.sharding")
		pr.sharding(ir.ShardingID(v))
	case ir.ShardingsAttr:
		pr.str("#sdy.sharding_per_value<[")
		each(pr, v, pr.sharding)
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

// Which fields of an attribute are printed.
const (
	allFields  = false
	someFields = true // not empty lists and numbers that are 0
)

// compound prints <name = value, …> behind the name of an attribute.
func (pr *printer) compound(name string, a ir.Attr, some bool) {
	pr.str(name)
	separator := "<"
	for _, f := range ir.Fields(a) {
		if some && isZeroField(f.At) {
			continue
		}
		pr.str(separator + f.Name + " = ")
		separator = ", "
		switch at := f.At.(type) {
		case *[]int64:
			pr.ints(*at)
		case *int64:
			pr.int(*at)
		case *float64:
			pr.out = appendF64(pr.out, *at)
		case *bool:
			pr.str(strconv.FormatBool(*at))
		case *ir.TypeID:
			pr.typ(*at)
		case *string:
			pr.str("#stablehlo.result_accuracy_mode<" + *at + ">")
		}
	}
	if separator == "<" {
		pr.byte('<')
	}
	pr.byte('>')
}

// isZeroField says whether a field is an empty list or the number 0.
func isZeroField(at any) bool {
	switch at := at.(type) {
	case *[]int64:
		return len(*at) == 0
	case *int64:
		return *at == 0
	case *float64:
		return *at == 0
	}
	return false
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
	names := slices.Repeat([]string{"?"}, int(last+1))
	for n, at := range spatial {
		names[at] = strconv.Itoa(n)
	}
	names[firstAt], names[secondAt] = first, second
	pr.str("[" + strings.Join(names, ", ") + "]")
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
	each(pr, v.Axes, func(r subaxis.Ref) {
		pr.str("#stablehlo.axis_ref<name = ")
		pr.quoted(d.Axes[r.Axis].Name)
		if !d.IsFull(r) {
			pr.str(", sub_axis_info = (")
			pr.int(int64(r.Pre))
			pr.byte(')')
			pr.int(int64(r.Size))
		}
		pr.byte('>')
	})
	pr.str("]>")
}

func (pr *printer) inlineMesh(d *ir.MeshDecl) {
	pr.str("#stablehlo.mesh<axes=[")
	each(pr, d.Axes, func(a subaxis.Axis) {
		pr.str("<name = ")
		pr.quoted(a.Name)
		pr.str(", size = ")
		pr.int(a.Size)
		pr.byte('>')
	})
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
		pr.str(strings.ToUpper(hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, r.Align))))
		pr.str(strings.ToUpper(hex.EncodeToString(r.Data)))
		pr.byte('"')
	}
	pr.str("\n    }\n  }\n#-}\n")
}

func appendF64(out []byte, v float64) []byte {
	return dtype.AppendFloat(out, dtype.F64, dtype.Encode(dtype.F64, v))
}
