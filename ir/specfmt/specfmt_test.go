package specfmt_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

var testMesh = subaxis.Mesh{Axes: []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}, {Name: "x", Size: 8}}}

func TestPartitionSpec(t *testing.T) {
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
		{"P('data'p1, ()p0, (?)p2, ('model', ?)p0)", ir.Sharding{Dims: []ir.DimSharding{
			{Axes: ir.ShardAxes{data}, Closed: true, Priority: 1}, {Closed: true}, {Priority: 2}, {Axes: ir.ShardAxes{model}}}}},
		{"P(None, replicated={'model'}, unreduced={'data', 'x':(1)2})", ir.Sharding{Dims: []ir.DimSharding{closed()},
			Replicated: ir.ShardAxes{model}, Unreduced: ir.ShardAxes{data, half}}},
		{"P('model', unreduced=max{'data'})", ir.Sharding{Dims: []ir.DimSharding{closed(model)},
			Unreduced: ir.ShardAxes{data}, Reduction: ir.ReduceMax}},
	} {
		m := ir.NewModule()
		c.s.Mesh = m.AddMesh("mesh", testMesh, nil, 0)
		id := m.InternSharding(c.s)
		if got := specfmt.PartitionSpec(m, id); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		back, err := specfmt.Parse(m, c.s.Mesh, len(c.s.Dims), c.want, diag.Position{})
		if err != nil || back != id {
			t.Errorf("%s reads back as %v, error %v", c.want, m.ShardingOf(back), err)
		}
	}
}

func TestMaximal(t *testing.T) {
	m := ir.NewModule()
	mesh := m.AddMesh("one", subaxis.Mesh{DeviceIDs: []int64{3}}, nil, 0)
	id := m.InternSharding(ir.Sharding{Mesh: mesh})
	if got := specfmt.PartitionSpec(m, id); got != "P(device=3)" {
		t.Fatalf("got %s", got)
	}
	if back, err := specfmt.Parse(m, mesh, 2, "P(device=3)", diag.Position{}); err != nil || back != id {
		t.Fatalf("reads back as %d, error %v", back, err)
	}
}

func TestParseFillsTrailingDimensions(t *testing.T) {
	m := ir.NewModule()
	mesh := m.AddMesh("mesh", testMesh, nil, 0)
	id, err := specfmt.Parse(m, mesh, 3, "P( ('data',) , )", diag.Position{})
	if err != nil {
		t.Fatal(err)
	}
	if got := specfmt.PartitionSpec(m, id); got != "P('data', None, None)" {
		t.Fatalf("got %s", got)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]struct {
		code diag.Code
		col  int
	}{
		"":                              {diag.Syntax, 1},
		"P('data'":                      {diag.Syntax, 9},
		"P('data')x":                    {diag.Syntax, 10},
		"P('dat')":                      {diag.UnknownAxis, 3},
		"P('data', 'data')":             {diag.DuplicateAxis, 11},
		"P('x':(1)2, 'x':(1)4)":         {diag.DuplicateAxis, 13},
		"P('x':(3)2)":                   {diag.BadSubAxis, 3},
		"P('x':(99999999999)2)":         {diag.Syntax, 8},
		"P(None, None, None)":           {diag.BadShardingRank, 1},
		"P('data":                       {diag.Syntax, 3},
		"P(device=1)":                   {diag.BadSharding, 3},
		"P(replicated={'x'}, None)":     {diag.Syntax, 21},
		"P(replicated={'x', ?})":        {diag.Syntax, 15},
		"P(unreduced=median{'x'})":      {diag.Syntax, 13},
		"P('data'p)":                    {diag.Syntax, 10},
		"P('data'p99999999999999999999": {diag.Syntax, 10},
	} {
		m := ir.NewModule()
		mesh := m.AddMesh("mesh", testMesh, nil, 0)
		_, err := specfmt.Parse(m, mesh, 2, text, diag.Position{Line: 1, Col: 1})
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

// drawMesh makes a mesh of at most 64 devices whose axes have several parts.
func drawMesh(t *rapid.T) subaxis.Mesh {
	var mesh subaxis.Mesh
	for i := range rapid.IntRange(1, 3).Draw(t, "axes") {
		size := rapid.SampledFrom([]int64{1, 2, 3, 4}).Draw(t, "size")
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: size})
	}
	return mesh
}

// drawParts cuts the axes into parts and deals them to lists in any order.
func drawParts(t *rapid.T, mesh *subaxis.Mesh, lists int, whole bool) [][]subaxis.Ref {
	out := make([][]subaxis.Ref, lists)
	for i := range mesh.Axes {
		parts := []subaxis.Ref{mesh.Full(i)}
		if mesh.Axes[i].Size == 4 && !whole && rapid.Bool().Draw(t, "cut") {
			parts = []subaxis.Ref{{Axis: int32(i), Pre: 1, Size: 2}, {Axis: int32(i), Pre: 2, Size: 2}}
		}
		for _, p := range parts {
			if l := rapid.IntRange(-1, lists-1).Draw(t, "list"); l >= 0 {
				at := rapid.IntRange(0, len(out[l])).Draw(t, "at")
				out[l] = append(out[l][:at], append([]subaxis.Ref{p}, out[l][at:]...)...)
			}
		}
	}
	return out
}

