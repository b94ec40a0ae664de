// Package trace records why propagation did what it did: every axis that moved, from where to where through which
// op, and every axis that was kept away, with the reason.
//
// Events are rows of small integers; names are asked for only when a trace is formatted:
//
//	user priority 0
//	  op priority 0
//	    "data" moves from %arg0[0] to %3[0] through %3 = stablehlo.tanh, factor i
//	  op priority 2
//	    "model" is kept from %arg2[1] in %7 = stablehlo.dot_general, factor k: closed dimension
//
// The moves alone, applied in order, lead from the user's shardings to the final ones. The package knows nothing
// of programs: ids are those of its user.
package trace

import (
	"encoding/binary"
	"slices"

	"autoshard/subaxis"
)

// Place is a dimension of a value. Negative values are results of functions: ^v is their number. Dim is -1 where
// no single dimension is meant.
type Place struct{ Value, Dim int32 }

// Kind says what an event is.
type Kind uint8

// The kinds of events.
const (
	// Move appends axes to the dimension To; they come from the dimension From.
	Move Kind = iota
	// Activate gives the dimension To the axes that its user asked for at this user priority.
	Activate
	// Replace gives the dimension To the axes of From instead of those that it has.
	Replace
	// Refusal says that axes of From were kept away from To, for Reason.
	Refusal
)

// Reason says why axes were kept away.
type Reason uint8

// The reasons of refusals.
const (
	NoReason      Reason = iota
	Closed               // the dimension is closed
	Replicated           // the axes are explicitly replicated there
	Unreduced            // the axes are already used for partial results there
	LowerPriority        // the axes are reserved there for a dimension of lower user priority
	Conflict             // another dimension of the same value has the axes, see Against and Other
	Different            // the dimension is sharded by other axes, see Against
	SubAxes              // parts of one axis that cannot exist side by side, see Against
	NotDivisible         // a dimension that is not the last of several may not be padded
	BlockedFactor        // nothing propagates along this factor
	Barrier              // a propagation barrier
	Veto                 // another value of the op does not admit them, see Other
	MeshMismatch         // values of one op are on different meshes
	WholeAxes            // only whole axes move: the conservative mode
	Strided              // what is before it in a dimension of several factors is not fully sharded
	numReasons
)

var reasonTexts = [numReasons]string{"", "closed dimension", "explicitly replicated", "unreduced there",
	"reserved for a lower user priority", "used by another dimension", "sharded differently",
	"sub-axes cannot coexist", "not divisible", "blocked factor", "propagation barrier",
	"vetoed by another value", "different meshes", "only whole axes move",
	"an earlier part of the dimension is not fully sharded"}

// String returns the reason in words.
func (r Reason) String() string { return reasonTexts[r] }

// AxesID is an interned list of axes; 0 is the empty list.
type AxesID int32

// NoFactor is the factor of events that no factor of an op causes, such as copies inside a sharding group.
const NoFactor = int32(-1)

// Event is one decision.
type Event struct {
	Kind    Kind
	Reason  Reason // of a Refusal
	Level   int8   // op priority
	Apart   bool   // of a Move: the first axis stays apart from the one before it, although it continues that one
	Round   int32  // user priority
	Op      int32  // 0 for function results and Activate
	Factor  int32
	Mesh    int32
	Axes    AxesID // what moved or was kept away
	From    Place
	To      Place
	Against AxesID // of a Refusal: the axes it lost against
	Other   Place  // of a Refusal: where those are
}

// Trace is a list of events in the order in which they happened. It stores what an op did as a record of eight bytes:
// the op and a pattern, which all ops in the same situation share. Events are made of them on demand.
type Trace struct {
	binder   Binder
	full     [][]record // chunks before the last, so that growing copies nothing
	records  []record   // the last chunk
	added    []Event    // events that are no patterns
	patterns [][]Event  // by PatternID
	shared   map[string]PatternID
	phases   []phase
	axes     []subaxis.Ref
	lists    []span // by AxesID
	index    map[string]AxesID
	key      []byte
}

// Binder makes events of patterns.
type Binder interface {
	// Bind turns an event of a pattern into one of an op at a user priority: places that name tensors of any op, the
	// first one 1, come to name values. It returns false where the op has no such value.
	Bind(op, round int32, e Event) (Event, bool)
}

// PatternID is an interned list of events in terms of the tensors of an op; 0 is the empty list.
type PatternID int32

// record says that an op did what a pattern says; negative patterns are ^i for an event of its own.
type record struct {
	op      int32
	pattern PatternID
}

// phase is a user priority and an op priority, from a record on.
type phase struct {
	first int
	round int32
	level int8
}

type span struct{ first, n int32 }

