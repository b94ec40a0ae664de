package calibrate_test

import (
	"testing"

	"autoshard/calibrate"
)

// Samples of collectives are sorted by size; what was not measured has no place in a ratio, nor have sizes where latency counts.
func TestRounds(t *testing.T) {
	sample := func(kind calibrate.Kind, bytes, seconds float64) calibrate.Sample {
		return calibrate.Sample{Kind: kind, DType: "f32", Amount: bytes, Seconds: seconds}
	}
	rounds := calibrate.Rounds([]calibrate.Sample{
		sample(calibrate.AllGather, 4096, 3e-6), sample(calibrate.AllReduce, 4096, 3e-6), sample(calibrate.Matmul, 4096, 1),
		sample(calibrate.AllGather, 1024, 1e-6), sample(calibrate.AllReduce, 1024, 9e-6),
		sample(calibrate.AllGather, 8192, 4e-6), sample(calibrate.AllReduce, 8192, 8e-6), sample(calibrate.AllToAll, 8192, 1e-6),
		sample(calibrate.AllGather, 16384, 8e-6), sample(calibrate.AllReduce, 16384, 16e-6),
	})
	if len(rounds) != 4 || rounds[0].Bytes != 1024 || rounds[2].Of[3] == nil || rounds[2].Of[1] != nil {
		t.Fatalf("%+v", rounds)
	}
	if got := calibrate.Ratio(rounds, 2, 4096); got != 2 {
		t.Errorf("an all-reduce takes %g times as long as a gather, want 2", got)
	}
	if got := calibrate.Ratio(rounds, 3, 4096); got != 0.25 {
		t.Errorf("an all-to-all takes %g times as long as a gather, want 0.25", got)
	}
	if got := calibrate.Ratio(rounds, 1, 0); got != 0 {
		t.Errorf("what was not measured takes %g times as long as a gather", got)
	}
}
