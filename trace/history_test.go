package trace_test

import (
	"context"
	"fmt"
	"testing"

	"autoshard/subaxis"
	"autoshard/trace"

	"github.com/google/go-cmp/cmp"
)

func at(value, dim int32) trace.Place { return trace.Place{Value: value, Dim: dim} }

// whole is axis x of size 8; major and minor are its parts of size 2 and 4.
var (
	whole = subaxis.Ref{Axis: 0, Pre: 1, Size: 8}
	major = subaxis.Ref{Axis: 0, Pre: 1, Size: 2}
	minor = subaxis.Ref{Axis: 0, Pre: 2, Size: 4}
	other = subaxis.Ref{Axis: 1, Pre: 1, Size: 2}
)

// story is a trace in which x moves from value 1 in two parts to value 2, from there to value 3, and is kept from value 4,
// which is related to 3.
func story() (*trace.Trace, *trace.History) {
	t := trace.New(nil)
	intern := func(r subaxis.Ref) trace.AxesID {
		return t.Intern([]subaxis.Ref{r})
	}
	t.Add(trace.Event{Kind: trace.Move, Op: 1, Axes: intern(major), From: at(1, 0), To: at(2, 0)})
	t.Add(trace.Event{Kind: trace.Move, Op: 2, Axes: intern(minor), From: at(1, 0), To: at(2, 0)})
	t.Add(trace.Event{Kind: trace.Move, Op: 3, Axes: intern(whole), From: at(2, 0), To: at(3, 1)})
	t.Add(trace.Event{Kind: trace.Refusal, Reason: trace.Closed, Op: 4, Axes: intern(whole), From: at(3, 1), To: at(4, 0)})
	return t, trace.NewHistory(t, func(p trace.Place) []subaxis.Ref {
		if p == at(1, 0) {
			return []subaxis.Ref{whole}
		}
		return nil
	})
}

// Axes are those from the start and what moved there; parts that continue each other are one axis.
func TestHistoryAxes(t *testing.T) {
	_, h := story()
	for p, want := range map[trace.Place][]subaxis.Ref{at(1, 0): {whole}, at(2, 0): {whole}, at(3, 1): {whole}, at(4, 0): nil} {
		if d := cmp.Diff(want, h.Axes(p)); d != "" {
			t.Errorf("%v: %s", p, d)
		}
	}
}

// Chain leads from what was given to a place, in the order of events, and has no step that the axes did not need.
func TestChain(t *testing.T) {
	_, h := story()
	ops := func(links []trace.Link) (list []int32) {
		for _, l := range links {
			list = append(list, l.Op)
		}
		return list
	}
	links := h.Chain(at(3, 1), []subaxis.Ref{whole})
	if d := cmp.Diff([]int32{0, 1, 2, 3}, ops(links)); d != "" {
		t.Error(d)
	}
	if first := links[0]; !first.Given || first.To != at(1, 0) || len(first.Parts) != 1 || first.Parts[0] != whole {
		t.Errorf("the chain starts with %+v", first)
	}
	if d := cmp.Diff([]int32{0, 2, 3}, ops(h.Chain(at(3, 1), []subaxis.Ref{minor}))); d != "" {
		t.Errorf("the way of the minor part: %s", d)
	}
}

// line relates neighbours: 1, 2, 3, 4, 5.
type line struct{}

func (line) Related(p trace.Place) []trace.Place {
	var list []trace.Place
	for _, v := range []int32{p.Value - 1, p.Value + 1} {
		if v >= 1 && v <= 5 {
			list = append(list, trace.Place{Value: v, Dim: p.Dim})
		}
	}
	return list
}

// WhyNot finds the nearest refusal of the axes, the way to it, and how the place that offered them came by them.
func TestWhyNot(t *testing.T) {
	_, h := story()
	ways, n := h.WhyNot(at(5, 0), []subaxis.Ref{whole}, line{}, 4)
	if n != 1 || len(ways) != 1 {
		t.Fatalf("%d ways", n)
	}
	w := ways[0]
	if d := cmp.Diff([]trace.Place{at(5, 0), at(4, 0)}, w.Places); d != "" || w.Refusal.Reason != trace.Closed || len(w.Sources) != 4 {
		t.Errorf("%+v", w)
	}
	if _, n := h.WhyNot(at(5, 0), []subaxis.Ref{other}, line{}, 4); n != 0 {
		t.Errorf("%d refusals of an axis that nobody offered", n)
	}
}

