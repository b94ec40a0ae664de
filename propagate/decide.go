package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
	"autoshard/trace"
)

// decider says what an op does in a situation. It changes nothing but its own memory.
type decider struct {
	*tables
	memory       *memory
	patterns     *trace.Trace // has the patterns of outcomes
	conservative bool
	aggressive   bool // the strategy; basic otherwise
	observed     bool // outcomes say what arrived where

	current []ir.ShardingID // of the op's tensors
	step    step

	along   []factorAxes  // by factor; memory of findOpen
	moved   []trace.Event // memory of propagate, as updates
	updates []update
}

// read copies the shardings of the slots to current and says whether there are any.
func (d *decider) read(slots []slot) bool {
	d.current = d.current[:0]
	found := false
	for _, s := range slots {
		id := d.shardings[s]
		d.current = append(d.current, id)
		found = found || id != 0
	}
	return found
}

// outcomeOf returns the outcome for the current shardings, from memory where the situation is known. latest is one
// that is likely the same.
func (d *decider) outcomeOf(row *opRow, move priority.Move, latest int32) int32 {
	like := d.plans[row.plan].like
	if !d.plans[like].special {
		move.Special = move.PassThrough // no factor asks for it
	}
	mode := int32(move.PassThrough) | int32(move.Special)<<2
	for i, on := range [...]bool{row.elementwise, row.exempt, row.barrier, d.aggressive} {
		if on {
			mode |= 1 << (4 + i)
		}
	}
	s := situation{like, mode, d.current}
	if d.memory.holds(latest, s) {
		return latest
	}
	if id := d.memory.find(s); id != 0 {
		return id
	}
	return d.memory.add(s, d.propagate(row, &d.plans[like], move))
}

// propagate computes the outcome for the current shardings (source: shardy.md section 4.4).
func (d *decider) propagate(row *opRow, plan *plan, move priority.Move) outcome {
	if d.nothingMoves() {
		return outcome{}
	}
	mesh, clash, ok := d.commonMesh()
	if !ok {
		if clash.other == 0 {
			return outcome{}
		}
		return outcome{refusals: d.patterns.Pattern([]trace.Event{clash.event()})}
	}
	if d.findOpen(plan); len(d.step.open) == 0 {
		return outcome{}
	}
	s := &d.step
	s.elementwise, s.conservative = row.elementwise, d.conservative && !row.exempt
	s.setDirections(plan, move)
	s.project(d.m, mesh, plan.rule, d.current)
	s.remember()
	if d.aggressive {
		s.aggressive()
	} else {
		s.basic()
	}
	var out outcome
	moves := d.moved[:0]
	d.updates = d.updates[:0]
	for t := range s.tensors {
		if s.tensors[t].updated {
			moves = d.finish(moves, t, mesh)
		}
	}
	d.moved = moves
	out.updates = slices.Clone(d.updates)
	out.moves, out.refusals = d.patterns.Pattern(moves), d.patterns.Pattern(s.refusals(d.patterns, mesh, row.barrier))
	if d.observed {
		out.seen = &sighting{s.arrivals(), len(plan.rule.Operands), mesh}
	}
	return out
}

// nothingMoves says whether no tensor of the op has axes.
func (d *decider) nothingMoves() bool {
	return !slices.ContainsFunc(d.current, func(id ir.ShardingID) bool { return id != 0 && !d.m.ShardingOf(id).IsReplicated() })
}

// findOpen collects the factors along which tensors are not all sharded by the same axes. Along others nothing moves, and
// nothing is refused. Where dimensions have several factors, it takes all.
func (d *decider) findOpen(p *plan) {
	s, r := &d.step, p.rule
	s.open = s.open[:0]
	d.along = resize(d.along, len(r.Sizes))
	if !p.whole {
		for f := range r.Sizes {
			s.open = append(s.open, int32(f))
		}
		return
	}
	for t, id := range d.current {
		for dim, factors := range dimsOf(r, t) {
			if len(factors) == 0 {
				continue
			}
			var axes []subaxis.Ref
			if id != 0 {
				axes = d.m.ShardingOf(id).Dims[dim].Axes
			}
			along := &d.along[factors[0]]
			along.differ = along.differ || along.known && !slices.Equal(along.axes, axes)
			along.axes, along.known = axes, true
		}
	}
	for f := range d.along {
		if d.along[f].differ {
			s.open = append(s.open, int32(f))
		}
	}
}

// factorAxes is how the tensors looked at so far are sharded along a factor.
type factorAxes struct {
	axes          []subaxis.Ref // of the last one
	known, differ bool
}

// dimsOf returns the factors of each dimension of a tensor.
func dimsOf(r *ir.Rule, t int) [][]int32 {
	if t < len(r.Operands) {
		return r.Operands[t]
	}
	return r.Results[t-len(r.Operands)]
}

func (s *step) setDirections(p *plan, move priority.Move) {
	s.directions = resize(s.directions, len(p.kinds))
	for f, kind := range p.kinds {
		switch kind {
		case passThroughFactor:
			s.directions[f] = move.PassThrough
		case specialFactor:
			s.directions[f] = move.Special
		}
	}
}

// finish adds the update of a tensor whose factors changed, unless its sharding stays the same, and its moves.
func (d *decider) finish(moves []trace.Event, t int, mesh ir.MeshID) []trace.Event {
	s := d.step.transient(t, mesh)
	old := d.current[t]
	if old == 0 && s.IsReplicated() && len(s.Replicated) == 0 && len(s.Unreduced) == 0 {
		return moves
	}
	id := d.m.FindSharding(&s)
	if id == 0 {
		id = d.m.InternSharding(s.Clone())
	} else if id == old {
		return moves
	}
	var dims []ir.DimSharding
	if old != 0 {
		dims = d.m.ShardingOf(old).Dims
	}
	first := int32(len(moves))
	moves = d.step.moves(moves, d.patterns, t, dims, &s)
	d.updates = append(d.updates, update{int32(t), id, first, int32(len(moves))})
	return moves
}

// meshClash names two tensors whose meshes differ.
type meshClash struct{ first, other int }

// commonMesh returns the mesh of the current shardings. Empty meshes give way to real ones. It fails where meshes
// differ, or the mesh is a single device.
func (d *decider) commonMesh() (ir.MeshID, meshClash, bool) {
	var mesh ir.MeshID
	first := 0
	for t, id := range d.current {
		if id == 0 {
			continue
		}
		other := d.m.ShardingOf(id).Mesh
		switch {
		case other == mesh || d.m.Mesh(other).IsEmpty() && mesh != 0:
		case mesh == 0 || d.m.Mesh(mesh).IsEmpty():
			mesh, first = other, t
		case !d.m.Mesh(mesh).Equal(&d.m.Mesh(other).Mesh):
			return 0, meshClash{first, t}, false
		}
	}
	return mesh, meshClash{}, mesh != 0 && !d.m.Mesh(mesh).IsMaximal()
}