// refusal is what makes a refusal the same as an earlier one.
type refusal struct {
	op, factor    int32
	reason        Reason
	axes, against AxesID
	to            Place
}

// New returns an empty trace. The binder may be nil where Record is not used.
func New(b Binder) *Trace {
	return &Trace{binder: b, lists: make([]span, 1), index: map[string]AxesID{"": 0}, patterns: make([][]Event, 1),
		shared: map[string]PatternID{}, phases: make([]phase, 1)}
}

// Next returns an empty trace that knows the patterns and axes of this one, so that their ids may be used in it. This
// one must not be added to any more.
func (t *Trace) Next(b Binder) *Trace {
	next := *t
	next.binder, next.full, next.records, next.added, next.phases = b, nil, nil, nil, make([]phase, 1)
	return &next
}

// Begin sets the user priority and the op priority of the events that follow.
func (t *Trace) Begin(round int32, level int) {
	t.phases = append(t.phases, phase{t.len(), round, int8(level)})
}

func (t *Trace) len() int {
	n := len(t.records)
	for _, chunk := range t.full {
		n += len(chunk)
	}
	return n
}

// Intern returns the id of a list of axes.
func (t *Trace) Intern(axes []subaxis.Ref) AxesID {
	t.key = t.key[:0]
	for _, a := range axes {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(a.Axis))
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(a.Pre))
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(a.Size))
	}
	if id, ok := t.index[string(t.key)]; ok {
		return id
	}
	t.lists = append(t.lists, span{int32(len(t.axes)), int32(len(axes))})
	t.axes = append(t.axes, axes...)
	id := AxesID(len(t.lists) - 1)
	t.index[string(t.key)] = id
	return id
}

// Pattern interns a list of events in terms of the tensors of an op.
func (t *Trace) Pattern(events []Event) PatternID {
	if len(events) == 0 {
		return 0
	}
	t.key = t.key[:0]
	for i := range events {
		t.key = events[i].appendKey(t.key)
	}
	if id, ok := t.shared[string(t.key)]; ok {
		return id
	}
	t.patterns = append(t.patterns, slices.Clone(events))
	id := PatternID(len(t.patterns) - 1)
	t.shared[string(t.key)] = id
	return id
}

func (e *Event) appendKey(b []byte) []byte {
	apart := byte(0)
	if e.Apart {
		apart = 1
	}
	b = append(b, byte(e.Kind), byte(e.Reason), apart)
	for _, n := range [...]int32{e.Factor, e.Mesh, int32(e.Axes), e.From.Value, e.From.Dim, e.To.Value, e.To.Dim,
		int32(e.Against), e.Other.Value, e.Other.Dim} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// PatternEvents returns the events of a pattern. They must not be changed.
func (t *Trace) PatternEvents(p PatternID) []Event { return t.patterns[p] }

// Record appends what a pattern says about an op.
func (t *Trace) Record(op int32, p PatternID) {
	if p != 0 {
		t.append(record{op, p})
	}
}

// Add appends an event in terms of values.
func (t *Trace) Add(e Event) {
	t.added = append(t.added, e)
	t.append(record{e.Op, ^PatternID(len(t.added) - 1)})
}

func (t *Trace) append(r record) {
	if len(t.records) == cap(t.records) {
		if len(t.records) > 0 {
			t.full = append(t.full, t.records)
		}
		t.records = make([]record, 0, min(2*cap(t.records)+minChunk, maxChunk))
	}
	t.records = append(t.records, r)
}

// The sizes of chunks of records.
const (
	minChunk = 64
	maxChunk = 1 << 15
)

// Events returns all events in order, of equal refusals only the first.
func (t *Trace) Events() []Event {
	var out []Event
	seen := map[refusal]bool{}
	phases, at := t.phases, 0
	emit := func(e Event) {
		if e.Kind == Refusal {
			k := refusal{e.Op, e.Factor, e.Reason, e.Axes, e.Against, e.To}
			if seen[k] {
				return
			}
			seen[k] = true
		}
		e.Round, e.Level = phases[0].round, phases[0].level
		out = append(out, e)
	}
	for _, chunk := range append(slices.Clone(t.full), t.records) {
		for _, r := range chunk {
			for len(phases) > 1 && phases[1].first <= at {
				phases = phases[1:]
			}
			at++
			if r.pattern < 0 {
				emit(t.added[^r.pattern])
				continue
			}
			for _, e := range t.patterns[r.pattern] {
				e.Op = r.op
				if bound, ok := t.binder.Bind(r.op, phases[0].round, e); ok {
					emit(bound)
				}
			}
		}
	}
	return out
}

// Axes returns an interned list. It must not be changed.
func (t *Trace) Axes(id AxesID) []subaxis.Ref {
	s := t.lists[id]
	return t.axes[s.first : s.first+s.n : s.first+s.n]
}
