package profile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"autoshard/backend/profile"
	"autoshard/ir"
)

// ticks returns a clock that goes on by a millisecond whenever it is read.
func ticks() func() time.Duration {
	now := time.Duration(0)
	return func() time.Duration { now += time.Millisecond; return now }
}

func ExampleRecorder() {
	r := profile.New(ticks(), 2)
	d := r.Device(1)
	d.Begin(7)
	d.Wait(0)
	d.Resume()
	d.End(7, 64)
	for _, s := range r.Tracks[1].Spans {
		fmt.Println(s.Op, s.Start, s.End, s.Wait, s.Live)
	}
	// Output:
	// 7 2ms 3ms true 0
	// 7 1ms 4ms false 64
}

// The time of an op does not count for the op around it, but for its elapsed time; waits are part of both.
func TestTotals(t *testing.T) {
	r := profile.New(ticks(), 1)
	d := r.Device(0)
	const loop, add, gather = ir.OpID(1), ir.OpID(2), ir.OpID(3)
	d.Begin(loop)
	for range 2 {
		d.Begin(add)
		d.End(add, 8)
		d.Begin(gather)
		d.Wait(-1)
		d.Resume()
		d.End(gather, 8)
	}
	d.End(loop, 0)
	ms := time.Millisecond
	want := map[ir.OpID]profile.Total{
		loop:   {Count: 1, Elapsed: 13 * ms, Own: 5 * ms},
		add:    {Count: 2, Elapsed: 2 * ms, Own: 2 * ms},
		gather: {Count: 2, Elapsed: 6 * ms, Own: 6 * ms, Waits: 2 * ms},
	}
	for op, w := range want {
		if got := *r.Tracks[0].Totals[op]; got != w {
			t.Errorf("op %d: %+v, want %+v", op, got, w)
		}
	}
	if n := len(r.Tracks[0].Spans); n != 7 {
		t.Errorf("%d spans, want 7", n)
	}
}

// Beyond the bound executions are counted, but not kept.
func TestSpansAreBounded(t *testing.T) {
	r := profile.New(func() time.Duration { return 0 }, 1)
	d := r.Device(0)
	for range profile.MostSpans + 3 {
		d.Begin(1)
		d.End(1, 0)
	}
	track := r.Tracks[0]
	if len(track.Spans) != profile.MostSpans || track.Dropped != 3 || track.Totals[1].Count != profile.MostSpans+3 {
		t.Errorf("%d spans, %d dropped, %d in all", len(track.Spans), track.Dropped, track.Totals[1].Count)
	}
	if slices.ContainsFunc(track.Spans, func(s profile.Span) bool { return s.Op != 1 }) {
		t.Error("spans of other ops")
	}
}
