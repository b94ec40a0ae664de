package mlir

import (
	"errors"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

func TestFragments(t *testing.T) {
	m := ir.NewModule()
	m.AddMesh("mesh", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}}, nil, 0)
	at := diag.Position{File: "model.json", Line: 7, Col: 20}
	read := map[string]func(text string) (string, error){
		"type": func(text string) (string, error) {
			id, err := ParseType(m, text, at)
			if err != nil {
				return "", err
			}
			return FormatType(m, id), nil
		},
		"attr": func(text string) (string, error) {
			a, err := ParseAttr(m, text, at)
			if err != nil {
				return "", err
			}
			return FormatAttr(m, a), nil
		},
		"sharding": func(text string) (string, error) {
			s, err := ParseShardingIn(m, m.Body(), text, at)
			if err != nil {
				return "", err
			}
			return m.FormatSharding(s), nil
		},
	}
	bytes := `dense<"0x` + strings.Repeat("0A", 120) + "\"> : tensor<120xui8>" // of more elements than are listed
	for _, c := range []struct{ kind, text, want string }{
		{"type", "tensor<4x?xbf16>", "tensor<4x?xbf16>"},
		{"type", "tuple<tensor<i1>, !stablehlo.token>", "tuple<tensor<i1>, !stablehlo.token>"},
		{"type", "tensor<4xf33>", "model.json:7:29"},
		{"type", "tensor<4xf32> x", "model.json:7:34"},
		{"attr", "[1,2 : i32]", "[1, 2 : i32]"},
		{"attr", "#stablehlo<precision HIGH>", "#stablehlo<precision HIGH>"},
		{"attr", "#stablehlo<precision HIHG>", "model.json:7:41"},
		{"attr", strings.Replace(bytes, "0A0A", "0A0B", 1), strings.Replace(bytes, "0A0A", "0A0B", 1)},
		{"sharding", `<@mesh, [{"x", ?}p1, {}], replicated={"y"}>`, `<@mesh, [{"x", ?}p1, {}], replicated={"y"}>`},
		{"sharding", `#sdy.sharding<@mesh, [{"x":(2)2}]>`, `<@mesh, [{"x":(2)2}]>`},
		{"sharding", `<mesh<["q"=2]>, [{"q"}]>`, `<mesh<["q"=2]>, [{"q"}]>`},
		{"sharding", `<@mesh, [{"z"}]>`, "model.json:7:30"},
		{"sharding", `<@other, [{}]>`, "model.json:7:21"},
	} {
		got, err := read[c.kind](c.text)
		if err != nil {
			if got = err.Error(); !errors.Is(err, diag.ErrInvalid) || !strings.HasPrefix(got, c.want+":") {
				t.Errorf("%s %s: want %q, got error %q", c.kind, c.text, c.want, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s %s: want %q, got %q", c.kind, c.text, c.want, got)
		}
	}
}
