package propagate

import (
	"encoding/binary"

	"autoshard/internal/trace"
	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
)

// engine runs propagation over the tables of a module. What an op does with the shardings of its tensors depends
// only on its plan, the allowed directions and those shardings; such outcomes are computed once and kept.
type engine struct {
	*tables
	options  Options
	trace    *trace.Trace
	work     worklist
	step     step
	outcomes []outcome
	memo     map[string]int32        // from situation to outcome
	latest   []int32                 // by op: its latest outcome, which is likely its next one
	last     []trace.PatternID       // by op: the refusals that it has recorded last
	lastTied map[int]trace.PatternID // by result of the main function
	reserve  *reserve
	binder   *binder
	round    int32     // user priority
	observer *observer // nil unless debug information is asked for

	aggressive bool
	started    bool                                   // the worklist is being worked on
	level      int                                    // op priority; allLevels for no schedule
	schedule   [len(priority.Schedule[0].Moves)]moves // of the level, by class
	key        []byte
	current    []ir.ShardingID
}

// moves says how a class of ops moves: where an operand has several uses, and where none has.
type moves struct{ shared, single priority.Move }

// allLevels stands for propagation without a schedule: everything moves both ways.
const allLevels = priority.Levels - 1

// outcome is what one visit of an op does, and what it declines to do.
type outcome struct {
	updates  []update
	moves    trace.PatternID // of all updates
	refusals trace.PatternID
	key      string    // the situation
	seen     *sighting // for the observer
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

func newEngine(m *ir.Module, o Options) *engine {
	return startEngine(newTables(m, o.Conservative), o, trace.New(nil), make(map[string]int32, m.NumOps()/8), make([]outcome, 1, 1+m.NumOps()/8))
}

// startEngine returns an engine over tables, with outcomes that are known already and the trace whose patterns they
// name.
func startEngine(t *tables, o Options, known *trace.Trace, memo map[string]int32, outcomes []outcome) *engine {
	e := &engine{tables: t, options: o, memo: memo, outcomes: outcomes, level: allLevels}
	e.latest = make([]int32, t.m.NumOps()+1)
	e.last, e.lastTied = make([]trace.PatternID, t.m.NumOps()+1), map[int]trace.PatternID{}
	e.reserve = &reserve{waiting: map[slot][]waitingDim{}}
	e.binder = &binder{e.rows, e.slots, e.names, e.reserve}
	e.trace = known.Next(e.binder)
	e.reserve.trace = e.trace
	return e
}

// fixpoint visits ops until none changes anything.
func (e *engine) fixpoint() {
	for class := range e.schedule {
		c := priority.Class(class)
		e.schedule[class] = moves{priority.At(c, false, e.level), priority.At(c, true, e.level)}
	}
	e.tieResults()
	e.work.fill(e.m)
	e.started = true
	for op, ok := e.work.pop(); ok; op, ok = e.work.pop() {
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
		e.current[last] = e.views[row.view].beforePropagation(e.m, raw)
	}
	move := e.moves(op, row)
	if move == (priority.Move{}) && !row.barrier {
		return
	}
	id := e.outcomeOf(row, move, e.latest[op])
	e.latest[op] = id
	out := &e.outcomes[id]
	if e.carryOut(op, slots, out, raw) && e.observer != nil {
		e.observer.observe(op, out.seen, e.valuesOf(slots))
	}
	if out.refusals != 0 && e.last[op] != out.refusals {
		e.trace.Record(int32(op), out.refusals)
		e.last[op] = out.refusals
	}
}

// carryOut carries out the updates of an outcome and says whether one changed anything. raw is the sharding of the last
// tensor as it is stored.
func (e *engine) carryOut(op ir.OpID, slots []slot, out *outcome, raw ir.ShardingID) (changed bool) {
	row, last := &e.rows[op], len(slots)-1
	if row.distinct && len(e.groups) == 0 && row.view == 0 {
		e.trace.Record(int32(op), out.moves)
		for i := range out.updates {
			e.assign(slots[out.updates[i].tensor], out.updates[i].sharding, op)
		}
		return len(out.updates) > 0
	}
	for i := range out.updates {
		u := &out.updates[i]
		sharding := u.sharding
		if row.view != 0 && int(u.tensor) == last {
			if sharding = e.views[row.view].afterPropagation(e.m, sharding); sharding == raw {
				continue
			}
		}
		changed = true
		e.apply(op, slots, out, i, sharding)
	}
	return changed
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
			return
		}
	}
	if e.shardings[s] == e.current[u.tensor] || int(u.tensor) == len(slots)-1 && e.rows[op].view != 0 {
		e.record(op, slots, e.trace.PatternEvents(out.moves)[u.first:u.to])
	} else {
		e.recordChange(op, slots[u.tensor], s, sharding)
	}
	e.set(s, sharding, op)
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

