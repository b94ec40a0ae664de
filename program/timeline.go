package program

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
)

// DefaultAhead is how many places before its own in the program a collective may start in a simulated step.
const DefaultAhead = 500

// Overlap is a step in which collectives run beside local ops. Times are in seconds.
type Overlap struct {
	Seconds float64    `json:"seconds"`
	Ahead   int        `json:"ahead"`  // places before its own at which a collective may start
	Hidden  float64    `json:"hidden"` // that the step is shorter than one op after the other
	Busy    []LinkBusy `json:"busy"`   // links, in the order of the network
	Stalls  []Stall    `json:"stalls"` // collectives that the units stand still for, the longest first
}

// LinkBusy is how long links of a kind are busy in a step.
type LinkBusy struct {
	Links   string  `json:"links"`   // which, such as axis 0 of a torus
	Seconds float64 `json:"seconds"` // of a step
}

// Stall is how long the units stand still for collectives that are alike.
type Stall struct {
	Kind    string   `json:"kind"`
	Axes    string   `json:"axes"`
	Type    string   `json:"type"` // of the result
	Places  int      `json:"places"`
	Seconds float64  `json:"seconds"`
	Sources []string `json:"sources"`
}

// OverlapOf describes a simulated step of a device's program, by the seconds of one that does one op after the other.
func OverlapOf(device *shardmap.Program, line *estimate.Timeline, ahead int, serial float64) Overlap {
	o := Overlap{Seconds: float64(line.Length) / Picoseconds, Ahead: ahead, Busy: []LinkBusy{}, Stalls: []Stall{}}
	o.Hidden = max(0, serial-o.Seconds)
	for i, name := range line.Links {
		if line.Sending[i] > 0 {
			o.Busy = append(o.Busy, LinkBusy{name, float64(line.Sending[i]) / Picoseconds})
		}
	}
	at := map[[3]string]int{}
	for i, ps := range line.Stalls(device) {
		if ps == 0 {
			continue
		}
		c := &device.Collectives[i]
		one := describeItem(device, &estimate.Item{Op: c.Op, Collective: i, Picoseconds: ps * c.Runs})
		key := [3]string{one.Kind, one.Axes, one.Type}
		n, ok := at[key]
		if !ok {
			n = len(o.Stalls)
			at[key] = n
			o.Stalls = append(o.Stalls, Stall{Kind: one.Kind, Axes: one.Axes, Type: one.Type})
		}
		s := &o.Stalls[n]
		s.Places, s.Seconds = s.Places+1, s.Seconds+one.Seconds
		if source := one.Sources[0]; !slices.Contains(s.Sources, source) {
			s.Sources = append(s.Sources, source)
		}
	}
	slices.SortStableFunc(o.Stalls, func(x, y Stall) int { return cmp.Compare(y.Seconds, x.Seconds) })
	return o
}

// shownEvent is an event in the format that Chrome and Perfetto read. Times are in microseconds.
type shownEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// Simulated is a simulated step, event by event.
type Simulated struct {
	Seconds float64
	Links   []string // kinds of links
	Events  []RunEvent
}

// RunEvent is the run of an op in a simulated step. A loop is one for all its runs; what is in it shows its first. Times are in
// microseconds.
type RunEvent struct {
	Name   string // of the op or, of a collective, its kind and between whom
	Type   string // of its first result, "" for none
	Source string // place in the user's program, with its scope
	Links  []int  // that a collective uses, by the numbers of Simulated.Links; nil for other ops
	Bytes  int64  // that all devices together send
	Start  float64
	Length float64
	Waited float64 // how long the units had stood still for it
}

// Simulate simulates a step, as Breakdown does. Errors are like those of Estimate.
func (p *Program) Simulate(ctx context.Context, hardware cost.Hardware, ahead int) (s *Simulated, err error) {
	defer diag.Recover("estimate", &err)
	device := p.onDevice()
	model, err := estimate.New(hardware.OrDefault(), device.Mesh)
	if err != nil {
		return nil, err
	}
	line, err := model.Simulate(ctx, device, ahead)
	if err != nil {
		return nil, err
	}
	return &Simulated{float64(line.Length) / Picoseconds, line.Links,
		lists.Of(len(line.Events), func(i int) RunEvent { return describeEvent(device, &line.Events[i]) })}, nil
}

// Timeline simulates a step, and returns it in the JSON format that Perfetto shows: a track for the units of a device,
// and one for each kind of its links. A loop shows its first run. Errors are like those of Estimate.
func (p *Program) Timeline(ctx context.Context, hardware cost.Hardware, ahead int) (out []byte, err error) {
	defer diag.Recover("estimate", &err)
	s, err := p.Simulate(ctx, hardware, ahead)
	if err != nil {
		return nil, err
	}
	events := []shownEvent{}
	for i, name := range append([]string{"units"}, lists.Map(s.Links, func(name string) string { return "links, " + name })...) {
		events = append(events, shownEvent{Name: "thread_name", Phase: "M", Thread: i, Args: map[string]any{"name": name}})
	}
	for i := range s.Events {
		e := &s.Events[i]
		tracks := []int{0}
		if e.Links != nil {
			tracks = lists.Map(e.Links, func(l int) int { return l + 1 })
		}
		event := e.shown()
		for _, track := range tracks {
			event.Thread = track
			events = append(events, event)
		}
	}
	return json.Marshal(struct {
		Events []shownEvent `json:"traceEvents"`
		Unit   string       `json:"displayTimeUnit"`
	}{events, "ns"})
}

// shown returns an event without its track.
func (e *RunEvent) shown() shownEvent {
	out := shownEvent{Name: e.Name, Phase: "X", Time: e.Start, Duration: e.Length, Args: map[string]any{}}
	if e.Links != nil {
		out.Args["bytes"] = e.Bytes
	}
	if e.Type != "" {
		out.Args["type"] = e.Type
	}
	if e.Source != "" {
		out.Args["source"] = e.Source
	}
	if e.Waited > 0 {
		out.Args["waited"] = diag.Seconds(e.Waited / 1e6)
	}
	return out
}

// describeEvent puts an event into words.
func describeEvent(p *shardmap.Program, e *estimate.Event) RunEvent {
	m := p.Module
	out := RunEvent{Name: plainKind(m.Kind(e.Op)), Start: float64(e.Start) / 1e6, Length: float64(e.Length) / 1e6,
		Waited: float64(e.Waited) / 1e6, Source: answer.Scoped(m, m.OpLoc(e.Op))}
	if e.Collective >= 0 {
		c := &p.Collectives[e.Collective]
		out.Name, out.Bytes, out.Links = c.Kind.String()+" over "+among(p, c), c.Bytes, append([]int{}, e.Links...)
	} else if m.Kind(e.Op) == ir.OpWhile {
		out.Name = fmt.Sprintf("while, %d runs", ir.Trips(m, e.Op))
	}
	if m.NumResults(e.Op) > 0 {
		t := m.ValueType(m.Result(e.Op, 0))
		out.Type = answer.FormatType(t, t.Dims)
	}
	return out
}
