package blocks_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/blocks"
	"autoshard/diag"
	"autoshard/subaxis"
)

var mesh = []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 4}}

// Rows are cut along x, columns along the minor half of y; the major half has copies.
func ExampleShow() {
	a, err := blocks.Show(&blocks.Request{Text: `<@m, [{"x"}, {"y":(2)2}]> : 4x8xf32`, Mesh: mesh})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Place.Block, a.Bytes.Block, "bytes")
	for i := range a.Place.Blocks {
		b := &a.Place.Blocks[i]
		fmt.Println(b.Span(0), b.Span(1), "on", b.Holders())
	}
	// Output:
	// f32[2,4] 32 bytes
	// 0:2 0:4 on 0,2
	// 0:2 4:8 on 1,3
	// 2:4 0:4 on 4,6
	// 2:4 4:8 on 5,7
}

// One sharding, in the words of four systems.
func TestFormsAgree(t *testing.T) {
	var want *blocks.Answer
	for _, text := range []string{`[{"y"}, {"x"}] : f32[8,6]`, "P('y', 'x') : 8x6xf32", "[Shard(1), Shard(0)] : f32[8,6]",
		"{devices=[4,2]<=[2,4]T(1,0)} : tensor<8x6xf32>"} {
		a, err := blocks.Show(&blocks.Request{Text: text, Mesh: mesh})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if want == nil {
			want = a
		}
		if fmt.Sprint(a.Place, a.Forms) != fmt.Sprint(want.Place, want.Forms) {
			t.Errorf("%s lies at %v, %v", text, a.Place, a.Forms)
		}
	}
}

// Whatever cuts a tensor, of any sizes: every element is in one block, which Copies x Terms devices hold, and every device holds what the
// block says that it holds.
func TestBlocksAreAPartition(t *testing.T) {
	specs := []string{"P('x', 'y')", "P(('y', 'x'))", "P('y':(1)2, ('x', 'y':(2)2))", "P(None, 'y', unreduced={'x'})", "P()", "P('y':(2)2)"}
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(0, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "columns")
		ids := rapid.Permutation([]int64{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "device ids")
		spec := rapid.SampledFrom(specs).Draw(t, "sharding")
		a, err := blocks.Show(&blocks.Request{Text: fmt.Sprintf("%s : f32[%d,%d]", spec, rows, columns), Mesh: mesh, DeviceIDs: ids})
		if err != nil {
			t.Fatal(err)
		}
		for e := range rows * columns {
			at := []int64{int64(e / columns), int64(e % columns)}
			if n := len(slices.DeleteFunc(slices.Clone(a.Place.Blocks), func(b blocks.Block) bool { return !inside(b.Ranges, at) })); n != 1 {
				t.Fatalf("element %v is in %d blocks", at, n)
			}
		}
		held := 0
		for _, b := range a.Place.Blocks {
			for _, id := range slices.Concat(b.Copies...) {
				i := slices.IndexFunc(a.Devices, func(d blocks.Device) bool { return d.ID == id })
				if !slices.Equal(a.Devices[i].Ranges, b.Ranges) || ids[4*a.Devices[i].Coordinates[0]+a.Devices[i].Coordinates[1]] != id {
					t.Fatalf("device %d holds %v at %v, its block %v", id, a.Devices[i].Ranges, a.Devices[i].Coordinates, b.Ranges)
				}
				held++
			}
			if int64(len(b.Copies)) != a.Bytes.Copies || int64(len(b.Copies[0])) != a.Bytes.Terms {
				t.Fatalf("block %v has copies %v, not %d of %d terms", b.Ranges, b.Copies, a.Bytes.Copies, a.Bytes.Terms)
			}
		}
		if held != 8 {
			t.Fatalf("%d devices hold something", held)
		}
	})
}

func inside(ranges [][2]int64, at []int64) bool {
	for d, r := range ranges {
		if at[d] < r[0] || at[d] >= r[1] {
			return false
		}
	}
	return true
}

// Two dimensions make a grid, a third one a panel each.
func TestPanels(t *testing.T) {
	for spec, want := range map[string]string{
		"P()":                            "1 panel: 1 x 1, rows -1, columns -1",
		"P('x')":                         "1 panel: 2 x 1, rows 0, columns -1",
		"P(None, None, 'y')":             "1 panel: 1 x 4, rows -1, columns 2",
		"P('x', None, 'y')":              "1 panel: 2 x 4, rows 0, columns 2",
		"P('y':(1)2, 'x', 'y':(2)2)":     "2 panel: 2 x 2, rows 1, columns 2",
		"P('x', 'y', unreduced=max{})":   "1 panel: 2 x 4, rows 0, columns 1",
		"P(None, 'x', unreduced={'y'})":  "1 panel: 2 x 1, rows 1, columns -1",
		"P(None, ('x', 'y'), None) ":     "1 panel: 8 x 1, rows 1, columns -1",
		"P('y':(2)2, None, ('x', ?))   ": "1 panel: 2 x 2, rows 0, columns 2",
	} {
		a, err := blocks.Show(&blocks.Request{Text: spec + ": f32[8,8,8]", Mesh: mesh})
		if err != nil {
			t.Fatal(err)
		}
		p := a.Place.Panels()
		got := fmt.Sprintf("%d panel: %d x %d, rows %d, columns %d", len(p), len(p[0].Rows), len(p[0].Rows[0]), p[0].Row, p[0].Column)
		if got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

// What cannot be shown, and where that is.
func TestErrors(t *testing.T) {
	for text, want := range map[string]struct {
		class error
		text  string
	}{
		"P('x')":                           {diag.ErrInvalid, "SHARDING:1:7: behind the sharding the type of the tensor is missing"},
		"P('x') : f33[2]":                  {diag.ErrInvalid, `SHARDING:1:9: "f33[2]" is no type of a tensor`},
		"P('z') : f32[2]":                  {diag.ErrInvalid, `SHARDING:1:3: the mesh <["x"=2, "y"=4]> has no axis "z"`},
		"P('x', 'y') : f32[2]":             {diag.ErrInvalid, "the partition-spec text has 2 dimensions, the tensor has 1"},
		"{manual} : f32[2]":                {diag.ErrUnsupported, `axis "x", "y" is manual`},
		"P() : f32[1099511627776,1048576]": {diag.ErrTooLarge, "takes more than 1 TiB"},
	} {
		_, err := blocks.Show(&blocks.Request{Text: text, Name: "SHARDING", Mesh: mesh})
		if !errors.Is(err, want.class) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := blocks.Show(&blocks.Request{Text: "{replicated} : f32[2]"}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("without a mesh: %v", err)
	}
	large := []subaxis.Axis{{Name: "x", Size: 1 << 17}}
	if _, err := blocks.Show(&blocks.Request{Text: "P() : f32[2]", Mesh: large}); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("a large mesh: %v", err)
	}
	if _, err := blocks.Show(&blocks.Request{Text: "P() : f32[2]", Form: "xla", Mesh: mesh}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("an unknown form: %v", err)
	}
}
