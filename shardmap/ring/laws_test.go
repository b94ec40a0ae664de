package ring_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"

	"pgregory.net/rapid"
)

// layouts are meshes with the axes that their rings run over.
var layouts = []struct {
	mesh, axes string
	devices, n int
}{
	{`["x"=2]`, `"x"`, 2, 2},
	{`["x"=3]`, `"x"`, 3, 3},
	{`["x"=4]`, `"x"`, 4, 4},
	{`["x"=7]`, `"x"`, 7, 7},
	{`["x"=8]`, `"x"`, 8, 8},
	{`["x"=8]`, `"x":(1)4`, 8, 4},
	{`["x"=8]`, `"x":(2)4`, 8, 4},
	{`["x"=2, "y"=4]`, `"y"`, 8, 4},
	{`["x"=4, "y"=2]`, `"x"`, 8, 4},
	{`["x"=2, "y"=3]`, `"x", "y"`, 6, 6},
	{`["x"=2, "y"=2]`, `"y", "x"`, 4, 4},
	{`["x"=4, "y"=2]`, `"y", "x":(2)2`, 8, 4},
	{`["x"=2, "y"=2], device_ids=[3, 0, 2, 1]`, `"x", "y"`, 4, 4},
}

// example is a product beside a collective.
type example struct {
	text    string
	devices int
	scatter bool
	summed  bool // in another order than the original
}

// drawExample draws a product, its dimensions named by letters as those of an einsum, with the collective beside it.
func drawExample(t *rapid.T) example {
	l := rapid.SampledFrom(layouts).Draw(t, "mesh")
	way := ring.Way(rapid.IntRange(0, 1).Draw(t, "way"))
	step := int64(1)
	if way == ring.BothWays {
		step = 2
		if l.n == 2 {
			way = ring.OneWay
		}
	}
	letters := func(set string, most int) string { return set[:rapid.IntRange(0, most).Draw(t, set)] }
	batch, left, right, contracted := letters("bc", 1), letters("mp", 2), letters("nq", 2), letters("kl", 2)
	shuffle := func(s string) string {
		return string(rapid.Permutation([]byte(s)).Draw(t, "order"))
	}
	spec := [3]string{shuffle(batch + left + contracted), shuffle(batch + right + contracted)}
	e := example{devices: l.devices, scatter: rapid.Bool().Draw(t, "scatter")}
	sizes := map[byte]int64{}
	for _, c := range []byte(batch + left + right + contracted) {
		sizes[c] = rapid.Int64Range(1, 3).Draw(t, "size")
	}
	pool := spec[0]
	operand := 0
	if e.scatter {
		pool = batch + left + right
	} else if operand = rapid.IntRange(0, 1).Draw(t, "operand"); operand == 1 {
		pool = spec[1]
	}
	if pool == "" {
		t.Skip("no dimension for a ring")
	}
	d := rapid.SampledFrom([]byte(pool)).Draw(t, "dimension")
	sizes[d] = int64(l.n) * step * rapid.Int64Range(1, 2).Draw(t, "chunk")
	e.summed = e.scatter || strings.IndexByte(contracted, d) >= 0
	element := rapid.SampledFrom([]string{"f32", "f32", "f64", "bf16", "i32"}).Draw(t, "type")
	e.text = write(l.mesh, l.axes, way, spec, batch, contracted, operand, d, sizes, element, e.scatter)
	return e
}

// write returns the partitioned program. Contracted dimensions of a scattered product are whole in it, which changes
// nothing in what its devices do.
func write(mesh, axes string, way ring.Way, spec [3]string, batch, contracted string, operand int, d byte, sizes map[byte]int64,
	element string, scatter bool) string {
	spec[2] = batch
	var numbers [2][2][]string
	for side := range 2 {
		for _, c := range []byte(batch) {
			numbers[side][0] = append(numbers[side][0], fmt.Sprint(strings.IndexByte(spec[side], c)))
		}
		for _, c := range []byte(contracted) {
			numbers[side][1] = append(numbers[side][1], fmt.Sprint(strings.IndexByte(spec[side], c)))
		}
		for _, c := range []byte(spec[side]) {
			if strings.IndexByte(batch+contracted, c) < 0 {
				spec[2] += string(c)
			}
		}
	}
	types, whole, cut := [3]string{}, [3]string{}, [3]string{}
	for i, s := range spec {
		var w, c []string
		for _, letter := range []byte(s) {
			types[i] += fmt.Sprintf("%dx", sizes[letter])
			axis := ""
			if letter == d {
				axis = axes
			}
			w, c = append(w, "{}"), append(c, "{"+axis+"}")
		}
		types[i] += element
		whole[i], cut[i] = "["+strings.Join(w, ", ")+"]", "["+strings.Join(c, ", ")+"]"
	}
	in := whole
	if !scatter {
		in[operand] = cut[operand]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "sdy.mesh @mesh = <%s>\nfunc.func @main(%%x0: tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, %s>}, %%x1: tensor<%s> "+
		"{sdy.sharding = #sdy.sharding<@mesh, %s>}) -> (tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, %s>}) {\n",
		mesh, types[0], in[0], types[1], in[1], types[2], map[bool]string{true: cut[2], false: whole[2]}[scatter])
	use, unreduced := [2]string{"%x0", "%x1"}, ""
	if scatter {
		unreduced = ", unreduced={" + inOrder(axes) + "}"
	} else {
		fmt.Fprintf(&b, "%%g = sdy.all_gather %s %%x%d out_sharding=<@mesh, %s> {autoshard.ring = \"%s\"} : tensor<%s>\n", cut[operand], operand,
			whole[operand], way, types[operand])
		use[operand] = "%g"
	}
	lists := ""
	for i, name := range []string{"batching_dims", "contracting_dims"} {
		lists += fmt.Sprintf(", %s = [%s] x [%s]", name, strings.Join(numbers[0][i], ", "), strings.Join(numbers[1][i], ", "))
	}
	fmt.Fprintf(&b, "%%d = stablehlo.dot_general %s, %s%s {sdy.sharding = #sdy.sharding_per_value<[<@mesh, %s%s>]>} : (tensor<%s>, "+
		"tensor<%s>) -> tensor<%s>\n",
		use[0], use[1], lists, whole[2], unreduced, types[0], types[1], types[2])
	out := "%d"
	if scatter {
		fmt.Fprintf(&b, "%%s = sdy.reduce_scatter %s %%d out_sharding=<@mesh, %s> {autoshard.ring = \"%s\"} : tensor<%s>\n", cut[2], cut[2], way,
			types[2])
		out = "%s"
	}
	fmt.Fprintf(&b, "return %s : tensor<%s>\n}\n", out, types[2])
	return b.String()
}

