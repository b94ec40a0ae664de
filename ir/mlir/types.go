package mlir

import (
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// typ reads a type.
func (p *parser) typ() ir.TypeID {
	if !p.enter() {
		p.leave()
		return 0
	}
	defer p.leave()
	switch p.tok.kind {
	case tokIdent:
		return p.namedType()
	case tokLParen:
		inputs, results := p.functionType(nil, nil)
		return p.m.InternType(ir.Type{Kind: ir.FunctionKind, Elems: append(inputs, results...), Inputs: len(inputs)})
	case tokBang:
		return p.dialectType()
	}
	p.expected("type")
	return 0
}

// functionType reads (A, B) -> C or (A, B) -> (C, D), appending to the slices.
func (p *parser) functionType(inputs, results []ir.TypeID) ([]ir.TypeID, []ir.TypeID) {
	if !p.expect(tokLParen) {
		return inputs, results
	}
	p.list(tokRParen, func() { inputs = append(inputs, p.typ()) })
	if p.expect(tokArrow) {
		results = p.resultTypes(results)
	}
	return inputs, results
}

// resultTypes reads one type or a list of types in parentheses.
func (p *parser) resultTypes(results []ir.TypeID) []ir.TypeID {
	if p.accept(tokLParen) {
		p.list(tokRParen, func() { results = append(results, p.typ()) })
		return results
	}
	return append(results, p.typ())
}

func (p *parser) namedType() ir.TypeID {
	switch name := p.text(); name {
	case "tensor":
		return p.tensorType()
	case "tuple":
		return p.tupleType()
	case "complex":
		return p.complexType()
	case "index":
		p.next()
		return p.m.InternType(ir.Type{Kind: ir.IndexKind})
	case "none":
		p.next()
		return p.m.InternType(ir.Type{Kind: ir.NoneKind})
	case "memref", "vector":
		return p.opaqueType()
	case "f80", "f128":
		p.next()
		return p.opaque(name)
	default:
		if e, ok := dtype.Parse(name); ok {
			p.next()
			return p.m.ScalarType(e)
		}
		if isIntegerType(name) {
			p.next()
			return p.opaque(name)
		}
	}
	p.expected("non-function type")
	return 0
}

func (p *parser) opaque(text string) ir.TypeID {
	return p.m.InternType(ir.Type{Kind: ir.OpaqueKind, Text: strings.Clone(text)})
}

// isIntegerType says whether the name is an integer type of MLIR that tensors of StableHLO do not have: si32, i17.
func isIntegerType(name string) bool {
	width := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "s"), "u"), "i")
	n, err := strconv.Atoi(width)
	return err == nil && n > 0 && n < 1<<24 && width[0] != '0' && width[0] != '+' && strings.TrimSuffix(name, width) != "" &&
		strings.HasSuffix(strings.TrimSuffix(name, width), "i")
}

// complexType reads complex<f32> or complex<f64>. Complex numbers of other parts are types that no op of StableHLO takes.
func (p *parser) complexType() ir.TypeID {
	p.next()
	p.expect(tokLess)
	at := p.tok
	part := p.ident("element type of complex")
	p.expect(tokGreater)
	text := "complex<" + part + ">"
	if e, ok := dtype.Parse(text); ok {
		return p.m.ScalarType(e)
	}
	e, ok := dtype.Parse(part)
	if !isIntegerType(part) && (!ok || e.Kind() == dtype.Complex) && part != "tf32" {
		p.fail(at, diag.Syntax, "invalid element type for complex: `%s` is no number", clip(part))
	}
	return p.opaque(text)
}

// cacheable returns the text of the type that begins at the current token, if it has a plain form: no attribute or
// dialect type in it. The form decides the type.
func (p *parser) cacheable() (string, bool) {
	start, depth := p.tok.start, 0
	for i := p.tok.end; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth <= 0 {
				return p.src[start : i+1], depth == 0
			}
		case classes[c]&(classIdent) == 0 && c != '?' && c != '*':
			return "", false
		}
	}
	return "", false
}

func (p *parser) tensorType() ir.TypeID {
	text, plain := p.cacheable()
	if plain {
		if id, ok := p.types[text]; ok {
			p.off = p.tok.start + len(text)
			p.next()
			return id
		}
	}
	at := p.tok
	p.next()
	if !p.at(tokLess) {
		p.expected("'<' in tensor type")
		return 0
	}
	t := ir.Type{Kind: ir.TensorKind}
	p.dims(&t)
	p.element(&t)
	if p.accept(tokComma) {
		if a := p.attr(0); a != nil {
			t.Encoding = FormatAttr(p.m, a)
		}
	}
	p.expect(tokGreater)
	if p.err != nil {
		return 0
	}
	if !t.IsAddressable() {
		p.fail(at, diag.BadConstant, "tensor type has more than 2^56 elements")
	}
	id := p.m.InternType(t)
	if plain && p.err == nil {
		p.types[text] = id
	}
	return id
}

