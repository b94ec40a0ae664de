package mlir

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// denseAttr reads dense<LITERAL> : TYPE (specification: stablehlo.md section 1.6). The literal's elements are read
// when the type behind them is known.
func (p *parser) denseAttr(want ir.TypeID) ir.Attr {
	start := p.lexer
	if want == 0 {
		p.next()
		if !p.at(tokLess) {
			p.expected("'<' after 'dense'")
			return nil
		}
		p.skipBrackets()
		p.expect(tokColon)
		want = p.typ()
	}
	if p.err != nil {
		return nil
	}
	end := p.lexer
	typed := p.tok.start != start.tok.start
	p.lexer = start
	d := p.denseOf(want)
	if typed && p.err == nil {
		p.lexer = end
	}
	return d
}

// denseOf reads dense<LITERAL> for a type that is known.
func (p *parser) denseOf(typ ir.TypeID) ir.Attr {
	at := p.tok
	p.next()
	p.expect(tokLess)
	if p.err != nil {
		return nil
	}
	t := p.m.TypeOf(typ)
	if rest, ok := strings.CutPrefix(t.Text, vectorPrefix); ok && t.Kind == ir.OpaqueKind {
		return p.vectorConstant(at, typ, rest)
	}
	if !t.IsStatic() {
		p.fail(at, diag.BadConstant, "elements literal type must have static shape, found '%s'", FormatType(p.m, typ))
		return nil
	}
	r := denseReader{p: p, t: t.DType, dims: t.Dims}
	var data []byte
	switch {
	case t.DType == dtype.Invalid || t.Kind != ir.TensorKind:
		p.fail(at, diag.BadConstant, "expected tensor type of numbers for elements literal, found '%s'", FormatType(p.m, typ))
	case p.at(tokString):
		data = r.hexData(t.Elements())
	case p.at(tokGreater):
		if t.Elements() != 0 {
			p.fail(p.tok, diag.BadConstant, "parsed zero elements, but type ('%s') expected at least 1", FormatType(p.m, typ))
		}
	default:
		r.read(typ)
		data = r.data
	}
	p.expect(tokGreater)
	if p.err != nil {
		return nil
	}
	return p.m.Dense(typ, data)
}

const vectorPrefix = "vector<"

// vectorConstant reads the literal of a vector as that of a tensor of the same shape.
func (p *parser) vectorConstant(at token, typ ir.TypeID, rest string) ir.Attr {
	here := p.lexer
	tensor, err := ParseType(p.m, "tensor<"+rest, p.position(at))
	if err != nil {
		p.fail(at, diag.BadConstant, "expected a vector of numbers of a fixed size for elements literal, found '%s'", FormatType(p.m, typ))
		return nil
	}
	p.lexer = here
	p.off, p.tok = at.start, token{}
	p.next()
	d, ok := p.denseOf(tensor).(*ir.Dense)
	if !ok || p.err != nil {
		return nil
	}
	return VectorConstant(p.m, d, typ)
}

// VectorConstant returns the constant of a vector type that has the elements of a tensor. It is kept as text.
func VectorConstant(m *ir.Module, d *ir.Dense, vector ir.TypeID) ir.OpaqueAttr {
	return ir.OpaqueAttr("dense<" + ElementText(m, d) + "> : " + FormatType(m, vector))
}

// ElementText returns what stands between the angle brackets of a constant.
func ElementText(m *ir.Module, d *ir.Dense) string {
	return strings.TrimSuffix(strings.TrimPrefix(FormatAttr(m, d), "dense<"), "> : "+FormatType(m, d.Type))
}

// allSame says whether all elements of n bytes are equal.
func allSame(data []byte, n int) bool { return bytes.Equal(data[n:], data[:len(data)-n]) }

// denseReader reads the elements of one constant.
type denseReader struct {
	p    *parser
	t    dtype.Type
	dims []int64
	data []byte
}

// read reads one element or nested lists.
func (r *denseReader) read(typ ir.TypeID) {
	p := r.p
	if !p.at(tokLSquare) {
		r.element()
		return
	}
	n := p.m.TypeOf(typ).Elements()
	if n > p.opts.MaxElements {
		p.failWith(p.tok, diag.TooLarge(diag.InputTooLarge, p.position(p.tok), "constant has %d elements, the limit is %d", n,
			p.opts.MaxElements))
		return
	}
	at := p.tok
	r.data = make([]byte, 0, min(n*int64(r.t.Bytes()), int64(len(p.src))))
	r.list(at, 0)
}

func (r *denseReader) list(first token, dim int) {
	p := r.p
	at := p.tok
	if dim == len(r.dims) {
		r.mismatch(first)
		return
	}
	p.next()
	n := int64(0)
	p.list(tokRSquare, func() {
		n++
		switch {
		case dim+1 < len(r.dims) && p.at(tokLSquare):
			r.list(first, dim+1)
		case dim+1 == len(r.dims) && !p.at(tokLSquare):
			r.element()
		default:
			r.mismatch(p.tok)
		}
	})
	if p.err == nil && n != r.dims[dim] {
		r.mismatch(at)
	}
}

func (r *denseReader) mismatch(at token) {
	r.p.fail(at, diag.BadConstant, "inferred shape of elements literal does not match type ('%s')",
		FormatType(r.p.m, r.p.m.TensorType(r.t, r.dims...)))
}

