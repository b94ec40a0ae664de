package microbatch

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/propagate"
	"autoshard/rewrites"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// heldAttr is the attribute of a barrier that stands for a sharding constraint of the user while a program is cut.
const heldAttr = "autoshard.held"

// cut is a program as one of some devices runs it, of which each has a part of the batch. What brings parts of the batch together has the
// forms of package shardmap: pscatter takes a part of a whole value, psum adds up parts, all_gather_invariant joins them.
type cut struct {
	m        *ir.Module
	whole    *ir.Module // the program as it was; values that both have are the same
	parts    int64
	examples int64

	varies  map[ir.ValueID]bool // values of the main function that are others for every part
	summed  map[ir.ValueID]bool // values that are made of all parts
	sums    []ir.ValueID        // that differ for every part, and are read as their sum over all of them
	takes   []ir.OpID           // pscatter
	gathers []ir.OpID           // all_gather_invariant
}

// step prices nothing but that something is sent, by its bytes.
type step struct{}

// Price returns the bytes of a step that sends.
func (step) Price(kind collectives.Kind, _ []subaxis.Ref, bytes int64) int64 {
	if kind == collectives.AllSlice {
		return 0
	}
	return 1 + bytes
}

// newCut cuts a program into parts and sorts its values.
func newCut(ctx context.Context, s *Splitter, parts int64) (*cut, error) {
	c := &cut{m: s.m.Clone(), whole: s.m, parts: parts, examples: s.examples, varies: map[ir.ValueID]bool{}, summed: map[ir.ValueID]bool{}}
	if err := c.hold(); err != nil {
		return nil, err
	}
	m := c.m
	mesh := m.AddMesh("", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "microbatch", Size: parts}}}, nil, 0)
	for _, v := range s.batch {
		l := collectives.Layout{Dims: make([][]subaxis.Ref, len(m.Shape(v)))}
		if l.Dims[0] = m.Mesh(mesh).All(); m.Shape(v)[0]%s.examples != 0 {
			return nil, &Refusal{Reason: "inputs of the batch have different numbers of examples"}
		}
		m.SetSharding(v, m.InternSharding(l.Sharding(mesh)))
	}
	p, err := partition(ctx, m, mesh)
	if err != nil {
		if ctx.Err() == nil {
			err = &Refusal{Reason: err.Error()}
		}
		return nil, err
	}
	c.free()
	if err := c.boundary(p); err != nil {
		return nil, err
	}
	return c, c.sort()
}

// partition makes the communications explicit that a program needs whose inputs are cut, and returns the program of a device.
func partition(ctx context.Context, m *ir.Module, mesh ir.MeshID) (*shardmap.Program, error) {
	if err := propagate.Spread(ctx, m); err != nil {
		return nil, err
	}
	if err := collectives.Settle(ctx, m, mesh); err != nil {
		return nil, err
	}
	assignment, err := collectives.Derive(ctx, m)
	if err != nil {
		return nil, err
	}
	how := collectives.Rewriting{Reach: collectives.Anywhere, Without: rewrites.Of(rewrites.All()...) &^ rewrites.Of(rewrites.DeferReductions)}
	if _, err := collectives.Partition(ctx, m, mesh, assignment, collectives.NewPlanner(step{}, m.Mesh(mesh).Axes), how); err != nil {
		return nil, err
	}
	ir.EraseDead(m)
	sliceCounts(m, mesh)
	return shardmap.Lower(ctx, m, mesh)
}

// sliceCounts lets devices take their parts of what counts examples like those of other values.
func sliceCounts(m *ir.Module, mesh ir.MeshID) {
	for _, op := range m.OpsOf(m.MainFunc().Body, ir.OpIota) {
		v, d := m.Result(op, 0), m.OpAttrs(op).Int("iota_dimension", 0)
		s := m.ShardingOf(m.Sharding(v))
		if len(s.Dims[d].Axes) == 0 {
			continue
		}
		dims := lists.Map(s.Dims, func(x ir.DimSharding) []subaxis.Ref { return x.Axes })
		part := m.BuilderAfter(op).Op1(ir.OpSdyAllSlice, m.Type(v),
			ir.MakeAttrs(ir.Named("slicing_axes", &ir.AxesPerDimAttr{Mesh: mesh, Dims: dims})), v)
		m.SetSharding(part, m.Sharding(v))
		m.SetSharding(v, m.Replicated(mesh, len(dims), true))
		m.Divert(v, part)
	}
}

// hold takes the user's shardings out of a program: constraints become barriers, which free turns back.
func (c *cut) hold() error {
	m, f := c.m, c.m.MainFunc()
	clear(f.ResultShardings)
	for _, arg := range m.BlockArgs(f.Body) {
		m.SetSharding(arg, 0)
	}
	var refused error
	m.Walk(f.Body, func(op ir.OpID) {
		for _, v := range m.Results(op) {
			id := m.Sharding(v)
			if id == 0 {
				continue
			}
			m.SetSharding(v, 0)
			if m.Kind(op) != ir.OpSdyShardingConstraint {
				refused = &Refusal{m.OpPos(op), m.OpName(op) + " has a sharding of the user, which only constraints keep"}
				continue
			}
			b := m.BuilderBefore(op)
			b.Loc = m.OpLoc(op)
			barrier := b.Op1(ir.OpOptimizationBarrier, m.Type(v), ir.MakeAttrs(ir.Named(heldAttr, m.I64(int64(id)))), m.Operand(op, 0))
			m.InheritPos(m.DefiningOp(barrier), op)
			m.ReplaceUses(v, barrier)
			m.Erase(op)
		}
	})
	return refused
}

