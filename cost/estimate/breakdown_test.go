package estimate_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/cost"
)

// The items of a program add up to its step, collectives each to their own price, with rings and without, in loops too.
func TestBreakdownAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawn(t)
		md := model(t, torus(1e13, 1e9, rapid.SampledFrom([]float64{0, 1e-6}).Draw(t, "dispatch"), cost.WrapFull))
		p, step := mayRing(t, md, text)
		items, err := md.Breakdown(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		local, sent := int64(0), make([]int64, len(p.Collectives))
		for _, item := range items {
			if item.Collective < 0 {
				local += item.Picoseconds
			} else {
				sent[item.Collective] += item.Picoseconds
			}
		}
		if local != step.Compute {
			t.Errorf("local ops take %d ps, the step %d\n%s", local, step.Compute, text)
		}
		for i, ps := range sent {
			if ps != step.Collectives[i] {
				t.Errorf("collective %d takes %d ps, in the step %d\n%s", i, ps, step.Collectives[i], text)
			}
		}
	})
}

// A product that is large waits for the units, a small one for memory, a collective for links or for the time to start.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		hw   cost.Hardware
		want string
	}{
		{torus(1e9, 1e12, 0, cost.WrapFull), "network compute"},
		{torus(1e18, 1e6, 1, cost.WrapFull), "latency memory"},
	} {
		c.hw.HBMBandwidth = 1e10
		md := model(t, c.hw)
		p, _ := priced(t, md, rowProduct(512, 512, 512), nil)
		items, err := md.Breakdown(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range items {
			if item.Picoseconds > 0 {
				got = append(got, string(item.Bound))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("the ops wait for %v, want %s", got, c.want)
		}
	}
}
