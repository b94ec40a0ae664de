package estimate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

const us = 1_000_000 // picoseconds

// torus is a chip whose memory costs next to nothing, on a 4x4 torus.
func torus(flops, link, dispatch float64, wrap cost.Wrap) cost.Hardware {
	return cost.Hardware{Name: "test", Matrix: cost.Rates{BF16: flops}, VectorFLOPs: 1e18, HBMBytes: 16e9, HBMBandwidth: 1e18,
		Dispatch: dispatch,
		Torus:    &cost.Torus{Link: link, Shape: []int64{4, 4}, Wrap: wrap, HopLatency: 1e-12}}
}

// gatherProduct gathers the contracted rows of the right operand over y: x[b,d] w[d,f].
func gatherProduct(b, d, f int64) string {
	return product(fmt.Sprintf("%dx%dxbf16", b, d), "[{}, {}]", fmt.Sprintf("%dx%dxbf16", d, f), `[{"y"}, {}]`,
		fmt.Sprintf("%dx%dxbf16", b, f), "[1] x [0]", 1)
}

// rowProduct gathers the rows of the left operand.
func rowProduct(b, d, f int64) string {
	return product(fmt.Sprintf("%dx%dxbf16", b, d), `[{"y"}, {}]`, fmt.Sprintf("%dx%dxbf16", d, f), "[{}, {}]",
		fmt.Sprintf("%dx%dxbf16", b, f), "[1] x [0]", 0)
}

func product(left, leftSharding, right, rightSharding, out, contract string, gathered int) string {
	types, shardings := [2]string{left, right}, [2]string{leftSharding, rightSharding}
	operands := [2]string{"%x0", "%x1"}
	operands[gathered] = "%g"
	return fmt.Sprintf(`sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%%x0: tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, %s>}, %%x1: tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, %s>}) -> (tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %%g = sdy.all_gather %s %%x%d out_sharding=<@mesh, [{}, {}]> : tensor<%s>
  %%d = stablehlo.dot_general %s, %s, contracting_dims = %s {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<%s>, tensor<%s>) -> tensor<%s>
  return %%d : tensor<%s>
}`, left, leftSharding, right, rightSharding, out, shardings[gathered], gathered, types[gathered], operands[0], operands[1], contract, left, right, out, out)
}

// scatterProduct scatters the rows of the product of x[b,d] and w[d,f] over y.
func scatterProduct(b, d, f int64) string {
	x, w, out := fmt.Sprintf("%dx%dxbf16", b, 4*d), fmt.Sprintf("%dx%dxbf16", 4*d, f), fmt.Sprintf("%dx%dxbf16", b, f)
	return fmt.Sprintf(`sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%%x: tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %%w: tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<%s> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %%d = stablehlo.dot_general %%x, %%w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<%s>, tensor<%s>) -> tensor<%s>
  %%s = sdy.reduce_scatter [{"y"}, {}] %%d out_sharding=<@mesh, [{"y"}, {}]> : tensor<%s>
  return %%s : tensor<%s>
}`, x, w, out, x, w, out, out, out)
}

