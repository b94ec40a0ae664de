package trace

import (
	"maps"
	"slices"
	"strings"

	"autoshard/internal/lists"
)

// Group is a set of steps of one level that are alike: the same axes that start somewhere, that go through the same kinds of operations
// from several places on, or that are kept away from several places for the same reason. Every step of a level is in one of its groups.
type Group struct {
	Kind    string   `json:"kind"` // of all its steps
	Axes    string   `json:"axes"`
	Kinds   []string `json:"kinds,omitempty"` // of the operations, in the order of their first steps
	Reason  string   `json:"reason,omitempty"`
	Against string   `json:"against,omitempty"`
	Starts  []Start  `json:"starts"`
	Steps   []int    `json:"steps"` // numbers of steps of the level, ascending
}

// Start is where a chain of steps begins: each goes on from a place to which an earlier one led. Of a refusal it is the place that axes
// were kept from.
type Start struct {
	Place  string `json:"place"`
	Source string `json:"source,omitempty"`
	Steps  int    `json:"steps"`
}

// Summary says what a round came to.
type Summary struct {
	Given   []Tally `json:"given,omitempty"`   // what the user wrote for this round, by axes
	Gained  []Tally `json:"gained,omitempty"`  // what followed from it, by axes
	Refused []Tally `json:"refused,omitempty"` // what was kept away, by axes and reason
}

// Tally counts dimensions of values that have something in common.
type Tally struct {
	Axes   string   `json:"axes"`
	Reason string   `json:"reason,omitempty"`
	Dims   int      `json:"dims"`
	Values int      `json:"values"`
	Places []string `json:"places,omitempty"` // of what was given
}

// digester groups the steps of a trace.
type digester struct {
	trace  *Trace
	names  Names
	levels []levelDigest
	rounds []roundDigest
}

// levelDigest collects the chains of a level.
type levelDigest struct {
	round  int32
	level  int8
	chains []chain
	at     map[link]int // the chain that led axes to a place
}

// link is a place to which a step led axes.
type link struct {
	place Place
	axes  AxesID
}

// chain is a sequence of steps of which each but the first goes on from where an earlier one led, or a step that is none.
type chain struct {
	first *Event
	start Place
	kinds []string
	steps []int
}

// groupKey is what the chains of a group have in common.
type groupKey struct {
	kind                Kind
	reason              Reason
	axes, against, mesh int32
	kinds               string // sorted
}

func newDigester(t *Trace, names Names) *digester { return &digester{trace: t, names: names} }

// add notes an event that is the step of that number of its level.
func (d *digester) add(e *Event, step int) {
	if n := len(d.levels); n == 0 || d.levels[n-1].round != e.Round || d.levels[n-1].level != e.Level {
		d.levels = append(d.levels, levelDigest{round: e.Round, level: e.Level, at: map[link]int{}})
	}
	if n := len(d.rounds); n == 0 || d.rounds[n-1].round != e.Round {
		d.rounds = append(d.rounds, newRound(e.Round))
	}
	d.rounds[len(d.rounds)-1].add(e)
	l := &d.levels[len(d.levels)-1]
	c := l.chain(e)
	c.steps = append(c.steps, step)
	if kind := d.names.Kind(e.Op); e.Kind != Activate && !slices.Contains(c.kinds, kind) {
		c.kinds = append(c.kinds, kind)
	}
}

// chain returns the chain that an event goes on, or a new one.
func (l *levelDigest) chain(e *Event) *chain {
	moves := e.Kind == Move || e.Kind == Replace
	if moves {
		if c, ok := l.at[link{e.From, e.Axes}]; ok && l.chains[c].first.Kind == e.Kind {
			l.at[link{e.To, e.Axes}] = c
			return &l.chains[c]
		}
		l.at[link{e.From, e.Axes}], l.at[link{e.To, e.Axes}] = len(l.chains), len(l.chains)
	}
	start := e.To
	if moves {
		start = e.From
	}
	l.chains = append(l.chains, chain{first: e, start: start})
	return &l.chains[len(l.chains)-1]
}

// finish writes groups and summaries into the document of all steps.
func (d *digester) finish(doc *Document, o *Options) {
	at := 0
	for r := range doc.Rounds {
		for l := range doc.Rounds[r].Levels {
			doc.Rounds[r].Levels[l].Groups = d.groups(&d.levels[at])
			at++
		}
		doc.Rounds[r].Summary = d.rounds[r].summary(d)
	}
	given := d.given(o)
	if len(given) == 0 || len(doc.Rounds) == 0 {
		return
	}
	if doc.Rounds[0].UserPriority != 0 {
		doc.Rounds = slices.Insert(doc.Rounds, 0, Round{})
	}
	doc.Rounds[0].Summary.Given = append(given, doc.Rounds[0].Summary.Given...)
}

