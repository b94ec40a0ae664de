package specfmt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

var testMesh = &ir.MeshDecl{Name: "mesh", Mesh: subaxis.Mesh{
	Axes: []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}, {Name: "x", Size: 8}}}}

func TestNotation(t *testing.T) {
	data, model := testMesh.Full(0), testMesh.Full(1)
	half := subaxis.Ref{Axis: 2, Pre: 1, Size: 2}
	closed := func(axes ...subaxis.Ref) ir.DimSharding {
		return ir.DimSharding{Axes: axes, Closed: true, Priority: ir.NoPriority}
	}
	open := func(axes ...subaxis.Ref) ir.DimSharding { return ir.DimSharding{Axes: axes, Priority: ir.NoPriority} }
	for _, c := range []struct {
		want string
		s    ir.Sharding
	}{
		{"P()", ir.Sharding{}},
		{"P('data', None, ('model', 'x'))", ir.Sharding{Dims: []ir.DimSharding{closed(data), closed(), closed(model, testMesh.Full(2))}}},
		{"P('x':(1)2, ?)", ir.Sharding{Dims: []ir.DimSharding{closed(half), open()}}},
		{"P(('x':(2)4, ?), ('data', ?))", ir.Sharding{Dims: []ir.DimSharding{open(subaxis.Ref{Axis: 2, Pre: 2, Size: 4}), open(data)}}},
		{"P('data'p1, (?)p0, (?)p2, ('model', ?)p0)", ir.Sharding{Dims: []ir.DimSharding{
			{Axes: ir.ShardAxes{data}, Closed: true, Priority: 1}, {}, {Priority: 2}, {Axes: ir.ShardAxes{model}}}}},
		{"P(None, replicated={'model'}, unreduced={'data', 'x':(1)2})", ir.Sharding{Dims: []ir.DimSharding{closed()},
			Replicated: ir.ShardAxes{model}, Unreduced: ir.ShardAxes{data, half}}},
		{"P('model', unreduced=max{'data'})", ir.Sharding{Dims: []ir.DimSharding{closed(model)},
			Unreduced: ir.ShardAxes{data}, Reduction: ir.ReduceMax}},
	} {
		m := ir.NewModule()
		c.s.Mesh = m.AddMesh("mesh", testMesh.Mesh, nil, 0)
		if got := specfmt.Notation(m, m.InternSharding(c.s)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	m := ir.NewModule()
	id := m.InternSharding(ir.Sharding{Mesh: m.AddMesh("one", subaxis.Mesh{DeviceIDs: []int64{3}}, nil, 0)})
	if got := specfmt.Notation(m, id); got != "P(device=3)" {
		t.Errorf("got %s", got)
	}
	l, _, err := specfmt.Parse(specfmt.PartitionSpec, m.Mesh(1), 2, "P(device=3)", diag.Position{})
	if err != nil || len(l.Sharding.Dims) != 0 {
		t.Errorf("P(device=3) reads as %v, %v", l.Sharding, err)
	}
}

// Errors of partition specs point at the place.
func TestErrorPlaces(t *testing.T) {
	for text, want := range map[string]struct {
		code diag.Code
		col  int
	}{
		"":                             {diag.Syntax, 1},
		"P('data'":                     {diag.Syntax, 9},
		"P('data')x":                   {diag.Syntax, 10},
		"P('dat')":                     {diag.UnknownAxis, 3},
		"P('data', 'data')":            {diag.DuplicateAxis, 11},
		"P('x':(1)2, 'x':(1)4)":        {diag.DuplicateAxis, 13},
		"P('x':(3)2)":                  {diag.BadSubAxis, 3},
		"P('x':(99999999999)2)":        {diag.Syntax, 8},
		"P(None, None, None)":          {diag.BadShardingRank, 1},
		"P('data":                      {diag.Syntax, 3},
		`P('data\`:                     {diag.Syntax, 8},
		`P('\q')`:                      {diag.Syntax, 4},
		"P(device=1)":                  {diag.BadSharding, 3},
		"P(replicated={'x'}, None)":    {diag.Syntax, 21},
		"P(replicated={'x', ?})":       {diag.Syntax, 15},
		"P(unreduced=median{'x'})":     {diag.Syntax, 13},
		"P('data'p)":                   {diag.Syntax, 10},
		"P('data'p9999999999999999999": {diag.Syntax, 10},
		"P(axes={'x'})":                {diag.Syntax, 3},
	} {
		_, _, err := specfmt.Parse(specfmt.PartitionSpec, testMesh, 2, text, diag.Position{Line: 1, Col: 1})
		e, ok := err.(*diag.Error)
		if !ok {
			t.Errorf("%q is accepted", text)
			continue
		}
		if d := e.Diagnostics[0]; d.Code != want.code || d.Pos.Col != want.col {
			t.Errorf("%q: %s at column %d (%s), want %s at %d", text, d.Code, d.Pos.Col, d.Message, want.code, want.col)
		}
	}
}

func TestForms(t *testing.T) {
	for f := specfmt.Sdy; f <= specfmt.GSPMD; f++ {
		if got, err := specfmt.ParseForm(f.String()); err != nil || got != f {
			t.Errorf("%s reads as %s, %v", f, got, err)
		}
	}
	if _, err := specfmt.ParseForm("dtensr"); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), "did you mean `dtensor`?") {
		t.Errorf("got %v", err)
	}
}

// Long texts of dimensions of size 1 take no longer than others.
func TestManySmallDimensions(t *testing.T) {
	ones := strings.Repeat("1,", 1<<16)
	perm := make([]string, 1<<16+1)
	for i := range perm {
		perm[i] = fmt.Sprint(i)
	}
	text := "{devices=[" + ones + "1048576]<=[" + ones + "1048576]T(" + strings.Join(perm, ",") + ") last_tile_dims={" +
		strings.Repeat("manual,", 1<<15) + "replicated}}"
	mesh := &ir.MeshDecl{Mesh: subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 1 << 20}}}}
	l, _, err := specfmt.Parse(specfmt.GSPMD, mesh, specfmt.AnyRank, text, diag.Position{})
	if err != nil || len(l.Sharding.Dims) != 1<<15 {
		t.Errorf("%d dimensions, %v", len(l.Sharding.Dims), err)
	}
}

func TestTuples(t *testing.T) {
	for text, want := range map[string][]string{
		"{replicated}": {"{replicated}"},
		"{{replicated}, {devices=[2,2]<=[4] last_tile_dims={manual}}}": {"{replicated}", "{devices=[2,2]<=[4] last_tile_dims={manual}}"},
		"{{manual}}": {"{manual}"},
		`{{manual metadata={op_name="}}, {"}}, {unknown}}`: {`{manual metadata={op_name="}}, {"}}`, "{unknown}"},
		"{}": {"{}"},
	} {
		got, at := specfmt.TupleElements(text)
		if !slices.Equal(got, want) {
			t.Errorf("%s has elements %q", text, got)
		}
		for i, e := range got {
			if text[at[i]:at[i]+len(e)] != e {
				t.Errorf("%s: element %d does not begin at byte %d", text, i, at[i])
			}
		}
	}
}

// Any text ends in a layout or an error, and what is read can be written and read again.
func FuzzParse(f *testing.F) {
	for form, texts := range map[specfmt.Form][]string{
		specfmt.PartitionSpec: {"P('data', None, ('model', 'x'))", "P('x':(1)2, ?)", "P((?)p0, replicated={'x'})",
			`P("da\x74a", unreduced_kind=max, unreduced={'x'})`},
		specfmt.Sdy: {`<@mesh, [{"data", ?}p1, {}, {}], replicated={"x":(1)2}, unreduced=max{"model"}>`,
			`<mesh<["data"=4, "b"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>, [{"b"}]>`},
		specfmt.DTensor: {"[Shard(0), R, Partial(sum)]", "(_StridedShard(dim=0, sf=2), S(-1), _S(0, 8))"},
		specfmt.GSPMD: {"{devices=[4,1,2,8]<=[4,2,8]T(1,0,2) last_tile_dims={replicated}}",
			"{devices=[2,2]0,3,1,2 metadata={a=\"}\"} shard_as 2}",
			"{replicated}", "{maximal device=3}"},
	} {
		for _, s := range texts {
			f.Add(uint8(form), s)
		}
	}
	f.Fuzz(func(t *testing.T, form uint8, text string) {
		f := specfmt.Form(form % 4)
		mesh, rank := testMesh, 3
		if form >= 128 && (f == specfmt.Sdy || f == specfmt.GSPMD) {
			mesh, rank = nil, specfmt.AnyRank
		}
		l, _, err := specfmt.Parse(f, mesh, rank, text, diag.Position{})
		if err != nil {
			return
		}
		out, _, err := specfmt.Format(f, &l)
		if errors.Is(err, diag.ErrUnsupported) {
			return
		}
		again, _, err2 := specfmt.Parse(f, l.Mesh, len(l.Sharding.Dims), out, diag.Position{})
		if err != nil || err2 != nil {
			t.Fatalf("%q is written as %q: %v, %v", text, out, err, err2)
		}
		if twice, _, err := specfmt.Format(f, &again); err != nil || twice != out {
			t.Fatalf("%q is written as %q, then %q: %v", text, out, twice, err)
		}
	})
}

func ExampleFormat() {
	l, _, _ := specfmt.Parse(specfmt.PartitionSpec, testMesh, 2, "P(('data', 'model'))", diag.Position{})
	text, _, _ := specfmt.Format(specfmt.GSPMD, &l)
	fmt.Println(text)
	// Output: {devices=[8,1,8]<=[64] last_tile_dim_replicate}
}