// priced lowers a program with the rings that ways name for its collectives, and prices it.
func priced(t rapid.TB, md *estimate.Model, text string, ways map[int]ring.Way) (*shardmap.Program, estimate.Step) {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{File: "example"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	id, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(context.Background(), m, id)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range ways {
		op := p.Collectives[i].Op
		m.SetAttrs(op, m.OpAttrs(op).With(ring.Attr, ir.StringAttr(w.String())))
	}
	if err := ring.Rewrite(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	step, err := md.Program(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return p, step
}

func rings(t rapid.TB, md *estimate.Model, p *shardmap.Program) []estimate.Choice {
	choices, err := md.Rings(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return choices
}

// allKinds are the programs of this file.
var allKinds = []func(b, d, f int64) string{gatherProduct, rowProduct, scatterProduct, gatheredTwice, twoProducts, manyProducts, looped}

// drawn draws the text of a program with collectives beside products, of those of this file and more.
func drawn(t *rapid.T, more ...func(b, d, f int64) string) string {
	size := rapid.SampledFrom([]int64{8, 64, 256, 1024})
	kinds := append(allKinds[:len(allKinds):len(allKinds)], more...)
	return rapid.SampledFrom(kinds).Draw(t, "kind")(size.Draw(t, "b"), size.Draw(t, "d"), size.Draw(t, "f"))
}

// mayRing prices a program as it is or, where a ring pays, with that.
func mayRing(t *rapid.T, md *estimate.Model, text string) (*shardmap.Program, estimate.Step) {
	p, step := priced(t, md, text, nil)
	if choices := rings(t, md, p); len(choices) > 0 && rapid.Bool().Draw(t, "ring") {
		return priced(t, md, text, map[int]ring.Way{choices[0].Collective: choices[0].Way})
	}
	return p, step
}

func model(t rapid.TB, hw cost.Hardware) *estimate.Model {
	md, err := estimate.New(hw, subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	return md
}

// TestCalibration is C-06 of cost.md: 224 us of computing and 87 us of communication take 311 us one after the other,
// and 244 us overlapped in four chunks of 5 us overhead.
func TestCalibration(t *testing.T) {
	const b, d, f = 512, 2048, 2048
	gathered := 2.0 * d * f
	hw := torus(2*b*d*f/224e-6, gathered*3/4/82e-6/2, 5e-6, cost.WrapFull)
	md := model(t, hw)
	p, serial := priced(t, md, gatherProduct(b, d, f), nil)
	choices := rings(t, md, p)
	if len(choices) != 1 {
		t.Fatalf("%d rings are chosen, want 1", len(choices))
	}
	rings, overlapped := priced(t, md, gatherProduct(b, d, f), map[int]ring.Way{0: choices[0].Way})
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"computing", serial.Compute, 224 * us}, {"blocking", serial.Total(), 311 * us}, {"blocking, as chosen", choices[0].Serial, 311 * us},
		{"overlapped", overlapped.Total(), 244 * us}, {"overlapped, as chosen", choices[0].Ring, 244 * us},
	} {
		if c.got < c.want-us/10 || c.got > c.want+us/10 {
			t.Errorf("%s takes %d ps, want %d", c.what, c.got, c.want)
		}
	}
	if n := len(rings.Collectives); n != 3 {
		t.Errorf("%d permutes, want 3", n)
	}
}

// TestWays checks which way chunks walk: both where links idle otherwise, one where that is as fast, none where
// chunks cost more than they hide or are smaller than the chip's tile.
func TestWays(t *testing.T) {
	bound := torus(1e15, 1e9, 1e-9, cost.WrapFull) // by communication
	lines := torus(1e15, 1e9, 1e-9, cost.WrapNever)
	idle := torus(1e12, 1e12, 1e-9, cost.WrapFull)
	slow := torus(1e15, 1e9, 1, cost.WrapFull)
	tiled := bound
	tiled.Tile = 256
	coarse := bound
	coarse.Tile = 1024
	for _, c := range []struct {
		what, text string
		hw         cost.Hardware
		want       string
	}{
		{"a ring", rowProduct(2048, 512, 512), bound, "bidirectional"},
		{"a line", rowProduct(2048, 512, 65536), lines, "unidirectional"},
		{"hidden either way", rowProduct(2048, 512, 512), idle, "unidirectional"},
		{"a slow dispatch", rowProduct(2048, 512, 512), slow, ""},
		{"halves as large as a tile", rowProduct(2048, 512, 512), tiled, "bidirectional"},
		{"chunks smaller than a tile", rowProduct(2048, 512, 512), coarse, ""},
		{"a reduce-scatter", scatterProduct(2048, 512, 512), bound, "bidirectional"},
		{"odd chunks", scatterProduct(12, 512, 512), idle, "unidirectional"},
		{"two users", strings.Replace(rowProduct(512, 512, 512), "%g, %x1", "%g, %g", 1), bound, ""},
	} {
		md := model(t, c.hw)
		p, _ := priced(t, md, c.text, nil)
		got := ""
		for _, choice := range rings(t, md, p) {
			got += choice.Way.String()
		}
		if got != c.want {
			t.Errorf("%s: chunks walk %q, want %q", c.what, got, c.want)
		}
	}
}

// What a ring is said to save, the program saves, in loops too, and no more than the overlap allows; no other choice saves more; and no
// product is in two rings.
func TestRingsSaveWhatTheyPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int64{8, 12, 64, 256, 1024})
		text := rapid.SampledFrom(allKinds).Draw(t, "kind")(size.Draw(t, "b"), size.Draw(t, "d"), size.Draw(t, "f"))
		rate := rapid.SampledFrom([]float64{1e8, 1e9, 1e10, 1e11})
		hw := torus(100*rate.Draw(t, "flops"), rate.Draw(t, "link"), rapid.SampledFrom([]float64{0, 1e-7, 1e-6}).Draw(t, "dispatch"),
			rapid.SampledFrom([]cost.Wrap{cost.WrapFull, cost.WrapNever}).Draw(t, "wrap"))
		hw.HBMBandwidth = 10 * rate.Draw(t, "memory")
		md := model(t, hw)
		p, serial := priced(t, md, text, nil)
		chosen, saved := map[int]ring.Way{}, int64(0)
		products := map[ir.OpID]bool{}
		for _, c := range rings(t, md, p) {
			chosen[c.Collective] = c.Way
			x := &p.Collectives[c.Collective]
			saved += (c.Serial - c.Ring) * x.Runs
			least := int64(0)
			for _, r := range ring.Find(p) {
				if r.Collective == c.Collective {
					least += leastOf(md, p, &r)
				}
			}
			if c.Ring < least {
				t.Fatalf("rings take %d ps, at least %d were expected\n%s", c.Ring, least, text)
			}
			for _, x := range ring.Find(p) {
				if x.Collective == c.Collective {
					for _, op := range x.Products() {
						if products[op] {
							t.Fatal("a product is in two rings")
						}
						products[op] = true
					}
				}
			}
		}
		_, best := priced(t, md, text, chosen)
		if serial.Total()-best.Total() != saved || len(chosen) > 0 && saved <= 0 {
			t.Fatalf("%d ps without rings, %d with them: that does not save %d\n%s", serial.Total(), best.Total(), saved, text)
		}
		for _, c := range ring.Find(p) {
			for _, w := range []ring.Way{ring.OneWay, ring.BothWays} {
				if !c.Allows(w) {
					continue
				}
				if _, other := priced(t, md, text, map[int]ring.Way{c.Collective: w}); other.Total() < best.Total() {
					t.Fatalf("collective %d, %v, takes %d ps, what is chosen %d\n%s", c.Collective, w, other.Total(), best.Total(), text)
				}
			}
		}
	})
}

