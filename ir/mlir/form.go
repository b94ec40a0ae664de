package mlir

import (
	"autoshard/internal/lists"
	"autoshard/ir"
)

// part is a piece of a pretty form: how it is read and printed, and the attributes that it shows.
type part struct {
	parse func(*parser, *opState)
	print func(*printer, ir.OpID)
	shows []string
	omits func(ir.NamedAttr) bool // of a dictionary: what it leaves out besides the attributes that other parts show
}

// form returns the format of an op whose parts stand one behind the other.
func form(parts ...part) format {
	var shown []string
	for _, x := range parts {
		shown = append(shown, x.shows...)
	}
	for i := range parts {
		if parts[i].print == nil {
			parts[i].print = func(pr *printer, op ir.OpID) { pr.attrDict(op, pr.omitted(op, shown, parts[i].omits)...) }
		}
	}
	return format{
		func(p *parser, o *opState) {
			for i := range parts {
				parts[i].parse(p, o)
			}
		},
		func(pr *printer, op ir.OpID) {
			for i := range parts {
				parts[i].print(pr, op)
			}
		},
	}
}

// omitted adds to the attributes that a dictionary does not show those that it leaves out.
func (pr *printer) omitted(op ir.OpID, shown []string, omits func(ir.NamedAttr) bool) []string {
	if omits == nil {
		return shown
	}
	for _, e := range pr.m.OpAttrs(op) {
		if omits(e) {
			shown = append(shown[:len(shown):len(shown)], e.Name)
		}
	}
	return shown
}

// dict is the dictionary of the attributes that no other part shows; form prints it.
var dict = part{parse: (*parser).optionalAttrDict}

// dictWithout is a dictionary without some attributes, such as those that have their default.
func dictWithout(omits func(ir.NamedAttr) bool) part {
	return part{parse: (*parser).optionalAttrDict, omits: omits}
}

// literal is a text that stands in every op; white space in it is only printed.
func literal(text string) part {
	var tokens []token
	l := lexer{src: text, line: 1}
	for l.next(); l.tok.kind != tokEOF; l.next() {
		tokens = append(tokens, l.tok)
	}
	return part{
		parse: func(p *parser, _ *opState) {
			for _, t := range tokens {
				if t.kind == tokIdent {
					p.expectWord(text[t.start:t.end])
				} else {
					p.expect(t.kind)
				}
			}
		},
		print: func(pr *printer, _ ir.OpID) { pr.str(text) },
	}
}

var space = literal(" ")

// oneValue is the only operand. Values are n operands separated by commas, any number for -1.
var oneValue = part{
	parse: func(p *parser, o *opState) { o.operands = append(o.operands, p.operand()) },
	print: (*printer).operands,
}

func values(n int) part {
	return part{parse: func(p *parser, o *opState) { p.fixedOperands(o, n) }, print: (*printer).operands}
}

// inParens are any number of operands in parentheses.
var inParens = part{parse: (*parser).parenOperands, print: (*printer).parenOperands}

// attribute is the value of an attribute.
func attribute(name string, c codec) part {
	return part{
		parse: func(p *parser, o *opState) { o.attr(name, c.parse(p)) },
		print: func(pr *printer, op ir.OpID) { c.print(pr, pr.m.Attr(op, name)) },
		shows: []string{name},
	}
}

// keyed are clauses; the first one has a comma before it where something stands there.
func keyed(comma bool, clauses ...clause) part {
	shows := lists.Map(clauses, func(c clause) string { return c.attr })
	return part{
		parse: func(p *parser, o *opState) { p.clauses(o, clauses, comma) },
		print: func(pr *printer, op ir.OpID) { pr.clauses(op, clauses, comma) },
		shows: shows,
	}
}

// types are the types behind a colon.
func types(form typeForm) part {
	return part{
		parse: func(p *parser, o *opState) { p.colonTypes(o, form) },
		print: func(pr *printer, op ir.OpID) { pr.colonTypes(op, form) },
	}
}

// typesIfAny are the types of operands, where there are some.
var typesIfAny = part{
	parse: func(p *parser, o *opState) {
		if len(o.operands) > 0 {
			p.colonTypes(o, operandType)
		}
	},
	print: func(pr *printer, op ir.OpID) {
		if pr.m.NumOperands(op) > 0 {
			pr.colonTypes(op, operandType)
		}
	},
}

// plain returns the format of an op with operands (-1: any number), clauses, a dictionary and types.
func plain(operands int, behind typeForm, clauses ...clause) format {
	parts := []part{values(operands), keyed(operands != 0, clauses...), dict, types(behind)}
	if operands != 0 || len(clauses) > 0 {
		parts = append([]part{space}, parts...)
	}
	return form(parts...)
}
