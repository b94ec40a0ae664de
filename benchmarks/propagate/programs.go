package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"autoshard/benchmarks/site"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// program is a text to propagate.
type program struct {
	name string
	text func() ([]byte, error)
	peer bool // whether the peer runs it too
	mlp  bool
}

// The sizes of generated MLPs, in operations. The largest is for the growth of the time here alone.
var sizes = []int{1_000, 10_000, 30_000, 100_000, 300_000}

// leastOps leaves small models out, whose times say little.
const leastOps = 1_000

func allPrograms() ([]program, error) {
	var list []program
	for _, n := range sizes {
		list = append(list, program{name: fmt.Sprintf("mlp_%d", n), text: func() ([]byte, error) { return mlp(n), nil }, peer: n < 300_000,
			mlp: true})
	}
	files, err := site.Shared("models/*.mlir*")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		m, err := readModel(file)
		if err != nil {
			return nil, err
		}
		if m.NumOps() <= leastOps {
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		list = append(list, program{name: name, peer: true, text: func() ([]byte, error) { return annotated(file) }})
	}
	return list, nil
}

func readModel(file string) (*ir.Module, error) {
	data, err := site.ReadText(file)
	if err != nil {
		return nil, err
	}
	return mlir.Parse(context.Background(), data, mlir.Options{File: filepath.Base(file)})
}

// annotated returns the text of a model with shardings: its own, else some on its arguments.
func annotated(file string) ([]byte, error) {
	m, err := readModel(file)
	if err != nil {
		return nil, err
	}
	if m.NumShardings() <= 1 {
		annotate(m)
	}
	return mlir.Print(m, mlir.PrintOptions{}), nil
}

// annotate gives every third argument of the main function a sharding of one dimension: the axes a to d of a mesh in
// turn, with user priorities 0 to 2 in turn.
func annotate(m *ir.Module) {
	axes := lists.Map([]string{"a", "b", "c", "d"}, func(name string) subaxis.Axis { return subaxis.Axis{Name: name, Size: 2} })
	mesh := m.AddMesh("mesh", subaxis.Mesh{Axes: axes}, nil, 0)
	n := 0
	for i, v := range m.BlockArgs(m.MainFunc().Body) {
		shape := m.Shape(v)
		if i%3 != 0 || len(shape) == 0 {
			continue
		}
		s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, len(shape))}
		for d := range s.Dims {
			s.Dims[d].Priority = ir.NoPriority
		}
		s.Dims[n%len(shape)] = ir.DimSharding{Axes: ir.ShardAxes{m.Mesh(mesh).Full(n % 4)}, Priority: int32(n % 3)}
		m.SetSharding(v, m.InternSharding(s))
		n++
	}
}

// mlp returns a program of about n operations: layers of a product with a weight of their own, a tanh, and the sum
// with the layer before. The input and two weights are sharded, along four axes with three user priorities.
func mlp(n int) []byte {
	const x, w = "tensor<64x128xf32>", "tensor<128x128xf32>"
	layers := n / 3
	var b bytes.Buffer
	b.WriteString("module {\n  sdy.mesh @mesh = <[\"a\"=2, \"b\"=4, \"c\"=2, \"d\"=2]>\n  func.func @main(%arg0: " + x +
		" {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}p0, {?}]>}")
	for i := 1; i <= layers; i++ {
		fmt.Fprintf(&b, ", %%arg%d: %s", i, w)
		switch i {
		case 1:
			b.WriteString(` {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", ?}p1]>}`)
		case layers / 2:
			b.WriteString(` {sdy.sharding = #sdy.sharding<@mesh, [{"c", ?}p1, {"d", ?}p2]>}`)
		}
	}
	b.WriteString(") -> " + x + " {\n")
	last := "%arg0"
	for i := range layers {
		fmt.Fprintf(&b, "    %%%d = stablehlo.dot_general %s, %%arg%d, contracting_dims = [1] x [0] : (%s, %s) -> %s\n", 3*i, last, i+1, x, w, x)
		fmt.Fprintf(&b, "    %%%d = stablehlo.tanh %%%d : %s\n", 3*i+1, 3*i, x)
		fmt.Fprintf(&b, "    %%%d = stablehlo.add %%%d, %s : %s\n", 3*i+2, 3*i+1, last, x)
		last = fmt.Sprintf("%%%d", 3*i+2)
	}
	fmt.Fprintf(&b, "    return %s : %s\n  }\n}\n", last, x)
	return b.Bytes()
}