// leastOf returns what the ring of a candidate takes at least: its products, and of its collective what they cannot hide.
func leastOf(md *estimate.Model, p *shardmap.Program, c *ring.Candidate) int64 {
	m, x := p.Module, &p.Collectives[c.Collective]
	o := md.Overlap(x.Kind, x.Axes, x.Bytes)
	total, sent := o.Starts, o.Hidden
	for _, op := range c.Products() {
		operands, result := m.Operands(op), m.Result(op, 0)
		from, to := [][]int64{m.Shape(operands[0]), m.Shape(operands[1])}, [][]int64{m.Shape(result)}
		product, adding := md.Op(m, op, from, to, make([]bool, m.NumValues())), int64(0)
		if x.Kind == collectives.AllGather {
			dims := m.Attr(op, "dot_dimension_numbers").(*ir.DotDims)
			gathered := slices.Index(operands, m.Result(x.Op, 0))
			if slices.Contains([2][]int64{dims.LhsContract, dims.RhsContract}[gathered], m.OpAttrs(x.Op).Int("dim", 0)) {
				adding = md.Adding(m.ValueType(result).DType, m.ValueType(result).Elements())
			}
		}
		hides, longer := o.Beside(product, adding)
		total, sent = total+product+longer, sent-hides
		if saved := o.Saves(product, c.Extent*c.Steps, adding); len(c.Products()) == 1 && saved > 0 &&
			product+o.Price-saved != total+max(0, sent) {
			panic("a ring saves something else than what it hides")
		}
	}
	return total + max(0, sent)
}

