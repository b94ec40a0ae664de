package shardmap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// groupsWriter writes a random chain of collectives over device groups, as users do.
type groupsWriter struct {
	t      *rapid.T
	mesh   *subaxis.Mesh
	text   strings.Builder
	rows   int
	values int
	stays  int // ops without a form over axes
}

const devices = 8

var deviceMeshes = []subaxis.Mesh{
	{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 4}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 8}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "one", Size: 1}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}, DeviceIDs: []int64{7, 1, 2, 4, 3, 5, 6, 0}},
}

// groups draws groups along axes, or any of one size.
func (w *groupsWriter) groups() [][]int64 {
	if rapid.Bool().Draw(w.t, "along axes") {
		axes := rapid.SliceOfNDistinct(rapid.IntRange(0, len(w.mesh.Axes)-1), 1, -1, rapid.ID[int]).Draw(w.t, "axes")
		refs := make([]subaxis.Ref, len(axes))
		for i, a := range axes {
			refs[i] = w.mesh.Full(a)
		}
		groups := w.mesh.Groups(refs)
		for _, g := range groups {
			for k, place := range g {
				g[k] = w.mesh.DeviceID(place)
			}
		}
		return groups
	}
	order := rapid.Permutation([]int64{0, 1, 2, 3, 4, 5, 6, 7}).Draw(w.t, "order")
	return slices.Collect(slices.Chunk(order, rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(w.t, "size")))
}

func lists[T any](rows []T) string { return strings.ReplaceAll(fmt.Sprint(rows), " ", ", ") }

// op writes an op of the last value, a matrix of 8 columns.
func (w *groupsWriter) op() {
	in, from := fmt.Sprintf("%%v%d", w.values), fmt.Sprintf("tensor<%dx8xf32>", w.rows)
	w.values++
	groups := w.groups()
	size := len(groups[0])
	attrs := w.among(groups)
	reducer := rapid.SampledFrom([]string{"add", "maximum", "minimum", "multiply"}).Draw(w.t, "reducer")
	body := ", use_global_device_ids}> ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %r = stablehlo." + reducer +
		" %p, %q : tensor<f32>\n  stablehlo.return %r : tensor<f32>\n})"
	write := func(name, rest string) {
		fmt.Fprintf(&w.text, "%%v%d = \"stablehlo.%s\"(%s) <{%s%s : (%s) -> tensor<%dx8xf32>\n", w.values, name, in, attrs, rest, from, w.rows)
	}
	reduce := func(name, rest string) {
		write(name, rest+body)
		if reducer == "multiply" {
			w.stays++
		}
	}
	switch kind := rapid.IntRange(0, 9).Draw(w.t, "op"); {
	case kind == 0 && w.rows%size == 0:
		w.rows /= size
		reduce("reduce_scatter", ", scatter_dimension = 0 : i64")
	case kind == 1 && w.rows*size <= 64:
		w.rows *= size
		write("all_gather", ", all_gather_dim = 0 : i64, use_global_device_ids}>")
	case kind == 2 && w.rows%size == 0:
		write("all_to_all", fmt.Sprintf(", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = %d : i64}>", size))
	case kind == 3:
		w.permute(in, from)
	case kind == 4:
		w.index(in, from)
	case kind == 5:
		w.stays++ // unless its groups run along axes, and the same member sends in all of them
		write("collective_broadcast", "}>")
	case kind == 6: // what the others get is zero
		w.stays++
		attrs = w.among(groups[:rapid.IntRange(1, len(groups)).Draw(w.t, "of them")])
		write("collective_broadcast", "}>")
	case kind == 7:
		w.stays++
		reduce("collective_reduce", "")
	case kind == 8:
		w.stays++
		order := rapid.Permutation([]int64{0, 1, 2, 3, 4, 5, 6, 7}).Draw(w.t, "order")
		attrs = w.among([][]int64{order[:5], append(order[5:], -1, -1)})
		reduce("all_reduce", "")
	default:
		reduce("all_reduce", "")
	}
}

// among returns the attributes of a collective in groups.
func (w *groupsWriter) among(groups [][]int64) string {
	return fmt.Sprintf("channel_handle = #stablehlo.channel_handle<handle = %d, type = 1>, replica_groups = dense<%s> : tensor<%dx%dxi64>",
		w.values, lists(groups), len(groups), len(groups[0]))
}

// permute writes a permutation of some devices.
func (w *groupsWriter) permute(in, from string) {
	targets := rapid.Permutation([]int64{0, 1, 2, 3, 4, 5, 6, 7}).Draw(w.t, "targets")
	var pairs [][]int64
	for source := range rapid.IntRange(1, devices).Draw(w.t, "pairs") {
		pairs = append(pairs, []int64{int64(source), targets[source]})
	}
	fmt.Fprintf(&w.text, "%%v%d = \"stablehlo.collective_permute\"(%s) <{channel_handle = #stablehlo.channel_handle<handle = %d, type = 1>, "+
		"source_target_pairs = dense<%s> : tensor<%dx2xi64>}> : (%s) -> %s\n", w.values, in, w.values, lists(pairs), len(pairs), from, from)
}

