package mlir

import (
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// format says how the pretty form of an op is read and printed. Ops without one have the generic form only.
type format struct {
	parse func(*parser, *opState)
	print func(*printer, ir.OpID)
}

// typeForm is how the types stand behind the colon (specification: stablehlo.md section 1.11).
type typeForm uint8

const (
	fnTypes     typeForm = iota // (A, B) -> C
	sameType                    // one type for all, or a function type where they differ
	resultType                  // the type of the result alone, for ops whose operands follow from it
	operandType                 // the types of the operands, for ops without results
	oneOperand                  // the one type of all operands, for ops without results
	chloTypes                   // A, B -> C
)

// clause is a part `key = value` of a pretty form.
type clause struct {
	key, attr string
	codec     codec
	optional  bool
}

func (p *parser) intAttr(t dtype.Type) ir.Attr {
	return ir.IntAttr{Value: p.int64(), Type: p.m.ScalarType(t)}
}

// precisions reads [DEFAULT, HIGH].
func (p *parser) precisions() ir.Attr {
	list := ir.ArrayAttr{}
	p.expect(tokLSquare)
	p.list(tokRSquare, func() {
		list = append(list, ir.EnumAttr{Dialect: "stablehlo", Enum: "precision", Value: p.enumCase("precision")})
	})
	return list
}

// fixedOperands reads n operands, any number for -1.
func (p *parser) fixedOperands(o *opState, n int) {
	at := p.tok
	o.operands = p.operands(o.operands)
	if n >= 0 && len(o.operands) != n && p.err == nil {
		p.fail(at, diag.BadOp, "'%s' op expected %d operands, but found %d", o.name, n, len(o.operands))
	}
}

// clauses reads `, key = value` for each clause in order; the first one has no comma where nothing stands before it.
func (p *parser) clauses(o *opState, clauses []clause, comma bool) {
	for i, c := range clauses {
		if c.optional && !p.nextKey(c.key, comma || i > 0) {
			continue
		}
		if comma || i > 0 {
			p.expect(tokComma)
		}
		p.expectWord(c.key)
		p.expect(tokEqual)
		if p.err != nil {
			return
		}
		o.attr(c.attr, c.codec.parse(p))
	}
}

// nextKey says whether `, key` comes next, or key without the comma.
func (p *parser) nextKey(key string, comma bool) bool {
	if !comma {
		return p.atWord(key)
	}
	if !p.at(tokComma) {
		return false
	}
	l := p.lexer
	l.next()
	return l.tok.kind == tokIdent && l.text() == key
}

// colonTypes reads the types of operands and results.
func (p *parser) colonTypes(o *opState, form typeForm) {
	p.expect(tokColon)
	switch form {
	case fnTypes:
		p.functionTypeOf(o)
	case sameType:
		if p.at(tokLParen) {
			p.functionTypeOf(o)
			return
		}
		t := p.typ()
		o.results = append(o.results, t)
		p.resolveSame(o, t)
	case resultType:
		o.results = append(o.results, p.typ())
		p.resolveSame(o, p.partType(o.results[0]))
	case operandType:
		for {
			o.types = append(o.types, p.typ())
			if !p.accept(tokComma) {
				break
			}
		}
		p.resolveAll(o, o.types)
	case oneOperand:
		p.resolveSame(o, p.typ())
	case chloTypes:
		p.arrowTypes(o)
	}
}

// resolveSame finds the values of operands that all have one type.
func (p *parser) resolveSame(o *opState, t ir.TypeID) {
	for _, use := range o.operands {
		o.values = append(o.values, p.resolve(use, t))
	}
}

// partType returns the type of the parts of a complex tensor, for stablehlo.complex.
func (p *parser) partType(t ir.TypeID) ir.TypeID {
	if p.err != nil {
		return t
	}
	row := *p.m.TypeOf(t)
	row.DType = row.DType.Part()
	return p.m.InternType(row)
}

// arrowTypes reads A, B -> C, where C may be a list in parentheses. A function type is read too.
func (p *parser) arrowTypes(o *opState) {
	if p.at(tokLParen) {
		p.functionTypeOf(o)
		return
	}
	for p.err == nil {
		o.types = append(o.types, p.typ())
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokArrow)
	o.results = p.resultTypes(o.results)
	p.resolveAll(o, o.types)
}

// nearestOp returns the op name closest to a misspelt one, "" if none is close.
func nearestOp(name string) string {
	return diag.Nearest(name, ir.KindNames())
}

// didYouMean returns a hint at the nearest of some names, "" if none is close.
func didYouMean(name string, names []string) string {
	if near := diag.Nearest(name, names); near != "" {
		return "; did you mean " + strconv.Quote(near) + "?"
	}
	return ""
}

// formats has a row for every op with a pretty form.
var formats [ir.NumKinds]format

func init() {
	for k := ir.Kind(1); k < ir.NumKinds; k++ {
		switch {
		case k.Dialect() == "stablehlo" && (k.IsUnary() || k.IsBinary()):
			formats[k] = plain(map[bool]int{true: 1, false: 2}[k.IsUnary()], sameType)
		case k.IsBroadcasting() || k == ir.OpChloBroadcastSelect:
			formats[k] = plain(-1, fnTypes)
		case k.Dialect() == "chlo" && (k.IsUnary() || k.IsBinary()):
			formats[k] = plain(-1, chloTypes)
		}
	}
	stablehloFormats()
	formats[ir.OpChloConstant] = formats[ir.OpConstant]
	controlFormats()
	otherFormats()
	sdyFormats()
}

// stablehloFormats fills the rows of the ops with operands and clauses.
func stablehloFormats() {
	dims := func(key, attr string) clause { return clause{key: key, attr: attr, codec: intsCodec} }
	dim := func(attr string) clause { return clause{key: "dim", attr: attr, codec: int64Codec} }
	enum := func(key, attr string) clause {
		return clause{key: key, attr: attr, codec: enumCodec("stablehlo", attr)}
	}
	precision := clause{key: "precision", attr: "precision_config", codec: precisionCodec, optional: true}
	algorithm := clause{key: "algorithm", attr: "algorithm", codec: algorithmCodec, optional: true}
	config := clause{key: "config", attr: "einsum_config", codec: textCodec("string")}
	rows := map[ir.Kind]format{
		ir.OpIsFinite:              plain(1, fnTypes),
		ir.OpReducePrecision:       form(space, values(1), literal(", format = "), precisionFormat, dict, types(sameType)),
		ir.OpClamp:                 plain(3, sameType),
		ir.OpComplex:               plain(2, resultType),
		ir.OpCompare:               form(space, comparison, dict, types(fnTypes)),
		ir.OpSelect:                form(space, values(3), dict, selectTypes),
		ir.OpConstant:              {parseConstant, printConstant},
		ir.OpBitcastConvert:        plain(1, fnTypes),
		ir.OpReshape:               plain(1, fnTypes),
		ir.OpDynamicReshape:        plain(2, fnTypes),
		ir.OpDynamicUpdateSlice:    plain(-1, fnTypes),
		ir.OpRealDynamicSlice:      plain(-1, fnTypes),
		ir.OpDynamicPad:            plain(-1, fnTypes),
		ir.OpBroadcast:             plain(1, fnTypes, dims("sizes", "broadcast_sizes")),
		ir.OpBroadcastInDim:        plain(1, fnTypes, dims("dims", "broadcast_dimensions")),
		ir.OpDynamicBroadcastInDim: plain(2, fnTypes, dims("dims", "broadcast_dimensions")),
		ir.OpTranspose:             plain(1, fnTypes, dims("dims", "permutation")),
		ir.OpReverse:               plain(1, sameType, dims("dims", "dimensions")),
		ir.OpSlice:                 form(space, oneValue, space, slicing, dict, types(fnTypes)),
		ir.OpDynamicSlice:          plain(-1, fnTypes, dims("sizes", "slice_sizes")),
		ir.OpPad: plain(2, fnTypes, dims("low", "edge_padding_low"), dims("high", "edge_padding_high"),
			dims("interior", "interior_padding")),
		ir.OpConcatenate:      plain(-1, fnTypes, dim("dimension")),
		ir.OpIota:             plain(0, sameType, dim("iota_dimension")),
		ir.OpDynamicIota:      plain(1, fnTypes, dim("iota_dimension")),
		ir.OpGetDimensionSize: plain(1, fnTypes, dim("dimension")),
		ir.OpSetDimensionSize: plain(2, fnTypes, dim("dimension")),
		ir.OpDot:              plain(2, fnTypes, precision),
		ir.OpDotGeneral:       form(space, values(2), dotDims, keyed(true, precision, algorithm), dict, types(fnTypes)),
		ir.OpConvolution: form(literal("("), values(2), literal(") dim_numbers = "), attribute("dimension_numbers", convCodec),
			literal(", window = {"), window, dict, types(fnTypes)),
		ir.OpEinsum:          plain(2, fnTypes, config),
		ir.OpUnaryEinsum:     plain(1, fnTypes, config),
		ir.OpFft:             plain(1, fnTypes, enum("type", "fft_type"), dims("length", "fft_length")),
		ir.OpCholesky:        plain(1, sameType, clause{key: "lower", attr: "lower", codec: boolCodec, optional: true}),
		ir.OpRng:             plain(3, fnTypes, enum("distribution", "rng_distribution")),
		ir.OpRngBitGenerator: plain(1, fnTypes, enum("algorithm", "rng_algorithm")),
		ir.OpPartitionId:     plain(0, sameType),
		ir.OpReplicaId:       plain(0, sameType),
		ir.OpCreateToken:     plain(0, sameType),
		ir.OpTuple:           form(someValues, dict, tupleType),
	}
	for k, f := range rows {
		formats[k] = f
	}
}
