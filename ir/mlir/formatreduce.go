package mlir

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// parseWhile reads stablehlo.while(%iterArg = %0) : A attributes {…} cond {…} do {…}.
func parseWhile(p *parser, o *opState) {
	var args []blockArg
	p.expect(tokLParen)
	p.list(tokRParen, func() {
		a := blockArg{at: p.tok}
		if !p.at(tokValue) {
			p.expected("SSA value")
			return
		}
		p.next()
		p.expect(tokEqual)
		o.operands = append(o.operands, p.operand())
		args = append(args, a)
	})
	if len(args) > 0 {
		p.colonTypes(o, operandType)
	}
	if p.acceptWord("attributes") {
		p.optionalAttrDict(o)
	}
	if p.err != nil {
		return
	}
	for i := range args {
		args[i].typ = o.types[i]
	}
	o.results = append(o.results, o.types...)
	if args == nil {
		args = []blockArg{}
	}
	p.expectWord("cond")
	o.regions = append(o.regions, p.region(args, nil))
	p.expectWord("do")
	o.regions = append(o.regions, p.region(args, nil))
}

func printWhile(pr *printer, op ir.OpID) {
	m := pr.m
	pr.byte('(')
	args := m.BlockArgs(m.RegionBlock(op, 0))
	for i := range m.NumOperands(op) {
		if i > 0 {
			pr.str(", ")
		}
		pr.value(args[i])
		pr.str(" = ")
		pr.value(m.Operand(op, i))
	}
	pr.byte(')')
	if m.NumOperands(op) > 0 {
		pr.str(" : ")
		pr.operandTypes(op)
	}
	if pr.hasDict(op) {
		pr.str(" attributes")
		pr.attrDict(op)
	}
	pr.newline()
	pr.str("cond ")
	pr.region(op, 0, false)
	pr.str(" do ")
	pr.region(op, 1, false)
}

// parseReduce reads the form with one op, or the one with a reducer. The op stands where its operands begin, as MLIR has it, and so does
// the one op.
func parseReduce(p *parser, o *opState) {
	o.at = p.tok
	var inits []operand
	for p.err == nil {
		p.expect(tokLParen)
		o.operands = append(o.operands, p.operand())
		p.expectWord("init")
		p.expect(tokColon)
		inits = append(inits, p.operand())
		p.expect(tokRParen)
		if !p.accept(tokComma) {
			break
		}
	}
	n := len(o.operands)
	o.operands = append(o.operands, inits...)
	short := p.acceptWord("applies")
	var inner opState
	if short {
		inner.at = p.tok
		inner.name = p.ident("name of an operation")
		if p.err == nil {
			p.setKind(&inner, false)
		}
	}
	p.expectWord("across")
	p.expectWord("dimensions")
	p.expect(tokEqual)
	o.attr("dimensions", ir.Ints(p.int64s()))
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
	if p.err != nil {
		return
	}
	if short {
		p.shortReducer(o, &inner)
		return
	}
	p.expectWord("reducer")
	args := p.reducerArgs(n)
	if p.err == nil {
		o.regions = append(o.regions, p.region(args, nil))
	}
}

// reducerArgs reads (%a: A, %b: A) (%c: B, %d: B): pairs of block arguments k and n+k.
func (p *parser) reducerArgs(n int) []blockArg {
	args := make([]blockArg, 2*n)
	for k := range n {
		p.expect(tokLParen)
		args[k] = p.blockArg()
		p.expect(tokComma)
		args[n+k] = p.blockArg()
		p.expect(tokRParen)
	}
	return args
}

// shortReducer makes the region that `applies op` stands for.
func (p *parser) shortReducer(o *opState, inner *opState) {
	if len(o.operands) != 2 || !isReducer(inner.kind) {
		p.fail(inner.at, diag.BadOp, "'%s' cannot stand behind `applies`: it is no commutative operation on two values", inner.name)
		return
	}
	elem := *p.m.TypeOf(p.m.Type(o.values[0]))
	elem.Dims, elem.Encoding = nil, ""
	t := p.m.InternType(elem)
	r := p.m.DetachedRegion()
	b := p.m.AddBlock(r)
	x, y := p.m.AddBlockArg(b, t), p.m.AddBlockArg(b, t)
	build := p.m.BuilderAtEnd(b)
	op := build.Op(inner.kind, []ir.TypeID{t}, nil, x, y)
	ret := build.Op(ir.OpStablehloReturn, nil, nil, p.m.Result(op, 0))
	p.m.SetPos(op, p.position(o.at))
	p.m.SetPos(ret, p.position(o.at))
	o.regions = append(o.regions, r)
}

// isReducer says whether an op may stand in the short form of a reduction.
func isReducer(k ir.Kind) bool { return k.IsCombiner() && k.IsCommutative() }

// shortReducer returns the one op of a reduction's body, if the short form can be printed.
func shortReducer(m *ir.Module, op ir.OpID) (ir.Kind, bool) {
	kind, ok := ir.ReducerOf(m, op, 0, ir.Written)
	if !ok || !isReducer(kind) || m.NumOperands(op) != 2 {
		return 0, false
	}
	b := m.RegionBlock(op, 0)
	args := m.BlockArgs(b)
	elem, have := m.TypeOf(m.Type(m.Operand(op, 0))), m.TypeOf(m.Type(args[0]))
	same := have.Kind == ir.TensorKind && len(have.Dims) == 0 && !have.Unranked && have.DType == elem.DType && have.Quant == elem.Quant
	return kind, same && m.Type(args[0]) == m.Type(args[1]) && m.Type(m.Result(m.FirstOp(b), 0)) == m.Type(args[0])
}

// reducerArgs returns the arguments of a reduction's body in the order in which they are printed: each accumulator with
// its element.
func reducerArgs(m *ir.Module, op ir.OpID) []ir.ValueID {
	args := m.BlockArgs(m.RegionBlock(op, 0))
	n := len(args) / 2
	var out []ir.ValueID
	for i := range n {
		out = append(out, args[i], args[n+i])
	}
	return out
}

func printReduce(pr *printer, op ir.OpID) {
	m := pr.m
	n := m.NumOperands(op) / 2
	for i := range n {
		if i > 0 {
			pr.str(", ")
		}
		pr.byte('(')
		pr.value(m.Operand(op, i))
		pr.str(" init: ")
		pr.value(m.Operand(op, n+i))
		pr.byte(')')
	}
	inner, short := shortReducer(m, op)
	if short {
		pr.str(" applies ")
		pr.str(inner.String())
	}
	pr.str(" across dimensions = ")
	pr.intList(m.Attr(op, "dimensions"))
	pr.attrDict(op, "dimensions")
	pr.colonTypes(op, fnTypes)
	if short {
		return
	}
	pr.newline()
	pr.str(" reducer")
	for i, v := range reducerArgs(m, op) {
		pr.str([]string{"(", ", "}[i%2])
		pr.blockArg(v)
		pr.str([]string{"", ") "}[i%2])
	}
	pr.byte(' ')
	pr.region(op, 0, false)
}
