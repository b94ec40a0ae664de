package notation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

var mesh = &subaxis.Mesh{Axes: []subaxis.Axis{{Name: "X", Size: 4}, {Name: "Y", Size: 2}, {Name: "data", Size: 2}}}

// What is read is written again in one form.
func TestParseArray(t *testing.T) {
	for text, want := range map[string]string{
		"A[I_X,J]":                 "A[I_X, J]",
		"A[ I_{XY} , J ] {U_data}": "A[I_XY, J]{U_data}",
		"A[I_YX]{U_{data}}":        "A[I_YX]{U_data}",
		"bf16[1024_X, D_{Y,data}]": "bf16[1024_X, D_{Y,data}]",
		"w'[β_Xdata]":              "w'[β_{X,data}]",
		"s[]":                      "s[]",
	} {
		a, err := ParseArray("ARRAY", text, mesh)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := a.Format(mesh); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
	}
	a, err := ParseArray("ARRAY", "int8[128_X, K]", mesh)
	if err != nil || a.DType != dtype.I8 || a.Dims[0].Size != 128 || !slices.Equal(a.Axes(), []subaxis.Ref{mesh.Full(0)}) {
		t.Errorf("%+v %v", a, err)
	}
}

// All signs for products and arrows mean the same.
func TestParseProduct(t *testing.T) {
	for _, dot := range []string{"·", "⋅", "×", "*", "@", " * "} {
		for _, arrow := range []string{"->", " → ", "=>"} {
			p, err := ParseProduct("PRODUCT", "A[I_X, J]"+dot+"B[J, K]"+arrow+"C[I_X, K]", mesh)
			if err != nil || p.A.Format(mesh) != "A[I_X, J]" || p.B.Format(mesh) != "B[J, K]" || p.C.Format(mesh) != "C[I_X, K]" {
				t.Errorf("%q %q: %+v %v", dot, arrow, p, err)
			}
		}
	}
	if p, err := ParseProduct("PRODUCT", "A[I] * B[I]", mesh); err != nil || p.C != nil {
		t.Errorf("%+v %v", p, err)
	}
	from, to, err := ParseMove("MOVE", "A[I_X, J] -> A[I, J_X]", mesh)
	if err != nil || from.Format(mesh) != "A[I_X, J]" || to.Format(mesh) != "A[I, J_X]" {
		t.Errorf("%+v %+v %v", from, to, err)
	}
}

func TestErrors(t *testing.T) {
	array := func(text string) error { _, err := ParseArray("ARRAY", text, mesh); return err }
	product := func(text string) error { _, err := ParseProduct("PRODUCT", text, mesh); return err }
	sizes := func(text string) error { _, err := ParseSizes("--dims", text); return err }
	for _, c := range []struct {
		read func(string) error
		text string
		want string
	}{
		{array, "", "ARRAY:1:1: an array begins with its name"},
		{array, "A", "ARRAY:1:2: the dimensions of \"A\" must follow in brackets"},
		{array, "A[I", "ARRAY:1:4: a `,` or a `]` must follow"},
		{array, "A[I,]", "ARRAY:1:5: a dimension is a name or a number"},
		{array, "A[I_Z]", "ARRAY:1:5: the mesh has no axis \"Z\""},
		{array, "A[I_dat]", "ARRAY:1:5: the mesh has no axis \"dat\", did you mean `data`?"},
		{array, "A[I_XZ]", "ARRAY:1:6: the mesh has no axis \"Z\""},
		{array, "A[I_X, J_X]", "ARRAY:1:10: axis \"X\" is used twice"},
		{array, "A[I_X]{U_X}", "ARRAY:1:10: axis \"X\" is used twice"},
		{array, "A[I_]", "ARRAY:1:5: an axis of the mesh is missing"},
		{array, "A[I_{X]", "ARRAY:1:7: a `}` must end the axes"},
		{array, "A[I]{X}", "ARRAY:1:6: partial sums are written {U_X}"},
		{array, "A[I, I]", "ARRAY:1:6: \"A\" has the dimension \"I\" twice"},
		{array, "A[0]", "ARRAY:1:3: size \"0\" must be a whole number"},
		{array, "A[4x]", "ARRAY:1:3: size \"4x\" must be a whole number"},
		{array, "A[I] B", "ARRAY:1:6: unexpected \"B\""},
		{product, "A[I, J] B[J, K]", "PRODUCT:1:9: a product such as"},
		{product, "A[I] * B[I] ->", "PRODUCT:1:15: an array begins"},
		{sizes, "I=2,J", "--dims:1:5: size \"J\" must have the form"},
		{sizes, "I=two", "--dims:1:3: size of \"I\" must be a whole number"},
		{sizes, "I=2,I=3", "--dims:1:5: the size of \"I\" is given twice"},
		{array, strings.Repeat("A", 5000), "the text has 5000 bytes, more than"},
	} {
		if err := c.read(c.text); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: error %v, want %s", c.text, err, c.want)
		}
	}
}

func TestShape(t *testing.T) {
	sizes, err := ParseSizes("--dims", "I=8, J=16")
	if err != nil {
		t.Fatal(err)
	}
	text := "A[I_X, 3, K]"
	a, err := ParseArray("ARRAY", text, mesh)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sizes.Shape("ARRAY", text, a); err == nil || !strings.Contains(err.Error(), "ARRAY:1:11: dimension \"K\" has no size") {
		t.Errorf("error %v", err)
	}
	sizes["K"] = 5
	if shape, err := sizes.Shape("ARRAY", text, a); err != nil || !slices.Equal(shape, []int64{8, 3, 5}) {
		t.Errorf("shape %v, %v", shape, err)
	}
}

// What reads as a product is written and reads again as the same; errors stay inside the text.
func FuzzParseProduct(f *testing.F) {
	for _, seed := range []string{"A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]{U_Y}", "bf16[8_{X,data}]*B[]", "A[I_XY]→", "A[I_X{", "[·"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProduct("PRODUCT", text, mesh)
		if err != nil {
			if at := diag.Diagnostics(err)[0].Pos.Col; at < 1 || at > len(text)+1 {
				t.Errorf("column %d is outside of %q", at, text)
			}
			return
		}
		write := func(p *Product) string {
			out := p.A.Format(mesh) + " · " + p.B.Format(mesh)
			if p.C != nil {
				out += " -> " + p.C.Format(mesh)
			}
			return out
		}
		again, err := ParseProduct("PRODUCT", write(p), mesh)
		if err != nil || write(again) != write(p) {
			t.Errorf("%q is written %q, which reads as %v, %v", text, write(p), again, err)
		}
	})
}
