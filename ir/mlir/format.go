package mlir

import (
	"slices"
	"strconv"
	"strings"

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

// codec reads and prints the value of a clause.
type codec struct {
	parse func(*parser) ir.Attr
	print func(*printer, ir.Attr)
}

var (
	intsCodec = codec{
		func(p *parser) ir.Attr { return ir.Ints(p.int64s()) },
		func(pr *printer, a ir.Attr) { pr.intList(a) },
	}
	int64Codec = codec{
		func(p *parser) ir.Attr { return p.intAttr(dtype.I64) },
		func(pr *printer, a ir.Attr) { pr.number(a) },
	}
	boolCodec = codec{
		func(p *parser) ir.Attr { return ir.BoolAttr(p.boolean()) },
		func(pr *printer, a ir.Attr) { pr.attr(a, untyped) },
	}
	stringCodec = codec{
		func(p *parser) ir.Attr { return ir.StringAttr(strings.Clone(p.str("string"))) },
		func(pr *printer, a ir.Attr) { pr.attr(a, untyped) },
	}
	floatCodec = codec{
		func(p *parser) ir.Attr {
			return ir.FloatAttr{Bits: p.scalarBits(dtype.F64), Type: p.scalarType(dtype.F64)}
		},
		func(pr *printer, a ir.Attr) { pr.attr(a, untyped) },
	}
	precisionCodec = codec{
		(*parser).precisions,
		func(pr *printer, a ir.Attr) { pr.precisions(a) },
	}
)

func enumCodec(dialect, enum string) codec {
	return codec{
		func(p *parser) ir.Attr { return ir.EnumAttr{Dialect: dialect, Enum: enum, Value: p.enumCase(enum)} },
		func(pr *printer, a ir.Attr) { pr.str(enumValue(a)) },
	}
}

func (p *parser) intAttr(t dtype.Type) ir.Attr {
	return ir.IntAttr{Value: p.int64(), Type: p.scalarType(t)}
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

// plain returns the format of an op with operands (-1: any number), clauses, a dictionary and types.
func plain(operands int, types typeForm, clauses ...clause) format {
	hidden := make([]string, len(clauses))
	for i := range clauses {
		hidden[i] = clauses[i].attr
	}
	return format{
		func(p *parser, o *opState) {
			p.fixedOperands(o, operands)
			p.clauses(o, clauses, operands != 0)
			p.optionalAttrDict(o)
			p.colonTypes(o, types)
		},
		func(pr *printer, op ir.OpID) {
			if operands != 0 || len(clauses) > 0 {
				pr.byte(' ')
			}
			pr.operands(op)
			pr.clauses(op, clauses, operands != 0)
			pr.attrDict(op, hidden...)
			pr.colonTypes(op, types)
		},
	}
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
	switch row.DType {
	case dtype.C64:
		row.DType = dtype.F32
	case dtype.C128:
		row.DType = dtype.F64
	default:
		return t
	}
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
	dim := func(key, attr string) clause { return clause{key: key, attr: attr, codec: int64Codec} }
	precision := clause{key: "precision", attr: "precision_config", codec: precisionCodec, optional: true}
	rows := map[ir.Kind]format{
		ir.OpIsFinite:              plain(1, fnTypes),
		ir.OpReducePrecision:       {parseReducePrecision, printReducePrecision},
		ir.OpClamp:                 plain(3, sameType),
		ir.OpComplex:               {parseComplex, printComplex},
		ir.OpCompare:               {parseCompare, printCompare},
		ir.OpSelect:                {parseSelect, printSelect},
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
		ir.OpSlice:                 {parseSlice, printSlice},
		ir.OpDynamicSlice:          plain(-1, fnTypes, dims("sizes", "slice_sizes")),
		ir.OpPad: plain(2, fnTypes, dims("low", "edge_padding_low"), dims("high", "edge_padding_high"),
			dims("interior", "interior_padding")),
		ir.OpConcatenate:      plain(-1, fnTypes, dim("dim", "dimension")),
		ir.OpIota:             plain(0, sameType, dim("dim", "iota_dimension")),
		ir.OpDynamicIota:      plain(1, fnTypes, dim("dim", "iota_dimension")),
		ir.OpGetDimensionSize: plain(1, fnTypes, dim("dim", "dimension")),
		ir.OpSetDimensionSize: plain(2, fnTypes, dim("dim", "dimension")),
		ir.OpDot:              plain(2, fnTypes, precision),
		ir.OpDotGeneral:       {parseDotGeneral, printDotGeneral},
		ir.OpConvolution:      {parseConvolution, printConvolution},
		ir.OpEinsum:           plain(2, fnTypes, clause{key: "config", attr: "einsum_config", codec: stringCodec}),
		ir.OpUnaryEinsum:      plain(1, fnTypes, clause{key: "config", attr: "einsum_config", codec: stringCodec}),
		ir.OpFft: plain(1, fnTypes, clause{key: "type", attr: "fft_type", codec: enumCodec("stablehlo", "fft_type")},
			dims("length", "fft_length")),
		ir.OpCholesky: plain(1, sameType, clause{key: "lower", attr: "lower", codec: boolCodec, optional: true}),
		ir.OpRng: plain(3, fnTypes, clause{key: "distribution", attr: "rng_distribution",
			codec: enumCodec("stablehlo", "rng_distribution")}),
		ir.OpRngBitGenerator: plain(1, fnTypes, clause{key: "algorithm", attr: "rng_algorithm",
			codec: enumCodec("stablehlo", "rng_algorithm")}),
		ir.OpPartitionId: plain(0, sameType),
		ir.OpReplicaId:   plain(0, sameType),
		ir.OpCreateToken: plain(0, sameType),
		ir.OpTuple:       {parseTuple, printTuple},
	}
	for k, f := range rows {
		formats[k] = f
	}
}

// hiddenAttr says whether an attribute does not stand in the dictionary of a pretty form.
func hiddenAttr(name string, hidden []string) bool { return slices.Contains(hidden, name) }