// dims reads the sizes of a tensor behind the current token '<', up to the element type, which becomes the current
// token. 0x8 is a size of 0 and a size of 8.
func (p *parser) dims(t *ir.Type) {
	for {
		p.skipSpace()
		start := p.off
		switch c := p.peek(p.off); {
		case c == '*' && len(t.Dims) == 0 && !t.Unranked:
			p.off++
			t.Unranked = true
		case c == '?':
			p.off++
			t.Dims = append(t.Dims, ir.Dynamic)
		case isDigit(c):
			p.off = p.run(p.off, classDigit)
			n, err := strconv.ParseInt(p.src[start:p.off], 10, 64)
			if err != nil {
				p.tok = token{tokInt, start, p.off, p.line, p.lineStart}
				p.fail(p.tok, diag.Syntax, "dimension `%s` is too large", clip(p.text()))
				return
			}
			t.Dims = append(t.Dims, n)
		default:
			p.next()
			return
		}
		p.skipSpace()
		if p.peek(p.off) != 'x' || t.Unranked && len(t.Dims) > 0 {
			p.next()
			p.expected("'x' in dimension list")
			return
		}
		p.off++
	}
}

// element reads the element type of a tensor: a number format of StableHLO, index, a quantized type, or one of another
// dialect.
func (p *parser) element(t *ir.Type) {
	if p.at(tokIdent) {
		if e, ok := dtype.Parse(p.text()); ok {
			t.DType = e
			p.next()
			return
		}
	}
	at := p.tok
	id := p.typ()
	if p.err == nil && !p.m.SetElement(t, id) {
		p.fail(at, diag.Syntax, "invalid tensor element type: '%s'", FormatType(p.m, id))
	}
}

func (p *parser) tupleType() ir.TypeID {
	p.next()
	p.expect(tokLess)
	t := ir.Type{Kind: ir.TupleKind}
	p.list(tokGreater, func() { t.Elems = append(t.Elems, p.typ()) })
	return p.m.InternType(t)
}

// opaqueType reads a word with an optional <…> that nothing here looks into.
func (p *parser) opaqueType() ir.TypeID {
	start := p.tok.start
	p.next()
	return p.opaque(p.withoutAliases(start, p.skipBalanced(start)))
}

// withoutAliases returns a part of the text with what its aliases of attributes stand for.
func (p *parser) withoutAliases(start, end int) string {
	text := p.src[start:end]
	if p.err != nil || !strings.Contains(text, "#") {
		return text
	}
	out, copied := "", start
	for l := (lexer{src: p.src[:end], off: start}); ; {
		l.next()
		if l.tok.kind == tokEOF || l.tok.kind == tokBad {
			return out + p.src[copied:end]
		}
		if l.tok.kind != tokHash {
			continue
		}
		if a, ok := p.aliases.attrs[l.text()[1:]]; ok {
			out += p.src[copied:l.tok.start] + FormatAttr(p.m, a)
			copied = l.tok.end
		}
	}
}

// dialectType reads !dialect.name<…> and type aliases.
func (p *parser) dialectType() ir.TypeID {
	at, name := p.tok, p.text()[1:]
	if name == "stablehlo.token" {
		p.next()
		return p.m.InternType(ir.Type{Kind: ir.TokenKind})
	}
	if !strings.Contains(name, ".") && !strings.HasPrefix(p.src[p.tok.end:], "<") {
		id, ok := p.aliases.types[name]
		if !ok {
			p.fail(at, diag.Undefined, "undefined symbol alias id '%s'", name)
		}
		p.next()
		return id
	}
	start := p.tok.start
	p.next()
	switch name {
	case "quant.uniform":
		return p.quantized()
	case "stablehlo.future":
		return p.future()
	}
	return p.opaque(p.withoutAliases(start, p.skipBalanced(start)))
}

// future reads <A, B> behind !stablehlo.future; there is at least one type.
func (p *parser) future() ir.TypeID {
	p.expect(tokLess)
	text := "!stablehlo.future<"
	for p.err == nil {
		text += FormatType(p.m, p.typ())
		if !p.accept(tokComma) {
			break
		}
		text += ", "
	}
	p.expect(tokGreater)
	if p.err != nil {
		return 0
	}
	return p.opaque(text + ">")
}

// skipBalanced skips <…> with whatever brackets and strings are inside, if it is there, and returns where the text
// that began at start ends.
func (p *parser) skipBalanced(start int) int {
	end := p.lastEnd(start)
	if !p.at(tokLess) || p.tok.start != end {
		return end
	}
	return p.skipBrackets()
}

// skipBrackets skips from the current opening bracket to behind the one that closes it and returns where that ends.
func (p *parser) skipBrackets() int {
	var open []tokenKind
	for {
		end := p.tok.end
		switch k := p.tok.kind; k {
		case tokLess, tokLParen, tokLSquare, tokLBrace:
			open = append(open, k+1)
		case tokGreater, tokRParen, tokRSquare, tokRBrace:
			if k == tokGreater && open[len(open)-1] == tokRParen && p.peek(end) == '=' {
				break // >= of an affine set
			}
			if open[len(open)-1] != k {
				p.expected(open[len(open)-1].String())
				return end
			}
			open = open[:len(open)-1]
		case tokEOF, tokBad:
			p.expected(open[len(open)-1].String())
			return end
		}
		if p.next(); len(open) == 0 {
			return end
		}
		p.listen()
	}
}

// lastEnd returns the end of the token that begins at start.
func (p *parser) lastEnd(start int) int {
	l := lexer{src: p.src, off: start}
	l.next()
	return l.off
}
