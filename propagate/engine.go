package propagate

import (
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
	"autoshard/trace"
)

// engine runs propagation over the tables of a module. What an op does with the shardings of its tensors depends
// only on its plan, the allowed directions and those shardings; such outcomes are computed once and kept.
type engine struct {
	*tables
	ctx      context.Context
	options  Options
	trace    *trace.Trace
	work     worklist
	step     step
	memory   *memory
	latest   []int32                 // by op: its latest outcome, which is likely its next one
	last     []trace.PatternID       // by op: the refusals that it has recorded last
	lastTied map[int]trace.PatternID // by result of the main function
	reserve  *reserve
	binder   *binder
	round    int32     // user priority
	observer *observer // nil unless debug information is asked for

	aggressive bool
	started    bool                                   // the worklist is being worked on
	visits     uint                                   // of ops, for the pace of looking at the context
	changes    []uint16                               // by slot: how often it changed
	restless   slot                                   // one that changed too often, 0 if none
	level      int                                    // op priority; allLevels for no schedule
	schedule   [len(priority.Schedule[0].Moves)]moves // of the level, by class
	current    []ir.ShardingID
	along      []factorAxes // by factor
	moved      []trace.Event
	updates    []update // of the visit at hand
}

// moves says how a class of ops moves: where an operand has several uses, and where none has.
type moves struct{ shared, single priority.Move }

// allLevels stands for propagation without a schedule: everything moves both ways.
const allLevels = priority.Levels - 1

// maxChanges is how often the sharding of one value may change. Shardings mostly grow, and a mesh has few axes; but what
// enters and leaves manual computations loses axes, and may get them again without end.
const maxChanges = 4096

func newEngine(ctx context.Context, m *ir.Module, o Options) *engine {
	const outcomes = 1024 // more are rare
	return startEngine(ctx, newTables(ctx, m, o.rules()), o, trace.New(nil), newMemory(min(m.NumOps()/2, outcomes)))
}

// startEngine returns an engine over tables, with outcomes that are known already and the trace whose patterns they
// name.
func startEngine(ctx context.Context, t *tables, o Options, known *trace.Trace, outcomes *memory) *engine {
	e := &engine{ctx: ctx, tables: t, options: o, memory: outcomes, level: allLevels}
	e.latest, e.changes = make([]int32, t.m.NumOps()+1), make([]uint16, len(t.shardings))
	e.last, e.lastTied = make([]trace.PatternID, t.m.NumOps()+1), map[int]trace.PatternID{}
	e.reserve = &reserve{waiting: map[slot][]waitingDim{}}
	e.binder = &binder{e.rows, e.slots, e.names, e.reserve}
	e.trace = known.Next(e.binder)
	e.reserve.trace = e.trace
	return e
}

// visitsBetweenLooks is how many ops are visited between looks at the context: a millisecond at most.
const visitsBetweenLooks = 128

// fixpoint visits ops until none changes anything, or the context ends.
func (e *engine) fixpoint() {
	if e.ctx.Err() != nil {
		return
	}
	for class := range e.schedule {
		c := priority.Class(class)
		e.schedule[class] = moves{priority.At(c, false, e.level), priority.At(c, true, e.level)}
	}
	e.tieResults()
	e.work.fill(e.m)
	e.started = true
	for op, ok := e.work.pop(); ok && e.restless == 0; op, ok = e.work.pop() {
		if e.visits++; e.visits%visitsBetweenLooks == 0 && e.ctx.Err() != nil {
			break
		}
		switch {
		case e.m.OpBlock(op) == 0:
		case ir.IsDead(e.m, op):
			e.eraseDead(op)
		case e.rows[op].plan != 0:
			e.visit(op)
		}
	}
	e.started = false
	e.tieResults()
}

