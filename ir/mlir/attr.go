package mlir

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// attrDict reads { name = value, … } and appends the entries, for which it refuses names that are there already.
func (p *parser) attrDict(out []ir.NamedAttr) []ir.NamedAttr {
	p.expect(tokLBrace)
	var seen keys
	p.list(tokRBrace, func() {
		at := p.tok
		var name string
		switch p.tok.kind {
		case tokIdent:
			name = strings.Clone(p.text())
			p.next()
		case tokString:
			name = p.str("attribute name")
		default:
			p.expected("attribute name")
			return
		}
		if seen.has(out, name) {
			p.fail(at, diag.Redefined, "duplicate key '%s' in dictionary attribute", name)
			return
		}
		value := ir.Attr(ir.UnitAttr{})
		if p.accept(tokEqual) {
			value = p.attr(0)
		}
		out = append(out, ir.NamedAttr{Name: name, Value: value})
	})
	return out
}

// keys remembers the keys of a dictionary: of a large one in a map.
type keys map[string]bool

// has says whether a key is among the entries, and remembers it.
func (k *keys) has(entries []ir.NamedAttr, name string) bool {
	const large = 32
	if len(entries) < large {
		return ir.Attrs(entries).Get(name) != nil
	}
	if *k == nil {
		*k = keys{}
		for i := range entries {
			(*k)[entries[i].Name] = true
		}
	}
	twice := (*k)[name]
	(*k)[name] = true
	return twice
}

// attr reads an attribute. A type that is given is that of a number or constant whose own text has none.
func (p *parser) attr(want ir.TypeID) ir.Attr {
	defer p.leave()
	if !p.enter() {
		return nil
	}
	switch p.tok.kind {
	case tokString:
		return p.stringAttr()
	case tokInt, tokFloat, tokMinus:
		return p.numberAttr(want)
	case tokSymbol:
		return p.symbolAttr()
	case tokLSquare:
		p.next()
		list := ir.ArrayAttr{}
		p.list(tokRSquare, func() { list = append(list, p.attr(0)) })
		return list
	case tokLBrace:
		return ir.DictAttr(ir.MakeAttrs(p.attrDict(nil)...))
	case tokHash:
		return p.hashAttr()
	case tokIdent:
		return p.wordAttr(want)
	case tokLParen, tokBang:
		return ir.TypeAttr(p.typ())
	}
	p.expected("attribute value")
	return nil
}

// stringAttr reads a string. One with a type behind it is kept as text.
func (p *parser) stringAttr() ir.Attr {
	s := ir.StringAttr(strings.Clone(p.str("string")))
	if !p.accept(tokColon) {
		return s
	}
	t := p.typ()
	if p.err != nil || p.m.TypeOf(t).Kind == ir.NoneKind {
		return s
	}
	return ir.OpaqueAttr(FormatAttr(p.m, s) + " : " + FormatType(p.m, t))
}

// wordAttr reads an attribute that begins with a word: a keyword or a type.
func (p *parser) wordAttr(want ir.TypeID) ir.Attr {
	switch p.text() {
	case "true", "false":
		v := ir.BoolAttr(p.text() == "true")
		p.next()
		return v
	case "unit":
		p.next()
		return ir.UnitAttr{}
	case "dense":
		return p.denseAttr(want)
	case "dense_resource":
		return p.resourceAttr()
	case "array":
		return p.denseArray()
	case "loc":
		return ir.LocAttr(p.wholeLoc())
	case "affine_map", "affine_set", "opaque", "sparse", "strided", "distinct":
		return p.opaqueAttr()
	}
	return ir.TypeAttr(p.typ())
}

// opaqueAttr keeps an attribute as text. A type may follow the constants among them.
func (p *parser) opaqueAttr() ir.Attr {
	start, word := p.tok.start, p.text()
	p.next()
	if word == "distinct" {
		p.expect(tokLSquare)
		p.expect(tokInt)
		p.expect(tokRSquare)
	}
	end := p.skipBalancedFrom(start)
	if (word == "sparse" || word == "opaque") && p.accept(tokColon) {
		t := p.typ()
		if p.err == nil {
			return ir.OpaqueAttr(p.src[start:end] + " : " + FormatType(p.m, t))
		}
	}
	return ir.OpaqueAttr(strings.Clone(p.src[start:end]))
}

