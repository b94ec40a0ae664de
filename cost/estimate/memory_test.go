package estimate_test

import (
	"testing"

	"pgregory.net/rapid"

	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// What is held at the peak adds up to the peak of the step, with rings and without, in loops too.
func TestMemoryAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawn(t)
		md := model(t, torus(1e13, 1e9, 1e-6, cost.WrapFull))
		p, step := mayRing(t, md, text)
		mem, err := md.Memory(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		bytes, at := mem.Peak()
		if bytes != step.Peak {
			t.Errorf("the peak is %d bytes, that of the step %d\n%s", bytes, step.Peak, text)
		}
		for n := range mem.Ops {
			held := int64(0)
			for _, l := range mem.Lives {
				if l.Def <= int32(n) && int32(n) <= l.Last {
					held += l.Bytes
				}
			}
			if held > bytes || int32(n) == at && held != bytes {
				t.Errorf("op %d holds %d bytes, the peak is %d at op %d\n%s", n, held, bytes, at, text)
			}
		}
	})
}

// kept needs %g before the largest op and behind it, and %e only before; the operands of both are inputs.
const kept = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %g = sdy.all_gather [{"y"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x1024xf32>
  %s = stablehlo.transpose %g, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<512x1024xf32>) -> tensor<1024x512xf32>
  %w = stablehlo.dot_general %s, %s, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x1024xf32>
  %v = stablehlo.dot_general %w, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %u = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = stablehlo.dot_general %g, %u, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}`

// Gathering again what is needed behind the peak saves it there, and costs the gather; what nothing can make again is left out.
func TestRecompute(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(kept), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err != nil {
		t.Fatal(err)
	}
	md := model(t, torus(1e13, 1e9, 1e-6, cost.WrapFull))
	mem, err := md.Memory(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	const whole, square = 4 * 512 * 1024, 4 * 1024 * 1024
	if peak, _ := mem.Peak(); peak != whole/4+whole+2*square {
		t.Errorf("the peak is %d bytes", peak)
	}
	c := p.Collectives[0]
	g, ok := mem.Find(p.Module.Result(c.Op, 0))
	if !ok || mem.Collective(c.Op) == nil {
		t.Fatal("what is gathered is not held")
	}
	if r := mem.Recompute([]int{g}); r.Values != 1 || r.SavedBytes != whole || r.Picoseconds != md.Price(c.Kind, c.Axes, c.Bytes) {
		t.Errorf("gathering again changes %+v", r)
	}
	for i := range mem.Lives {
		if op := p.Module.DefiningOp(mem.Lives[i].Value); i != g && mem.Recompute([]int{i}).Values > 0 {
			t.Errorf("value %d of %v can be made again", i, p.Module.Kind(op))
		}
	}
	if r := mem.Recompute(nil); r != (estimate.Recomputation{}) {
		t.Errorf("making nothing again changes %+v", r)
	}
	if p.Module.Kind(mem.Ops[0]) != ir.OpShardMapAllGatherInvariant {
		t.Errorf("the first op is %v", p.Module.Kind(mem.Ops[0]))
	}
}

// What a rectifier reads is held until the gradient goes through it, and not the mask, which whoever fuses computes there.
func TestPeakOfWhatFlows(t *testing.T) {
	m, _ := first(t, `func.func @main(%x: tensor<8x8xf32>, %given: tensor<8x8xf32> {jax.buffer_donor = true}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %given, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %mask = stablehlo.compare GT, %0, %zero : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.select %mask, %1, %x : tensor<8x8xi1>, tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}`)
	main, _ := m.Main()
	bytes := int64(0)
	for _, held := range estimate.Peak(&shardmap.Program{Module: m, Main: main}) {
		bytes += held.Bytes
	}
	if want := int64(3 * 8 * 8 * 4); bytes != want { // x, the first product, and the second with the result in its place
		t.Errorf("the program holds %d bytes, want %d", bytes, want)
	}
}