func TestExtend(t *testing.T) {
	for _, c := range []struct {
		list, added []subaxis.Ref
		apart       bool
		want        []subaxis.Ref
	}{
		{nil, []subaxis.Ref{major}, false, []subaxis.Ref{major}},
		{[]subaxis.Ref{major}, []subaxis.Ref{minor}, false, []subaxis.Ref{whole}},
		{[]subaxis.Ref{major}, []subaxis.Ref{minor}, true, []subaxis.Ref{major, minor}},
		{[]subaxis.Ref{major}, []subaxis.Ref{whole}, false, []subaxis.Ref{whole}}, // it takes the place of its own part
		{[]subaxis.Ref{major}, []subaxis.Ref{other}, false, []subaxis.Ref{major, other}},
	} {
		if d := cmp.Diff(c.want, trace.Extend(c.list, c.added, c.apart)); d != "" {
			t.Errorf("%v and %v: %s", c.list, c.added, d)
		}
	}
}

func TestCommon(t *testing.T) {
	got := trace.Common([]subaxis.Ref{other, whole}, []subaxis.Ref{minor, major})
	if d := cmp.Diff([]subaxis.Ref{whole}, got); d != "" {
		t.Error(d)
	}
	if got := trace.Common([]subaxis.Ref{major}, []subaxis.Ref{minor}); got != nil {
		t.Errorf("parts beside each other have %v in common", got)
	}
}

// plus binds tensor 1 of op 7 to value 71, and so on. It knows no tensor 3.
type plus struct{}

func (plus) Bind(op, _ int32, e trace.Event) (trace.Event, bool) {
	e.From.Value, e.To.Value = op*10+e.From.Value, op*10+e.To.Value
	return e, e.To.Value%10 != 3
}

// A pattern is stored once, and becomes events of each op that it is recorded for. The next trace knows it too.
func TestPatterns(t *testing.T) {
	tr := trace.New(plus{})
	events := []trace.Event{{From: at(1, 0), To: at(2, 0)}, {From: at(1, 0), To: at(3, 0)}}
	p := tr.Pattern(events)
	if tr.Pattern(events) != p || tr.Pattern(nil) != 0 {
		t.Error("equal patterns must have equal ids, and the empty one 0")
	}
	if d := cmp.Diff(events, tr.PatternEvents(p)); d != "" {
		t.Error(d)
	}
	tr.Record(7, p)
	tr.Record(8, p)
	tr.Record(9, 0)
	for _, tr := range []*trace.Trace{tr, again(tr, p)} {
		want := []trace.Event{{Op: 7, From: at(71, 0), To: at(72, 0)}, {Op: 8, From: at(81, 0), To: at(82, 0)}}
		if d := cmp.Diff(want, tr.Events()); d != "" {
			t.Error(d)
		}
	}
}

// again returns the next trace with the same records.
func again(tr *trace.Trace, p trace.PatternID) *trace.Trace {
	next := tr.Next(plus{})
	next.Record(7, p)
	next.Record(8, p)
	return next
}

func Example() {
	t := trace.New(nil)
	x := t.Intern([]subaxis.Ref{{Axis: 0, Pre: 1, Size: 4}})
	t.Begin(0, 1)
	t.Add(trace.Event{Kind: trace.Move, Op: 3, Axes: x, From: at(1, 0), To: at(2, 0)})
	t.Add(trace.Event{Kind: trace.Refusal, Reason: trace.Closed, Op: 4, Axes: x, From: at(2, 0), To: at(5, 1)})
	if doc, err := t.Describe(context.Background(), plain{}, trace.Options{Round: -1, Refusals: true}); err == nil {
		fmt.Print(doc.Text(-1))
	}
	// Output:
	// user priority 0
	//   op priority 1
	//     axis0:(1)4 moves from %1[0] to %2[0] through op 3, factor 0
	//     axis0:(1)4 of %2[0] is kept from %5[1] in op 4, factor 0: closed dimension
}