// visit propagates through one op.
func (e *engine) visit(op ir.OpID) {
	row := &e.rows[op]
	slots := e.slots[row.first : row.first+row.n]
	if !e.read(slots) {
		return
	}
	last := len(slots) - 1
	raw := e.current[last]
	if row.view != 0 {
		e.current[last] = e.views[row.view].BeforePropagation(e.m, raw)
	}
	move := e.moves(op, row)
	if move == (priority.Move{}) && !row.barrier {
		return
	}
	id := e.outcomeOf(row, move, e.latest[op])
	e.latest[op] = id
	out := &e.memory.outcomes[id]
	if e.carryOut(op, slots, out, raw); len(out.updates) > 0 && e.observer != nil {
		e.observer.observe(op, out.seen, e.valuesOf(slots))
	}
	if out.refusals != 0 && e.last[op] != out.refusals {
		e.trace.Record(int32(op), out.refusals)
		e.last[op] = out.refusals
	}
}

// carryOut carries out the updates of an outcome. raw is the sharding of the last tensor as it is stored.
func (e *engine) carryOut(op ir.OpID, slots []slot, out *outcome, raw ir.ShardingID) {
	row, last := &e.rows[op], len(slots)-1
	if row.distinct && len(e.groups) == 0 && row.view == 0 {
		e.trace.Record(int32(op), out.moves)
		for i := range out.updates {
			e.assign(slots[out.updates[i].tensor], out.updates[i].sharding, op)
		}
		e.openOthers(slots, out)
		return
	}
	for i := range out.updates {
		u := &out.updates[i]
		sharding := u.sharding
		if row.view != 0 && int(u.tensor) == last {
			if sharding = e.views[row.view].AfterPropagation(e.m, sharding); sharding == raw {
				if e.started {
					e.notify(slots[last], op) // as news, though all of it stays on the other side
				}
				e.copyToGroup(slots[last], u.sharding, op)
				continue
			}
		}
		e.apply(op, slots, out, i, sharding)
	}
	e.openOthers(slots, out)
}

// apply carries out update i of an outcome, unless a later one is for the same value.
func (e *engine) apply(op ir.OpID, slots []slot, out *outcome, i int, sharding ir.ShardingID) {
	u := &out.updates[i]
	s := slots[u.tensor]
	if s == 0 {
		return
	}
	for _, later := range out.updates[i+1:] {
		if slots[later.tensor] == s {
			if e.started {
				e.notify(s, op) // who hears first decides about what comes next
			}
			return
		}
	}
	if e.shardings[s] == e.current[u.tensor] || int(u.tensor) == len(slots)-1 && e.rows[op].view != 0 {
		e.record(op, slots, e.trace.PatternEvents(out.moves)[u.first:u.to])
	} else {
		e.recordChange(op, slots[u.tensor], s, sharding)
	}
	e.assign(s, sharding, op)
	e.copyToGroup(s, u.sharding, op)
}

// read copies the shardings of the slots to current and says whether there are any.
func (e *engine) read(slots []slot) bool {
	e.current = e.current[:0]
	found := false
	for _, s := range slots {
		id := e.shardings[s]
		e.current = append(e.current, id)
		found = found || id != 0
	}
	return found
}

// moves returns the directions in which an op may move axes now.
func (e *engine) moves(op ir.OpID, row *opRow) priority.Move {
	if row.barrier {
		d, _ := priority.ParseDirection(e.m.OpAttrs(op).Str("allowed_direction"))
		return priority.Move{PassThrough: d, Special: d}
	}
	if e.level > 0 || priority.SingleUse(e.m, op) {
		return e.schedule[row.class].single
	}
	return e.schedule[row.class].shared
}

// copyToGroup gives a new sharding to the others of a group, that of an edge as its sources see it. An edge that holds
// the sharding of a member, such as an argument of a loop's body, is none itself and does not.
func (e *engine) copyToGroup(s slot, id ir.ShardingID, current ir.OpID) {
	g, ok := e.memberOf[ir.ValueID(s)]
	if !ok {
		return
	}
	for _, member := range e.groups[g] {
		if member != s && e.shardings[member] != id {
			e.recordChange(0, s, member, id)
			e.assign(member, id, current)
			e.openResults(e.m.DefiningOp(ir.ValueID(member)), id)
		}
	}
}

// assign changes the sharding of a slot and pushes the ops that see it.
func (e *engine) assign(s slot, id ir.ShardingID, current ir.OpID) {
	e.shardings[s] = id
	if e.changes[s]++; e.changes[s] > maxChanges {
		e.restless = s
	}
	if e.started {
		e.notify(s, current)
	}
}

