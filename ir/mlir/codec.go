package mlir

import (
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// codec reads and prints the value of an attribute.
type codec struct {
	parse func(*parser) ir.Attr
	print func(*printer, ir.Attr)
}

func printUntyped(pr *printer, a ir.Attr) { pr.attr(a, untyped) }

var (
	intsCodec = codec{
		func(p *parser) ir.Attr { return ir.Ints(p.int64s()) },
		func(pr *printer, a ir.Attr) { pr.intList(a) },
	}
	int64Codec = codec{func(p *parser) ir.Attr { return p.intAttr(dtype.I64) }, printUntyped}
	int32Codec = codec{
		func(p *parser) ir.Attr { return p.intAttr(dtype.I32) },
		func(pr *printer, a ir.Attr) {
			v, _ := a.(ir.IntAttr)
			pr.int(v.Value)
		},
	}
	boolCodec  = codec{func(p *parser) ir.Attr { return ir.BoolAttr(p.boolean()) }, printUntyped}
	floatCodec = codec{
		func(p *parser) ir.Attr {
			return ir.FloatAttr{Bits: p.scalarBits(dtype.F64), Type: p.m.ScalarType(dtype.F64)}
		},
		printUntyped,
	}
	precisionCodec = codec{(*parser).precisions, (*printer).precisions}
	algorithmCodec = codec{
		func(p *parser) ir.Attr { return p.compound(&ir.DotAlgorithm{}) },
		func(pr *printer, a ir.Attr) { pr.compound("", a, allFields) },
	}
	calleeCodec = codec{
		func(p *parser) ir.Attr {
			at := p.tok
			callee, ok := p.attr(0).(ir.SymbolAttr)
			if !ok && p.err == nil {
				p.fail(at, diag.Syntax, "expected the symbol of a function")
			}
			return callee
		},
		printUntyped,
	}
	targetCodec = codec{
		func(p *parser) ir.Attr { return ir.StringAttr(strings.Clone(p.symbol("name of the target"))) },
		func(pr *printer, a ir.Attr) {
			name, _ := a.(ir.StringAttr)
			pr.str("@" + ir.FormatSymbol(string(name)))
		},
	}
)

// textCodec is that of a string, which a message says what it is.
func textCodec(what string) codec {
	return codec{func(p *parser) ir.Attr { return ir.StringAttr(strings.Clone(p.str(what))) }, printUntyped}
}

func enumCodec(dialect, enum string) codec {
	return codec{
		func(p *parser) ir.Attr { return ir.EnumAttr{Dialect: dialect, Enum: enum, Value: p.enumCase(enum)} },
		func(pr *printer, a ir.Attr) { pr.str(enumValue(a)) },
	}
}
