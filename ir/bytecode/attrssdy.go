package bytecode

import (
	"fmt"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// sdyAttrs are the attributes of Shardy (specification: bytecode.md section A.6.8).
var sdyAttrs = []form{
	newForm(0, "manual_axes", refList[ir.StringAttr], (*decoder).manualAxes),
	newForm(1, "mesh axis", moveMeshAxis, itself[meshAxis]),
	newForm(2, "mesh", sdyMesh, (*decoder).sdyMesh),
	newForm(3, "sub-axis info", moveSubAxis, itself[subAxis]),
	newForm(4, "axis reference", sdyAxisRef, itself[axisRef]),
	newForm(5, "dimension sharding", moveDimSharding, itself[dimSharding]),
	newForm(6, "sharding", moveSharding, (*decoder).sharding),
	newForm(7, "sharding_per_value", refList[ir.ShardingAttr], (*decoder).shardings),
	newForm(8, "dimension mapping", ints, itself[[]int64]),
	newForm(9, "tensor mapping", refList[[]int64], itself[[][]int64]),
	newForm(10, "op_sharding_rule", moveRule, (*decoder).rule),
	newForm(11, "axis_ref_list", refList[axisRef], (*decoder).axisRefs),
	newForm(12, "list_of_axis_ref_lists", refList[ir.OpaqueAttr], (*decoder).axisRefLists),
	newForm(13, "all-to-all parameter", moveAllToAll, itself[allToAll]),
	newForm(14, "all_to_all_param_list", refList[allToAll], (*decoder).allToAlls),
	newForm(15, "sharding, unreduced by sum", moveUnreducedSharding, (*decoder).sharding),
	newForm(16, "sharding_per_value, some unreduced", refList[ir.ShardingAttr], (*decoder).shardings),
	newForm(17, "sharding, unreduced otherwise", moveReducedSharding, (*decoder).sharding),
}

type (
	dimSharding struct {
		axes     []axisRef
		closed   bool
		priority *uint64
	}
	sharding struct {
		mesh                  any // ir.SymbolAttr or an inlined mesh
		dims                  []dimSharding
		replicated, unreduced []axisRef
		reduction             int64
	}
	inlineMesh struct {
		axes    []meshAxis
		devices []int64
	}
	shardingRule struct {
		sizes                                        []int64
		operands, results                            [][][]int64
		reduction, replication, permutation, blocked []int64
		custom                                       bool
	}
	allToAll struct {
		axes     []axisRef
		src, dst int64
	}
)

func sdyMesh(c codec, v *inlineMesh) {
	refList(c, &v.axes)
	ints(c, &v.devices)
}

func sdyAxisRef(c codec, v *axisRef) {
	c.str(&v.name)
	part := any(nil)
	if v.part != nil {
		part = *v.part
	}
	c.optional(&part)
	if p, ok := part.(subAxis); ok {
		v.part = &p
	} else if part != nil {
		c.invalid("reference to an attribute that is no part of an axis")
	}
}

func moveDimSharding(c codec, v *dimSharding) {
	refList(c, &v.axes)
	c.flag(&v.closed)
	var n uint64
	has := v.priority != nil
	if has {
		n = *v.priority
	}
	c.flagged(&n, &has)
	if has {
		v.priority = &n
	}
}

func moveSharding(c codec, v *sharding) {
	c.ref(&v.mesh)
	refList(c, &v.dims)
	refList(c, &v.replicated)
}

func moveUnreducedSharding(c codec, v *sharding) {
	moveSharding(c, v)
	refList(c, &v.unreduced)
}

func moveReducedSharding(c codec, v *sharding) {
	moveUnreducedSharding(c, v)
	c.svarint(&v.reduction)
}

func moveRule(c codec, v *shardingRule) {
	ints(c, &v.sizes)
	refList(c, &v.operands)
	refList(c, &v.results)
	move(c, &v.reduction, &v.replication, &v.permutation, &v.blocked, &v.custom)
}

func moveAllToAll(c codec, v *allToAll) {
	refList(c, &v.axes)
	move(c, &v.src, &v.dst)
}

// String returns the axis as Shardy writes it: "x" or "x":(2)4.
func (a axisRef) String() string {
	if a.part == nil {
		return subaxis.Quote(a.name)
	}
	return fmt.Sprintf("%s:(%d)%d", subaxis.Quote(a.name), a.part.pre, a.part.size)
}

func axesText(axes []axisRef) string { return "{" + lists.Joined(axes, axisRef.String) + "}" }

// String returns the dimension as Shardy writes it: {"x", ?}p1.
func (v dimSharding) String() string {
	text := lists.Joined(v.axes, axisRef.String)
	switch {
	case v.closed:
	case text == "":
		text = "?"
	default:
		text += ", ?"
	}
	text = "{" + text + "}"
	if v.priority != nil {
		text += fmt.Sprintf("p%d", *v.priority)
	}
	return text
}

func (d *decoder) sdyMesh(v inlineMesh) any {
	text := "<[" + lists.Joined(v.axes, func(a meshAxis) string { return fmt.Sprintf("%s=%d", subaxis.Quote(a.name), a.size) }) + "]"
	if len(v.devices) > 0 {
		text += ", device_ids=" + joinInts(v.devices)
	}
	return d.parseAttr("#sdy.mesh" + text + ">")
}

func (d *decoder) sharding(v sharding) any {
	var mesh string
	switch m := v.mesh.(type) {
	case ir.SymbolAttr:
		mesh = "@" + ir.FormatSymbol(m[0])
	case ir.OpaqueAttr:
		mesh = strings.TrimPrefix(string(m), "#sdy.")
	default:
		d.invalid("reference to an attribute that is no mesh")
		return nil
	}
	text := "#sdy.sharding<" + mesh + ", [" + lists.Joined(v.dims, dimSharding.String) + "]"
	if len(v.replicated) > 0 {
		text += ", replicated=" + axesText(v.replicated)
	}
	if len(v.unreduced) > 0 {
		if v.reduction < int64(ir.ReduceSum) || v.reduction > int64(ir.ReduceMin) {
			d.invalid("sharding has an unknown reduction")
			return nil
		}
		reduction := ""
		if v.reduction != int64(ir.ReduceSum) {
			reduction = ir.Reduction(v.reduction).String()
		}
		text += ", unreduced=" + reduction + axesText(v.unreduced)
	}
	return d.parseAttr(text + ">")
}

func (d *decoder) shardings(v []ir.ShardingAttr) any {
	return ir.ShardingsAttr(lists.Map(v, func(s ir.ShardingAttr) ir.ShardingID { return ir.ShardingID(s) }))
}

func (d *decoder) manualAxes(v []ir.StringAttr) any {
	return d.parseAttr("#sdy<manual_axes{" + lists.Joined(v, func(s ir.StringAttr) string { return subaxis.Quote(string(s)) }) + "}>")
}

func (d *decoder) axisRefs(v []axisRef) any {
	return d.parseAttr(axisListPrefix + axesText(v) + ">")
}

const axisListPrefix = "#sdy<axis_ref_list"

// axisRefLists makes a list of the lists, whose mesh the op knows that has them.
func (d *decoder) axisRefLists(v []ir.OpaqueAttr) any {
	return d.parseAttr("#sdy<list_of_axis_ref_lists[" + lists.Joined(v, func(list ir.OpaqueAttr) string {
		return strings.TrimSuffix(strings.TrimPrefix(string(list), axisListPrefix), ">")
	}) + "]>")
}

func (d *decoder) allToAlls(v []allToAll) any {
	return d.parseAttr("#sdy<all_to_all_param_list[" + lists.Joined(v, func(a allToAll) string {
		return fmt.Sprintf("%s: %d->%d", axesText(a.axes), a.src, a.dst)
	}) + "]>")
}

func (d *decoder) rule(v shardingRule) any {
	r := &ir.Rule{Sizes: v.sizes, Custom: v.custom}
	factors := func(list []int64) []int32 {
		var out []int32
		for _, f := range list {
			if f < 0 || f >= int64(len(v.sizes)) {
				d.invalid("sharding rule has no factor " + strconv.FormatInt(f, 10))
			}
			out = append(out, int32(f))
		}
		return out
	}
	tensors := func(list [][][]int64) [][][]int32 {
		out := make([][][]int32, len(list))
		for i, dims := range list {
			out[i] = make([][]int32, len(dims))
			for j := range dims {
				out[i][j] = factors(dims[j])
			}
		}
		return out
	}
	r.Operands, r.Results = tensors(v.operands), tensors(v.results)
	r.Reduction, r.NeedReplication = factors(v.reduction), factors(v.replication)
	r.Permutation, r.Blocked = factors(v.permutation), factors(v.blocked)
	return &ir.RuleAttr{Rule: r}
}