// openOthers makes the other results of the ops whose results were updated open, where they have no sharding: an op has
// shardings for all of its results or for none (source: shardy.md section 1.5).
func (e *engine) openOthers(slots []slot, out *outcome) {
	for i := range out.updates {
		if s := slots[out.updates[i].tensor]; int(s) < len(e.home) {
			e.openResults(e.m.DefiningOp(ir.ValueID(s)), out.updates[i].sharding)
		}
	}
}

// openResults makes the results of an op open that have no sharding.
func (e *engine) openResults(op ir.OpID, like ir.ShardingID) {
	if op == 0 || e.m.NumResults(op) < 2 {
		return
	}
	for _, v := range e.m.Results(op) {
		if e.shardings[v] == 0 {
			e.shardings[v] = e.m.Replicated(e.m.ShardingOf(like).Mesh, len(e.m.Shape(v)), false)
		}
	}
}

// outcomeOf returns the outcome for the current shardings, from memory where the situation is known. latest is one
// that is likely the same.
func (e *engine) outcomeOf(row *opRow, move priority.Move, latest int32) int32 {
	like := e.plans[row.plan].like
	if !e.plans[like].special {
		move.Special = move.PassThrough // no factor asks for it
	}
	mode := int32(move.PassThrough) | int32(move.Special)<<2
	for i, on := range [...]bool{row.elementwise, row.exempt, row.barrier, e.aggressive} {
		if on {
			mode |= 1 << (4 + i)
		}
	}
	s := situation{like, mode, e.current}
	if e.memory.holds(latest, s) {
		return latest
	}
	if id := e.memory.find(s); id != 0 {
		return id
	}
	return e.memory.add(s, e.propagate(row, &e.plans[like], move))
}

// propagate computes the outcome for the current shardings (source: shardy.md section 4.4).
func (e *engine) propagate(row *opRow, plan *plan, move priority.Move) outcome {
	if e.nothingMoves() {
		return outcome{}
	}
	mesh, clash, ok := e.commonMesh()
	if !ok {
		if clash.other == 0 {
			return outcome{}
		}
		return outcome{refusals: e.trace.Pattern([]trace.Event{clash.event()})}
	}
	if e.findOpen(plan); len(e.step.open) == 0 {
		return outcome{}
	}
	s := &e.step
	s.elementwise, s.conservative = row.elementwise, e.options.Conservative && !row.exempt
	s.setDirections(plan, move)
	s.project(e.m, mesh, plan.rule, e.current)
	s.remember()
	if e.aggressive {
		s.aggressive()
	} else {
		s.basic()
	}
	var out outcome
	moves := e.moved[:0]
	e.updates = e.updates[:0]
	for t := range s.tensors {
		if s.tensors[t].updated {
			moves = e.finish(moves, t, mesh)
		}
	}
	e.moved = moves
	out.updates = slices.Clone(e.updates)
	out.moves, out.refusals = e.trace.Pattern(moves), e.trace.Pattern(s.refusals(e.trace, mesh, row.barrier))
	if e.observer != nil {
		out.seen = &sighting{s.arrivals(), len(plan.rule.Operands), mesh}
	}
	return out
}

// nothingMoves says whether no tensor of the op has axes.
func (e *engine) nothingMoves() bool {
	for _, id := range e.current {
		if id != 0 && !e.m.ShardingOf(id).IsReplicated() {
			return false
		}
	}
	return true
}

