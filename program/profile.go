package program

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"autoshard/answer"
	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/profile"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir"
)

// RunOptions says what is looked at while a program runs.
type RunOptions struct {
	MaxBytes  int64                // bound on the live bytes of each device; 0 means 16 GiB
	CheckNaNs bool                 // ends the run with a diag.ErrFinding at the first op that makes elements that are NaN, see [run.NoNaNs]
	Clock     func() time.Duration // measures the run for [Result].Profile; nil: nobody measures. All devices call it at once
}

// check looks at the inputs of a run.
func (o *RunOptions) check(inputs []*tensor.Tensor) error {
	if !o.CheckNaNs {
		return nil
	}
	return run.NoNaNInputs(inputs)
}

// of returns the options of a run of a module on so many devices, and what measures it, nil for nothing.
func (o *RunOptions) of(devices int) (run.Options, *profile.Recorder) {
	opts := run.Options{WholeWindows: true, MaxBytes: min(o.MaxBytes, math.MaxInt64/int64(devices)) * int64(devices)}
	if o.CheckNaNs {
		opts.Observe = run.NoNaNs
	}
	if o.Clock == nil {
		return opts, nil
	}
	r := profile.New(o.Clock, devices)
	opts.Meter = r.Device
	return opts, r
}

// onOne returns the options of a run on one device that sees whole tensors.
func (o *RunOptions) onOne(m *ir.Module) (mesh.Options, *profile.Recorder) {
	opts, r := o.of(1)
	out := mesh.Options{WholeWindows: opts.WholeWindows, MaxBytes: opts.MaxBytes, Meter: opts.Meter}
	if opts.Observe != nil {
		out.Observe = func(device int, s *interp.Step) error { return opts.Observe(m, device, s) }
	}
	return out, r
}

// Profile says what a run took. Times are in seconds, and like bytes of all devices together.
type Profile struct {
	Seconds float64         `json:"seconds"` // from the first op to the last
	Kinds   []ProfileRow    `json:"kinds"`   // of ops, the longest first
	Lines   []ProfileRow    `json:"lines"`   // of the user's program, the longest first
	Devices []DeviceProfile `json:"devices"`
	Dropped int             `json:"dropped,omitempty"` // executions that the trace has not

	module   *ir.Module
	recorder *profile.Recorder
}

// ProfileRow is what ops that have something in common took. Ops around others count without those.
type ProfileRow struct {
	Name    string  `json:"name"`
	Runs    int64   `json:"runs"`
	Seconds float64 `json:"seconds"` // of computing and copying
	Waiting float64 `json:"waiting"` // for other devices
	Bytes   int64   `json:"bytes"`   // of operands and results
}

// DeviceProfile is what one device did.
type DeviceProfile struct {
	Device    int     `json:"device"`
	Seconds   float64 `json:"seconds"`
	Waiting   float64 `json:"waiting"`
	PeakBytes int64   `json:"peakBytes"` // held at once
}

// newProfile sums up what was recorded of a module's run, nil for nothing.
func newProfile(m *ir.Module, r *profile.Recorder, traffic *mesh.Traffic) *Profile {
	if r == nil {
		return nil
	}
	p := &Profile{module: m, recorder: r}
	kinds, lines := map[string]*ProfileRow{}, map[string]*ProfileRow{}
	first, last := time.Duration(1<<63-1), time.Duration(0)
	for id, t := range r.Tracks {
		d := DeviceProfile{Device: id, PeakBytes: traffic.PeakBytes[id]}
		for op, total := range t.Totals {
			seconds, waiting := (total.Own - total.Waits).Seconds(), total.Waits.Seconds()
			d.Seconds, d.Waiting = d.Seconds+seconds, d.Waiting+waiting
			one := ProfileRow{Runs: total.Count, Seconds: seconds, Waiting: waiting, Bytes: total.Count * touched(m, op)}
			one.addTo(kinds, plainKind(m.Kind(op)))
			one.addTo(lines, cmp.Or(answer.Line(m, m.OpLoc(op)), m.OpPos(op).String()))
		}
		for i := range t.Spans {
			first, last = min(first, t.Spans[i].Start), max(last, t.Spans[i].End)
		}
		p.Devices = append(p.Devices, d)
		p.Dropped += t.Dropped
	}
	p.Seconds = max(0, last-first).Seconds()
	p.Kinds, p.Lines = sorted(kinds), sorted(lines)
	return p
}

