package mlir

import (
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// sdyFormats fills the rows of Shardy's ops (specification: shardy.md section 1.6).
func sdyFormats() {
	direction := enumCodec("sdy", "propagation_direction")
	constraint := form(space, oneValue, space, resultSharding, dict, types(sameType))
	formats[ir.OpSdyReturn] = formats[ir.OpReturn]
	formats[ir.OpSdyConstant] = formats[ir.OpConstant]
	formats[ir.OpSdyShardingConstraint] = constraint
	formats[ir.OpSdyReshard] = constraint
	formats[ir.OpSdyShardingGroup] = form(space, oneValue, literal(" group_id="), attribute("group_id", int64Codec), dict, types(oneOperand))
	formats[ir.OpSdyDataFlowEdge] = form(space, oneValue, shardingIfAny, dict, types(sameType))
	formats[ir.OpSdyFuncDataFlowEdge] = plain(1, sameType)
	formats[ir.OpSdyPropagationBarrier] = form(space, oneValue, literal(" allowed_direction="), attribute("allowed_direction", direction),
		dict, types(sameType))
	formats[ir.OpSdyManualComputation] = format{parseManual, printManual}
	formats[ir.OpSdyNamedComputation] = format{parseNamed, printNamed}
	for k := range ir.NumKinds {
		if _, collective := k.CollectiveAxes(); collective {
			formats[k] = format{parseCollective, printCollective}
		}
	}
}

// ownSharding returns the name of the attribute that holds the shardings of an op's results, "" if shardings stand in
// the dictionary.
func ownSharding(k ir.Kind) (name string) {
	for _, d := range k.Declared() {
		if d.Form == ir.ShardingForm {
			name = d.Name // in_shardings stands before out_shardings
		}
	}
	return name
}

// resultSharding is the sharding of the only result. Where it may be absent, sharding= stands before it.
var (
	resultSharding = part{
		parse: func(p *parser, o *opState) { o.shardings = append(o.shardings, p.sharding()) },
		print: func(pr *printer, op ir.OpID) { pr.sharding(pr.m.Sharding(pr.m.Result(op, 0))) },
	}
	shardingIfAny = part{
		parse: func(p *parser, o *opState) {
			if p.acceptWord("sharding") {
				p.expect(tokEqual)
				resultSharding.parse(p, o)
			}
		},
		print: func(pr *printer, op ir.OpID) {
			if pr.m.Sharding(pr.m.Result(op, 0)) != 0 {
				pr.str(" sharding=")
				resultSharding.print(pr, op)
			}
		},
	}
)

// parseCollective reads sdy.all_gather [{"x"}, {}] %0 out_sharding=<…> : T and its kin.
func parseCollective(p *parser, o *opState) {
	var axes unresolvedAxes
	switch o.kind {
	case ir.OpSdyAllReduce, ir.OpSdyReduceScatter:
		if p.at(tokIdent) {
			o.attr("reduction_op", ir.EnumAttr{Dialect: "sdy", Enum: "reduction_op", Value: p.reductionWord().String()})
		}
	}
	switch {
	case o.kind == ir.OpSdyAllToAll:
		axes.moves = p.moves()
	case p.at(tokLSquare):
		axes.dims = p.axisLists()
	case p.at(tokLBrace):
		axes.list = p.axisList()
	}
	o.operands = append(o.operands, p.operand())
	p.expectWord("out_sharding")
	p.expect(tokEqual)
	s := p.sharding()
	o.shardings = append(o.shardings, s)
	if name, _ := o.kind.CollectiveAxes(); name != "" && p.err == nil {
		o.attr(name, p.axesAttr(p.m.ShardingOf(s).Mesh, axes))
	}
	p.optionalAttrDict(o)
	p.colonTypes(o, sameType)
}

// moves reads [{"b"}: 0->2, {"c"}: 1->3].
func (p *parser) moves() []moveText {
	out := []moveText{}
	p.expect(tokLSquare)
	p.list(tokRSquare, func() {
		m := moveText{axes: p.axisList()}
		p.expect(tokColon)
		m.src = p.int64()
		p.expect(tokArrow)
		m.dst = p.int64()
		out = append(out, m)
	})
	return out
}

// axesAttr finds axes in their mesh.
func (p *parser) axesAttr(mesh ir.MeshID, a unresolvedAxes) ir.Attr {
	switch {
	case a.moves != nil:
		out := &ir.AllToAllAttr{Mesh: mesh}
		for _, m := range a.moves {
			out.Moves = append(out.Moves, ir.AllToAllMove{Axes: p.resolveAxes(mesh, m.axes), Src: m.src, Dst: m.dst})
		}
		return out
	case a.dims != nil:
		dims := lists.Map(a.dims, func(d []axisText) ir.ShardAxes { return p.resolveAxes(mesh, d) })
		return &ir.AxesPerDimAttr{Mesh: mesh, Dims: dims}
	}
	return &ir.AxesAttr{Mesh: mesh, Axes: p.resolveAxes(mesh, a.list)}
}

func printCollective(pr *printer, op ir.OpID) {
	m := pr.m
	axes, _ := m.Kind(op).CollectiveAxes()
	pr.byte(' ')
	if r := m.OpAttrs(op).Str("reduction_op"); r != "" && r != ir.ReduceSum.String() {
		pr.str(r)
		pr.byte(' ')
	}
	if axes != "" {
		pr.axesAttr(m.Attr(op, axes))
		pr.byte(' ')
	}
	pr.operands(op)
	pr.str(" out_sharding=")
	pr.sharding(m.Sharding(m.Result(op, 0)))
	pr.attrDict(op, axes, "reduction_op")
	pr.colonTypes(op, sameType)
}

// parseManual reads sdy.manual_computation(%0) in_shardings=[…] out_shardings=[…] manual_axes={…} (%arg: T) {…} {…} : ….
func parseManual(p *parser, o *opState) {
	p.parenOperands(o)
	p.expectWord("in_shardings")
	p.expect(tokEqual)
	in := p.shardingList()
	p.expectWord("out_shardings")
	p.expect(tokEqual)
	out := p.shardingList()
	p.expectWord("manual_axes")
	p.expect(tokEqual)
	manual := p.axisList()
	if p.err != nil {
		return
	}
	mesh := p.commonMesh(in, out)
	if mesh == 0 {
		mesh = p.unitMesh(manual)
	}
	o.attr("manual_axes", &ir.AxesAttr{Mesh: mesh, Axes: p.resolveAxes(mesh, manual)})
	p.computation(o, in, out)
}

// unitMesh returns a mesh for the manual axes of a computation without shardings, which names no mesh that has them:
// each axis has size 1.
func (p *parser) unitMesh(manual []axisText) ir.MeshID {
	mesh := subaxis.Mesh{Axes: lists.Map(manual, func(a axisText) subaxis.Axis { return subaxis.Axis{Name: a.name, Size: 1} })}
	if len(manual) == 0 || !p.checkMesh(manual[0].at, &mesh) {
		return 0
	}
	return p.m.AddMesh("", mesh, nil, 0)
}

// commonMesh returns the mesh that shardings share, an empty one only if there is no other, 0 if there is none.
func (p *parser) commonMesh(lists ...ir.ShardingsAttr) ir.MeshID {
	common := ir.MeshID(0)
	for _, list := range lists {
		for _, s := range list {
			mesh := p.m.ShardingOf(s).Mesh
			if common == 0 || p.m.Mesh(common).IsEmpty() {
				common = mesh
			}
		}
	}
	return common
}

// computation reads the body, attributes and types of a manual or named computation. Lists that do not fit the
// values stay as attributes, for the verifier to refuse.
func (p *parser) computation(o *opState, in, out ir.ShardingsAttr) {
	args := []blockArg{}
	p.expect(tokLParen)
	p.list(tokRParen, func() { args = append(args, p.blockArg()) })
	if p.err != nil {
		return
	}
	var shardings []ir.ShardingID
	if len(in) == len(args) {
		shardings = in
	} else if in != nil {
		o.attr("in_shardings", in)
	}
	o.regions = append(o.regions, p.region(args, shardings))
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
	if len(out) == len(o.results) {
		o.shardings = append(o.shardings, out...)
	} else if out != nil {
		o.attr("out_shardings", out)
	}
}

func printManual(pr *printer, op ir.OpID) {
	pr.parenOperands(op)
	pr.str(" in_shardings=[")
	pr.argShardings(op)
	pr.str("] out_shardings=[")
	pr.resultShardings(op)
	pr.str("] manual_axes=")
	pr.axesAttr(pr.m.Attr(op, "manual_axes"))
	pr.computation(op, "manual_axes")
}

// parseNamed reads sdy.named_computation<"foo">(%0) in_shardings=[…] out_shardings=[…] (%arg: T) {…} {…} : ….
func parseNamed(p *parser, o *opState) {
	p.expect(tokLess)
	o.attr("name", ir.StringAttr(strings.Clone(p.str("name of the computation"))))
	p.expect(tokGreater)
	p.parenOperands(o)
	var in, out ir.ShardingsAttr
	if p.acceptWord("in_shardings") {
		p.expect(tokEqual)
		in = p.shardingList()
	}
	if p.acceptWord("out_shardings") {
		p.expect(tokEqual)
		out = p.shardingList()
	}
	p.computation(o, in, out)
}

func printNamed(pr *printer, op ir.OpID) {
	m := pr.m
	pr.byte('<')
	pr.attr(m.Attr(op, "name"), untyped)
	pr.byte('>')
	pr.parenOperands(op)
	if pr.anySharding(m.BlockArgs(m.RegionBlock(op, 0))) {
		pr.str(" in_shardings=[")
		pr.argShardings(op)
		pr.byte(']')
	}
	if pr.m.IsSharded(op) {
		pr.str(" out_shardings=[")
		pr.resultShardings(op)
		pr.byte(']')
	}
	pr.computation(op, "name")
}

// computation prints the arguments, body, attributes and types of a manual or named computation.
func (pr *printer) computation(op ir.OpID, hidden string) {
	pr.str(" (")
	each(pr, pr.m.BlockArgs(pr.m.RegionBlock(op, 0)), pr.blockArg)
	pr.str(") ")
	pr.region(op, 0, false)
	pr.attrDict(op, hidden)
	pr.colonTypes(op, fnTypes)
}
