package plan

import (
	"context"
	"slices"
	"time"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/propagate"
	"autoshard/rewrites"
	"autoshard/search/space"
)

// Make chooses shardings for a program. What the user wrote is kept: closed dimensions exactly, open ones at least
// as written. It fails with diag.ErrInfeasible where the memory limit is too small, naming the smallest that works.
//
// Where the context's deadline comes, or it is cancelled with the cause [ErrEnough], the plan is the best so far: never
// worse than the best baseline that fits, for which the baselines are worked out in any case. It fails with the
// context's error where none fits, and at once where the context is cancelled otherwise.
func Make(ctx context.Context, source *answer.Source, o Options) (*Plan, error) {
	late, cancel := patient(ctx)
	defer cancel()
	if o.Devices > 0 && len(o.Mesh) == 0 {
		return makeOnBestMesh(ctx, late, source, o)
	}
	o.Devices = 0
	p, err := newPlanner(late, source, o)
	if err != nil {
		return nil, err
	}
	plan, _, err := p.make(ctx, late)
	return plan, err
}

// make makes a plan, and returns what the next one can begin with.
func (p *planner) make(ctx, late context.Context) (*Plan, *prior, error) {
	c, err := p.decide(ctx, late)
	if err != nil {
		return nil, nil, err
	}
	return c.finish(ctx)
}

// decideFrom chooses a plan where the baselines are known.
func (p *planner) decideFrom(ctx, late context.Context, baselines []baseline) (*choice, error) {
	c, err := p.choose(ctx, late, baselines)
	if err != nil {
		return nil, err
	}
	tidying, cancel := before(ctx, toWrite*p.lowering)
	defer cancel()
	return c, c.tidy(tidying)
}

// tidy makes the program of the best plan faster, and its layouts plain.
func (c *choice) tidy(ctx context.Context) error {
	if c.best == nil || c.outdone() {
		return nil
	}
	if c.best = c.planner.improve(ctx, c.best); c.screening {
		return nil
	}
	return c.plainly(ctx)
}

// finish puts the plan together that was chosen, and returns what the next one can begin with.
func (c *choice) finish(ctx context.Context) (*Plan, *prior, error) {
	if c.best.again > 0 {
		c.bound = c.lasting
	}
	ctx, cancel := before(ctx, toWrite*c.lowering)
	defer cancel()
	gap := c.certificate().Gap // as the search left it: what the next one compares with
	if err := c.ascend(ctx); err != nil {
		return nil, nil, err
	}
	gains, better := c.gains(ctx, c.best)
	for ; better != nil; gains, better = c.gains(ctx, c.best) {
		c.best = better
	}
	for _, text := range c.room.said() {
		c.found.Add(lint.SearchMemory, 0, "", "%s", text)
	}
	plan, err := c.plan(c.late, c.best, c.baselines, c.certificate(), gains)
	return plan, &prior{c.planner, c.baselines, slices.Clone(c.state), c.space, c.last, c.best, gap, []*lowered{c.best}}, err
}

// planner holds what the steps of one request share.
type planner struct {
	Options
	source *answer.Source
	module *ir.Module // imported: calls inlined, constants split
	mesh   ir.MeshID
	model  *estimate.Model
	state  []int // per result: the input that it replaces, -1 for none
	found  findings

	screening  bool          // how fast plans are on the mesh is to be known roughly
	hasty      bool          // time or steps are limited: what is fast early counts
	nearest    *lowered      // the program that needs least memory, where none fits
	groups     int           // parts of the mesh that are placed on their own, its leading axes as one; 0: every axis is
	parts      int64         // microbatches that the module computes its batch in; 0: it does not
	shown      []baseline    // those of the whole batch then
	unsplit    *lowered      // the best program of the whole batch then, or the one that needs least
	alike      *lowered      // the best program so far of the whole batch, or in other parts, then: its layouts are tried first
	inParts    *partsSearch  // that may find the batch in parts to be faster; nil where it is not to be computed so
	lowering   time.Duration // the longest that making a baseline explicit and pricing it took
	strategies int           // of the latest problem
	prior      *prior        // what an earlier plan of the module left; nil for none
}

func newPlanner(ctx context.Context, source *answer.Source, o Options) (*planner, error) {
	m, unnamed, err := source.Inlined(ctx, o.Mesh)
	if err != nil {
		return nil, err
	}
	ir.InlineNamed(m)
	ir.EraseIdentities(m)
	ir.SinkConstants(m)
	settleCalls(m)
	propagate.SinkDataFlowEdges(m)
	if err := checkPlannable(m); err != nil {
		return nil, err
	}
	mesh, several, err := answer.CommonMesh(m, o.Mesh)
	if err != nil {
		return nil, err
	}
	found := findings{Findings: answer.Findings{Module: m}}
	if err := found.placed(mesh); err != nil {
		return nil, err
	}
	found.unread()
	propagate.BatchSteps(m)
	if err := propagate.Normalize(ctx, m); err != nil {
		return nil, err
	}
	o.Hardware = o.Hardware.OrDefault()
	if o.Memory == 0 {
		o.Memory = int64(o.Hardware.HBMBytes)
	}
	priced, err := estimate.New(o.Hardware, m.Mesh(mesh).Mesh)
	if err != nil {
		return nil, err
	}
	if err := found.scattered(o.Hardware, mesh, priced); err != nil {
		return nil, err
	}
	if err := cutFree(ctx, m, mesh, priced); err != nil {
		return nil, err
	}
	found.ignored()
	if several != "" {
		found.Add(lint.CommonMesh, 0, "", "%s", several)
	}
	found.Unnamed(unnamed)
	collectives.RestrictManual(m)
	ir.EraseDead(m)
	if err := assumeTrips(m, o.TripCounts); err != nil {
		return nil, err
	}
	found.Platform(source)
	p := &planner{Options: o, source: source, module: m, mesh: mesh, model: priced, found: found}
	if err := p.checkBudgets(); err != nil {
		return nil, err
	}
	if err := p.steer(o.Pins, o.Forbidden); err != nil {
		return nil, err
	}
	p.state = replaced(m)
	return p, nil
}