// TestSliceMaps checks that a spec, read back, puts the same block of every dimension on every device.
func TestSliceMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := ir.NewModule()
		mesh := drawMesh(t)
		rank := rapid.IntRange(0, 3).Draw(t, "rank")
		lists := drawParts(t, &mesh, rank+2, false)
		s := ir.Sharding{Mesh: m.AddMesh("mesh", mesh, nil, 0), Replicated: subaxis.SortMerge(lists[rank]), Unreduced: subaxis.SortMerge(lists[rank+1])}
		for _, axes := range lists[:rank] {
			s.Dims = append(s.Dims, ir.DimSharding{Axes: axes, Closed: rapid.Bool().Draw(t, "closed"),
				Priority: rapid.Int32Range(ir.NoPriority, 2).Draw(t, "priority")})
		}
		id := m.InternSharding(s)
		text := specfmt.PartitionSpec(m, id)
		back, err := specfmt.Parse(m, s.Mesh, rank, text, diag.Position{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for device := range mesh.Devices() {
			for i := range s.Dims {
				want, got := mesh.ShardIndex(device, s.Dims[i].Axes), mesh.ShardIndex(device, m.ShardingOf(back).Dims[i].Axes)
				if want != got {
					t.Fatalf("%s: device %d holds block %d of dimension %d, read back %d", text, device, want, i, got)
				}
			}
		}
		if back != id {
			t.Fatalf("%s reads back as %s", text, m.FormatSharding(back))
		}
	})
}

// TestSliceMapsOfJAX compares the blocks that devices hold with those of JAX's NamedSharding for the same text.
func TestSliceMapsOfJAX(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: no JAX to compare with")
	}
	type query struct {
		Axes []subaxis.Axis
		Dims []int64
		Spec string
	}
	var queries []query
	var want [][][]int64
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		m := ir.NewModule()
		mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "a", Size: 2}, {Name: "b", Size: 1 + rng.Int64N(2)}, {Name: "c", Size: 2}}}
		s := ir.Sharding{Mesh: m.AddMesh("mesh", mesh, nil, 0), Dims: make([]ir.DimSharding, 2)}
		for _, i := range rng.Perm(3) {
			d := &s.Dims[rng.IntN(2)]
			d.Axes = append(d.Axes, mesh.Full(i))
		}
		for i := range s.Dims {
			s.Dims[i].Closed, s.Dims[i].Priority = true, ir.NoPriority
		}
		queries = append(queries, query{mesh.Axes, []int64{16, 24}, specfmt.PartitionSpec(m, m.InternSharding(s))})
		var starts [][]int64
		for device := range mesh.Devices() {
			starts = append(starts, []int64{
				mesh.ShardIndex(device, s.Dims[0].Axes) * 16 / s.Shards(0), mesh.ShardIndex(device, s.Dims[1].Axes) * 24 / s.Shards(1)})
		}
		want = append(want, starts)
	}
	in, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", jaxSliceMaps)
	cmd.Stdin = strings.NewReader(string(in))
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "XLA_FLAGS=--xla_force_host_platform_device_count=8")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("JAX: %v", err)
	}
	var got [][][]int64
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i := range queries {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("%s over %v: -ours +JAX\n%s", queries[i].Spec, queries[i].Axes, diff)
		}
	}
}

const jaxSliceMaps = `
import json, sys, numpy as np, jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
out = []
for q in json.load(sys.stdin):
    sizes = [a["Size"] for a in q["Axes"]]
    devices = jax.devices()[:int(np.prod(sizes))]
    mesh = Mesh(np.array(devices).reshape(sizes), [a["Name"] for a in q["Axes"]])
    index = NamedSharding(mesh, eval(q["Spec"])).devices_indices_map(tuple(q["Dims"]))
    out.append([[s.start or 0 for s in index[d]] for d in devices])
json.dump(out, sys.stdout)
`

func FuzzParse(f *testing.F) {
	for _, s := range []string{"P('data', None, ('model', 'x'))", "P('x':(1)2, ?)", "P(()p0, replicated={'x'})", "P(device=3)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := ir.NewModule()
		mesh := m.AddMesh("mesh", testMesh, nil, 0)
		id, err := specfmt.Parse(m, mesh, 3, text, diag.Position{})
		if err != nil {
			return
		}
		again, err := specfmt.Parse(m, mesh, 3, specfmt.PartitionSpec(m, id), diag.Position{})
		if err != nil || again != id {
			t.Fatalf("%q prints as %s, which does not read back: %v", text, specfmt.PartitionSpec(m, id), err)
		}
	})
}

func ExamplePartitionSpec() {
	m := ir.NewModule()
	mesh := m.AddMesh("mesh", testMesh, nil, 0)
	id, _ := specfmt.Parse(m, mesh, 2, "P(('data', 'model'))", diag.Position{})
	fmt.Println(specfmt.PartitionSpec(m, id), m.FormatSharding(id))
	// Output: P(('data', 'model'), None) <@mesh, [{"data", "model"}, {}]>
}
