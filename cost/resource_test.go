package cost_test

import (
	"testing"

	"pgregory.net/rapid"

	"autoshard/collectives"
	"autoshard/cost"
)

// More of a resource makes no collective and no op slower, changes none that uses other resources alone, and leaves the profile as it is.
func TestFaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hw := rapid.SampledFrom(cost.Profiles()).Draw(t, "hardware").Hardware
		r := rapid.SampledFrom(cost.Resources()).Draw(t, "resource")
		faster := hw.Faster(r, 2)
		v := int64(1) << rapid.IntRange(8, 30).Draw(t, "bytes")
		kind := rapid.SampledFrom([]collectives.Kind{collectives.AllGather, collectives.AllReduce, collectives.AllToAll}).Draw(t, "kind")
		slow := onHardware(hw, "X4 Y2", cost.Planning(), cost.SliceShape{}).seconds(kind, "XY", v)
		fast := onHardware(faster, "X4 Y2", cost.Planning(), cost.SliceShape{}).seconds(kind, "XY", v)
		if sends := r == cost.ResourceNetwork || r == cost.ResourceLatency; fast > slow || !sends && fast != slow || sends && fast == slow {
			t.Errorf("%v takes %v s, with %s twice as fast %v s", kind, slow, r, fast)
		}
		work := cost.Work{FLOPs: float64(v), Bytes: float64(v)}
		if before, after := hw.Op(work, cost.Planning()).Seconds, faster.Op(work, cost.Planning()).Seconds; after > before ||
			r == cost.ResourceNetwork && after != before {
			t.Errorf("an op takes %v s, with %s twice as fast %v s", before, r, after)
		}
	})
	hw := profile("h100")
	if hw.Faster(cost.ResourceNetwork, 2); hw.Levels[1] != profile("h100").Levels[1] {
		t.Error("the profile itself was changed")
	}
}