// One ring of several products takes no longer than a ring for each of them, which sends as much each time.
func TestOneRingOfSeveralProducts(t *testing.T) {
	const again = "  %h = sdy.all_gather [{\"y\"}, {}] %x0 out_sharding=<@mesh, [{}, {}]> : "
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int64{8, 64, 256, 1024})
		b, d, f := size.Draw(t, "b"), size.Draw(t, "d"), size.Draw(t, "f")
		together := twoProducts(b, d, f)
		apart := strings.Replace(strings.Replace(together, "%e = stablehlo.dot_general %g", "%e = stablehlo.dot_general %h", 1),
			"  %e =", again+fmt.Sprintf("tensor<%dx%dxbf16>\n  %%e =", b, d), 1)
		rate := rapid.SampledFrom([]float64{1e8, 1e9, 1e10, 1e11})
		md := model(t, torus(100*rate.Draw(t, "flops"), rate.Draw(t, "link"), rapid.SampledFrom([]float64{0, 1e-7, 1e-6}).Draw(t, "dispatch"),
			cost.WrapFull))
		way := rapid.SampledFrom([]ring.Way{ring.OneWay, ring.BothWays}).Draw(t, "way")
		one, step := priced(t, md, together, map[int]ring.Way{0: way})
		two, steps := priced(t, md, apart, map[int]ring.Way{0: way, 1: way})
		if len(one.Rings) != 1 || len(two.Rings) != 2 || 2*len(one.Collectives) != len(two.Collectives) || step.Total() > steps.Total() {
			t.Fatalf("%d ring with %d permutes takes %d ps, %d with %d take %d", len(one.Rings), len(one.Collectives), step.Total(),
				len(two.Rings), len(two.Collectives), steps.Total())
		}
	})
}

// gatheredTwice gathers both operands.
func gatheredTwice(b, d, f int64) string {
	text := gatherProduct(b, d, f)
	x := fmt.Sprintf("tensor<%dx%dxbf16>", b, d)
	text = strings.Replace(text, "[{}, {}]>}", `[{"x"}, {}]>}`, 1)
	text = strings.Replace(text, "  %d =",
		fmt.Sprintf("  %%h = sdy.all_gather [{\"x\"}, {}] %%x0 out_sharding=<@mesh, [{}, {}]> : %s\n  %%d =", x), 1)
	return strings.Replace(text, "%x0, %g", "%h, %g", 1)
}

// twoProducts multiplies the rows that are gathered twice.
func twoProducts(b, d, f int64) string {
	text := rowProduct(b, d, f)
	line := text[strings.Index(text, "  %d ="):strings.Index(text, "  return")]
	again := strings.Replace(line, "%d =", "%e =", 1)
	out := fmt.Sprintf("tensor<%dx%dxbf16>", b, f)
	sum := "  %s = stablehlo.add %d, %e {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : " + out + "\n"
	return strings.Replace(strings.Replace(text, line, line+again+sum, 1), "return %d", "return %s", 1)
}

