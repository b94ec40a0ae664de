package modeljson_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/modeljson"
)

// elementTypes are those that tensors of programs can have.
var elementTypes = func() (out []dtype.Type) {
	for _, name := range strings.Fields(`i1 i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64 f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3
		f8E4M3B11FNUZ f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU bf16 f16 f32 f64 complex<f32> complex<f64>`) {
		t, ok := dtype.Parse(name)
		if !ok {
			panic(name)
		}
		out = append(out, t)
	}
	return out
}()

// constantProgram returns a program that returns one constant.
func constantProgram(e dtype.Type, dims []int64, data []byte, splat bool) *ir.Module {
	m := ir.NewModule()
	typ := m.TensorType(e, dims...)
	f := m.AddFunc(ir.FuncSpec{Name: "main", Visibility: "public", Results: []ir.TypeID{typ}})
	b := m.BuilderAtEnd(m.Func(f).Body)
	v := b.Op1(ir.OpConstant, typ, ir.MakeAttrs(ir.NamedAttr{Name: "value", Value: &ir.Dense{Type: typ, Data: data, Splat: splat}}))
	b.Op(ir.OpReturn, nil, nil, v)
	return m
}

func constantOf(t interface{ Fatal(...any) }, m *ir.Module) *ir.Dense {
	main, _ := m.Main()
	d, ok := m.Attr(m.FirstOp(m.Func(main).Body), "value").(*ir.Dense)
	if !ok {
		t.Fatal("the constant has no value")
	}
	return d
}

// drawBits draws the bits of an element, often special ones.
func drawBits(t *rapid.T, e dtype.Type) []byte {
	raw := make([]byte, 16)
	for i := range 2 {
		bits := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, math.MaxUint64, 1 << 63, 0x7F800000, 0xFF800000, 0x7FC00000,
			0x7FF8000000000001})).Draw(t, "bits")
		if e.Bits() < 64 {
			bits &= 1<<e.Bits() - 1
		}
		part := min(e.Bytes(), 8)
		if e == dtype.C64 {
			part = 4
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], bits)
		copy(raw[i*part:], word[:part])
	}
	return raw[:e.Bytes()]
}

// TestConstants sends constants of every element type through JSON, also by way of readers that keep doubles only.
func TestConstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom(elementTypes).Draw(t, "type")
		dims := rapid.SliceOfN(rapid.SampledFrom([]int64{0, 1, 2, 3, 7}), 0, 3).Draw(t, "dims")
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		var data []byte
		for range n {
			data = append(data, drawBits(t, e)...)
		}
		want := constantProgram(e, dims, data, false)
		text, err := modeljson.Write(want)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		doubles, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, src := range [][]byte{text, doubles} {
			got, err := modeljson.Read(t.Context(), src, "constant.json")
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			d := constantOf(t, got)
			back := d.Data
			if d.Splat {
				back = bytes.Repeat(d.Data, int(n))
			}
			if !bytes.Equal(back, data) {
				t.Fatalf("%s: want %x, got %x\n%s", e, data, back, src)
			}
		}
	})
}
