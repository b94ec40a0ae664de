package plan

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/subaxis"
)

// replicas searches for plans as people write them: devices along some axes of the mesh have replicas of the
// parameters and parts of the batch, what steps only update may be cut along these too (ZeRO's first stage), and the other axes may cut
// anything. Collectives that are sent as one are cheap only beside each other, and with so much decided the search finds them together.
// Where they are not worth it, models do without. All of them may take as many steps as the search before.
func (c *choice) replicas(ctx context.Context, l *level) error {
	if c.parts > 0 || !c.worthWriting(l) {
		return nil
	}
	until := 2 * c.spent
	for _, along := range subsets(c.axes()) {
		if c.over(ctx) || c.spent > until {
			return nil
		}
		if err := c.replicated(ctx, along); err != nil {
			return err
		}
	}
	return nil
}

// subsets returns all sets of some axes but the empty one; that of all axes comes first.
func subsets(axes []subaxis.Ref) (sets [][]subaxis.Ref) {
	for set := 1<<len(axes) - 1; set > 0; set-- {
		var along []subaxis.Ref
		for i, a := range axes {
			if set>>i&1 > 0 {
				along = append(along, a)
			}
		}
		sets = append(sets, along)
	}
	return sets
}

// replicated searches for plans of which the devices along some axes have replicas.
func (c *choice) replicated(ctx context.Context, axes []subaxis.Ref) error {
	start, err := c.blocksInTime(ctx, axes, updated)
	if err != nil || start == nil {
		return err
	}
	other := c.pinnedTo(c.replicaPins(axes), " among plans with replicas of the parameters")
	other.offer(start.lowered)
	other.space.Suggest(start.settled, start.assignment)
	l, err := other.finest(ctx)
	if err == nil && l != nil {
		err = other.stages(ctx, l, other.seek, other.refine)
	}
	c.adopt(other)
	return err
}

// pinnedTo returns a choice among the plans that have more pins than those of the user. What its search proves holds for these alone; what
// is left out of it for want of memory is said with the given words.
func (c *choice) pinnedTo(pins []pinned, among string) *choice {
	planner := *c.planner
	planner.prior, planner.found = nil, c.found.clone()
	if c.Progress != nil {
		planner.Progress = func(e Progress) {
			e.Bound = float64(c.bound) / program.Picoseconds
			c.Progress(e)
		}
	}
	other := *c
	other.planner, other.bound, other.space = &planner, 0, c.space.Again()
	other.room.among, other.room.refused = among, slices.Clone(c.room.refused)
	planner.pin(other.space, append(planner.kept(), pins...))
	return &other
}

// adopt takes over the plans of a choice among fewer of them, what they took, and what was left out.
func (c *choice) adopt(other *choice) {
	c.best, c.least, c.thrift = other.best, other.least, other.thrift
	c.spent, c.early, c.room.refused = other.spent, other.early, other.room.refused
}

// zeros choose what of the state is in blocks: what steps only update, or all of it (ZeRO's first and third stage).
var zeros = [...]func(*ir.Module, ir.ValueID) bool{updated, entire}

// offerBlocks offers programs that keep state in blocks along all axes, once, as far as the time allows.
func (c *choice) offerBlocks() error {
	if c.sharded != nil {
		return nil
	}
	for _, cuts := range zeros {
		b, err := c.blocksInTime(c.ctx, c.axes(), cuts)
		if err != nil || b == nil {
			return err
		}
		c.offer(b.lowered)
		c.sharded = append(c.sharded, b)
	}
	return nil
}

// suggestBlocks suggests and offers them, if that is worth it.
func (c *choice) suggestBlocks(l *level) error {
	if !c.worthBlocks(l) {
		return nil
	}
	if err := c.offerBlocks(); err != nil {
		return err
	}
	l.blocks = true
	for _, b := range c.sharded {
		l.space.Suggest(b.settled, b.assignment)
	}
	return nil
}

// blocksInTime is blocks as long as ctx lasts: there is no program where that ends first.
func (c *choice) blocksInTime(ctx context.Context, axes []subaxis.Ref, cuts func(*ir.Module, ir.ValueID) bool) (*baseline, error) {
	b, err := c.blocks(ctx, c.space.Planner(), axes, cuts)
	if err != nil && ctx.Err() != nil {
		c.early = true
		return nil, c.late.Err()
	}
	return b, err
}