// manyProducts gathers rows that survive in a product, and are contracted in two others, of which the second needs the first.
func manyProducts(b, d, f int64) string {
	whole, kept := "#sdy.sharding<@mesh, [{}, {}]>", "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}"
	of := func(rows, columns int64) string { return fmt.Sprintf("tensor<%dx%dxbf16>", rows, columns) }
	x, w, v, y, out := of(b, d), of(d, f), of(f, b), of(b, f), of(f, d)
	return fmt.Sprintf(`sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%%x: %[1]s {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %%w: %[2]s {sdy.sharding = %[6]s}, %%v: %[3]s {sdy.sharding = %[6]s}) -> (%[5]s {sdy.sharding = %[6]s}) {
  %%g = sdy.all_gather [{"y"}, {}] %%x out_sharding=<@mesh, [{}, {}]> : %[1]s
  %%d = stablehlo.dot_general %%g, %%w, contracting_dims = [1] x [0] %[7]s : (%[1]s, %[2]s) -> %[4]s
  %%e = stablehlo.dot_general %%v, %%g, contracting_dims = [1] x [0] %[7]s : (%[3]s, %[1]s) -> %[5]s
  %%f = stablehlo.dot_general %%d, %%g, contracting_dims = [0] x [0] %[7]s : (%[4]s, %[1]s) -> %[5]s
  %%s = stablehlo.add %%e, %%f %[7]s : %[5]s
  return %%s : %[5]s
}`, x, w, v, y, out, whole, kept)
}

// looped gathers and multiplies in each of three rounds.
func looped(b, _, f int64) string {
	x, w := fmt.Sprintf("tensor<%dx%dxbf16>", b, f), fmt.Sprintf("tensor<%dx%dxbf16>", f, f)
	const whole = "#sdy.sharding<@mesh, [{}, {}]>"
	return fmt.Sprintf(`sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%%x: %[1]s {sdy.sharding = %[3]s}, %%w: %[2]s {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (%[1]s {sdy.sharding = %[3]s}) {
  %%zero = stablehlo.constant dense<0> : tensor<i32>
  %%r:2 = stablehlo.while(%%i = %%zero, %%a = %%x) : tensor<i32>, %[1]s attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {}]>]>}
   cond {
    %%three = stablehlo.constant dense<3> : tensor<i32>
    %%less = stablehlo.compare LT, %%i, %%three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %%less : tensor<i1>
  } do {
    %%g = sdy.all_gather [{"y"}, {}] %%w out_sharding=<@mesh, [{}, {}]> : %[2]s
    %%d = stablehlo.dot_general %%a, %%g, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (%[1]s, %[2]s) -> %[1]s
    %%one = stablehlo.constant dense<1> : tensor<i32>
    %%next = stablehlo.add %%i, %%one : tensor<i32>
    stablehlo.return %%next, %%d : tensor<i32>, %[1]s
  }
  return %%r#1 : %[1]s
}`, x, w, whole)
}

// A ring keeps two chunks of what is gathered instead of all of it, and one of the product.
func TestRingsNeedLessMemory(t *testing.T) {
	md := model(t, torus(1e15, 1e9, 1e-9, cost.WrapFull))
	const b, d, f = 1 << 14, 256, 256
	_, serial := priced(t, md, rowProduct(b, d, f), nil)
	_, rings := priced(t, md, rowProduct(b, d, f), map[int]ring.Way{0: ring.OneWay})
	const whole, chunk, weights, result = 2 * b * d, 2 * b * d / 4, 2 * d * f, 2 * b * f
	if want := int64(chunk + weights + whole + result); serial.Peak != want {
		t.Errorf("without a ring %d bytes are needed, want %d", serial.Peak, want)
	}
	least, most := int64(chunk+weights+result), int64(chunk+weights+result+3*chunk+64)
	if rings.Peak < least || rings.Peak > most {
		t.Errorf("a ring needs %d bytes, want %d to %d", rings.Peak, least, most)
	}
}
