package mlir

import (
	"encoding/binary"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// otherFormats fills the rows of CHLO ops with a form of their own and of the check and interpreter dialects.
func otherFormats() {
	tolerance := clause{key: "tolerance", attr: "tolerance", codec: floatCodec, optional: true}
	probe := clause{key: "probe_id", attr: "probe_id", codec: textCodec("string")}
	number := func(key, attr string) clause { return clause{key: key, attr: attr, codec: int64Codec, optional: true} }
	formats[ir.OpChloTopK] = form(literal("("), oneValue, literal(", k = "), attribute("k", int64Codec), stability, literal(")"), dict,
		types(chloTypes))
	formats[ir.OpChloScan] = format{parseScan, printScan}
	formats[ir.OpCheckExpectEq] = plain(2, oneOperand)
	formats[ir.OpCheckExpectAlmostEq] = plain(2, oneOperand, tolerance)
	formats[ir.OpCheckExpectClose] = plain(2, operandType, number("max_ulp_difference", "max_ulp_difference"),
		number("min_ulp_difference", "min_ulp_difference"))
	formats[ir.OpCheckExpectSerializedEq] = plain(1, oneOperand, probe, number("iter", "iteration"))
	formats[ir.OpCheckExpectEqConst] = form(space, oneValue, literal(", "), attribute("value", constantCodec), dict, typeOfConstant)
	formats[ir.OpCheckExpectAlmostEqConst] = form(space, oneValue, literal(", "), attribute("value", constantCodec),
		keyed(true, tolerance), dict, typeOfConstant)
	formats[ir.OpInterpreterProbe] = plain(1, sameType, probe)
	formats[ir.OpInterpreterPrint] = plain(1, oneOperand)
}

// stability says of a top_k that equal elements may change places.
var stability = part{
	parse: func(p *parser, o *opState) {
		if p.accept(tokComma) {
			p.expectWord("is_stable")
			p.expect(tokEqual)
			o.attr("is_stable", ir.BoolAttr(p.boolean()))
		}
	},
	print: func(pr *printer, op ir.OpID) {
		if stable, ok := pr.m.Attr(op, "is_stable").(ir.BoolAttr); ok && !bool(stable) {
			pr.str(", is_stable = false")
		}
	},
	shows: []string{"is_stable"},
}

// constantCodec is that of a constant with its type, typeOfConstant what the type says of the operand: it is the same.
var (
	constantCodec = codec{
		func(p *parser) ir.Attr {
			value, ok := p.attr(0).(*ir.Dense)
			if !ok {
				p.expected("constant such as dense<1.0> : tensor<f32>")
			}
			return value
		},
		func(pr *printer, a ir.Attr) { pr.attr(a, typed) },
	}
	typeOfConstant = part{
		parse: func(p *parser, o *opState) {
			if value, ok := o.find("value").(*ir.Dense); ok && p.err == nil {
				p.resolveSame(o, value.Type)
			}
		},
		print: func(*printer, ir.OpID) {},
	}
)

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
	i32 := p.m.ScalarType(dtype.I32)
	pair := func(a, b int) ir.Attr {
		data := binary.LittleEndian.AppendUint32(nil, uint32(a))
		return &ir.DenseArray{Elem: i32, Data: binary.LittleEndian.AppendUint32(data, uint32(b))}
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
	return min(int(binary.LittleEndian.Uint32(sizes.Data)), m.NumOperands(op))
}

func printScan(pr *printer, op ir.OpID) {
	m, inputs := pr.m, scanInputs(pr.m, op)
	pr.byte('(')
	pr.values(op, 0, inputs)
	pr.str(") inits (")
	pr.values(op, inputs, m.NumOperands(op))
	pr.str(") dimension=")
	pr.attr(m.Attr(op, "dimension"), untyped)
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
