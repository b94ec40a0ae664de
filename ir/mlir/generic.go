package mlir

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// fromGeneric turns what the generic form of an op writes as attributes into the representation: shardings of Shardy's
// own ops, and axes, whose mesh is that of the shardings.
func (p *parser) fromGeneric(o *opState) {
	if p.err != nil {
		return
	}
	switch name := ownSharding(o.kind); name {
	case "":
	case "out_shardings":
		p.genericComputation(o)
	default:
		p.genericSharding(o, name)
	}
	p.normalizeEnums(o)
	if name := configAttrs[o.kind]; name != "" && o.find(name) == nil {
		o.attr(name, ir.StringAttr(""))
	}
}

// configAttrs are the strings that MLIR adds where they are missing.
var configAttrs = map[ir.Kind]string{ir.OpInfeed: "infeed_config", ir.OpOutfeed: "outfeed_config"}

// find returns an attribute, nil if it is absent.
func (o *opState) find(name string) ir.Attr { return ir.Attrs(o.attrs).Get(name) }

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

// pendingAxes reads axes whose mesh is not known yet: #sdy<axis_ref_list{…}> and its kin. They stay text, unless they
// belong to an op of which resolvePending knows the mesh.
func (p *parser) pendingAxes() ir.Attr {
	at := p.tok
	p.next()
	p.expect(tokLess)
	var axes unresolvedAxes
	word := p.ident("name of an attribute")
	switch word {
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
	if p.axes == nil {
		p.axes = map[ir.OpaqueAttr]unresolvedAxes{}
	}
	text := ir.OpaqueAttr("#sdy<" + word + axes.String() + ">")
	p.axes[text] = axes
	return text
}

// resolvePending finds the axes among an op's attributes in a mesh.
func (p *parser) resolvePending(o *opState, mesh ir.MeshID) {
	for i, e := range o.attrs {
		text, ok := e.Value.(ir.OpaqueAttr)
		if !ok {
			continue
		}
		axes, ok := p.axes[text]
		if !ok {
			continue
		}
		if mesh == 0 && !axes.isEmpty() {
			p.fail(o.at, diag.UnknownMesh, "axes of attribute `%s` of '%s' belong to no mesh: give the op a sharding", e.Name, o.name)
			return
		}
		o.attrs[i].Value = p.axesAttr(mesh, axes)
	}
}

func (a unresolvedAxes) isEmpty() bool { return len(a.list)+len(a.dims)+len(a.moves) == 0 }

// normalizeEnums reads the enums of Shardy's ops, which are integers in generic form.
func (p *parser) normalizeEnums(o *opState) {
	if o.kind.Dialect() != "sdy" {
		return
	}
	for i, a := range o.attrs {
		v, isInt := a.Value.(ir.IntAttr)
		d, _ := o.kind.DeclaredAttr(a.Name)
		if d.Form != ir.EnumForm || !isInt {
			continue
		}
		if cases := ir.Enums[d.Enum].Cases; v.Value >= 0 && int(v.Value) < len(cases) {
			o.attrs[i].Value = ir.EnumAttr{Dialect: "sdy", Enum: d.Enum, Value: cases[v.Value]}
			continue
		}
		p.fail(o.at, diag.BadAttribute, "attribute `%s` of '%s' has no case %d", a.Name, o.name, v.Value)
	}
}