func (r ProfileRow) addTo(rows map[string]*ProfileRow, name string) {
	if rows[name] == nil {
		rows[name] = &ProfileRow{Name: name}
	}
	sum := rows[name]
	sum.Runs, sum.Seconds, sum.Waiting, sum.Bytes = sum.Runs+r.Runs, sum.Seconds+r.Seconds, sum.Waiting+r.Waiting, sum.Bytes+r.Bytes
}

func sorted(rows map[string]*ProfileRow) (list []ProfileRow) {
	for _, r := range rows {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b ProfileRow) int {
		return cmp.Or(cmp.Compare(b.Seconds+b.Waiting, a.Seconds+a.Waiting), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// touched returns the bytes of an op's operands and results, of one that only runs others none.
func touched(m *ir.Module, op ir.OpID) (bytes int64) {
	switch m.Kind(op) {
	case ir.OpWhile, ir.OpIf, ir.OpCase, ir.OpCall:
		return 0
	}
	for _, v := range m.Operands(op) {
		bytes += staticBytes(m.ValueType(v))
	}
	for _, v := range m.Results(op) {
		bytes += staticBytes(m.ValueType(v))
	}
	return bytes
}

func staticBytes(t *ir.Type) int64 {
	if t.Kind != ir.TensorKind || !t.IsStatic() {
		return 0
	}
	return t.Bytes()
}

// Trace returns the run in the JSON format that Perfetto shows: a process for each device, with its ops, in them its waits, and a curve of
// the bytes that it held.
func (p *Profile) Trace() ([]byte, error) {
	events := []shownEvent{}
	for id, t := range p.recorder.Tracks {
		name := map[string]any{"name": fmt.Sprintf("device %d", id)}
		events = append(events, shownEvent{Name: "process_name", Phase: "M", Process: id, Args: name},
			shownEvent{Name: "thread_name", Phase: "M", Process: id, Args: map[string]any{"name": "ops"}})
		held := int64(-1)
		for i := range t.Spans {
			s := &t.Spans[i]
			events = append(events, p.event(id, s))
			if !s.Wait && s.Live != held {
				held = s.Live
				events = append(events, shownEvent{Name: "held", Phase: "C", Process: id, Time: microseconds(s.End),
					Args: map[string]any{"bytes": held}})
			}
		}
	}
	return json.Marshal(struct {
		Events []shownEvent `json:"traceEvents"`
		Unit   string       `json:"displayTimeUnit"`
	}{events, "ns"})
}

// event describes what a device did or waited for.
func (p *Profile) event(device int, s *profile.Span) shownEvent {
	e := shownEvent{Name: plainKind(p.module.Kind(s.Op)), Phase: "X", Time: microseconds(s.Start), Duration: microseconds(s.End - s.Start),
		Process: device, Args: map[string]any{}}
	if s.Wait {
		e.Name = fmt.Sprintf("wait for device %d", s.From)
		if s.From < 0 {
			e.Name = "wait for any device"
		}
		return e
	}
	if p.module.NumResults(s.Op) > 0 {
		t := p.module.ValueType(p.module.Result(s.Op, 0))
		e.Args["type"] = answer.FormatType(t, t.Dims)
	}
	if source := answer.Scoped(p.module, p.module.OpLoc(s.Op)); source != "" {
		e.Args["source"] = source
	}
	return e
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
