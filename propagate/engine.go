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
	memo     map[string]int32 // from situation to outcome
	last     []int32          // by op: the outcome whose events it has recorded last
	waiting  map[slot][]waitingDim

	aggressive bool
	started    bool // the worklist is being worked on
	level      int  // op priority; allLevels for no schedule
	key        []byte
	current    []ir.ShardingID
}

// allLevels stands for propagation without a schedule: everything moves both ways.
const allLevels = priority.Levels - 1

// outcome is what one visit of an op does, and what it declines to do.
type outcome struct {
	updates  []update
	refusals []event
}

// update gives a tensor of the op a new sharding.
type update struct {
	tensor   int
	sharding ir.ShardingID
	moves    []event
}

func newEngine(m *ir.Module, o Options) *engine {
	e := &engine{tables: newTables(m, o.Conservative), options: o, trace: trace.New(), memo: map[string]int32{},
		outcomes: make([]outcome, 1), level: allLevels}
	e.last = make([]int32, m.NumOps()+1)
	return e
}

// fixpoint visits ops until none changes anything.
func (e *engine) fixpoint() {
	e.tieResults()
	e.work.fill(e.m)
	e.started = true
	for op, ok := e.work.pop(); ok; op, ok = e.work.pop() {
		switch {
		case e.m.OpBlock(op) == 0:
		case isDead(e.m, op):
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
	var view *edgeView
	raw := e.current[last]
	if row.view != 0 {
		view = &e.views[row.view]
		e.current[last] = view.beforePropagation(e.m, raw)
	}
	move := e.moves(op, row)
	if move == (priority.Move{}) && !row.barrier {
		return
	}
	id := e.outcomeOf(row, move)
	out := &e.outcomes[id]
	for i := range out.updates {
		u := &out.updates[i]
		sharding := u.sharding
		if view != nil && u.tensor == last {
			if sharding = view.afterPropagation(e.m, sharding); sharding == raw {
				continue
			}
		}
		e.apply(op, slots, out, i, sharding)
	}
	if len(out.refusals) > 0 && e.last[op] != id {
		e.recordRefusals(op, slots, out.refusals)
	}
	e.last[op] = id
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
	if e.shardings[s] == e.current[u.tensor] || u.tensor == len(slots)-1 && e.rows[op].view != 0 {
		e.recordMoves(op, slots, u.moves)
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
	return priority.At(row.class, e.level > 0 || priority.SingleUse(e.m, op), e.level)
}

// set changes the sharding of a slot and of all in its group and pushes the ops that see them.
func (e *engine) set(s slot, id ir.ShardingID, current ir.OpID) {
	e.shardings[s] = id
	if e.started {
		e.notify(s, current)
	}
	g, ok := e.groupOf[s]
	if !ok {
		return
	}
	for _, member := range e.groups[g] {
		if member != s && e.shardings[member] != id {
			e.recordChange(0, s, member, id)
			e.shardings[member] = id
			if e.started {
				e.notify(member, current)
			}
		}
	}
}

// outcomeOf returns the outcome for the current shardings, from memory where the situation is known.
func (e *engine) outcomeOf(row *opRow, move priority.Move) int32 {
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
	if id, ok := e.memo[string(e.key)]; ok {
		return id
	}
	e.outcomes = append(e.outcomes, e.propagate(row, move))
	id := int32(len(e.outcomes) - 1)
	e.memo[string(e.key)] = id
	return id
}

// propagate computes the outcome for the current shardings (source: shardy.md section 4.4).
func (e *engine) propagate(row *opRow, move priority.Move) outcome {
	plan := &e.plans[row.plan]
	mesh, clash, ok := e.commonMesh()
	if !ok {
		if clash.other == 0 {
			return outcome{}
		}
		return outcome{refusals: []event{clash.event()}}
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
	for t := range s.tensors {
		if s.tensors[t].updated {
			e.finish(&out, t, mesh)
		}
	}
	out.refusals = s.refusals(e.trace, mesh, row.barrier)
	return out
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

// finish adds the update of a tensor whose factors changed, unless its sharding stays the same.
func (e *engine) finish(out *outcome, t int, mesh ir.MeshID) {
	s := e.step.sharding(t, mesh)
	old := e.current[t]
	if old == 0 && s.IsReplicated() && len(s.Replicated) == 0 && len(s.Unreduced) == 0 {
		return
	}
	id := e.m.InternSharding(s)
	if id == old {
		return
	}
	var dims []ir.DimSharding
	if old != 0 {
		dims = e.m.ShardingOf(old).Dims
	}
	out.updates = append(out.updates, update{t, id, e.step.moves(e.trace, t, dims, &s)})
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
		out := &e.outcomes[e.outcomeOf(&row, priority.Move{PassThrough: priority.Both, Special: priority.Both})]
		for i, u := range out.updates {
			e.apply(0, slots[:], out, i, u.sharding)
		}
		e.recordRefusals(0, slots[:], out.refusals)
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
