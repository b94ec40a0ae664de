package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"autoshard/subaxis"
	"autoshard/trace"

	"github.com/google/go-cmp/cmp"
)

// plain names everything by its number.
type plain struct{}

func (plain) Op(op, factor int32) string { return fmt.Sprintf("op %d, factor %d", op, factor) }

func (plain) Place(p trace.Place) string {
	if p.Value < 0 {
		return fmt.Sprintf("result %d[%d]", ^p.Value, p.Dim)
	}
	return fmt.Sprintf("%%%d[%d]", p.Value, p.Dim)
}

func (plain) Axes(_ int32, axes []subaxis.Ref) string {
	var names []string
	for _, a := range axes {
		names = append(names, fmt.Sprintf("axis%d:(%d)%d", a.Axis, a.Pre, a.Size))
	}
	return strings.Join(names, ", ")
}

func (plain) Kind(op int32) string { return fmt.Sprintf("op%d", op%2) }

func (plain) Source(op int32, p trace.Place) string {
	return fmt.Sprintf("m.mlir:%d", max(op, p.Value))
}

func sample() *trace.Trace {
	t := trace.New(nil)
	x := t.Intern([]subaxis.Ref{{Axis: 0, Pre: 1, Size: 2}})
	y := t.Intern([]subaxis.Ref{{Axis: 1, Pre: 1, Size: 4}, {Axis: 0, Pre: 2, Size: 2}})
	t.Begin(0, 1)
	t.Add(trace.Event{Kind: trace.Move, Op: 3, Factor: 0, Axes: x, From: trace.Place{Value: 1}, To: trace.Place{Value: 2}})
	t.Begin(1, 0)
	t.Add(trace.Event{Kind: trace.Activate, Axes: y, To: trace.Place{Value: 5, Dim: 1}})
	t.Begin(1, 2)
	refusal := trace.Event{Kind: trace.Refusal, Reason: trace.Conflict, Op: 4, Factor: 1, Axes: x, From: trace.Place{Value: 2},
		To: trace.Place{Value: ^0, Dim: 1}, Against: y, Other: trace.Place{Value: ^0}}
	t.Add(refusal)
	t.Begin(1, 3)
	t.Add(refusal) // again, at a later level: not a new event
	t.Add(trace.Event{Kind: trace.Move, Op: 9, Factor: 2, Axes: y, From: trace.Place{Value: 5, Dim: 1}, To: trace.Place{Value: 6}})
	return t
}

const sampleText = `user priority 0
  op priority 1
    axis0:(1)2 moves from %1[0] to %2[0] through op 3, factor 0
user priority 1
  op priority 0
    axis1:(1)4, axis0:(2)2 starts at %5[1], as annotated
  op priority 2
    axis0:(1)2 of %2[0] is kept from result 0[1] in op 4, factor 1: used by another dimension (axis1:(1)4, axis0:(2)2 at result 0[0])
  op priority 3
    axis1:(1)4, axis0:(2)2 moves from %5[1] to %6[0] through op 9, factor 2
`

func text(t *testing.T, tr *trace.Trace, o trace.Options) string {
	doc, err := tr.Describe(t.Context(), plain{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Text(-1)
}

func TestFormat(t *testing.T) {
	all := trace.Options{Round: -1, Refusals: true}
	if diff := cmp.Diff(sampleText, text(t, sample(), all)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	moves := text(t, sample(), trace.Options{Round: 1})
	if strings.Contains(moves, "kept") || strings.Contains(moves, "user priority 0") || !strings.Contains(moves, "op 9") {
		t.Errorf("round 1 without refusals:\n%s", moves)
	}
}

func TestJSON(t *testing.T) {
	doc, _ := sample().Describe(t.Context(), plain{}, trace.Options{Round: -1, Refusals: true})
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var back trace.Document
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doc, back); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(string(text), `"reason":"used by another dimension"`) {
		t.Errorf("no reason in %s", text)
	}
}

func TestIntern(t *testing.T) {
	tr := trace.New(nil)
	list := []subaxis.Ref{{Axis: 1, Pre: 2, Size: 3}}
	first := tr.Intern(list)
	if tr.Intern(nil) != 0 || tr.Intern(list) != first {
		t.Error("equal lists have to get equal ids, the empty one 0")
	}
	if diff := cmp.Diff(list, tr.Axes(tr.Intern(list))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReasons checks that every reason has words of its own.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := trace.NoReason; r <= trace.Strided; r++ {
		if seen[r.String()] || r > trace.NoReason && r.String() == "" {
			t.Errorf("reason %d is %q", r, r)
		}
		seen[r.String()] = true
	}
}

// TestManyEvents checks that events keep their order as a trace grows.
func TestManyEvents(t *testing.T) {
	tr := trace.New(nil)
	const n = 50_000
	for i := range int32(n) {
		tr.Add(trace.Event{Op: i})
	}
	events := tr.Events()
	for i := range events {
		if events[i].Op != int32(i) {
			t.Fatalf("event %d is that of op %d", i, events[i].Op)
		}
	}
	if len(events) != n {
		t.Errorf("%d of %d events", len(events), n)
	}
}

// chains is a trace of two equal chains of moves, a longer one, two equal refusals and another one.
func chains() *trace.Trace {
	t := trace.New(nil)
	x := t.Intern([]subaxis.Ref{{Axis: 0, Pre: 1, Size: 2}})
	move := func(op, from, to int32) {
		t.Add(trace.Event{Kind: trace.Move, Op: op, Axes: x, From: trace.Place{Value: from}, To: trace.Place{Value: to}})
	}
	refuse := func(op, to int32, r trace.Reason) {
		t.Add(trace.Event{Kind: trace.Refusal, Reason: r, Op: op, Axes: x, From: trace.Place{Value: 1}, To: trace.Place{Value: to}})
	}
	t.Begin(0, 1)
	move(2, 1, 2)
	move(4, 3, 4) // the beginning of another chain through an op of the same kind
	move(6, 2, 6) // goes on from the first
	move(8, 4, 8)
	move(11, 9, 11) // through an op of another kind
	refuse(12, 20, trace.Closed)
	refuse(14, 21, trace.Closed)
	refuse(16, 22, trace.Replicated)
	t.Begin(0, 2)
	move(18, 8, 18) // the next level begins chains of its own
	return t
}

// Steps that are alike are one group: chains through the same kinds of ops, refusals for the same reason. The groups of a level have each
// of its steps once, and the summary counts dimensions.
func TestGroups(t *testing.T) {
	given := []trace.Given{{At: trace.Place{Value: 1}, Axes: []subaxis.Ref{{Axis: 0, Pre: 1, Size: 2}}}}
	doc, err := chains().Describe(t.Context(), plain{}, trace.Options{Round: -1, Refusals: true, Given: given})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range doc.Rounds[0].Levels {
		for _, g := range l.Groups {
			got = append(got, fmt.Sprintf("%d: %s %s from %d through %v", l.OpPriority, g.Kind, g.Reason, len(g.Starts), g.Steps))
		}
	}
	want := []string{"1: move  from 2 through [0 1 2 3]", "1: move  from 1 through [4]", "1: refusal closed dimension from 2 through [5 6]",
		"1: refusal explicitly replicated from 1 through [7]", "2: move  from 1 through [0]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := doc.Rounds[0].Summary
	if len(s.Given) != 1 || s.Given[0].Places[0] != "%1[0]" || s.Gained[0].Dims != 6 || len(s.Refused) != 2 || s.Refused[0].Dims != 2 {
		t.Errorf("summary %+v", s)
	}
}
