package trace

import (
	"context"
	"strconv"
	"strings"

	"autoshard/subaxis"
)

// Names gives words to the ids of a trace.
type Names interface {
	// Op names an op, such as %3 = stablehlo.tanh, and where it matters its factor.
	Op(op, factor int32) string
	// Place names a dimension of a value, such as %3[0], or the value alone where the dimension is -1.
	Place(p Place) string
	// Axes names a list of axes of a mesh, such as "x", "y":(1)2.
	Axes(mesh int32, axes []subaxis.Ref) string
	// Kind names what an op is, such as stablehlo.tanh: ops of one kind have one.
	Kind(op int32) string
	// Source names the place in the user's program that an op or, where that is 0, a place comes from, "" for none.
	Source(op int32, p Place) string
}

// Options selects events.
type Options struct {
	Round    int32               // only this user priority; negative for all
	Refusals bool                // also what was kept away
	Of       Place               // only events that touch this dimension, or this value where Dim is -1; Value 0 for all
	Only     func(e *Event) bool // nil for all
	Given    []Given             // what dimensions had before, for the summary of user priority 0
}

// Given is what a dimension was given before the trace began.
type Given struct {
	At   Place
	Mesh int32
	Axes []subaxis.Ref
}

// selects says whether an event is wanted.
func (o *Options) selects(e *Event) bool {
	return (e.Kind != Refusal || o.Refusals) && (o.Round < 0 || e.Round == o.Round) &&
		(o.Of.Value == 0 || o.touches(e.To) || o.touches(e.From) || o.touches(e.Other)) && (o.Only == nil || o.Only(e))
}

func (o *Options) touches(p Place) bool {
	return p.Value == o.Of.Value && (o.Of.Dim < 0 || p.Dim < 0 || p.Dim == o.Of.Dim)
}

// Document is a trace in words, for JSON.
type Document struct {
	Rounds []Round `json:"rounds"`
}

// Round holds the events of one user priority.
type Round struct {
	UserPriority int32   `json:"user_priority"`
	Summary      Summary `json:"summary"`
	Levels       []Level `json:"levels"`
}

// Level holds the events of one op priority: all steps in order, and the groups that they are in.
type Level struct {
	OpPriority int8    `json:"op_priority"`
	Steps      []Step  `json:"steps"`
	Groups     []Group `json:"groups"`
}

// Step is one event in words. Kind is move, activate, replace or refusal.
type Step struct {
	Kind    string `json:"kind"`
	Axes    string `json:"axes"`
	From    string `json:"from,omitempty"`
	To      string `json:"to"`
	Op      string `json:"op,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Against string `json:"against,omitempty"`
	Other   string `json:"other,omitempty"`
}

var kindTexts = [...]string{Move: "move", Activate: "activate", Replace: "replace", Refusal: "refusal"}

// Describe returns the trace in words, grouped by user priority, then op priority, in the order of events.
// The only error is the context's.
func (t *Trace) Describe(ctx context.Context, names Names, o Options) (Document, error) {
	var doc Document
	d := newDigester(t, names)
	events := t.Events()
	for i := range events {
		if err := ctx.Err(); err != nil {
			return Document{}, err
		}
		e := &events[i]
		if o.selects(e) {
			level := doc.level(e)
			d.add(e, len(level.Steps))
			level.Steps = append(level.Steps, t.Step(e, names))
		}
	}
	d.finish(&doc, &o)
	return doc, nil
}

// level returns the group of an event, which is the last one or a new one.
func (d *Document) level(e *Event) *Level {
	if n := len(d.Rounds); n == 0 || d.Rounds[n-1].UserPriority != e.Round {
		d.Rounds = append(d.Rounds, Round{UserPriority: e.Round})
	}
	r := &d.Rounds[len(d.Rounds)-1]
	if n := len(r.Levels); n == 0 || r.Levels[n-1].OpPriority != e.Level {
		r.Levels = append(r.Levels, Level{OpPriority: e.Level})
	}
	return &r.Levels[len(r.Levels)-1]
}

// Step returns an event in words.
func (t *Trace) Step(e *Event, names Names) Step {
	s := Step{Kind: kindTexts[e.Kind], Axes: names.Axes(e.Mesh, t.Axes(e.Axes)), To: names.Place(e.To)}
	if e.Kind == Activate {
		return s
	}
	s.From, s.Op = names.Place(e.From), names.Op(e.Op, e.Factor)
	if e.Kind == Refusal {
		s.Reason = e.Reason.String()
		if e.Other.Value != 0 {
			s.Against, s.Other = names.Axes(e.Mesh, t.Axes(e.Against)), names.Place(e.Other)
		}
	}
	return s
}

// Text returns the trace for a person, of one user priority where that is not negative.
func (d *Document) Text(priority int32) string {
	var b strings.Builder
	for _, r := range d.Rounds {
		if priority >= 0 && r.UserPriority != priority || len(r.Levels) == 0 {
			continue
		}
		b.WriteString("user priority " + strconv.Itoa(int(r.UserPriority)) + "\n")
		for _, l := range r.Levels {
			b.WriteString("  op priority " + strconv.Itoa(int(l.OpPriority)) + "\n")
			for i := range l.Steps {
				b.WriteString("    " + l.Steps[i].String() + "\n")
			}
		}
	}
	return b.String()
}

// String returns the step as one line.
func (s *Step) String() string {
	switch s.Kind {
	case "activate":
		return s.Axes + " starts at " + s.To + ", as annotated"
	case "replace":
		return s.Axes + " of " + s.From + " replaces what " + s.To + " had, in " + s.Op
	case "move":
		return s.Axes + " moves from " + s.From + " to " + s.To + " through " + s.Op
	}
	line := s.Axes + " of " + s.From + " is kept from " + s.To + " in " + s.Op + ": " + s.Reason
	switch {
	case s.Against != "":
		line += " (" + s.Against + " at " + s.Other + ")"
	case s.Other != "":
		line += " (" + s.Other + ")"
	}
	return line
}