// report tells of progress; cost and bound are in picoseconds.
func (p *planner) report(stage string, cost, bound int64) {
	if p.Progress != nil {
		p.Progress(Progress{Stage: stage, Seconds: float64(cost) / program.Picoseconds, Bound: float64(bound) / program.Picoseconds,
			Strategies: p.strategies})
	}
}

// space returns the space of the plans, with the baselines as suggestions. It is not complete if the context ends.
func (p *planner) space(ctx context.Context, baselines []baseline) *space.Space {
	p.report("rules", 0, 0)
	var s *space.Space
	if p.prior != nil {
		s = p.prior.space.Again()
	} else {
		s = space.New(p.module, p.mesh, p.model)
		p.switches(s)
	}
	p.pin(s, p.kept())
	p.found.priorities()
	for _, b := range baselines {
		if b.settled != nil && ctx.Err() == nil {
			s.Suggest(b.settled, b.assignment)
		}
	}
	if p.prior != nil {
		s.Suggest(p.prior.best.annotated, p.prior.best.assignment)
	}
	return s
}

// switches tells a space what programs are lowered without.
func (p *planner) switches(s *space.Space) {
	if p.Without.Has(rewrites.CollectiveMatmul) {
		s.Serial()
	}
	if p.Without.Has(rewrites.MergeCollectives) {
		s.Alone()
	}
	if p.Without.Has(rewrites.DeferReductions) {
		s.Prompt()
	}
}

// pinned is a sharding of the user, as far as a plan keeps it.
type pinned struct {
	value    ir.ValueID // 0 for a result of the main function
	result   int
	sharding ir.ShardingID
}

// kept returns the shardings of the user, inputs first. Findings say what a plan does not keep of them.
func (p *planner) kept() []pinned {
	var out []pinned
	for v := ir.ValueID(1); int(v) < p.module.NumValues(); v++ {
		if p.written(v) {
			padded := func(d int) bool { return collectives.Padded(p.module, v, d) }
			out = append(out, pinned{value: v, sharding: p.found.keep(p.module.Sharding(v), p.found.Place(v), p.WholeAxes, padded)})
		}
	}
	for i, id := range p.module.MainFunc().ResultShardings {
		if id != 0 {
			padded := func(int) bool { return true }
			out = append(out, pinned{result: i, sharding: p.found.keep(id, p.found.Result(i), p.WholeAxes, padded)})
		}
	}
	return out
}

// pin makes a space keep shardings. An output of the model's state is cut as the input that it replaces, and pins it where nothing else
// does.
func (p *planner) pin(s *space.Space, pins []pinned) {
	for i, arg := range p.state {
		if arg >= 0 {
			s.Tie(i, arg)
		}
	}
	args := p.args()
	for _, pin := range pins {
		switch {
		case pin.value != 0:
			s.Pin(pin.value, pin.sharding)
		case p.state[pin.result] < 0:
			s.PinResult(pin.result, pin.sharding)
		default:
			if v := args[p.state[pin.result]]; !p.written(v) {
				s.Pin(v, pin.sharding)
			}
		}
	}
}

// args are the inputs.
func (p *planner) args() []ir.ValueID { return p.module.BlockArgs(p.module.MainFunc().Body) }

// written says whether the user gave a value a sharding. Arguments of a manual computation's body are not values of
// the sharded program.
func (p *planner) written(v ir.ValueID) bool {
	m := p.module
	if m.Sharding(v) == 0 || m.ValueType(v).Kind != ir.TensorKind {
		return false
	}
	block, body := m.BlockOf(v), m.MainFunc().Body
	for block != 0 && block != body {
		op := m.BlockOp(block)
		if op == 0 || m.Kind(op) == ir.OpSdyManualComputation {
			return false
		}
		block = m.OpBlock(op)
	}
	return block != 0
}

// annotated says whether the user gave any value or result a sharding.
func (p *planner) annotated() bool {
	for _, id := range p.module.MainFunc().ResultShardings {
		if id != 0 {
			return true
		}
	}
	for v := ir.ValueID(1); int(v) < p.module.NumValues(); v++ {
		if p.written(v) {
			return true
		}
	}
	return false
}

// Lowered returns the program of the plan that devices run. Errors are of a plan that no longer is one, or the context's.
func (p *Plan) Lowered(ctx context.Context) (lowered *program.Program, err error) {
	defer diag.Recover("lower", &err)
	return program.Read(ctx, &program.Partitioned{Name: p.Model, Mesh: p.Mesh, Inputs: p.Inputs, Outputs: p.Outputs, Dropped: p.Dropped,
		Text: p.Program})
}