// set changes the sharding of a slot and of all in its group and pushes the ops that see them.
func (e *engine) set(s slot, id ir.ShardingID, current ir.OpID) {
	e.assign(s, id, current)
	g, ok := e.groupOf[s]
	if !ok {
		return
	}
	for _, member := range e.groups[g] {
		if member != s && e.shardings[member] != id {
			e.recordChange(0, s, member, id)
			e.assign(member, id, current)
		}
	}
}

// assign changes the sharding of a slot and pushes the ops that see it.
func (e *engine) assign(s slot, id ir.ShardingID, current ir.OpID) {
	e.shardings[s] = id
	if e.started {
		e.notify(s, current)
	}
}

// outcomeOf returns the outcome for the current shardings, from memory where the situation is known. latest is one
// that is likely the same.
func (e *engine) outcomeOf(row *opRow, move priority.Move, latest int32) int32 {
	if !e.plans[row.plan].special {
		move.Special = move.PassThrough // no factor asks for it
	}
	flags := byte(move.PassThrough) | byte(move.Special)<<2
	for i, on := range [...]bool{row.elementwise, row.exempt, row.barrier, e.aggressive} {
		if on {
			flags |= 1 << (4 + i)
		}
	}
	e.key = binary.LittleEndian.AppendUint32(e.key[:0], uint32(row.plan))
	e.key = append(e.key, flags)
	for _, id := range e.current {
		e.key = binary.LittleEndian.AppendUint32(e.key, uint32(id))
	}
	if e.outcomes[latest].key == string(e.key) {
		return latest
	}
	if id, ok := e.memo[string(e.key)]; ok {
		return id
	}
	out := e.propagate(row, move)
	out.key = string(e.key)
	e.outcomes = append(e.outcomes, out)
	id := int32(len(e.outcomes) - 1)
	e.memo[out.key] = id
	return id
}

// propagate computes the outcome for the current shardings (source: shardy.md section 4.4).
func (e *engine) propagate(row *opRow, move priority.Move) outcome {
	if e.nothingMoves() {
		return outcome{}
	}
	plan := &e.plans[row.plan]
	mesh, clash, ok := e.commonMesh()
	if !ok {
		if clash.other == 0 {
			return outcome{}
		}
		return outcome{refusals: e.trace.Pattern([]trace.Event{clash.event()})}
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
	var moves []trace.Event
	for t := range s.tensors {
		if s.tensors[t].updated {
			moves = e.finish(&out, moves, t, mesh)
		}
	}
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
func (e *engine) finish(out *outcome, moves []trace.Event, t int, mesh ir.MeshID) []trace.Event {
	s := e.step.sharding(t, mesh)
	old := e.current[t]
	if old == 0 && s.IsReplicated() && len(s.Replicated) == 0 && len(s.Unreduced) == 0 {
		return moves
	}
	id := e.m.InternSharding(s)
	if id == old {
		return moves
	}
	var dims []ir.DimSharding
	if old != 0 {
		dims = e.m.ShardingOf(old).Dims
	}
	first := int32(len(moves))
	moves = e.step.moves(moves, e.trace, t, dims, &s)
	out.updates = append(out.updates, update{int32(t), id, first, int32(len(moves))})
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
		if !e.read(slots[:]) {
			continue
		}
		row := opRow{plan: e.planFor(e.identityRule(e.m.Type(v), 1)), exempt: true}
		out := &e.outcomes[e.outcomeOf(&row, priority.Move{PassThrough: priority.Both, Special: priority.Both}, 0)]
		for j, u := range out.updates {
			e.apply(0, slots[:], out, j, u.sharding)
		}
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
