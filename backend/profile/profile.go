// Package profile measures runs on virtual devices: what each device did when, what it waited for, and what it held.
//
//	r := profile.New(clock, 8)
//	_, _, err := mesh.Run(ctx, m, main, 8, args, mesh.Options{Meter: r.Device})
//	r.Tracks[3].Spans // what device 3 did
//	r.Tracks[3].Totals[op].Own
//
// Clocks are the caller's: this package reads none.
package profile

import (
	"time"

	"autoshard/backend/mesh"
	"autoshard/ir"
)

// MostSpans bounds the spans that a device keeps; totals go on.
const MostSpans = 1 << 18

// Recorder measures a run of some devices.
type Recorder struct{ Tracks []*Track }

// New returns a recorder that reads a clock, which several goroutines may do at once.
func New(clock func() time.Duration, devices int) *Recorder {
	r := &Recorder{}
	for range devices {
		r.Tracks = append(r.Tracks, &Track{clock: clock, Totals: map[ir.OpID]*Total{}})
	}
	return r
}

// Device returns what measures a device, for [mesh.Options].
func (r *Recorder) Device(id int) mesh.Meter { return r.Tracks[id] }

// Track is what one device did. It implements [mesh.Meter].
type Track struct {
	Spans   []Span // in the order in which they ended
	Dropped int    // that are not kept, see MostSpans
	Totals  map[ir.OpID]*Total

	clock   func() time.Duration
	open    []opened
	waiting Span
}

// Span is the execution of an op, or a wait of one for another device.
type Span struct {
	Op         ir.OpID
	Start, End time.Duration
	Live       int64 // bytes of values that the device held at the end; of no wait
	Wait       bool
	From       int // the device that a wait is for, -1 for any
}

// Total is what all executions of an op took together. Own is the time without that of ops inside, and with that of waits.
type Total struct {
	Count               int64
	Elapsed, Own, Waits time.Duration
}

// opened is an op that has begun.
type opened struct {
	op     ir.OpID
	start  time.Duration
	inside time.Duration // of ops in it that have ended
}

// Begin implements [mesh.Meter].
func (t *Track) Begin(op ir.OpID) { t.open = append(t.open, opened{op: op, start: t.clock()}) }

// End implements [mesh.Meter].
func (t *Track) End(op ir.OpID, live int64) {
	now, last := t.clock(), len(t.open)-1
	o := t.open[last]
	t.open = t.open[:last]
	total := t.total(op)
	total.Count++
	total.Elapsed += now - o.start
	total.Own += now - o.start - o.inside
	if last > 0 {
		t.open[last-1].inside += now - o.start
	}
	t.keep(Span{Op: op, Start: o.start, End: now, Live: live})
}

// Wait implements [mesh.Meter].
func (t *Track) Wait(from int) {
	t.waiting = Span{Op: t.open[len(t.open)-1].op, Start: t.clock(), Wait: true, From: from}
}

// Resume implements [mesh.Meter].
func (t *Track) Resume() {
	t.waiting.End = t.clock()
	t.total(t.waiting.Op).Waits += t.waiting.End - t.waiting.Start
	t.keep(t.waiting)
}

func (t *Track) total(op ir.OpID) *Total {
	if t.Totals[op] == nil {
		t.Totals[op] = &Total{}
	}
	return t.Totals[op]
}

func (t *Track) keep(s Span) {
	if len(t.Spans) == MostSpans {
		t.Dropped++
		return
	}
	t.Spans = append(t.Spans, s)
}
