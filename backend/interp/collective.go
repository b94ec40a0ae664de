package interp

import (
	"context"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Collective is a communication op with its groups resolved (stablehlo.md section 3.1). Processes are named by ID.
type Collective struct {
	Op      ir.OpID
	Kind    ir.Kind
	Pos     diag.Position
	Channel int64
	Groups  [][]int  // in the order of concatenation; none where there are pairs
	Pairs   [][2]int // source and target of a permute, a send or a recv
	Dim     int64    // all_gather_dim, scatter_dimension or split_dimension
	Concat  int64    // concat_dimension
	Root    bool     // the last operand names the position of the root in its group
	Results []ResultType
}

// ResultType is the type of a result of a collective.
type ResultType struct {
	DType dtype.Type
	Shape []int64
}

// Group returns the members of the group of a process and its position among them, nil where it is in none.
func (c *Collective) Group(id int) (members []int, position int) {
	for _, g := range c.Groups {
		if k := slices.Index(g, id); k >= 0 {
			return g, k
		}
	}
	return nil, 0
}

// Parallel is interpreter.run_parallel: functions for a grid of processes by replica and partition, and functions
// whose results are the queue that infeed reads.
type Parallel struct {
	Programs [][]ir.FuncID
	Infeed   []ir.FuncID
}

var collectiveOps = map[ir.Kind]builder{
	ir.OpAllGather:              buildCollective,
	ir.OpAllReduce:              buildCollective,
	ir.OpReduceScatter:          buildCollective,
	ir.OpAllToAll:               buildCollective,
	ir.OpCollectivePermute:      buildCollective,
	ir.OpCollectiveBroadcast:    buildCollective,
	ir.OpCollectiveReduce:       buildCollective,
	ir.OpCrossReplicaSum:        buildCollective,
	ir.OpInfeed:                 buildCollective,
	ir.OpOutfeed:                buildCollective,
	ir.OpSend:                   buildCollective,
	ir.OpRecv:                   buildCollective,
	ir.OpPartitionId:            buildProcessID,
	ir.OpReplicaId:              buildProcessID,
	ir.OpAfterAll:               identity,
	ir.OpCreateToken:            identity,
	ir.OpInterpreterRunParallel: buildRunParallel,
}

var collectiveManners = map[ir.Kind]manner{
	ir.OpAllGather:         itself,
	ir.OpAllReduce:         itself,
	ir.OpReduceScatter:     itself,
	ir.OpAllToAll:          itself,
	ir.OpCollectivePermute: itself,
	ir.OpCrossReplicaSum:   itself,
	ir.OpPartitionId:       itself,
	ir.OpReplicaId:         itself,
}

func buildProcessID(c *compiler, op ir.OpID, i *instr) error {
	replica, partitions := c.m.Kind(op) == ir.OpReplicaId, c.in.opts.Partitions
	number := func(process int) uint32 {
		if replica {
			return uint32(process / partitions)
		}
		return uint32(process % partitions)
	}
	if c.joint != nil {
		c.numbers(c.m.Result(op, 0), i, number)
		return nil
	}
	i.kernel = func(f *frame, _ *instr, _ []tensor.Tensor) ([]tensor.Tensor, error) {
		return f.p.only(tensor.Of(dtype.UI32, nil, number(f.p.id))), nil
	}
	return nil
}

func buildCollective(c *compiler, op ir.OpID, i *instr) error {
	d, err := c.collective(op)
	if err != nil {
		return err
	}
	d.Pos = i.site.pos
	var body *reducer
	if c.m.NumRegions(op) > 0 {
		if body, err = c.reducer(op, 0, 1); err != nil {
			return err
		}
	}
	if c.joint != nil {
		return c.share(op, d, body, i)
	}
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		combine := tensor.Combiner{Monoid: tensor.MonoidAdd}
		if body != nil {
			combine = body.combiner(f)
			if d.Root {
				in = append(slices.Clone(body.promote(in[:len(in)-1])), in[len(in)-1])
			} else {
				in = body.promote(in)
			}
		}
		return f.p.peers.Communicate(f.p.ctx, d, in, combine)
	}
	return nil
}

