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
)

// Axis is an axis of a mesh or a part of it: the index of the axis, and the pre-size and size of the part.
type Axis struct{ Index, Pre, Size int32 }

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
	numReasons
)

var reasonTexts = [numReasons]string{"", "closed dimension", "explicitly replicated", "unreduced there",
	"reserved for a lower user priority", "used by another dimension", "sharded differently",
	"sub-axes cannot coexist", "not divisible", "blocked factor", "propagation barrier",
	"vetoed by another value", "different meshes"}

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

// Trace is a list of events in the order in which they happened.
type Trace struct {
	full   [][]Event // chunks before the last, so that growing copies nothing
	events []Event   // the last chunk
	axes   []Axis
	lists  []span // by AxesID
	index  map[string]AxesID
	seen   map[refusal]struct{}
	key    []byte
	round  int32
	level  int8
}

type span struct{ first, n int32 }

// refusal is what makes a refusal the same as an earlier one.
type refusal struct {
	op, factor    int32
	reason        Reason
	axes, against AxesID
	to            Place
}

// New returns an empty trace.
func New() *Trace {
	return &Trace{lists: make([]span, 1), index: map[string]AxesID{"": 0}, seen: map[refusal]struct{}{}}
}

// Begin sets the user priority and the op priority of the events that follow.
func (t *Trace) Begin(round int32, level int) { t.round, t.level = round, int8(level) }

// Intern returns the id of a list of axes.
func (t *Trace) Intern(axes []Axis) AxesID {
	t.key = t.key[:0]
	for _, a := range axes {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(a.Index))
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

// Add appends an event, with the round and level of the last Begin. A refusal that was recorded before is left out.
func (t *Trace) Add(e Event) {
	e.Round, e.Level = t.round, t.level
	if e.Kind == Refusal {
		k := refusal{e.Op, e.Factor, e.Reason, e.Axes, e.Against, e.To}
		if _, again := t.seen[k]; again {
			return
		}
		t.seen[k] = struct{}{}
	}
	if len(t.events) == cap(t.events) {
		if len(t.events) > 0 {
			t.full = append(t.full, t.events)
		}
		t.events = make([]Event, 0, min(2*cap(t.events)+minChunk, maxChunk))
	}
	t.events = append(t.events, e)
}

// The sizes of chunks of events.
const (
	minChunk = 16
	maxChunk = 1 << 14
)

// Events returns all events in order.
func (t *Trace) Events() []Event { return append(slices.Concat(t.full...), t.events...) }

// Axes returns an interned list. It must not be changed.
func (t *Trace) Axes(id AxesID) []Axis {
	s := t.lists[id]
	return t.axes[s.first : s.first+s.n]
}
