package mlir

import (
	"math"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// quantized reads what stands behind !quant.uniform: <i8:f32, 0.5:-3>, with a storage range as in i8<-127:127>, and per
// axis as in <i8:f32:1, {0.5:0, 0.25:1}>. The type keeps its text in canonical form: zero points of 0 are left out
// (specification: stablehlo.md section 1.4).
func (p *parser) quantized() ir.TypeID {
	p.expect(tokLess)
	at := p.tok
	name := p.ident("storage type")
	if width, ok := strings.CutPrefix(name, "u"); ok && !strings.HasPrefix(width, "i") { // u8 stores ui8
		name = "ui" + width
	}
	storage, ok := dtype.Parse(name)
	if k := storage.Kind(); p.err == nil && (!ok || k != dtype.Signed && k != dtype.Unsigned) {
		p.fail(at, diag.Syntax, "storage type of a quantized type must be an integer type")
	}
	text := "!quant.uniform<" + strings.Replace(storage.String(), "ui", "u", 1)
	if p.accept(tokLess) {
		text += "<" + strconv.FormatInt(p.int64(), 10)
		p.expect(tokColon)
		text += ":" + strconv.FormatInt(p.int64(), 10) + ">"
		p.expect(tokGreater)
	}
	p.expect(tokColon)
	at = p.tok
	expressed, ok := dtype.Parse(p.ident("expressed type"))
	if p.err == nil && (!ok || expressed.Kind() != dtype.Float) {
		p.fail(at, diag.Syntax, "expressed type of a quantized type must be a float type")
	}
	text += ":" + expressed.String()
	axis := p.accept(tokColon)
	if axis {
		text += ":" + strconv.FormatInt(p.int64(), 10)
	}
	p.expect(tokComma)
	if axis {
		text += ", " + p.quantList()
	} else {
		text += ", " + p.quantParams()
	}
	p.expect(tokGreater)
	if p.err != nil {
		return 0
	}
	return p.m.InternType(ir.Type{Kind: ir.QuantizedKind, DType: storage, Text: text + ">"})
}

// quantList reads {0.5:0, 0.25:1}.
func (p *parser) quantList() string {
	text := ""
	p.expect(tokLBrace)
	p.list(tokRBrace, func() {
		if text != "" {
			text += ","
		}
		text += p.quantParams()
	})
	return "{" + text + "}"
}

// quantParams reads a scale with an optional zero point.
func (p *parser) quantParams() string {
	at := p.tok
	scale := p.float64()
	if !(scale > 0) || math.IsInf(scale, 0) {
		p.fail(at, diag.Syntax, "scale of a quantized type must be a positive number")
	}
	text := strconv.FormatFloat(scale, 'e', 6, 64)
	if p.accept(tokColon) {
		if zero := p.int64(); zero != 0 {
			text += ":" + strconv.FormatInt(zero, 10)
		}
	}
	return text
}