// blocks returns the program that is data parallel along some axes, with some of its state in blocks along these: but for the smallest
// arrays, which take almost no memory, while each has to be gathered. What the user wrote stays.
func (p *planner) blocks(ctx context.Context, planner *collectives.Planner, axes []subaxis.Ref,
	cuts func(*ir.Module, ir.ValueID) bool) (*baseline, error) {
	b := p.annotationsOnly()
	m := b.settled
	put := func(v ir.ValueID, l collectives.Layout) {
		if m.Sharding(v) == 0 {
			m.SetSharding(v, m.InternSharding(l.Sharding(p.mesh)))
		}
	}
	for _, v := range batchInputs(m) {
		put(v, p.inBatches(v, axes))
	}
	p.cutState(put, func(v ir.ValueID) collectives.Layout {
		if !cuts(m, v) {
			return p.along(v, 0, nil)
		}
		return p.along(v, p.widest(v, axes), axes)
	})
	return &b, p.lowerBaseline(ctx, &b, planner)
}

// hasState says whether results take the places of inputs.
func (p *planner) hasState() bool {
	return slices.ContainsFunc(p.state, func(arg int) bool { return arg >= 0 })
}

// cutState calls put with the layout that each array of the state is to have, which the smallest have in full.
func (p *planner) cutState(put func(ir.ValueID, collectives.Layout), to func(ir.ValueID) collectives.Layout) {
	m, args, small := p.module, p.args(), p.smallState()
	for _, arg := range p.state {
		switch {
		case arg < 0 || len(m.Shape(args[arg])) == 0:
		case m.ValueType(args[arg]).Bytes() > small:
			put(args[arg], to(args[arg]))
		default:
			put(args[arg], p.along(args[arg], 0, nil))
		}
	}
}

// smallPart is the part of the state, one by this number, that its smallest arrays are together.
const smallPart = 25

// smallState returns the bytes up to which arrays of the state count as the smallest: all of these together are the part that they may be.
func (p *planner) smallState() int64 {
	args := p.args()
	var sizes []int64
	for _, arg := range p.state {
		if arg >= 0 {
			sizes = append(sizes, p.module.TypeOf(p.module.Type(args[arg])).Bytes())
		}
	}
	slices.Sort(sizes)
	var all, small int64
	for _, bytes := range sizes {
		all += bytes
	}
	left := all / smallPart
	for i, bytes := range sizes {
		if left -= bytes; left < 0 {
			break
		}
		if i+1 == len(sizes) || sizes[i+1] > bytes {
			small = bytes
		}
	}
	return small
}

// widest returns the first of the longest dimensions of a value that axes cut into the most blocks: not the one that counts layers, of
// which a loop takes one after the other.
func (p *planner) widest(v ir.ValueID, axes []subaxis.Ref) int {
	dims, first := p.module.Shape(v), 0
	if p.stacked(v) {
		first = 1
	}
	best, most := first, int64(1)
	for d := first; d < len(dims); d++ {
		if n := subaxis.Product(subaxis.Dividing(axes, dims[d])); n > most || n == most && dims[d] > dims[best] {
			best, most = d, n
		}
	}
	return best
}

// stacked says whether an array of the state has layers along its leading dimension: a loop takes one after the other of it or, as what an
// optimizer keeps of parameters, of one of its type.
func (p *planner) stacked(v ir.ValueID) bool {
	m, args := p.module, p.args()
	return len(m.Shape(v)) > 1 && slices.ContainsFunc(p.state, func(arg int) bool {
		return arg >= 0 && m.Type(args[arg]) == m.Type(v) && stepped(m, args[arg])
	})
}

// replicaPins are the pins of inputs of which the devices along some axes have replicas, or parts of the batch, where the user wrote
// nothing.
func (p *planner) replicaPins(axes []subaxis.Ref) []pinned {
	var out []pinned
	m, args := p.module, p.args()
	pin := func(v ir.ValueID, s ir.Sharding) { out = append(out, pinned{value: v, sharding: m.InternSharding(s)}) }
	for _, v := range batchInputs(m) {
		l := p.inBatches(v, axes)
		pin(v, l.Sharding(p.mesh))
	}
	for _, arg := range p.state {
		if arg >= 0 && !updated(m, args[arg]) {
			pin(args[arg], ir.Sharding{Mesh: p.mesh, Dims: make([]ir.DimSharding, len(m.Shape(args[arg]))), Replicated: axes})
		}
	}
	return p.unwritten(out)
}

// unwritten returns the pins of inputs about which the user wrote nothing.
func (p *planner) unwritten(pins []pinned) []pinned {
	written := p.annotationsOnly().settled
	return lists.Filter(pins, func(x pinned) bool { return written.Sharding(x.value) == 0 })
}

// entire chooses every array of the state.
func entire(*ir.Module, ir.ValueID) bool { return true }

// updated says whether only ops read an input that compute each of its elements alone.
func updated(m *ir.Module, v ir.ValueID) bool {
	for u := range m.Uses(v) {
		if k := m.Kind(u.Op); k == ir.OpOptimizationBarrier || !k.IsElementwise() && !k.IsTerminator() {
			return false
		}
	}
	return true
}
