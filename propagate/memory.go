package propagate

import (
	"math/bits"
	"slices"

	"autoshard/ir"
	"autoshard/trace"
)

// situation is what decides about one visit of an op: its plan, how it may move, and the shardings of its tensors.
type situation struct {
	plan, mode int32
	shardings  []ir.ShardingID
}

// outcome is what a visit of an op does: the shardings that change, and for the trace what moved and what was refused.
type outcome struct {
	plan, mode int32 // of the situation
	first, n   int32 // its shardings, among those of the memory
	updates    []update
	moves      trace.PatternID // of all updates
	refusals   trace.PatternID
	seen       *sighting // for the observer
}

// sighting is what an observer wants to know of a visit.
type sighting struct {
	arrivals []arrival
	operands int
	mesh     ir.MeshID
}

// update gives a tensor of the op a new sharding.
type update struct {
	tensor    int32
	sharding  ir.ShardingID
	first, to int32 // which of the outcome's moves do it
}

// memory holds the outcomes of all situations that came up. Propagation asks it at every visit, so that it is a hash
// table of its own, without pointers.
type memory struct {
	outcomes  []outcome // outcome 0 is of no situation
	shardings []ir.ShardingID
	places    []int32 // hash table of outcomes, 0 where nothing is
}

// newMemory returns an empty memory with room for some outcomes.
func newMemory(room int) *memory {
	return &memory{outcomes: make([]outcome, 1, room+1), shardings: make([]ir.ShardingID, 0, 3*room),
		places: make([]int32, 1<<bits.Len(uint(2*room)|31))}
}

// holds says whether an outcome is that of a situation.
func (m *memory) holds(id int32, s situation) bool {
	o := &m.outcomes[id]
	return o.plan == s.plan && o.mode == s.mode && slices.Equal(m.shardings[o.first:o.first+o.n], s.shardings)
}

// find returns the outcome of a situation, 0 if it is unknown.
func (m *memory) find(s situation) int32 {
	mask := uint32(len(m.places) - 1)
	for i := s.hash() & mask; m.places[i] != 0; i = (i + 1) & mask {
		if m.holds(m.places[i], s) {
			return m.places[i]
		}
	}
	return 0
}

// add remembers the outcome of a situation that is unknown.
func (m *memory) add(s situation, out outcome) int32 {
	out.plan, out.mode, out.first, out.n = s.plan, s.mode, int32(len(m.shardings)), int32(len(s.shardings))
	m.shardings = append(m.shardings, s.shardings...)
	m.outcomes = append(m.outcomes, out)
	if 2*len(m.outcomes) > len(m.places) {
		m.places = make([]int32, 2*len(m.places))
		for id := 1; id < len(m.outcomes)-1; id++ {
			m.place(int32(id))
		}
	}
	id := int32(len(m.outcomes) - 1)
	m.place(id)
	return id
}

// place puts an outcome into the hash table.
func (m *memory) place(id int32) {
	o := &m.outcomes[id]
	s := situation{o.plan, o.mode, m.shardings[o.first : o.first+o.n]}
	mask := uint32(len(m.places) - 1)
	i := s.hash() & mask
	for m.places[i] != 0 {
		i = (i + 1) & mask
	}
	m.places[i] = id
}

func (s *situation) hash() uint32 {
	h := mix(uint64(uint32(s.plan))<<32 | uint64(uint32(s.mode)))
	for _, id := range s.shardings {
		h = mix(h ^ uint64(uint32(id)))
	}
	return uint32(h)
}

func mix(h uint64) uint64 {
	h *= 0x9E3779B97F4A7C15
	return h ^ h>>32
}
