package propagate

import (
	"context"

	"autoshard/ir"
	"autoshard/priority"
	"autoshard/trace"
)

// engine runs propagation over the tables of a module to a fixed point.
//
// # Who waits for whom
//
// The worklist holds the ops that have to be visited. A visit reads the shardings of the op's tensors, decides what becomes of
// them, writes the new ones and puts every other op that sees a new one on the list. In
//
//	%0 = stablehlo.tanh %x           // %x is sharded [{"a"}, {}], the other values are not
//	%1 = stablehlo.add %0, %y
//	%2 = stablehlo.abs %y
//
// all ops are on the list at first, and leave it in the order of the program. The visit of tanh gives %0 the axis "a"; add sees
// %0 and is on the list already. The visit of add gives the axis to %1 and, where axes may move to operands, to %y; abs sees %y and is
// still on the list. The visit of abs gives the axis to %2, and the list is empty: that is the fixed point. If abs stood
// before add, its first visit would change nothing, and the visit of add would put it on the list again.
//
// Where two axes want the same dimension, the op that is visited first wins. The order of visits is therefore part of what
// propagation means, and is Shardy's (worklist, notify).
//
// There is a fixed point for each user priority, for each op priority within it, and for each strategy within that, so that what
// is more important has moved before the rest may: dimensions of later user priorities are hidden (userPriorities), and the
// schedule says which way ops of a class may move axes at an op priority.
//
// Ops do not see values but slots. Values that data flow makes one, such as a loop's result and the argument of its body, share
// a slot; the members of a sharding group copy each other's sharding (copyToGroup); what main returns and its results are made
// to agree before and after each fixed point (tieResults).
//
// # What is remembered
//
// What a visit does depends on the situation only: on the rule of the op, as far as it matters (plan.like), on the ways in which it
// may move axes, and on the shardings of its tensors, which are interned, so that equal numbers are equal shardings. The decider
// works out the outcome of a situation once. A model of 32 equal layers has 32 additions in the same situation, 31 of which are
// a look-up. For the same reason an outcome names no values: its updates count the tensors of the op, and the moves and refusals for
// the trace are patterns, for which the binder puts in the values of the op when the trace is read.
type engine struct {
	*tables
	decider
	recorder
	ctx      context.Context
	options  Options
	work     worklist
	started  bool    // the worklist is being worked on
	visits   uint    // of ops, for the pace of looking at the context
	latest   []int32 // by op: its latest outcome, which is likely its next one
	settling settling
	observer *observer // nil unless debug information is asked for

	level    int                                    // op priority; allLevels for no schedule
	schedule [len(priority.Schedule[0].Moves)]moves // of the level, by class
}

// moves says how a class of ops moves: where an operand has several uses, and where none has.
type moves struct{ shared, single priority.Move }

// allLevels stands for propagation without a schedule: everything moves both ways.
const allLevels = priority.Levels - 1

// settling counts how often shardings change.
type settling struct {
	changes  []uint16 // by slot
	restless slot     // one that changed too often, 0 if none
}

// maxChanges is how often the sharding of one value may change. Shardings mostly grow, and a mesh has few axes; but what
// enters and leaves manual computations loses axes, and may get them again without end.
const maxChanges = 4096

func newEngine(ctx context.Context, m *ir.Module, o Options) *engine {
	const outcomes = 1024 // more are rare
	return startEngine(ctx, newTables(ctx, m, o), o, trace.New(nil), newMemory(min(m.NumOps()/2, outcomes)))
}

// startEngine returns an engine over tables, with outcomes that are known already and the trace whose patterns they
// name.
func startEngine(ctx context.Context, t *tables, o Options, known *trace.Trace, outcomes *memory) *engine {
	e := &engine{ctx: ctx, tables: t, options: o, level: allLevels}
	e.latest, e.settling.changes = make([]int32, t.m.NumOps()+1), make([]uint16, len(t.shardings))
	e.recorder = newRecorder(t, known)
	e.decider = decider{tables: t, memory: outcomes, patterns: e.trace, conservative: o.Conservative}
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
	for op, ok := e.work.pop(); ok && e.settling.restless == 0; op, ok = e.work.pop() {
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
	if row.view != 0 { // the tensors are compared as the sources of the edge see them
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
	e.recordRefusals(op, out.refusals)
}

// carryOut writes the updates of an outcome. raw is the sharding of the last tensor as it is stored, which for the edge of a manual
// computation differs from the one that its sources see.
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
				// The edge stores what it stored before: all that came are manual axes, which exist on the side of the
				// sources only. Shardy notifies the users all the same, and the order of visits depends on it.
				if e.started {
					e.notify(slots[last], op)
				}
				e.copyToGroup(slots[last], u.sharding, op)
				continue
			}
		}
		e.apply(op, slots, out, i, sharding)
	}
	e.openOthers(slots, out)
}

// apply writes update i of an outcome, unless a later one is for the same value. The ops that see the value are pushed for each of the
// two, since the order in which ops are pushed decides conflicts, and Shardy writes both.
func (e *engine) apply(op ir.OpID, slots []slot, out *outcome, i int, sharding ir.ShardingID) {
	u := &out.updates[i]
	s := slots[u.tensor]
	if s == 0 {
		return
	}
	for _, later := range out.updates[i+1:] {
		if slots[later.tensor] == s {
			if e.started {
				e.notify(s, op)
			}
			return
		}
	}
	// The moves of the outcome lead from the sharding that the decision saw; an earlier update of this visit may have changed it.
	if e.shardings[s] == e.current[u.tensor] || int(u.tensor) == len(slots)-1 && e.rows[op].view != 0 {
		e.record(op, slots, e.trace.PatternEvents(out.moves)[u.first:u.to])
	} else {
		e.recordChange(op, slots[u.tensor], s, sharding)
	}
	e.assign(s, sharding, op)
	e.copyToGroup(s, u.sharding, op)
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

// copyToGroup gives the new sharding of a value that was put into a group to the other members, that of an edge as its sources
// see it. A member may have its sharding at an edge, as the argument of a loop's body does. The edge was not put into the group itself,
// so that nothing is copied when it changes.
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
	if e.settling.changes[s]++; e.settling.changes[s] > maxChanges {
		e.settling.restless = s
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
		e.recordTiedRefusals(i, slots[:], out.refusals)
	}
}
