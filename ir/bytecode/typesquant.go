package bytecode

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// quantTypes are the quantized types (specification: bytecode.md section A.6.9).
var quantTypes = []form{
	newForm(1, "any", moveQuantAny, (*decoder).quantAny),
	newForm(2, "any with expressed type", moveQuantAnyExpressed, (*decoder).quantAny),
	newForm(3, "calibrated", moveCalibrated, (*decoder).calibrated),
	newForm(4, "uniform", moveQuant, (*decoder).uniform),
	newForm(5, "uniform per axis", moveQuantPerAxis, (*decoder).perAxis),
	newForm(6, "uniform sub-channel", moveQuantSubChannel, (*decoder).subChannel),
}

// quantType has the fields of all forms of quantized types.
type quantType struct {
	flags               uint64
	storage, expressed  ir.TypeID
	min, max            int64
	scale               float64
	zero                int64
	axis                uint64
	scales              []float64
	zeros               []int64
	axes, blocks        []int64
	scaleAttr, zeroAttr ir.Attr
}

const quantSigned = 1 // flag

func moveQuantAny(c codec, v *quantType) { move(c, &v.flags, &v.storage, &v.min, &v.max) }

func moveQuantAnyExpressed(c codec, v *quantType) {
	move(c, &v.flags, &v.storage, &v.expressed, &v.min, &v.max)
}

type calibratedType struct {
	expressed ir.TypeID
	min, max  float64
}

func moveCalibrated(c codec, v *calibratedType) { move(c, &v.expressed, &v.min, &v.max) }

func moveQuant(c codec, v *quantType) {
	move(c, &v.flags, &v.storage, &v.expressed, &v.scale, &v.zero, &v.min, &v.max)
}

func moveQuantPerAxis(c codec, v *quantType) {
	move(c, &v.flags, &v.storage, &v.expressed, &v.axis, &v.min, &v.max)
	list(c, &v.scales, float64Bits)
	ints(c, &v.zeros)
}

func moveQuantSubChannel(c codec, v *quantType) {
	move(c, &v.flags, &v.storage, &v.expressed, &v.min, &v.max, &v.axes, &v.blocks, &v.scaleAttr, &v.zeroAttr)
}

// storageText returns i8 or u8, with the range of stored numbers where it is not the whole one of the type.
func (d *decoder) storageText(v quantType) string {
	text := d.m.FormatType(v.storage)
	width, err := strconv.Atoi(strings.TrimPrefix(text, "i"))
	if err != nil || width > 32 {
		d.invalid("storage type of a quantized type must be an integer of at most 32 bits")
		return text
	}
	lo, hi := -int64(1)<<(width-1), int64(1)<<(width-1)-1
	if v.flags&quantSigned == 0 {
		text, lo, hi = "u"+strings.TrimPrefix(text, "i"), 0, int64(1)<<width-1
	}
	if v.min != lo || v.max != hi {
		text += fmt.Sprintf("<%d:%d>", v.min, v.max)
	}
	return text
}

func (d *decoder) quantAny(v quantType) any {
	text := "!quant.any<" + d.storageText(v)
	if v.expressed != 0 {
		text += ":" + d.m.FormatType(v.expressed)
	}
	return d.parseType(text + ">")
}

func (d *decoder) calibrated(v calibratedType) any {
	if !(v.min < v.max) || math.IsInf(v.min, 0) || math.IsInf(v.max, 0) {
		d.invalid("range of a calibrated type is empty or has no end")
		return ir.TypeID(0)
	}
	return d.parseType("!quant.calibrated<" + d.m.FormatType(v.expressed) + "<" + floatText(v.min) + ":" + floatText(v.max) + ">>")
}

func (d *decoder) uniform(v quantType) any {
	return d.parseType("!quant.uniform<" + d.storageText(v) + ":" + d.m.FormatType(v.expressed) + ", " + d.quantParams(v.scale, v.zero) + ">")
}

func (d *decoder) perAxis(v quantType) any {
	if len(v.scales) != len(v.zeros) {
		d.invalid("quantized type has as many scales as zero points")
		return ir.TypeID(0)
	}
	params := lists.Of(len(v.scales), func(i int) string { return d.quantParams(v.scales[i], v.zeros[i]) })
	return d.parseType(fmt.Sprintf("!quant.uniform<%s:%s:%d, {%s}>", d.storageText(v), d.m.FormatType(v.expressed), v.axis,
		strings.Join(params, ",")))
}

// subChannel is the one form whose scales lie in constants.
func (d *decoder) subChannel(v quantType) any {
	scales, ok := v.scaleAttr.(*ir.Dense)
	zeros, ok2 := v.zeroAttr.(*ir.Dense)
	if !ok || !ok2 || len(v.axes) != len(v.blocks) {
		d.invalid("quantized type by blocks needs constants of scales and zero points and a block size for each axis")
		return ir.TypeID(0)
	}
	blocks := lists.Of(len(v.axes), func(i int) string { return fmt.Sprintf("%d:%d", v.axes[i], v.blocks[i]) })
	return d.parseType(fmt.Sprintf("!quant.uniform<%s:%s:{%s}, %s>", d.storageText(v), d.m.FormatType(v.expressed),
		strings.Join(blocks, ", "), d.blockParams(scales, zeros)))
}

// quantParams returns a scale, which MLIR wants positive and finite, with the zero point where there is one.
func (d *decoder) quantParams(scale float64, zero int64) string {
	if !(scale > 0) || math.IsInf(scale, 0) {
		d.invalid("scale of a quantized type is no positive number")
		return "1.0"
	}
	text := floatText(scale)
	if zero != 0 {
		text += ":" + strconv.FormatInt(zero, 10)
	}
	return text
}

// floatText returns a finite number so that it reads back as the same one, with a point as MLIR wants it.
func floatText(v float64) string {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	if !strings.Contains(text, ".") {
		text = strings.Replace(text, "e", ".0e", 1)
	}
	return text
}

// blockParams returns the parameters of all blocks as nested lists.
func (d *decoder) blockParams(scales, zeros *ir.Dense) string {
	var shape []int64
	if t := d.m.TypeOf(scales.Type); t.IsStatic() && scales.Type != 0 && t.Elements() > 0 {
		shape = t.Dims
	} else {
		d.invalid("quantized type by blocks has no scales")
		return ""
	}
	s, z := d.floats(scales), zeros.Int64s()
	at := 0
	var nested func(dim int) string
	nested = func(dim int) string {
		if dim == len(shape) {
			if at >= len(s) || at >= len(z) {
				d.invalid("quantized type by blocks has too few scales or zero points")
				return ""
			}
			at++
			return d.quantParams(s[at-1], z[at-1])
		}
		list := make([]string, 0, 8)
		for i := int64(0); i < shape[dim] && d.err == nil; i++ {
			list = append(list, nested(dim+1))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	return nested(0)
}