// index adds what is computed of the partition id: id / a % b.
func (w *groupsWriter) index(in, from string) {
	v, a, b := w.values, rapid.IntRange(1, 4).Draw(w.t, "a"), rapid.IntRange(2, 8).Draw(w.t, "b")
	fmt.Fprintf(&w.text, `%%id%[1]d = stablehlo.partition_id : tensor<ui32>
%%a%[1]d = stablehlo.constant dense<%[2]d> : tensor<ui32>
%%b%[1]d = stablehlo.constant dense<%[3]d> : tensor<ui32>
%%c%[1]d = stablehlo.divide %%id%[1]d, %%a%[1]d : tensor<ui32>
%%d%[1]d = stablehlo.remainder %%c%[1]d, %%b%[1]d : tensor<ui32>
%%e%[1]d = stablehlo.convert %%d%[1]d : (tensor<ui32>) -> tensor<f32>
%%f%[1]d = stablehlo.broadcast_in_dim %%e%[1]d, dims = [] : (tensor<f32>) -> %[5]s
%%v%[1]d = stablehlo.add %[4]s, %%f%[1]d : %[5]s
`, v, a, b, in, from)
}

// Programs over device groups give the same bits on every device after they were turned into programs over axes and back, and
// only what has no form over axes stays as it is. Every collective of them is noted, and moves the bytes that are predicted of it.
func TestOverAxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &groupsWriter{t: t, mesh: &deviceMeshes[rapid.IntRange(0, len(deviceMeshes)-1).Draw(t, "mesh")], rows: 8}
		for range rapid.IntRange(1, 4).Draw(t, "ops") {
			w.op()
		}
		text := fmt.Sprintf("func.func @main(%%v0: tensor<8x8xf32>) -> tensor<%dx8xf32> {\n%sreturn %%v%d : tensor<%dx8xf32>\n}\n",
			w.rows, w.text.String(), w.values, w.rows)
		m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		main, _ := m.Main()
		want, _ := onDevices(t, m, main)
		shardmap.OverAxes(m, m.Func(main).Body, m.AddMesh("", *w.mesh, nil, 0), nil)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("the program over axes is wrong: %v\n%s\n%s", err, text, mlir.Print(m, mlir.PrintOptions{}))
		}
		left := 0
		m.Walk(m.Func(main).Body, func(op ir.OpID) {
			if m.Kind(op).Communicates() && !m.Kind(op).IsShardMap() {
				left++
			}
		})
		if left > w.stays {
			t.Fatalf("%d collectives stay, want at most %d\n%s\n%s", left, w.stays, text, mlir.Print(m, mlir.PrintOptions{}))
		}
		p := &shardmap.Program{Module: m, Main: main, Mesh: *w.mesh}
		p.NoteCollectives()
		if err := shardmap.LowerAxes(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		outs, traffic := onDevices(t, m, main)
		predicted := map[ir.OpID]int64{}
		for i := range p.Collectives {
			predicted[p.Collectives[i].Op] = p.Collectives[i].TotalBytes()
		}
		for _, c := range traffic.Collectives {
			if bytes, noted := predicted[c.Op]; !noted || bytes != c.Bytes {
				t.Fatalf("%s moves %d bytes, predicted %d\n%s", c.Kind, c.Bytes, bytes, text)
			}
		}
		for d, got := range outs {
			if !slices.Equal(got.Data, want[d].Data) {
				t.Fatalf("device %d has %v, want %v\n%s\n%s", d, got.Floats(), want[d].Floats(), text, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
}

// onDevices runs a program of one input on all devices and returns what it gives on each, and what was sent.
func onDevices(t *rapid.T, m *ir.Module, main ir.FuncID) ([]*tensor.Tensor, mesh.Traffic) {
	rng := rand.New(rand.NewPCG(1, 2))
	args := make([][]*tensor.Tensor, devices)
	for d := range args {
		values := make([]float64, 64)
		for i := range values {
			values[i] = float64(rng.IntN(5) - 2)
		}
		x := tensor.FromFloats(dtype.F32, []int64{8, 8}, values...)
		args[d] = []*tensor.Tensor{&x}
	}
	outs, traffic, err := mesh.Run(t.Context(), m, main, devices, args, mesh.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	results := make([]*tensor.Tensor, devices)
	for d := range results {
		results[d] = outs[d][0]
	}
	return results, traffic
}
