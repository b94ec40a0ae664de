package bytecode

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// number is the pattern of an integer or a float with its type.
type number struct {
	typ   ir.TypeID
	words []uint64 // from the least significant one
}

// typedNumber moves a number behind its type (specification: bytecode.md section A.1.3): one byte for up to 8 bits, a
// signed varint for up to 64, and for more the words up to the last one that is not 0.
func typedNumber(c codec, v *number) {
	c.typ(&v.typ)
	_, width := storage(c.module(), v.typ)
	if len(v.words) == 0 {
		v.words = make([]uint64, 1)
	}
	switch {
	case width == 0:
		c.invalid("number has a type that is no number's")
	case width <= 8:
		c.byte(&v.words[0])
	case width <= 64:
		n := int64(v.words[0])
		c.svarint(&n)
		v.words[0] = uint64(n) & (1<<width - 1)
	default:
		list(c, &v.words, func(c codec, w *uint64) {
			n := int64(*w)
			c.svarint(&n)
			*w = uint64(n)
		})
	}
	if len(v.words) > (width+63)/64 {
		c.invalid("number is wider than its type")
	}
}

func (d *decoder) integer(v number) any {
	t := d.m.TypeOf(v.typ)
	_, width := storage(d.m, v.typ)
	if t.Kind == ir.ScalarKind && (t.DType.Kind() == dtype.Float || t.DType.Kind() == dtype.Complex) {
		d.invalid("integer has the type of a float")
		return nil
	}
	if width > 64 {
		return d.wideInteger(v, width)
	}
	if width == 0 || len(v.words) == 0 {
		d.invalid("integer without a width")
		return nil
	}
	bits := v.words[0]
	if t.Kind == ir.ScalarKind && t.DType == dtype.I1 {
		return ir.BoolAttr(bits&1 == 1)
	}
	if !isUnsigned(d.m, v.typ) {
		bits = uint64(int64(bits<<(64-width)) >> (64 - width))
	}
	return ir.IntAttr{Value: int64(bits), Type: v.typ}
}

// isUnsigned says whether a type's integers are never negative.
func isUnsigned(m *ir.Module, id ir.TypeID) bool {
	t := m.TypeOf(id)
	return t.Kind == ir.ScalarKind && t.DType.Kind() == dtype.Unsigned || t.Kind == ir.OpaqueKind && t.Text[0] == 'u'
}

// wideInteger keeps what does not fit 64 bits as text.
func (d *decoder) wideInteger(v number, width int) any {
	n := v.big()
	if !isUnsigned(d.m, v.typ) && n.Bit(width-1) == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(width)))
	}
	if n.IsInt64() {
		return ir.IntAttr{Value: n.Int64(), Type: v.typ}
	}
	return ir.OpaqueAttr(n.String() + " : " + d.m.FormatType(v.typ))
}

func (v number) big() *big.Int {
	raw := make([]byte, 8*len(v.words))
	for i, w := range v.words {
		binary.BigEndian.PutUint64(raw[8*(len(v.words)-1-i):], w)
	}
	return new(big.Int).SetBytes(raw)
}

func (d *decoder) float(v number) any {
	t := d.m.TypeOf(v.typ)
	switch {
	case t.Kind == ir.ScalarKind && t.DType.Kind() == dtype.Float && len(v.words) == 1:
		return ir.FloatAttr{Bits: v.words[0], Type: v.typ}
	case t.Kind == ir.OpaqueKind && (t.Text == "f80" || t.Text == "f128"):
		return ir.OpaqueAttr(extendedText(v.big(), t.Text == "f80") + " : " + t.Text)
	}
	d.invalid("float has the type of an integer")
	return nil
}

// extendedText returns a float of 80 or 128 bits as MLIR prints it: with six digits behind the point where they say it
// exactly, else as its bits.
func extendedText(bits *big.Int, is80 bool) string {
	width, mantissa := 128, 112
	if is80 {
		width, mantissa = 80, 64 // with the integer bit
	}
	const bias, largest = 16383, 1<<15 - 1
	exponent := new(big.Int).Rsh(bits, uint(mantissa)).Int64() & largest
	fraction := new(big.Int).And(bits, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(mantissa)), big.NewInt(1)))
	zero := exponent == 0 && fraction.Sign() == 0
	if exponent == largest || exponent == 0 && !zero {
		return fmt.Sprintf("0x%0*X", width/4, bits)
	}
	shift := int(exponent) - bias - mantissa
	if is80 {
		shift++
	} else if !zero {
		fraction.SetBit(fraction, mantissa, 1)
	}
	v := new(big.Float).SetPrec(uint(mantissa + 1)).SetInt(fraction)
	v.SetMantExp(v, shift)
	if bits.Bit(width-1) == 1 {
		v.Neg(v)
	}
	text := v.Text('e', 6)
	if back, _, err := big.ParseFloat(text, 10, uint(mantissa+1), big.ToNearestEven); err != nil || back.Cmp(v) != 0 {
		return fmt.Sprintf("0x%0*X", width/4, bits)
	}
	return text
}