// skipBalancedFrom is skipBalanced for a text whose first tokens have been read already.
func (p *parser) skipBalancedFrom(start int) int {
	if !p.at(tokLess) {
		p.expected("'<'")
		return start
	}
	return p.skipBrackets()
}

func (p *parser) symbolAttr() ir.Attr {
	ref := ir.SymbolAttr{strings.Clone(p.symbol("symbol"))}
	for p.accept(tokColonColon) {
		ref = append(ref, strings.Clone(p.symbol("nested symbol")))
	}
	return ref
}

// numberAttr reads a number with an optional type behind a colon.
func (p *parser) numberAttr(want ir.TypeID) ir.Attr {
	at := p.tok
	negative := p.accept(tokMinus)
	lit, kind := p.text(), p.tok.kind
	if kind != tokInt && kind != tokFloat {
		p.expected("number")
		return nil
	}
	p.next()
	if p.accept(tokColon) {
		want = p.typ()
	} else if want == 0 {
		want = p.m.ScalarType(map[tokenKind]dtype.Type{tokInt: dtype.I64, tokFloat: dtype.F64}[kind])
	}
	if p.err != nil {
		return nil
	}
	switch t := p.m.TypeOf(want); {
	case t.Kind == ir.ScalarKind && t.DType.Kind() == dtype.Float:
		bits, _ := p.floatBits(at, t.DType, lit, negative)
		return ir.FloatAttr{Bits: bits, Type: want}
	case t.Kind == ir.OpaqueKind && (t.Text == "f80" || t.Text == "f128"):
		return p.wideNumber(lit, negative, t)
	case kind == tokFloat:
		p.fail(at, diag.BadAttribute, "floating point value not valid for type '%s'", FormatType(p.m, want))
		return nil
	case t.Kind == ir.ScalarKind && t.DType == dtype.I1:
		v, _ := p.integer(at, lit, negative, -1, 1)
		return ir.BoolAttr(v != 0)
	default:
		lo, hi, ok := integerRange(t)
		if !ok {
			p.fail(at, diag.BadAttribute, "integer literal not valid for type '%s'", FormatType(p.m, want))
			return nil
		}
		if t.Kind == ir.OpaqueKind && isWide(t.Text, lit) {
			return p.wideNumber(lit, negative, t)
		}
		v, _ := p.integer(at, lit, negative, lo, hi)
		return ir.IntAttr{Value: v, Type: want}
	}
}

// isWide says whether an integer type has more than 64 bits and the literal does not fit a number of 64.
func isWide(typ, lit string) bool {
	width, err := strconv.Atoi(strings.TrimLeft(typ, "sui"))
	_, small := strconv.ParseInt(lit, 0, 64)
	return err == nil && width > 64 && small != nil
}

// wideNumber keeps a number as text that has more than 64 bits.
func (p *parser) wideNumber(lit string, negative bool, t *ir.Type) ir.Attr {
	if negative {
		lit = "-" + lit
	}
	return ir.OpaqueAttr(lit + " : " + t.Text)
}

// integerRange returns the numbers that a literal of an integer type may have; signless types take both readings.
func integerRange(t *ir.Type) (lo int64, hi uint64, ok bool) {
	switch t.Kind {
	case ir.IndexKind:
		return math.MinInt64, math.MaxUint64, true
	case ir.ScalarKind:
		if k := t.DType.Kind(); k == dtype.Float || k == dtype.Complex {
			return 0, 0, false
		}
		lo, hi = dtype.IntRange(t.DType)
		if t.DType.Kind() == dtype.Signed {
			hi = hi<<1 | 1
		}
		return lo, hi, true
	case ir.OpaqueKind:
		return math.MinInt64, math.MaxUint64, isIntegerType(t.Text)
	}
	return 0, 0, false
}

// integer returns the value of an integer literal, which must lie in a range. Values above 63 bits wrap.
func (p *parser) integer(at token, lit string, negative bool, lo int64, hi uint64) (int64, bool) {
	v, err := strconv.ParseUint(lit, 0, 64)
	if err != nil && len(lit) > 1 && lit[0] == '0' && lit[1] != 'x' {
		v, err = strconv.ParseUint(lit, 10, 64)
	}
	switch {
	case err != nil, !negative && v > hi, negative && (v > uint64(-lo) || v == 0): // MLIR refuses -0
		p.fail(at, diag.BadAttribute, "integer constant out of range for attribute: `%s` does not fit the type", clip(lit))
		return 0, false
	case negative:
		return -int64(v), true
	}
	return int64(v), true
}

