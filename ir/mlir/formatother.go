package mlir

import (
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// otherFormats fills the rows of CHLO ops with a form of their own and of the check and interpreter dialects.
func otherFormats() {
	intClause := func(key, attr string, optional bool) clause {
		return clause{key: key, attr: attr, codec: int64Codec, optional: optional}
	}
	tolerance := clause{key: "tolerance", attr: "tolerance", codec: floatCodec, optional: true}
	probe := clause{key: "probe_id", attr: "probe_id", codec: stringCodec}
	formats[ir.OpChloTopK] = format{parseTopK, printTopK}
	formats[ir.OpChloScan] = format{parseScan, printScan}
	formats[ir.OpCheckExpectEq] = plain(2, oneOperand)
	formats[ir.OpCheckExpectAlmostEq] = plain(2, oneOperand, tolerance)
	formats[ir.OpCheckExpectClose] = plain(2, operandType, intClause("max_ulp_difference", "max_ulp_difference", true),
		intClause("min_ulp_difference", "min_ulp_difference", true))
	formats[ir.OpCheckExpectSerializedEq] = plain(1, oneOperand, probe, intClause("iter", "iteration", true))
	formats[ir.OpCheckExpectEqConst] = format{parseExpectConst, printExpectConst}
	formats[ir.OpCheckExpectAlmostEqConst] = format{parseExpectConst, printExpectConst}
	formats[ir.OpInterpreterProbe] = plain(1, sameType, probe)
	formats[ir.OpInterpreterPrint] = plain(1, oneOperand)
}

// parseTopK reads chlo.top_k(%0, k = 2, is_stable = false) : A -> (B, C).
func parseTopK(p *parser, o *opState) {
	p.expect(tokLParen)
	o.operands = append(o.operands, p.operand())
	p.expect(tokComma)
	p.expectWord("k")
	p.expect(tokEqual)
	o.attr("k", p.intAttr(dtype.I64))
	if p.accept(tokComma) {
		p.expectWord("is_stable")
		p.expect(tokEqual)
		o.attr("is_stable", ir.BoolAttr(p.boolean()))
	}
	p.expect(tokRParen)
	p.optionalAttrDict(o)
	p.colonTypes(o, chloTypes)
}

func printTopK(pr *printer, op ir.OpID) {
	a := pr.m.OpAttrs(op)
	pr.byte('(')
	pr.operands(op)
	pr.str(", k = ")
	pr.number(a.Get("k"))
	if stable, ok := a.Get("is_stable").(ir.BoolAttr); ok && !bool(stable) {
		pr.str(", is_stable = false")
	}
	pr.byte(')')
	pr.attrDict(op, "k", "is_stable")
	pr.colonTypes(op, chloTypes)
}

// parseScan reads chlo.scan(%0) inits (%1) dimension=1 attributes {…} {…} : ….
func parseScan(p *parser, o *opState) {
	p.parenOperands(o)
	inputs := len(o.operands)
	p.expectWord("inits")
	p.parenOperands(o)
	p.expectWord("dimension")
	p.expect(tokEqual)
	o.attr("dimension", p.intAttr(dtype.I64))
	if p.acceptWord("attributes") {
		p.optionalAttrDict(o)
	}
	o.regions = append(o.regions, p.region(nil, nil))
	p.colonTypes(o, fnTypes)
	p.segments(o, inputs)
}

// segments notes how many operands and results belong to each of the two lists of a scan.
func (p *parser) segments(o *opState, inputs int) {
	carries := len(o.operands) - inputs
	i32 := p.scalarType(dtype.I32)
	pair := func(a, b int) ir.Attr {
		return &ir.DenseArray{Elem: i32, Data: appendBits(appendBits(nil, dtype.I32, uint64(a)), dtype.I32, uint64(b))}
	}
	o.attr("operandSegmentSizes", pair(inputs, carries))
	o.attr("resultSegmentSizes", pair(max(0, len(o.results)-carries), carries))
}

// scanInputs returns how many operands of a scan are inputs.
func scanInputs(m *ir.Module, op ir.OpID) int {
	sizes, ok := m.Attr(op, "operandSegmentSizes").(*ir.DenseArray)
	if !ok || len(sizes.Data) < 4 {
		return m.NumOperands(op)
	}
	return min(int(sizes.Data[0])|int(sizes.Data[1])<<8|int(sizes.Data[2])<<16, m.NumOperands(op))
}

func printScan(pr *printer, op ir.OpID) {
	m, inputs := pr.m, scanInputs(pr.m, op)
	pr.byte('(')
	pr.values(op, 0, inputs)
	pr.str(") inits (")
	pr.values(op, inputs, m.NumOperands(op))
	pr.str(") dimension=")
	pr.number(m.Attr(op, "dimension"))
	hidden := []string{"dimension", "operandSegmentSizes", "resultSegmentSizes"}
	if pr.hasDict(op, hidden...) {
		pr.str("  attributes")
		pr.attrDict(op, hidden...)
		pr.byte(' ')
	} else {
		pr.str("  ")
	}
	pr.region(op, 0, true)
	pr.colonTypes(op, fnTypes)
}

// parseExpectConst reads check.expect_eq_const %0, dense<1> : T and check.expect_almost_eq_const, whose tolerance
// stands at the end.
func parseExpectConst(p *parser, o *opState) {
	o.operands = append(o.operands, p.operand())
	p.expect(tokComma)
	value, ok := p.attr(0).(*ir.Dense)
	if !ok {
		p.expected("constant such as dense<1.0> : tensor<f32>")
		return
	}
	o.attr("value", value)
	if o.kind == ir.OpCheckExpectAlmostEqConst {
		p.clauses(o, []clause{{key: "tolerance", attr: "tolerance", codec: floatCodec, optional: true}}, true)
	}
	p.optionalAttrDict(o)
	p.resolveSame(o, value.Type)
}

func printExpectConst(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.operands(op)
	pr.str(", ")
	pr.attr(pr.m.Attr(op, "value"), typed)
	pr.clauses(op, []clause{{key: "tolerance", attr: "tolerance", codec: floatCodec, optional: true}}, true)
	pr.attrDict(op, "value", "tolerance")
}