// groups folds the chains of a level that are alike.
func (d *digester) groups(l *levelDigest) []Group {
	var out []Group
	index := map[groupKey]int{}
	for i := range l.chains {
		c := &l.chains[i]
		k := groupKey{c.first.Kind, c.first.Reason, int32(c.first.Axes), int32(c.first.Against), c.first.Mesh, ""}
		if c.first.Kind != Refusal {
			k.kinds = strings.Join(slices.Sorted(slices.Values(c.kinds)), " ")
		}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, d.group(c))
		}
		g := &out[at]
		g.addKinds(c.kinds)
		source := c.first.Op
		if c.first.Kind == Activate {
			source = 0
		}
		g.Starts = append(g.Starts, Start{d.names.Place(c.start), d.names.Source(source, c.start), len(c.steps)})
		g.Steps = append(g.Steps, c.steps...)
	}
	for i := range out {
		slices.Sort(out[i].Steps)
	}
	return out
}

// group returns a group for chains like one, without any.
func (d *digester) group(c *chain) Group {
	e := c.first
	g := Group{Kind: kindTexts[e.Kind], Axes: d.names.Axes(e.Mesh, d.trace.Axes(e.Axes)), Reason: e.Reason.String()}
	if e.Against != 0 {
		g.Against = d.names.Axes(e.Mesh, d.trace.Axes(e.Against))
	}
	return g
}

// addKinds adds the kinds of operations that the group has not yet.
func (g *Group) addKinds(list []string) {
	for _, kind := range list {
		if !slices.Contains(g.Kinds, kind) {
			g.Kinds = append(g.Kinds, kind)
		}
	}
}

// given tallies what was given before the trace.
func (d *digester) given(o *Options) []Tally {
	if o.Round > 0 {
		return nil
	}
	var t tallies
	for _, g := range slices.SortedFunc(slices.Values(o.Given), func(a, b Given) int { return comparePlaces(a.At, b.At) }) {
		if len(g.Axes) > 0 && (o.Of.Value == 0 || o.touches(g.At)) {
			t.add(tallyKey{axes: d.trace.Intern(g.Axes), mesh: g.Mesh}, g.At)
		}
	}
	return t.words(d, true)
}

// roundDigest tallies the events of a round.
type roundDigest struct {
	round                  int32
	given, gained, refused tallies
}

func newRound(round int32) roundDigest { return roundDigest{round: round} }

func (r *roundDigest) add(e *Event) {
	k := tallyKey{e.Axes, e.Mesh, e.Reason}
	switch e.Kind {
	case Refusal:
		r.refused.add(k, e.To)
	case Activate:
		r.given.add(k, e.To)
	default:
		r.gained.add(k, e.To)
	}
}

func (r *roundDigest) summary(d *digester) Summary {
	return Summary{Given: r.given.words(d, true), Gained: r.gained.words(d, false), Refused: r.refused.words(d, false)}
}

// tallies count places by what they have in common, in the order of first occurrence.
type tallies struct {
	keys   []tallyKey
	places map[tallyKey]map[Place]bool
}

type tallyKey struct {
	axes   AxesID
	mesh   int32
	reason Reason
}

func (t *tallies) add(k tallyKey, p Place) {
	if t.places == nil {
		t.places = map[tallyKey]map[Place]bool{}
	}
	if t.places[k] == nil {
		t.places[k] = map[Place]bool{}
		t.keys = append(t.keys, k)
	}
	t.places[k][p] = true
}

func (t *tallies) words(d *digester, named bool) []Tally {
	if len(t.keys) == 0 {
		return nil
	}
	return lists.Map(t.keys, func(k tallyKey) Tally {
		places := slices.SortedFunc(maps.Keys(t.places[k]), comparePlaces)
		out := Tally{Axes: d.names.Axes(k.mesh, d.trace.Axes(k.axes)), Reason: k.reason.String(), Dims: len(places)}
		for i, p := range places {
			if i == 0 || p.Value != places[i-1].Value {
				out.Values++
			}
		}
		if named {
			out.Places = lists.Map(places, d.names.Place)
		}
		return out
	})
}