// inOrder sorts axes as a set of axes is written.
func inOrder(axes string) string {
	list := strings.Split(axes, ", ")
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// lower returns the program of one device, with or without rings.
func lower(t rapid.TB, text string, rings bool) *shardmap.Program {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{File: "example"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	id, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(context.Background(), m, id)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !rings {
		return p
	}
	if err := ring.Rewrite(context.Background(), p); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := ir.Verify(context.Background(), p.Module); err != nil {
		t.Fatalf("the rewritten program is wrong: %v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	return p
}

// run runs a program and checks what its collectives move.
func run(t rapid.TB, p *shardmap.Program, args [][]*tensor.Tensor) [][]*tensor.Tensor {
	p = p.Clone()
	if err := shardmap.LowerAxes(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(context.Background(), p.Module); err != nil {
		t.Fatalf("the program over groups is wrong: %v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	out, traffic, err := mesh.Run(context.Background(), p.Module, p.Main, len(args), args, mesh.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	for _, c := range p.Collectives {
		if got := traffic.Bytes(c.Op); got != c.TotalBytes() {
			t.Fatalf("%s moved %d bytes, predicted %d", c.Kind, got, c.TotalBytes())
		}
	}
	return out
}

// Every device computes with rings what it computes without them from the same blocks, which need not even agree
// between devices: bit for bit where no rounding depends on the order of sums. The bytes sent are the same, too.
func TestRingsComputeTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExample(t)
		plain, rings := lower(t, e.text, false), lower(t, e.text, true)
		if len(rings.Rings) != 1 || rings.Collectives[0].Kind.String() != "collective_permute" {
			t.Fatalf("no ring in\n%s", e.text)
		}
		whole := rapid.Bool().Draw(t, "whole numbers")
		args := make([][]*tensor.Tensor, e.devices)
		for d := range args {
			for _, v := range plain.Module.BlockArgs(plain.Module.Func(plain.Main).Body) {
				args[d] = append(args[d], drawBlock(t, plain.Module.ValueType(v), whole))
			}
		}
		want, got := run(t, plain, args), run(t, rings, args)
		for d := range want {
			a, b := got[d][0], want[d][0]
			exact := a.DType == dtype.I32 || whole && (a.DType != dtype.BF16 || !e.summed)
			if exact && !bytes.Equal(a.Data, b.Data) || !near(a, b) {
				t.Fatalf("device %d has %v, want %v\n%s", d, a.Floats(), b.Floats(), e.text)
			}
		}
		if a, b := sent(plain), sent(rings); a != b {
			t.Fatalf("the ring sends %d bytes, the collective %d", b, a)
		}
	})
}

func sent(p *shardmap.Program) int64 {
	total := int64(0)
	for _, c := range p.Collectives {
		total += c.TotalBytes()
	}
	return total
}

func drawBlock(t *rapid.T, typ *ir.Type, whole bool) *tensor.Tensor {
	n := int(typ.Elements())
	values := make([]float64, n)
	for i, v := range rapid.SliceOfN(rapid.IntRange(-5, 5), n, n).Draw(t, "values") {
		values[i] = float64(v)
		if !whole {
			values[i] *= 0.7
		}
	}
	x := tensor.Convert(tensor.FromFloats(dtype.F64, typ.Dims, values...), typ.DType)
	return &x
}

func near(a, b *tensor.Tensor) bool {
	tolerance := map[dtype.Type]float64{dtype.F32: 1e-5, dtype.F64: 1e-12, dtype.BF16: 3e-2}[a.DType]
	x, y := a.Floats(), b.Floats()
	largest := 10.0
	for i := range y {
		largest = max(largest, math.Abs(y[i]))
	}
	for i := range y {
		if math.Abs(x[i]-y[i]) > tolerance*largest {
			return false
		}
	}
	return slices.Equal(a.Shape, b.Shape)
}

// A program that forgets its rings is lowered with its collectives.
func TestForget(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %g = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> {autoshard.ring = "unidirectional"} : tensor<8x4xf32>
  %d = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %d : tensor<8x6xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ring.Forget(m)
	mesh, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err == nil {
		err = ring.Rewrite(t.Context(), p)
	}
	if err != nil || len(p.Rings) != 0 || len(p.Collectives) != 1 {
		t.Errorf("%d rings, %d collectives, %v", len(p.Rings), len(p.Collectives), err)
	}
}