// free gives a program the constraints back that hold took out of it.
func (c *cut) free() {
	m := c.m
	for _, op := range m.OpsWhere(m.MainFunc().Body, func(k ir.Kind) bool { return k == ir.OpOptimizationBarrier }) {
		id, held := m.Attr(op, heldAttr).(ir.IntAttr)
		if !held {
			continue
		}
		b := m.BuilderBefore(op)
		b.Loc = m.OpLoc(op)
		v := b.Op1(ir.OpSdyShardingConstraint, m.Type(m.Result(op, 0)), nil, m.Operand(op, 0))
		m.SetSharding(v, ir.ShardingID(id.Value))
		m.InheritPos(m.DefiningOp(v), op)
		m.ReplaceUses(m.Result(op, 0), v)
		m.Erase(op)
	}
}

// boundary gives inputs and outputs their whole types: parts of inputs are taken like those of other values, and outputs are joined.
func (c *cut) boundary(p *shardmap.Program) error {
	m, f := c.m, c.m.MainFunc()
	b, ret := m.BuilderBefore(m.FirstOp(f.Body)), m.LastOp(f.Body)
	for i, arg := range m.BlockArgs(f.Body) {
		port := &p.Inputs[i]
		if port.Padded != nil {
			return &Refusal{m.OpPos(f.Op), "an input would be padded"}
		}
		if port.Layout.Shards() == 1 {
			continue
		}
		local := m.Type(arg)
		m.SetType(arg, m.WithDims(local, port.Dims))
		taken := b.Op1(ir.OpShardMapPscatter, local, ir.MakeAttrs(ir.Named("axes", &ir.AxesPerDimAttr{Dims: port.Layout.Dims})), arg)
		m.Divert(arg, taken)
	}
	for i, v := range m.Operands(ret) {
		port := &p.Outputs[i]
		if port.Padded != nil {
			return &Refusal{m.OpPos(f.Op), "an output would be padded"}
		}
		if port.Layout.Shards() == 1 {
			continue
		}
		d := slices.IndexFunc(port.Layout.Dims, func(axes []subaxis.Ref) bool { return len(axes) > 0 })
		t := m.WithDims(m.Type(v), port.Dims)
		joined := m.BuilderBefore(ret).Op1(ir.OpShardMapAllGatherInvariant, t, ir.MakeAttrs(ir.Named("dim", m.I64(int64(d))),
			ir.Named("axes", &ir.AxesAttr{Axes: port.Layout.Dims[d]})), v)
		m.SetOperand(ret, i, joined)
		f.ResultTypes[i] = t
	}
	return nil
}

// sort finds out which values differ from part to part, and which are made of all parts. It fails where something needs both: then one part
// of the batch cannot be finished before the others have begun.
func (c *cut) sort() error {
	m := c.m
	body := m.MainFunc().Body
	for _, op := range m.OpsOf(body, ir.OpWhile) {
		c.passUnchanged(op)
	}
	for _, op := range m.OpsOf(body, ir.OpShardMapAllGatherInvariant) {
		c.rejoin(op)
	}
	late, err := c.sumLate(body)
	if err != nil {
		return err
	}
	for op := range m.Ops(body) {
		if err := c.sortOp(op, late); err != nil {
			return err
		}
	}
	if len(c.sums)+len(c.gathers) == 0 {
		return &Refusal{Reason: "nothing is computed of the batch"}
	}
	return nil
}

func (c *cut) sortOp(op ir.OpID, late map[ir.ValueID]bool) error {
	m, k := c.m, c.m.Kind(op)
	reads := outside(m, op)
	varies := k == ir.OpShardMapAxisIndex || k == ir.OpShardMapPscatter ||
		slices.ContainsFunc(reads, func(v ir.ValueID) bool { return c.varies[v] })
	summed := slices.ContainsFunc(reads, func(v ir.ValueID) bool { return c.summed[v] })
	switch {
	case !c.overAll(op) && varies:
		return c.mixes(op)
	case k == ir.OpShardMapPscatter:
		if summed {
			return c.mixes(op)
		}
		c.takes = append(c.takes, op)
	case varies && k == ir.OpShardMapAllGatherInvariant:
		c.gathers = append(c.gathers, op)
		varies, summed = false, true
	case varies && k == ir.OpShardMapPsum:
		c.sums = append(c.sums, m.Result(op, 0))
		varies, summed = false, true
	case varies && k.Communicates():
		return c.mixes(op)
	case varies && summed:
		return c.mixes(op)
	}
	for _, v := range m.Results(op) {
		c.varies[v], c.summed[v] = varies, summed
		if late[v] {
			c.sums = append(c.sums, v)
			c.varies[v], c.summed[v] = false, true
		}
	}
	return nil
}

