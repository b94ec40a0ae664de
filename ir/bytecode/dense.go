package bytecode

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// elements are those of a constant as they are stored (specification: bytecode.md section A.6.3).
type elements struct {
	typ  ir.TypeID
	data []byte
}

func denseElements(c codec, v *elements) {
	c.typ(&v.typ)
	c.blob(&v.data)
}

// dense makes a constant. Its elements stay where they are in the file, but for booleans, which are packed there.
func (d *decoder) dense(v elements) any {
	t := d.m.TypeOf(v.typ)
	if rest, ok := strings.CutPrefix(t.Text, "vector<"); ok && t.Kind == ir.OpaqueKind {
		return d.vectorConstant(v, d.parseType("tensor<"+rest))
	}
	if t.Kind != ir.TensorKind || !t.IsStatic() || t.DType == dtype.Invalid {
		d.invalid("constant of type '" + d.m.FormatType(v.typ) + "': expected a tensor of numbers with a static shape")
		return nil
	}
	if t.DType == dtype.I1 {
		return d.m.Dense(v.typ, d.booleans(v.data, t.Elements()))
	}
	return d.m.Dense(v.typ, d.numbers(v.data, t, t.Elements()))
}

// vectorConstant is kept as text.
func (d *decoder) vectorConstant(v elements, tensor ir.TypeID) any {
	if d.err != nil {
		return nil
	}
	c, ok := d.dense(elements{tensor, v.data}).(*ir.Dense)
	if !ok {
		return nil
	}
	return mlir.VectorConstant(d.m, c, v.typ)
}

// booleans returns one byte for each element, one in all for a splat.
func (d *decoder) booleans(data []byte, n int64) []byte {
	switch {
	case len(data) == 1 && data[0] == 0xFF:
		return []byte{1}
	case int64(len(data)) == (n+7)/8 && int64(len(data)) != n:
		out := make([]byte, n)
		for i := range out {
			out[i] = data[i/8] >> (i % 8) & 1
		}
		return out
	case int64(len(data)) == n || len(data) == 1:
		out := make([]byte, len(data))
		for i := range out {
			out[i] = data[i] & 1
		}
		return out
	}
	d.invalid("constant of i1 has the wrong number of bytes for its type")
	return nil
}

// numbers returns the elements, all or one. Bits above those of the type mean nothing and are cleared.
func (d *decoder) numbers(data []byte, t *ir.Type, n int64) []byte {
	size := t.DType.Bytes()
	if int64(len(data)) != n*int64(size) && len(data) != size {
		d.invalid("constant has the wrong number of bytes for its type '" + t.DType.String() + "'")
		return nil
	}
	return cleared(data, t.DType.Bits())
}

// cleared returns elements of so many bits without what stands above these in their bytes.
func cleared(data []byte, width int) []byte {
	if width >= 8 {
		return data
	}
	mask := byte(1)<<width - 1
	if slices.ContainsFunc(data, func(b byte) bool { return b&^mask != 0 }) {
		data = bytes.Clone(data)
		for i := range data {
			data[i] &= mask
		}
	}
	return data
}

// stored returns what a constant is in bytecode: a splat once, booleans as bits.
func stored(m *ir.Module, v *ir.Dense) []byte {
	t := m.TypeOf(v.Type)
	if t.DType != dtype.I1 || len(v.Data) == 0 {
		return v.Data
	}
	if v.Splat || len(v.Data) == 1 {
		return []byte{-v.Data[0]}
	}
	out := make([]byte, (len(v.Data)+7)/8)
	for i, b := range v.Data {
		out[i/8] |= b << (i % 8)
	}
	return out
}

// floats returns the elements of a constant of floats.
func (d *decoder) floats(v *ir.Dense) []float64 {
	t := d.m.TypeOf(v.Type)
	if t.DType.Kind() != dtype.Float {
		d.invalid("expected a constant of floats")
		return nil
	}
	size := t.DType.Bytes()
	out := make([]float64, 0, len(v.Data)/size)
	for at := 0; at < len(v.Data); at += size {
		out = append(out, dtype.Decode(t.DType, dtype.LoadBits(v.Data[at:at+size])))
	}
	for v.Splat && int64(len(out)) < min(t.Elements(), math.MaxInt16) {
		out = append(out, out[0])
	}
	return out
}

// storedStrings are the elements of a constant of strings.
type storedStrings struct {
	typ     ir.TypeID
	splat   uint64
	strings []string
}

// denseStrings moves a constant of strings, of which a splat has one.
func denseStrings(c codec, v *storedStrings) {
	move(c, &v.typ, &v.splat)
	n := len(v.strings)
	if t := c.module().TypeOf(v.typ); v.strings == nil && v.splat == 0 && t.IsStatic() {
		c.fits(t.Elements(), &n)
	} else if v.strings == nil {
		n = 1
	}
	if v.strings == nil {
		v.strings = make([]string, n)
	}
	for i := range v.strings {
		c.str(&v.strings[i])
	}
}

// denseStrings keeps the constant as text.
func (d *decoder) denseStrings(v storedStrings) any {
	t := d.m.TypeOf(v.typ)
	if t.Kind != ir.TensorKind || !t.IsStatic() || v.splat > 1 {
		d.invalid("constant of strings must have a static shape")
		return nil
	}
	at := 0
	var nested func(dims []int64) string
	nested = func(dims []int64) string {
		if len(dims) == 0 {
			at++
			return mlir.FormatAttr(d.m, ir.StringAttr(v.strings[at-1]))
		}
		list := make([]string, dims[0])
		for i := range list {
			list[i] = nested(dims[1:])
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	dims := t.Dims
	if v.splat == 1 {
		dims = nil
	} else if t.Elements() == 0 {
		return ir.OpaqueAttr("dense<> : " + d.m.FormatType(v.typ))
	}
	return ir.OpaqueAttr("dense<" + nested(dims) + "> : " + d.m.FormatType(v.typ))
}

// storedArray is the content of array<i64: …>.
type storedArray struct {
	elem  ir.TypeID
	count uint64
	data  []byte
}

func denseArray(c codec, v *storedArray) {
	move(c, &v.elem, &v.count)
	c.blob(&v.data)
}

func (d *decoder) denseArray(v storedArray) any {
	size, _ := storage(d.m, v.elem)
	t := d.m.TypeOf(v.elem)
	if t.Kind != ir.ScalarKind || size == 0 || v.count != uint64(len(v.data))/uint64(size) || len(v.data)%int(size) != 0 {
		d.invalid("array of " + d.m.FormatType(v.elem) + " has the wrong number of bytes")
		return nil
	}
	return d.m.Array(v.elem, v.data)
}

// storedResource names the blob that has a constant's elements.
type storedResource struct {
	typ ir.TypeID
	key string
}

func denseResource(c codec, v *storedResource) {
	c.typ(&v.typ)
	c.resource(&v.key)
}

func (d *decoder) denseResource(v storedResource) any {
	out := &ir.Dense{Type: v.typ, Resource: v.key, Data: d.blobs[v.key]}
	t := d.m.TypeOf(v.typ)
	if out.Data != nil && t.IsStatic() && int64(len(out.Data)) != t.Bytes() {
		d.invalid("resource " + v.key + " has the wrong number of bytes for its type '" + d.m.FormatType(v.typ) + "'")
	}
	return out
}