// element reads one element; complex ones are (re,im).
func (r *denseReader) element() {
	p := r.p
	if r.t.Kind() != dtype.Complex {
		r.data = dtype.AppendBits(r.data, r.t, p.scalarBits(r.t))
		return
	}
	part := r.t.Part()
	p.expect(tokLParen)
	r.data = dtype.AppendBits(r.data, part, p.scalarBits(part))
	p.expect(tokComma)
	r.data = dtype.AppendBits(r.data, part, p.scalarBits(part))
	p.expect(tokRParen)
}

// hexData reads the bytes of a hexadecimal string: one element or all n.
func (r *denseReader) hexData(n int64) []byte {
	p := r.p
	at, text := p.tok, p.text()
	digits, ok := strings.CutPrefix(text[1:len(text)-1], "0x")
	if !ok || len(digits)%2 != 0 {
		p.fail(at, diag.BadConstant, "elements hex string must begin with 0x and have an even number of digits")
		return nil
	}
	size := int64(r.t.Bytes())
	if int64(len(digits)/2) != size*n && int64(len(digits)/2) != size {
		p.fail(at, diag.BadConstant, "elements hex data size is invalid for provided type: %d bytes, expected %d", len(digits)/2, size*n)
		return nil
	}
	data, err := p.bytesOf(digits)
	if err != nil {
		p.fail(at, diag.BadConstant, "elements hex string has a digit that is not hexadecimal")
		return nil
	}
	if r.t == dtype.I1 {
		for _, b := range data {
			if b > 1 {
				p.fail(at, diag.BadConstant, "elements hex data of i1 must be 00 or 01, found %02X", b)
				return nil
			}
		}
	}
	p.next()
	return data
}

// bytesOf decodes hexadecimal digits. It stops early if the context ends.
func (p *parser) bytesOf(digits string) ([]byte, error) {
	const piece = 1 << 20 // digits between looks at the context
	out := make([]byte, 0, len(digits)/2)
	for len(digits) > 0 && p.look() {
		n := min(piece, len(digits))
		var err error
		if out, err = hex.AppendDecode(out, []byte(digits[:n])); err != nil {
			return nil, err
		}
		digits = digits[n:]
	}
	return out, nil
}

// pendingResource is a constant whose bytes come at the end of the file.
type pendingResource struct {
	at    token
	dense *ir.Dense
}

// resourceAttr reads dense_resource<name> : TYPE.
func (p *parser) resourceAttr() ir.Attr {
	p.next()
	p.expect(tokLess)
	at, name := p.tok, p.resourceKey()
	p.expect(tokGreater)
	p.expect(tokColon)
	d := &ir.Dense{Type: p.typ(), Resource: name}
	p.pending = append(p.pending, pendingResource{at, d})
	return d
}

// metadata reads the trailer {-# dialect_resources: { builtin: { name: "0x…" } } #-}.
func (p *parser) metadata() {
	p.next()
	p.list(tokMetaEnd, func() {
		at := p.tok
		section := p.ident("section of file metadata")
		if p.err == nil && section != "dialect_resources" && section != "external_resources" {
			p.fail(at, diag.Syntax, "unknown key '%s' in file metadata dictionary", section)
		}
		p.expect(tokColon)
		p.expect(tokLBrace)
		p.list(tokRBrace, func() {
			owner := p.resourceKey()
			p.expect(tokColon)
			p.expect(tokLBrace)
			p.list(tokRBrace, func() { p.resource(section == "dialect_resources" && owner == "builtin") })
		})
	})
}

func (p *parser) resourceKey() string {
	if p.at(tokString) {
		return p.str("resource name")
	}
	return strings.Clone(p.ident("resource name"))
}

// resource reads name: "0x…"; the first four bytes are the alignment. Resources of other dialects are skipped.
func (p *parser) resource(blob bool) {
	name := p.resourceKey()
	p.expect(tokColon)
	if !blob {
		p.attr(0)
		return
	}
	at := p.tok
	text := p.text()
	if !p.at(tokString) || !strings.HasPrefix(text, `"0x`) {
		p.expected("hex string of a resource, such as \"0x04000000…\"")
		return
	}
	data, err := p.bytesOf(text[3 : len(text)-1])
	if err != nil || len(data) < 4 {
		p.fail(at, diag.BadConstant, "resource '%s' must be a hex string of at least 4 bytes", name)
		return
	}
	p.m.AddResource(ir.Resource{Name: name, Align: binary.LittleEndian.Uint32(data), Data: data[4:]})
	p.next()
}

// fillResources gives the constants their bytes. Constants that a printer left out stay without.
func (p *parser) fillResources() {
	byName := map[string]*ir.Resource{}
	for i, r := range p.m.Resources() {
		byName[r.Name] = &p.m.Resources()[i]
	}
	for _, d := range p.pending {
		r := byName[d.dense.Resource]
		if r == nil {
			continue
		}
		t := p.m.TypeOf(d.dense.Type)
		if t.IsStatic() && int64(len(r.Data)) != t.Bytes() {
			p.fail(d.at, diag.BadConstant, "resource '%s' has %d bytes, its type '%s' needs %d", r.Name, len(r.Data), FormatType(p.m, d.dense.Type),
				t.Bytes())
			return
		}
		d.dense.Data = r.Data
	}
}
