package estimate_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/shardmap"
)

const farAhead = 1 << 20

func simulated(t rapid.TB, md *estimate.Model, p *shardmap.Program, ahead int) *estimate.Timeline {
	line, err := md.Simulate(context.Background(), p, ahead)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// A simulated step takes no less than its units and each kind of its links are busy, and no more than all ops one after the other; starting
// collectives sooner, and faster links, never make it slower.
func TestSimulationLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawn(t, independent)
		rate := rapid.SampledFrom([]float64{1e8, 1e9, 1e10, 1e11})
		hw := torus(100*rate.Draw(t, "flops"), rate.Draw(t, "link"), rapid.SampledFrom([]float64{0, 1e-6}).Draw(t, "dispatch"), cost.WrapFull)
		hw.HBMBandwidth = 10 * rate.Draw(t, "memory")
		md := model(t, hw)
		p, step := mayRing(t, md, text)
		line := simulated(t, md, p, farAhead)
		least := step.Compute
		for _, busy := range line.Sending {
			least = max(least, busy)
		}
		if line.Compute != step.Compute || line.Length < least || line.Length > step.Total() {
			t.Errorf("%d ps simulated, at least %d are busy, %d one after the other\n%s", line.Length, least, step.Total(), text)
		}
		if late := simulated(t, md, p, rapid.IntRange(0, 4).Draw(t, "ahead")); late.Length < line.Length || late.Length > step.Total() {
			t.Errorf("%d ps with collectives that start late, %d as early as they can, %d one after the other\n%s", late.Length, line.Length,
				step.Total(), text)
		}
		if fast := simulated(t, model(t, hw.Faster(cost.ResourceNetwork, 2)), p, farAhead); fast.Length > line.Length {
			t.Errorf("%d ps with faster links, %d with slower ones\n%s", fast.Length, line.Length, text)
		}
	})
}

// independent gathers along both axes, and multiplies what needs neither before it adds what was gathered.
func independent(b, d, f int64) string {
	x, w, y := fmt.Sprintf("tensor<%dx%dxbf16>", 8*b, d), fmt.Sprintf("tensor<%dx%dxbf16>", d, f), fmt.Sprintf("tensor<%dx%dxbf16>", 8*b, f)
	const whole = "#sdy.sharding<@mesh, [{}, {}]>"
	const value = "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}"
	return fmt.Sprintf(`sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%%a: %[3]s {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %%b: %[3]s {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %%c: %[1]s {sdy.sharding = %[4]s}, %%w: %[2]s {sdy.sharding = %[4]s}) -> (%[3]s {sdy.sharding = %[4]s}) {
  %%g = sdy.all_gather [{"x"}, {}] %%a out_sharding=<@mesh, [{}, {}]> : %[3]s
  %%h = sdy.all_gather [{"y"}, {}] %%b out_sharding=<@mesh, [{}, {}]> : %[3]s
  %%d = stablehlo.dot_general %%c, %%w, contracting_dims = [1] x [0] %[5]s : (%[1]s, %[2]s) -> %[3]s
  %%s = stablehlo.add %%g, %%h %[5]s : %[3]s
  %%r = stablehlo.add %%s, %%d %[5]s : %[3]s
  return %%r : %[3]s
}`, x, w, y, whole, value)
}

// Gathers along two axes use different links: they run at once, beside the product, and what is added waits for the longer of them.
func TestSimulationOverlaps(t *testing.T) {
	md := model(t, torus(1e12, 1e9, 1e-6, cost.WrapFull))
	p, step := priced(t, md, independent(64, 256, 256), nil)
	line := simulated(t, md, p, farAhead)
	longest := max(step.Collectives[0], step.Collectives[1])
	product, sum := int64(0), int64(0)
	for _, e := range line.Events {
		switch {
		case e.Collective >= 0 && e.Start != 0:
			t.Errorf("a gather starts at %d ps", e.Start)
		case e.Collective < 0 && product == 0:
			product = e.Length
		case e.Collective < 0:
			sum += e.Length
		}
	}
	if line.Length != max(longest, product)+sum {
		t.Errorf("%d ps, want the longer of %d and %d, and %d", line.Length, longest, product, sum)
	}
	if stalls := line.Stalls(p); max(stalls[0], stalls[1]) != longest-product || min(stalls[0], stalls[1]) != 0 {
		t.Errorf("the units stand still for %v ps, want %d for one", stalls, longest-product)
	}
	if one := simulated(t, md, p, 0); one.Length < line.Length || one.Events[1].Start != 0 {
		t.Errorf("%d ps where collectives start in their place", one.Length)
	}
}
