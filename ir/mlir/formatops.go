package mlir

import (
	"bytes"
	"slices"
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

// comparison is the direction, both operands and the type of a comparison: LT, %0, %1, SIGNED.
var comparison = part{
	parse: func(p *parser, o *opState) {
		o.attr("comparison_direction", directionCodec.parse(p))
		p.expect(tokComma)
		o.operands = append(o.operands, p.operand())
		p.expect(tokComma)
		o.operands = append(o.operands, p.operand())
		if p.accept(tokComma) {
			o.attr("compare_type", comparisonTypeCodec.parse(p))
		}
	},
	print: func(pr *printer, op ir.OpID) {
		directionCodec.print(pr, pr.m.Attr(op, "comparison_direction"))
		pr.str(", ")
		pr.operands(op)
		if t := pr.m.Attr(op, "compare_type"); t != nil {
			pr.str(", ")
			comparisonTypeCodec.print(pr, t)
		}
	},
	shows: []string{"comparison_direction", "compare_type"},
}

var (
	directionCodec      = enumCodec("stablehlo", "comparison_direction")
	comparisonTypeCodec = enumCodec("stablehlo", "comparison_type")
)

// selectTypes are the types of the predicate and the result, or a function type.
var selectTypes = part{
	parse: func(p *parser, o *opState) {
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
	},
	print: func(pr *printer, op ir.OpID) {
		m, t := pr.m, pr.m.Type(pr.m.Result(op, 0))
		pr.str(" : ")
		if m.Type(m.Operand(op, 1)) != t || m.Type(m.Operand(op, 2)) != t {
			pr.functionType(op)
			return
		}
		pr.typ(m.Type(m.Operand(op, 0)))
		pr.str(", ")
		pr.typ(t)
	},
}

// slicing are the starts, limits and strides of a slice: [1:2, 0:4:2].
var slicing = part{
	parse: func(p *parser, o *opState) {
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
	},
	print: func(pr *printer, op ir.OpID) {
		a := pr.m.OpAttrs(op)
		start, limit, strides := a.Ints("start_indices"), a.Ints("limit_indices"), a.Ints("strides")
		pr.byte('[')
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
	},
	shows: []string{"start_indices", "limit_indices", "strides"},
}

// precisionFormat are the bits of a reduced precision: e8m7.
var precisionFormat = part{
	parse: func(p *parser, o *opState) {
		at := p.tok
		text := p.ident("format such as e8m7")
		e, m, found := strings.Cut(strings.TrimPrefix(text, "e"), "m")
		exponent, err1 := strconv.ParseInt(e, 10, 32)
		mantissa, err2 := strconv.ParseInt(m, 10, 32)
		if p.err == nil && (!strings.HasPrefix(text, "e") || !found || err1 != nil || err2 != nil) {
			p.fail(at, diag.BadAttribute, "expected exponent mantissa in format e#m#, saw %s", clip(text))
		}
		i32 := p.m.ScalarType(dtype.I32)
		o.attr("exponent_bits", ir.IntAttr{Value: exponent, Type: i32})
		o.attr("mantissa_bits", ir.IntAttr{Value: mantissa, Type: i32})
	},
	print: func(pr *printer, op ir.OpID) {
		a := pr.m.OpAttrs(op)
		pr.byte('e')
		pr.int(a.Int("exponent_bits", 0))
		pr.byte('m')
		pr.int(a.Int("mantissa_bits", 0))
	},
	shows: []string{"exponent_bits", "mantissa_bits"},
}

// dotDims are the dimensions of a product: , batching_dims = [0] x [0], contracting_dims = [2] x [1].
var dotDims = part{
	parse: func(p *parser, o *opState) {
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
	},
	print: func(pr *printer, op ir.OpID) {
		d, ok := pr.m.Attr(op, "dot_dimension_numbers").(*ir.DotDims)
		if !ok {
			return
		}
		if len(d.LhsBatch)+len(d.RhsBatch) > 0 {
			pr.str(", batching_dims = ")
			pr.dimPair(d.LhsBatch, d.RhsBatch)
		}
		pr.str(", contracting_dims = ")
		pr.dimPair(d.LhsContract, d.RhsContract)
	},
	shows: []string{"dot_dimension_numbers"},
}

// dimPair reads [2] x [1].
func (p *parser) dimPair() (lhs, rhs []int64) {
	lhs = p.int64s()
	p.expectWord("x")
	return lhs, p.int64s()
}

func (pr *printer) dimPair(lhs, rhs []int64) {
	pr.ints(lhs)
	pr.str(" x ")
	pr.ints(rhs)
}

// convCodec is that of the dimension numbers of a convolution.
var convCodec = codec{
	func(p *parser) ir.Attr { return p.convDims() },
	func(pr *printer, a ir.Attr) {
		if d, ok := a.(*ir.ConvDims); ok {
			pr.convDims(d)
		}
	},
}

// windowEntry is an entry of the window of a convolution with its attribute.
type windowEntry struct {
	key, attr string
	parse     func(*parser) ir.Attr
}

// windowEntries are in the order in which they are printed.
var windowEntries = []windowEntry{
	{"stride", "window_strides", intsCodec.parse}, {"pad", "padding", (*parser).padding}, {"lhs_dilate", "lhs_dilation", intsCodec.parse},
	{"rhs_dilate", "rhs_dilation", intsCodec.parse}, {"reverse", "window_reversal", (*parser).bools},
}

// window are the entries of a window up to the closing brace.
var window = part{
	parse: func(p *parser, o *opState) { p.list(tokRBrace, func() { p.windowEntry(o) }) },
	print: func(pr *printer, op ir.OpID) {
		separator := ""
		for _, w := range windowEntries {
			if a := pr.m.Attr(op, w.attr); a != nil {
				pr.str(separator + w.key + " = ")
				pr.windowValue(a)
				separator = ", "
			}
		}
		pr.byte('}')
	},
	shows: []string{"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"},
}

func (p *parser) windowEntry(o *opState) {
	at := p.tok
	key := p.ident("window parameter")
	p.expect(tokEqual)
	i := slices.IndexFunc(windowEntries, func(w windowEntry) bool { return w.key == key })
	switch {
	case p.err != nil:
	case i < 0:
		p.fail(at, diag.Syntax, "unexpected keyword `%s` in window: stride, pad, lhs_dilate, rhs_dilate or reverse", key)
	case o.find(windowEntries[i].attr) != nil:
		p.fail(at, diag.Redefined, "unexpected keyword `%s`: it was given already", key)
	default:
		o.attr(windowEntries[i].attr, windowEntries[i].parse(p))
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
	var all []int64
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
		all = append(all, pair...)
	})
	return p.m.DenseInts(all, rows, 2)
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
		each(pr, v, func(b bool) { pr.str(strconv.FormatBool(b)) })
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

// tupleType is the type of a tuple, from which those of the operands follow.
var tupleType = part{
	parse: func(p *parser, o *opState) {
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
	},
	print: func(pr *printer, op ir.OpID) { pr.colonTypes(op, resultType) },
}