// floatBits returns the bits of a float literal, or of an integer literal in hexadecimal.
func (p *parser) floatBits(at token, t dtype.Type, lit string, negative bool) (uint64, bool) {
	hex := strings.HasPrefix(lit, "0x")
	if !hex && !strings.Contains(lit, ".") {
		p.fail(at, diag.BadConstant, "unexpected decimal integer literal for a floating point value; add a trailing dot to make the literal a "+
			"float")
		return 0, false
	}
	if hex && negative {
		p.fail(at, diag.BadConstant, "hexadecimal float literal should not have a leading minus")
		return 0, false
	}
	if negative {
		lit = "-" + lit
	}
	bits, err := dtype.ParseFloat(t, lit)
	if err != nil {
		p.fail(at, diag.BadConstant, "float literal `%s` is not a constant of type %s", clip(lit), t)
		return 0, false
	}
	return bits, true
}

// denseArray reads array<i64: 1, 2>.
func (p *parser) denseArray() ir.Attr {
	p.next()
	p.expect(tokLess)
	at := p.tok
	elem := p.typ()
	if p.err != nil {
		return nil
	}
	t := p.m.TypeOf(elem)
	if t.Kind != ir.ScalarKind || t.DType.Kind() == dtype.Complex {
		p.fail(at, diag.BadAttribute, "expected integer or float type for array, found '%s'", FormatType(p.m, elem))
		return nil
	}
	var data []byte
	if p.accept(tokColon) {
		for p.err == nil {
			data = dtype.AppendBits(data, t.DType, p.scalarBits(t.DType))
			if !p.accept(tokComma) {
				break
			}
		}
	}
	p.expect(tokGreater)
	return p.m.Array(elem, data)
}

// scalarBits reads one integer, boolean or float and returns its bits, cut to the type's width.
func (p *parser) scalarBits(t dtype.Type) uint64 {
	at := p.tok
	if p.at(tokIdent) && (p.text() == "true" || p.text() == "false") {
		if t.Kind() == dtype.Float {
			p.expected("floating point number")
			return 0
		}
		v := p.text() == "true"
		p.next()
		if t != dtype.I1 {
			p.fail(at, diag.BadConstant, "expected i1 type for 'true' or 'false' values")
		}
		if v {
			return 1
		}
		return 0
	}
	negative := p.accept(tokMinus)
	lit, kind := p.text(), p.tok.kind
	if kind != tokInt && kind != tokFloat {
		p.expected("number")
		return 0
	}
	p.next()
	if t.Kind() == dtype.Float {
		bits, _ := p.floatBits(at, t, lit, negative)
		return bits
	}
	if kind == tokFloat {
		p.fail(at, diag.BadConstant, "expected integer elements, but parsed floating-point")
		return 0
	}
	return p.intBits(at, t, lit, negative)
}

func (p *parser) intBits(at token, t dtype.Type, lit string, negative bool) uint64 {
	if negative && t.Kind() == dtype.Unsigned {
		p.fail(at, diag.BadConstant, "expected unsigned integer elements, but parsed negative value")
		return 0
	}
	lo, hi := dtype.IntRange(t)
	switch t.Kind() {
	case dtype.Signed:
		hi = hi<<1 | 1
	case dtype.Bool:
		lo, hi = -1, 1
	}
	v, err := strconv.ParseUint(lit, 0, 64)
	if err != nil {
		if b, ok := new(big.Int).SetString(lit, 10); ok && b.IsUint64() {
			v, err = b.Uint64(), nil
		}
	}
	if err != nil || !negative && v > hi || negative && (v > uint64(-lo) || v == 0) { // MLIR refuses -0
		p.fail(at, diag.BadConstant, "integer constant out of range: `%s` does not fit %s", clip(lit), t)
		return 0
	}
	if negative {
		v = -v
	}
	if t.Bits() < 64 {
		v &= 1<<t.Bits() - 1
	}
	return v
}