// collective decodes the attributes of a communication op.
func (c *compiler) collective(op ir.OpID) (*Collective, error) {
	r := c.attrs(op)
	d := &Collective{Op: op, Kind: c.m.Kind(op), Root: r.bool("has_dynamic_root")}
	if h, ok := c.m.Attr(op, "channel_handle").(ir.ChannelHandle); ok {
		d.Channel = h.Handle
	}
	for _, v := range c.m.Results(op) {
		if t := c.m.ValueType(v); t.Kind == ir.TensorKind {
			d.Results = append(d.Results, ResultType{t.DType, r.static(v)})
		}
	}
	switch d.Kind {
	case ir.OpInfeed, ir.OpOutfeed:
		return d, r.err
	case ir.OpSend, ir.OpRecv:
		return d, c.resolvePairs(r, d)
	}
	tensors := c.m.NumOperands(op)
	if d.Root {
		tensors--
	}
	if len(d.Results) != tensors || tensors == 0 {
		return nil, diag.Invalid(diag.BadOp, diag.Position{}, "%d operands and %d results do not fit", tensors, len(d.Results))
	}
	switch d.Kind {
	case ir.OpAllGather:
		d.Dim = r.dimension("all_gather_dim", r.rank(0))
	case ir.OpReduceScatter:
		d.Dim = r.dimension("scatter_dimension", r.rank(0))
	case ir.OpAllToAll:
		d.Dim, d.Concat = r.dimension("split_dimension", r.rank(0)), r.dimension("concat_dimension", r.rank(0))
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := c.resolveGroups(r, d); err != nil {
		return nil, err
	}
	return d, c.checkSizes(op, d)
}

// checkSizes checks that results are as large as the groups make them.
func (c *compiler) checkSizes(op ir.OpID, d *Collective) error {
	for _, g := range d.Groups {
		n := int64(len(g))
		for k, res := range d.Results {
			want := slices.Clone(c.m.Shape(c.m.Operand(op, k)))
			fits := true
			switch d.Kind {
			case ir.OpAllGather:
				want[d.Dim] *= n
			case ir.OpReduceScatter:
				fits = want[d.Dim]%n == 0
				want[d.Dim] /= n
			case ir.OpAllToAll:
				fits = want[d.Dim]%n == 0
				want[d.Dim] /= n
				want[d.Concat] *= n
			}
			if !fits || !slices.Equal(want, res.Shape) {
				return diag.Invalid(diag.TypeMismatch, diag.Position{}, "operand %d of shape %v and its result of shape %v do not fit groups of %d",
					k, c.m.Shape(c.m.Operand(op, k)), res.Shape, n)
			}
		}
	}
	return nil
}

func buildRunParallel(c *compiler, op ir.OpID, i *instr) error {
	p := &Parallel{}
	rows, ok := c.m.Attr(op, "programs").(ir.ArrayAttr)
	for _, row := range rows {
		names, isRow := row.(ir.ArrayAttr)
		fns, err := c.symbols(names)
		if err != nil {
			return err
		}
		ok = ok && isRow && len(fns) > 0 && (len(p.Programs) == 0 || len(fns) == len(p.Programs[0]))
		p.Programs = append(p.Programs, fns)
	}
	if !ok || len(p.Programs) == 0 {
		return diag.Invalid(diag.BadAttribute, diag.Position{}, "attribute %q is missing or has rows of different lengths", "programs")
	}
	infeed, _ := c.m.Attr(op, "infeed").(ir.ArrayAttr)
	var err error
	if p.Infeed, err = c.symbols(infeed); err != nil {
		return err
	}
	i.kernel = func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		out, err := f.p.peers.RunParallel(f.p.ctx, p, slices.Clone(in))
		if err == nil && len(out) != len(i.out) {
			err = diag.Invalid(diag.BadOp, diag.Position{}, "the programs return %d values, the op has %d", len(out), len(i.out))
		}
		return out, err
	}
	return nil
}

// symbols returns the functions that a list names.
func (c *compiler) symbols(list ir.ArrayAttr) ([]ir.FuncID, error) {
	var out []ir.FuncID
	for _, a := range list {
		fn, err := c.named(a, "a list of functions holds something else")
		if err != nil {
			return nil, err
		}
		out = append(out, fn)
	}
	return out, nil
}

// solo is the company of a process that is alone: it is every group that has it as a member.
type solo struct{}

func (solo) Communicate(_ context.Context, c *Collective, operands []tensor.Tensor, _ tensor.Combiner) ([]tensor.Tensor, error) {
	if c.Root {
		operands = operands[:len(operands)-1]
	}
	switch c.Kind {
	case ir.OpCollectivePermute:
		if !slices.Contains(c.Pairs, [2]int{0, 0}) {
			return zeros(operands), nil
		}
	case ir.OpCollectiveBroadcast, ir.OpCollectiveReduce:
		if members, _ := c.Group(0); members == nil {
			return zeros(operands), nil
		}
	case ir.OpInfeed, ir.OpOutfeed, ir.OpSend, ir.OpRecv:
		return nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "there is no other process to exchange values with")
	}
	return operands, nil
}

func zeros(like []tensor.Tensor) []tensor.Tensor {
	return lists.Map(like, func(x tensor.Tensor) tensor.Tensor { return tensor.New(x.DType, x.Shape) })
}

func (solo) RunParallel(context.Context, *Parallel, []tensor.Tensor) ([]tensor.Tensor, error) {
	return nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "other processes can be run by the mesh backend only")
}