// overAll says whether an op that takes, joins or adds up parts has to do with all of them.
func (c *cut) overAll(op ir.OpID) bool {
	switch k := c.m.Kind(op); {
	case k == ir.OpShardMapPscatter:
		dims := c.m.Attr(op, "axes").(*ir.AxesPerDimAttr).Dims
		return slices.ContainsFunc(dims, func(axes []subaxis.Ref) bool { return subaxis.Product(axes) == c.parts })
	case k.IsShardMap():
		return subaxis.Product(shardmap.AxesOf(c.m, op)) == c.parts
	}
	return true
}

func (c *cut) mixes(op ir.OpID) error {
	return &Refusal{c.m.Position(op),
		"examples are not independent of each other: " + c.m.OpName(op) + " needs what is made of several of them"}
}

// passUnchanged lets what reads a value that a loop hands on unchanged read what enters the loop.
func (c *cut) passUnchanged(loop ir.OpID) {
	for i, v := range c.m.Results(loop) {
		if dataflow.IsUnchanged(c.m, v) {
			c.m.ReplaceUses(v, c.m.Operand(loop, i))
		}
	}
}

// rejoin lets what reads the joined parts of a value read the value.
func (c *cut) rejoin(op ir.OpID) {
	m := c.m
	from := m.DefiningOp(m.Operand(op, 0))
	if from == 0 || m.Kind(from) != ir.OpShardMapPscatter {
		return
	}
	if t := c.taken(from); int64(t.dim) == m.OpAttrs(op).Int("dim", 0) {
		m.ReplaceUses(m.Result(op, 0), t.value)
		m.Erase(op)
	}
}

// outside returns the values from outside that an op reads, or an op inside it, each once.
func outside(m *ir.Module, op ir.OpID) (out []ir.ValueID) {
	b := m.OpBlock(op)
	read := func(inner ir.OpID) {
		for _, v := range m.Operands(inner) {
			if m.BlockOf(v) == b && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	read(op)
	if m.Kind(op).HasBodies() {
		for inner := range m.InnerBlocks(op) {
			m.Walk(inner, read)
		}
	}
	return out
}

// taken is what a part of a value is taken from: a value of the program, or a constant, and the dimension that examples lie along.
type taken struct {
	value ir.ValueID
	dim   int
	size  int64
}

func (c *cut) taken(op ir.OpID) taken {
	dims := c.m.Attr(op, "axes").(*ir.AxesPerDimAttr).Dims
	v := c.m.Operand(op, 0)
	d := slices.IndexFunc(dims, func(axes []subaxis.Ref) bool { return len(axes) > 0 })
	return taken{v, d, c.m.Shape(v)[d]}
}

// like fails unless a program takes parts of the values that it takes parts of when every part is one example, and of the same
// dimensions, and nothing else depends on which part it is: then the examples of a part may be any.
func (c *cut) like(proof *cut) error {
	known := lists.Map(proof.takes, proof.taken)
	for _, op := range c.gathers {
		if n := c.m.Shape(c.m.Result(op, 0))[c.m.OpAttrs(op).Int("dim", 0)]; n%c.examples != 0 {
			return &Refusal{c.m.Position(op), "a value is cut by microbatches that is not cut by examples"}
		}
	}
	for _, op := range c.takes {
		t := c.taken(op)
		if !slices.Contains(known, t) || t.size%c.examples != 0 || int(t.value) >= c.whole.NumValues() {
			return &Refusal{c.m.Position(c.m.DefiningOp(t.value)), "a value is cut by microbatches that is not cut by examples"}
		}
	}
	for _, x := range [...]*cut{c, proof} {
		for _, op := range x.m.OpsOf(x.m.MainFunc().Body, ir.OpShardMapAxisIndex) {
			for use := range x.m.Uses(x.m.Result(op, 0)) {
				if !x.onlyTakes(use) {
					return &Refusal{x.m.Position(use.Op), x.m.OpName(use.Op) + " depends on the place of an example in the batch"}
				}
			}
		}
	}
	return nil
}

// onlyTakes says whether the place of a part is only read to know where a part of another value begins, or whether it is the first: what a
// sum begins with counts there, and is added up once whichever examples that part has.
func (c *cut) onlyTakes(use ir.Use) bool {
	m := c.m
	switch k := m.Kind(use.Op); {
	case k == ir.OpShardMapPscatter:
		return use.Index > 0
	case k == ir.OpCompare:
		first, known := m.ConstantInt(m.Operand(use.Op, 1-use.Index))
		return known && first == 0 && m.OpAttrs(use.Op).Str("comparison_direction") == "EQ"
	case k != ir.OpMultiply && k != ir.OpConvert:
		return false
	}
	for next := range m.Uses(m.Result(use.Op, 0)) {
		if !c.onlyTakes(next) {
			return false
		}
	}
	return true
}
