package mlir

import (
	"bytes"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// parseConstant reads stablehlo.constant {…} dense<…> : tensor<…>, or the form with parentheses for constants whose
// value has another type than the result.
func parseConstant(p *parser, o *opState) {
	if p.accept(tokLParen) {
		p.expect(tokRParen)
		if p.accept(tokLess) {
			p.properties(o)
		}
		p.optionalAttrDict(o)
		p.expect(tokColon)
		p.functionTypeOf(o)
		return
	}
	p.optionalAttrDict(o)
	at := p.tok
	value, ok := p.attr(0).(*ir.Dense)
	if !ok && p.err == nil {
		p.fail(at, diag.BadConstant, "'%s' op needs a constant such as dense<1.0> : tensor<f32>", o.name)
	}
	if p.err == nil {
		o.attr("value", value)
		o.results = append(o.results, value.Type)
	}
}

func printConstant(pr *printer, op ir.OpID) {
	value, ok := pr.m.Attr(op, "value").(*ir.Dense)
	if ok && value.Type == pr.m.Type(pr.m.Result(op, 0)) {
		pr.attrDict(op, "value")
		pr.byte(' ')
		pr.attr(value, typed)
		return
	}
	pr.str("() <{value = ")
	pr.attr(pr.m.Attr(op, "value"), typed)
	pr.str("}>")
	pr.attrDict(op, "value")
	pr.str(" : ")
	pr.functionType(op)
}

// parseComplex reads operands and the result's type, from which theirs follow.
func parseComplex(p *parser, o *opState) {
	p.fixedOperands(o, 2)
	p.optionalAttrDict(o)
	p.colonTypes(o, resultType)
}

func printComplex(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.operands(op)
	pr.attrDict(op)
	pr.str(" : ")
	pr.typ(pr.m.Type(pr.m.Result(op, 0)))
}

// parseCompare reads stablehlo.compare LT, %0, %1, SIGNED : (…) -> ….
func parseCompare(p *parser, o *opState) {
	o.attr("comparison_direction", ir.EnumAttr{Dialect: "stablehlo", Enum: "comparison_direction", Value: p.enumCase("comparison_direction")})
	p.expect(tokComma)
	o.operands = append(o.operands, p.operand())
	p.expect(tokComma)
	o.operands = append(o.operands, p.operand())
	if p.accept(tokComma) {
		o.attr("compare_type", ir.EnumAttr{Dialect: "stablehlo", Enum: "comparison_type", Value: p.enumCase("comparison_type")})
	}
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

func printCompare(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.str(enumValue(pr.m.Attr(op, "comparison_direction")))
	pr.str(", ")
	pr.operands(op)
	if t := pr.m.Attr(op, "compare_type"); t != nil {
		pr.str(", ")
		pr.str(enumValue(t))
	}
	pr.attrDict(op, "comparison_direction", "compare_type")
	pr.colonTypes(op, fnTypes)
}

// parseSelect reads the types of the predicate and the result, or a function type.
func parseSelect(p *parser, o *opState) {
	p.fixedOperands(o, 3)
	p.optionalAttrDict(o)
	p.expect(tokColon)
	if p.at(tokLParen) {
		p.functionTypeOf(o)
		return
	}
	pred := p.typ()
	p.expect(tokComma)
	t := p.typ()
	o.results = append(o.results, t)
	o.types = append(o.types, pred, t, t)
	p.resolveAll(o, o.types)
}

func printSelect(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.operands(op)
	pr.attrDict(op)
	m, t := pr.m, pr.m.Type(pr.m.Result(op, 0))
	pr.str(" : ")
	if m.Type(m.Operand(op, 1)) != t || m.Type(m.Operand(op, 2)) != t {
		pr.functionType(op)
		return
	}
	pr.typ(m.Type(m.Operand(op, 0)))
	pr.str(", ")
	pr.typ(t)
}

// parseSlice reads stablehlo.slice %0 [1:2, 0:4:2] : (…) -> ….
func parseSlice(p *parser, o *opState) {
	o.operands = append(o.operands, p.operand())
	start, limit, strides := ir.Ints{}, ir.Ints{}, ir.Ints{}
	p.expect(tokLSquare)
	p.list(tokRSquare, func() {
		start = append(start, p.int64())
		p.expect(tokColon)
		limit = append(limit, p.int64())
		stride := int64(1)
		if p.accept(tokColon) {
			stride = p.int64()
		}
		strides = append(strides, stride)
	})
	o.attr("start_indices", start)
	o.attr("limit_indices", limit)
	o.attr("strides", strides)
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

func printSlice(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.operands(op)
	pr.str(" [")
	a := pr.m.OpAttrs(op)
	start, limit, strides := a.Ints("start_indices"), a.Ints("limit_indices"), a.Ints("strides")
	for i := range min(len(start), len(limit), len(strides)) {
		if i > 0 {
			pr.str(", ")
		}
		pr.int(start[i])
		pr.byte(':')
		pr.int(limit[i])
		if strides[i] != 1 {
			pr.byte(':')
			pr.int(strides[i])
		}
	}
	pr.byte(']')
	pr.attrDict(op, "start_indices", "limit_indices", "strides")
	pr.colonTypes(op, fnTypes)
}

// parseReducePrecision reads stablehlo.reduce_precision %0, format = e8m7 : T.
func parseReducePrecision(p *parser, o *opState) {
	p.fixedOperands(o, 1)
	p.expect(tokComma)
	p.expectWord("format")
	p.expect(tokEqual)
	at := p.tok
	text := p.ident("format such as e8m7")
	e, m, found := strings.Cut(strings.TrimPrefix(text, "e"), "m")
	exponent, err1 := strconv.ParseInt(e, 10, 32)
	mantissa, err2 := strconv.ParseInt(m, 10, 32)
	if p.err == nil && (!strings.HasPrefix(text, "e") || !found || err1 != nil || err2 != nil) {
		p.fail(at, diag.BadAttribute, "expected exponent mantissa in format e#m#, saw %s", clip(text))
	}
	i32 := p.scalarType(dtype.I32)
	o.attr("exponent_bits", ir.IntAttr{Value: exponent, Type: i32})
	o.attr("mantissa_bits", ir.IntAttr{Value: mantissa, Type: i32})
	p.optionalAttrDict(o)
	p.colonTypes(o, sameType)
}

func printReducePrecision(pr *printer, op ir.OpID) {
	a := pr.m.OpAttrs(op)
	pr.byte(' ')
	pr.operands(op)
	pr.str(", format = e")
	pr.int(a.Int("exponent_bits", 0))
	pr.byte('m')
	pr.int(a.Int("mantissa_bits", 0))
	pr.attrDict(op, "exponent_bits", "mantissa_bits")
	pr.colonTypes(op, sameType)
}

// parseDotGeneral reads batching and contracting dimensions, precision and algorithm.
func parseDotGeneral(p *parser, o *opState) {
	p.fixedOperands(o, 2)
	d := &ir.DotDims{}
	p.expect(tokComma)
	if p.acceptWord("batching_dims") {
		p.expect(tokEqual)
		d.LhsBatch, d.RhsBatch = p.dimPair()
		p.expect(tokComma)
	}
	p.expectWord("contracting_dims")
	p.expect(tokEqual)
	d.LhsContract, d.RhsContract = p.dimPair()
	o.attr("dot_dimension_numbers", d)
	p.clauses(o, dotClauses, true)
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

var dotClauses = []clause{
	{key: "precision", attr: "precision_config", codec: precisionCodec, optional: true},
	{key: "algorithm", attr: "algorithm", optional: true, codec: codec{
		func(p *parser) ir.Attr { return p.dotAlgorithm() },
		func(pr *printer, a ir.Attr) { pr.dotAlgorithm(a) },
	}},
}

// dimPair reads [2] x [1].
func (p *parser) dimPair() (lhs, rhs []int64) {
	lhs = p.int64s()
	p.expectWord("x")
	return lhs, p.int64s()
}

func printDotGeneral(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.operands(op)
	if d, ok := pr.m.Attr(op, "dot_dimension_numbers").(*ir.DotDims); ok {
		if len(d.LhsBatch)+len(d.RhsBatch) > 0 {
			pr.str(", batching_dims = ")
			pr.dimPair(d.LhsBatch, d.RhsBatch)
		}
		pr.str(", contracting_dims = ")
		pr.dimPair(d.LhsContract, d.RhsContract)
	}
	pr.clauses(op, dotClauses, true)
	pr.attrDict(op, "dot_dimension_numbers", "precision_config", "algorithm")
	pr.colonTypes(op, fnTypes)
}

func (pr *printer) dimPair(lhs, rhs []int64) {
	pr.ints(lhs)
	pr.str(" x ")
	pr.ints(rhs)
}

// parseConvolution reads stablehlo.convolution(%0, %1) dim_numbers = …, window = {…} {…} : ….
func parseConvolution(p *parser, o *opState) {
	p.expect(tokLParen)
	p.fixedOperands(o, 2)
	p.expect(tokRParen)
	p.expectWord("dim_numbers")
	p.expect(tokEqual)
	o.attr("dimension_numbers", p.convDims())
	p.expect(tokComma)
	p.expectWord("window")
	p.expect(tokEqual)
	p.expect(tokLBrace)
	p.list(tokRBrace, func() { p.windowEntry(o) })
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

// windowAttrs are the entries of a window with their attributes, in their order.
var windowAttrs = []struct{ key, attr string }{
	{"stride", "window_strides"}, {"pad", "padding"}, {"lhs_dilate", "lhs_dilation"}, {"rhs_dilate", "rhs_dilation"},
	{"reverse", "window_reversal"},
}

func (p *parser) windowEntry(o *opState) {
	at := p.tok
	key := p.ident("window parameter")
	p.expect(tokEqual)
	for _, w := range windowAttrs {
		if w.key != key {
			continue
		}
		for _, a := range o.attrs {
			if a.Name == w.attr {
				p.fail(at, diag.Redefined, "unexpected keyword `%s`: it was given already", key)
			}
		}
		switch key {
		case "pad":
			o.attr(w.attr, p.padding())
		case "reverse":
			o.attr(w.attr, p.bools())
		default:
			o.attr(w.attr, ir.Ints(p.int64s()))
		}
		return
	}
	if p.err == nil {
		p.fail(at, diag.Syntax, "unexpected keyword `%s` in window: stride, pad, lhs_dilate, rhs_dilate or reverse", key)
	}
}

// bools reads [false, true]; 0 and 1 are read too.
func (p *parser) bools() ir.Attr {
	out := ir.Bools{}
	p.expect(tokLSquare)
	p.list(tokRSquare, func() {
		if p.at(tokInt) {
			out = append(out, p.int64() != 0)
			return
		}
		out = append(out, p.boolean())
	})
	return out
}

// padding reads [[1, 1], [0, 2]] as a constant of two columns.
func (p *parser) padding() ir.Attr {
	d := &ir.Dense{}
	rows := int64(0)
	p.expect(tokLSquare)
	p.list(tokRSquare, func() {
		at := p.tok
		pair := p.int64s()
		if p.err == nil && len(pair) != 2 {
			p.fail(at, diag.BadAttribute, "padding of a dimension must be [low, high]")
			return
		}
		rows++
		for _, v := range pair {
			d.Data = appendBits(d.Data, dtype.I64, uint64(v))
		}
	})
	d.Type = p.m.TensorType(dtype.I64, rows, 2)
	if len(d.Data) > 0 && allSame(d.Data, 8) {
		d.Data, d.Splat = d.Data[:8:8], true
	}
	return d
}

func printConvolution(pr *printer, op ir.OpID) {
	pr.byte('(')
	pr.operands(op)
	pr.str(") dim_numbers = ")
	if d, ok := pr.m.Attr(op, "dimension_numbers").(*ir.ConvDims); ok {
		pr.convDims(d)
	}
	pr.str(", window = {")
	hidden := []string{"dimension_numbers"}
	separator := ""
	for _, w := range windowAttrs {
		hidden = append(hidden, w.attr)
		if a := pr.m.Attr(op, w.attr); a != nil {
			pr.str(separator + w.key + " = ")
			pr.windowValue(a)
			separator = ", "
		}
	}
	pr.byte('}')
	pr.attrDict(op, hidden...)
	pr.colonTypes(op, fnTypes)
}

// paddingFits says whether a convolution's padding is one pair a spatial dimension, and not a splat of any size.
func paddingFits(m *ir.Module, op ir.OpID) bool {
	padding, ok := m.Attr(op, "padding").(*ir.Dense)
	if !ok {
		return true
	}
	dims, ok := m.Attr(op, "dimension_numbers").(*ir.ConvDims)
	t := m.TypeOf(padding.Type)
	return ok && len(t.Dims) == 2 && t.Dims[1] == 2 && t.Dims[0] == int64(len(dims.InSpatial))
}

func (pr *printer) windowValue(a ir.Attr) {
	switch v := a.(type) {
	case ir.Ints:
		pr.ints(v)
	case ir.Bools:
		pr.byte('[')
		for i, b := range v {
			if i > 0 {
				pr.str(", ")
			}
			pr.str(strconv.FormatBool(b))
		}
		pr.byte(']')
	case *ir.Dense:
		pr.padding(v)
	}
}

// padding prints [[low, high], …], also where all numbers are equal.
func (pr *printer) padding(v *ir.Dense) {
	row, data := pr.m.TypeOf(v.Type), v.Data
	if v.Splat {
		data = bytes.Repeat(data, int(row.Elements()))
	}
	if row.Elements() == 0 {
		pr.str("[]")
		return
	}
	pr.nestedElements(row.DType, row.Dims, data)
}

// parseTuple reads stablehlo.tuple %0, %1 : tuple<A, B>.
func parseTuple(p *parser, o *opState) {
	o.operands = p.operands(o.operands)
	p.optionalAttrDict(o)
	p.expect(tokColon)
	at := p.tok
	t := p.typ()
	if p.err != nil {
		return
	}
	row := p.m.TypeOf(t)
	if row.Kind != ir.TupleKind {
		p.fail(at, diag.TypeMismatch, "expected a tuple type, found '%s'", FormatType(p.m, t))
		return
	}
	o.results = append(o.results, t)
	p.resolveAll(o, row.Elems)
}

func printTuple(pr *printer, op ir.OpID) {
	if pr.m.NumOperands(op) > 0 {
		pr.byte(' ')
		pr.operands(op)
	}
	pr.attrDict(op)
	pr.str(" : ")
	pr.typ(pr.m.Type(pr.m.Result(op, 0)))
}
