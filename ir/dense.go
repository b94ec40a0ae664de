package ir

import (
	"bytes"
	"encoding/binary"
	"slices"

	"autoshard/ir/dtype"
)

// Int64s returns the elements of a constant of i64 as they are stored: one for a splat.
func (d *Dense) Int64s() []int64 {
	if d == nil {
		return nil
	}
	out := make([]int64, len(d.Data)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(d.Data[8*i:]))
	}
	return out
}

// maxRepeated bounds the elements of a splat that Int64s writes out: what it is for, lists of dimensions and of devices, has fewer.
const maxRepeated = 1 << 20

// Int64s returns the elements of a constant of i64, those of a splat repeated. Of one too large to be a list it returns what is
// stored.
func (m *Module) Int64s(d *Dense) []int64 {
	list := d.Int64s()
	if t := m.TypeOf(d.Type); d.Splat && len(list) == 1 && t.IsStatic() && t.Elements() <= maxRepeated {
		return slices.Repeat(list, int(t.Elements()))
	}
	return list
}

// Dense returns a constant of a tensor type with those elements, little-endian. Equal elements are stored once, as a splat.
func (m *Module) Dense(t TypeID, data []byte) *Dense {
	d := &Dense{Type: t, Data: data}
	size := m.TypeOf(t).DType.Bytes()
	d.Splat = size > 0 && len(data) >= size && bytes.Equal(data[size:], data[:len(data)-size])
	if d.Splat && len(data) > size {
		d.Data = bytes.Clone(data[:size])
	}
	return d
}

// DenseInts returns a constant of i64 with those elements and that shape.
func (m *Module) DenseInts(list []int64, dims ...int64) *Dense {
	data, _ := binary.Append(make([]byte, 0, 8*len(list)), binary.LittleEndian, list)
	return m.Dense(m.TensorType(dtype.I64, dims...), data)
}

// Array returns the attribute array<…> of elements of a type: Ints, Bools, or a DenseArray of others.
func (m *Module) Array(elem TypeID, data []byte) Attr {
	switch m.TypeOf(elem).DType {
	case dtype.I64:
		return Ints((&Dense{Data: data}).Int64s())
	case dtype.I1:
		out := make(Bools, len(data))
		for i, b := range data {
			out[i] = b != 0
		}
		return out
	}
	return &DenseArray{Elem: elem, Data: data}
}

// Zeros returns a constant of a tensor type whose elements are all 0.
func (m *Module) Zeros(t TypeID) *Dense {
	return &Dense{Type: t, Data: make([]byte, m.TypeOf(t).DType.Bytes()), Splat: true}
}

// Constant inserts a constant.
func (b *Builder) Constant(value *Dense) ValueID {
	return b.Op1(OpConstant, value.Type, Attrs{{"value", value}})
}

// Integer inserts a scalar constant of an integer element type.
func (b *Builder) Integer(e dtype.Type, value int64) ValueID {
	data := binary.LittleEndian.AppendUint64(nil, uint64(value))
	return b.Constant(b.m.Dense(b.m.TensorType(e), data[:e.Bytes()]))
}

// Identity inserts the scalar that a reduction leaves unchanged.
func (b *Builder) Identity(e dtype.Type, r Reduction) ValueID {
	return b.Constant(b.m.Dense(b.m.TensorType(e), Identity(e, r)))
}

// I64 returns an integer attribute of type i64.
func (m *Module) I64(value int64) IntAttr {
	return IntAttr{Value: value, Type: m.ScalarType(dtype.I64)}
}