// findOpen collects the factors along which tensors are not all sharded by the same axes. Along others nothing moves, and
// nothing is refused. Where dimensions have several factors, it takes all.
func (e *engine) findOpen(p *plan) {
	s, r := &e.step, p.rule
	s.open = s.open[:0]
	e.along = resize(e.along, len(r.Sizes))
	if !p.whole {
		for f := range r.Sizes {
			s.open = append(s.open, int32(f))
		}
		return
	}
	for t, id := range e.current {
		for d, factors := range dimsOf(r, t) {
			if len(factors) == 0 {
				continue
			}
			var axes []subaxis.Ref
			if id != 0 {
				axes = e.m.ShardingOf(id).Dims[d].Axes
			}
			along := &e.along[factors[0]]
			along.differ = along.differ || along.known && !slices.Equal(along.axes, axes)
			along.axes, along.known = axes, true
		}
	}
	for f := range e.along {
		if e.along[f].differ {
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
func (e *engine) finish(moves []trace.Event, t int, mesh ir.MeshID) []trace.Event {
	s := e.step.transient(t, mesh)
	old := e.current[t]
	if old == 0 && s.IsReplicated() && len(s.Replicated) == 0 && len(s.Unreduced) == 0 {
		return moves
	}
	id := e.m.FindSharding(&s)
	if id == 0 {
		id = e.m.InternSharding(s.Clone())
	} else if id == old {
		return moves
	}
	var dims []ir.DimSharding
	if old != 0 {
		dims = e.m.ShardingOf(old).Dims
	}
	first := int32(len(moves))
	moves = e.step.moves(moves, e.trace, t, dims, &s)
	e.updates = append(e.updates, update{int32(t), id, first, int32(len(moves))})
	return moves
}

// meshClash names two tensors whose meshes differ.
type meshClash struct{ first, other int }

// commonMesh returns the mesh of the current shardings. Empty meshes give way to real ones. It fails where meshes
// differ, or the mesh is a single device.
func (e *engine) commonMesh() (ir.MeshID, meshClash, bool) {
	var mesh ir.MeshID
	first := 0
	for t, id := range e.current {
		if id == 0 {
			continue
		}
		other := e.m.ShardingOf(id).Mesh
		switch {
		case other == mesh || e.m.Mesh(other).IsEmpty() && mesh != 0:
		case mesh == 0 || e.m.Mesh(mesh).IsEmpty():
			mesh, first = other, t
		case !e.m.Mesh(mesh).Equal(&e.m.Mesh(other).Mesh):
			return 0, meshClash{first, t}, false
		}
	}
	return mesh, meshClash{}, mesh != 0 && !e.m.Mesh(mesh).IsMaximal()
}

// tieResults makes the results of the main function and the values that it returns agree.
func (e *engine) tieResults() {
	if len(e.results) == 0 {
		return
	}
	r := e.results[0]
	body := e.m.Func(r.f).Body
	if e.m.IsDeclaration(r.f) {
		return
	}
	last := e.m.LastOp(body)
	if last == 0 || !e.m.Kind(last).IsTerminator() {
		return
	}
	for i := range min(e.m.NumOperands(last), len(e.m.Func(r.f).ResultShardings)) {
		v := e.m.Operand(last, i)
		if !e.m.ValueType(v).IsStatic() {
			continue
		}
		slots := [...]slot{e.home[v], r.first + slot(i)}
		if !e.read(slots[:]) || e.current[0] == e.current[1] {
			continue
		}
		row := opRow{plan: e.planFor(e.identityRule(e.m.Type(v), 1)), exempt: true}
		out := &e.memory.outcomes[e.outcomeOf(&row, priority.Move{PassThrough: priority.Both, Special: priority.Both}, 0)]
		for j, u := range out.updates {
			e.apply(0, slots[:], out, j, u.sharding)
		}
		e.openOthers(slots[:], out)
		if len(out.updates) > 0 && e.observer != nil {
			e.observer.observe(0, out.seen, []ir.ValueID{ir.ValueID(e.home[v]), ir.ValueID(e.home[v])})
		}
		if out.refusals != 0 && e.lastTied[i] != out.refusals {
			e.record(0, slots[:], e.trace.PatternEvents(out.refusals))
			e.lastTied[i] = out.refusals
		}
	}
}

// axesOf converts refs to the axes of the trace.
func axesOf(t *trace.Trace, refs []subaxis.Ref) trace.AxesID {
	var buffer [8]trace.Axis
	list := buffer[:0]
	for _, r := range refs {
		list = append(list, trace.Axis{Index: r.Axis, Pre: r.Pre, Size: r.Size})
	}
	return t.Intern(list)
}
