package mlir

import (
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// inherentAttrs are the attributes that ops declare themselves; the generic form shows them as properties.
var inherentAttrs = func() map[ir.Kind][]string {
	lists := map[ir.Kind]string{
		ir.OpGather:                   "dimension_numbers indices_are_sorted slice_sizes",
		ir.OpDynamicGather:            "dimension_numbers indices_are_sorted",
		ir.OpScatter:                  "indices_are_sorted scatter_dimension_numbers unique_indices",
		ir.OpSelectAndScatter:         "padding window_dimensions window_strides",
		ir.OpSort:                     "dimension is_stable",
		ir.OpReduceWindow:             "base_dilations padding window_dilations window_dimensions window_strides",
		ir.OpMap:                      "dimensions",
		ir.OpAllGather:                "all_gather_dim channel_handle replica_groups use_global_device_ids",
		ir.OpAllReduce:                "channel_handle replica_groups use_global_device_ids",
		ir.OpReduceScatter:            "channel_handle replica_groups scatter_dimension use_global_device_ids",
		ir.OpAllToAll:                 "channel_handle concat_dimension replica_groups split_count split_dimension",
		ir.OpCollectivePermute:        "channel_handle source_target_pairs",
		ir.OpCollectiveBroadcast:      "channel_handle replica_groups",
		ir.OpCollectiveReduce:         "channel_handle replica_groups use_global_device_ids",
		ir.OpCrossReplicaSum:          "replica_groups",
		ir.OpInfeed:                   "infeed_config layout",
		ir.OpOutfeed:                  "outfeed_config",
		ir.OpSend:                     "channel_handle is_host_transfer source_target_pairs",
		ir.OpRecv:                     "channel_handle is_host_transfer source_target_pairs",
		ir.OpTriangularSolve:          "left_side lower transpose_a unit_diagonal",
		ir.OpBatchNormGrad:            "epsilon feature_index",
		ir.OpBatchNormInference:       "epsilon feature_index",
		ir.OpBatchNormTraining:        "epsilon feature_index",
		ir.OpDynamicConv:              "batch_group_count dimension_numbers feature_group_count lhs_dilation padding precision_config rhs_dilation window_reversal window_strides",
		ir.OpTorchIndexSelect:         "batch_dims dim",
		ir.OpInterpreterRunParallel:   "infeed programs",
		ir.OpChloRaggedDot:            "precision_config ragged_dot_dimension_numbers",
		ir.OpConstant:                 "value",
		ir.OpSdyConstant:              "value",
		ir.OpWhile:                    "",
		ir.OpReduce:                   "dimensions",
		ir.OpSdyManualComputation:     "in_shardings manual_axes out_shardings",
		ir.OpSdyNamedComputation:      "in_shardings name out_shardings",
		ir.OpChloConstant:             "value",
		ir.OpChloConstantLike:         "value",
		ir.OpChloConstantWithShape:    "value",
		ir.OpSdyShardingConstraint:    "sharding",
		ir.OpSdyReshard:               "sharding",
		ir.OpChloScan:                 "dimension is_associative is_reverse operandSegmentSizes resultSegmentSizes",
		ir.OpSdyAllGather:             "gathering_axes out_sharding",
		ir.OpSdyAllSlice:              "out_sharding slicing_axes",
		ir.OpSdyAllToAll:              "out_sharding params",
		ir.OpSdyAllReduce:             "out_sharding reduction_axes reduction_op",
		ir.OpSdyReduceScatter:         "out_sharding reduce_scatter_axes reduction_op",
		ir.OpSdyShardedToUnreduced:    "axes out_sharding",
		ir.OpSdyReplicatedToUnreduced: "axes out_sharding",
		ir.OpSdyCollectivePermute:     "out_sharding",
	}
	out := map[ir.Kind][]string{}
	for k, list := range lists {
		out[k] = strings.Fields(list)
	}
	return out
}()

// fromGeneric turns what the generic form of an op writes as attributes into the representation: shardings of Shardy's
// own ops, and axes, whose mesh is that of the shardings.
func (p *parser) fromGeneric(o *opState) {
	if p.err != nil {
		return
	}
	switch name := ownSharding(o.kind); name {
	case "":
		p.resolvePending(o, 0)
	case "out_shardings":
		p.genericComputation(o)
	default:
		p.genericSharding(o, name)
	}
	p.normalizeEnums(o)
}

// genericSharding takes the sharding of the one result out of the attributes.
func (p *parser) genericSharding(o *opState, name string) {
	mesh := ir.MeshID(0)
	if s, ok := o.take(name).(ir.ShardingAttr); ok {
		o.shardings = append(o.shardings, ir.ShardingID(s))
		mesh = p.m.ShardingOf(ir.ShardingID(s)).Mesh
	}
	if len(o.results) != 1 {
		p.fail(o.at, diag.BadOp, "'%s' op must have one result", o.name)
		return
	}
	p.resolvePending(o, mesh)
}

// take removes an attribute and returns it, nil if it is absent.
func (o *opState) take(name string) ir.Attr {
	for i, e := range o.attrs {
		if e.Name == name {
			o.attrs = append(o.attrs[:i], o.attrs[i+1:]...)
			return e.Value
		}
	}
	return nil
}

// genericComputation takes the shardings of a manual or named computation out of its attributes.
func (p *parser) genericComputation(o *opState) {
	in, _ := o.take("in_shardings").(ir.ShardingsAttr)
	out, _ := o.take("out_shardings").(ir.ShardingsAttr)
	if len(o.regions) != 1 || len(p.m.Blocks(o.regions[0])) != 1 {
		p.fail(o.at, diag.BadOp, "'%s' op must have one region with one block", o.name)
		return
	}
	args := p.m.BlockArgs(p.m.Blocks(o.regions[0])[0])
	if len(in) == len(args) {
		for i, s := range in {
			p.m.SetSharding(args[i], s)
		}
	} else if in != nil {
		o.attr("in_shardings", in)
	}
	if len(out) == len(o.results) {
		o.shardings = append(o.shardings, out...)
	} else if out != nil {
		o.attr("out_shardings", out)
	}
	p.resolvePending(o, p.commonMesh(in, out))
}

// pendingAxes reads axes whose mesh is not known yet: #sdy<axis_ref_list{…}> and its kin. The attribute is a
// placeholder that resolvePending replaces.
func (p *parser) pendingAxes() ir.Attr {
	at := p.tok
	p.next()
	p.expect(tokLess)
	var axes unresolvedAxes
	switch word := p.ident("name of an attribute"); word {
	case "axis_ref_list", "manual_axes":
		axes.list = p.axisList()
	case "list_of_axis_ref_lists":
		axes.dims = p.axisLists()
	case "all_to_all_param_list":
		axes.moves = p.moves()
	default:
		p.fail(at, diag.BadAttribute, "unknown attribute `%s` in dialect `sdy`", word)
	}
	p.expect(tokGreater)
	placeholder := &ir.AxesAttr{}
	if p.axes == nil {
		p.axes = map[*ir.AxesAttr]unresolvedAxes{}
	}
	p.axes[placeholder] = axes
	return placeholder
}

// resolvePending finds the axes among an op's attributes in a mesh.
func (p *parser) resolvePending(o *opState, mesh ir.MeshID) {
	for i, e := range o.attrs {
		placeholder, ok := e.Value.(*ir.AxesAttr)
		if !ok {
			continue
		}
		axes, ok := p.axes[placeholder]
		if !ok {
			continue
		}
		delete(p.axes, placeholder)
		if mesh == 0 && !axes.isEmpty() {
			p.fail(o.at, diag.UnknownMesh, "axes of attribute `%s` of '%s' belong to no mesh: give the op a sharding", e.Name, o.name)
			return
		}
		o.attrs[i].Value = p.axesAttr(mesh, axes)
	}
}

func (a unresolvedAxes) isEmpty() bool { return len(a.list)+len(a.dims)+len(a.moves) == 0 }

// enumAttrs are the enums of Shardy's ops, which are integers in generic form.
var enumAttrs = map[ir.Kind]struct{ attr, enum string }{
	ir.OpSdyPropagationBarrier: {"allowed_direction", "propagation_direction"},
	ir.OpSdyAllReduce:          {"reduction_op", "reduction_op"},
	ir.OpSdyReduceScatter:      {"reduction_op", "reduction_op"},
}

func (p *parser) normalizeEnums(o *opState) {
	e, ok := enumAttrs[o.kind]
	if !ok {
		return
	}
	for i, a := range o.attrs {
		v, isInt := a.Value.(ir.IntAttr)
		if a.Name != e.attr || !isInt {
			continue
		}
		if cases := enumCases[e.enum]; v.Value >= 0 && int(v.Value) < len(cases) {
			o.attrs[i].Value = ir.EnumAttr{Dialect: "sdy", Enum: e.enum, Value: cases[v.Value]}
			continue
		}
		p.fail(o.at, diag.BadAttribute, "attribute `%s` of '%s' has no case %d", a.Name, o.name, v.Value)
	}
}
