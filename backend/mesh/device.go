package mesh

import (
	"context"
	"slices"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// device is one process of a grid: the company of its interpreter state.
type device struct {
	id     int
	grid   *grid
	net    *network
	counts map[ir.OpID]*count
	infed  int // entries of the infeed queue that were taken
	peak   int64
	checks int
	meter  Meter // nil: nobody measures

	exchange exchange        // the one at hand
	blocks   []tensor.Tensor // of the members of the group at hand
	parcels  []*parcel       // in which they lie
	sizes    []int64         // of their chunks of elements
	results  []tensor.Tensor // of the exchange, which the interpreter takes before the next one
}

// count is what a device did for one op.
type count struct {
	executions int64
	group      int
	bytes      int64
}

// exchange is one execution of a collective by one device. A nil members means that the device is in no group.
type exchange struct {
	d       *device
	c       *interp.Collective
	count   *count
	members []int
	mine    int // position among members
	stamp   stamp
}

// Communicate implements interp.Peers.
func (d *device) Communicate(_ context.Context, c *interp.Collective, operands []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor,
	error) {
	n := d.counts[c.Op]
	if n == nil {
		n = &count{}
		d.counts[c.Op] = n
	}
	x := &d.exchange
	*x = exchange{d: d, c: c, count: n}
	x.stamp = stamp{op: c.Op, kind: c.Kind, channel: c.Channel, round: n.executions, pos: c.Pos}
	if !d.grid.uniform {
		x.stamp.op, x.stamp.round = 0, 0
	}
	n.executions++
	x.members, x.mine = c.Group(d.id)
	n.group = max(n.group, len(x.members))
	return x.run(operands, body)
}

func (x *exchange) run(operands []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor, error) {
	var roots []int64
	if x.c.Root {
		roots = operands[len(operands)-1].Ints()
		operands = operands[:len(operands)-1]
	}
	switch x.c.Kind {
	case ir.OpSend, ir.OpRecv:
		return x.transfer(operands)
	case ir.OpInfeed:
		return x.infeed()
	case ir.OpOutfeed:
		return nil, nil
	}
	x.d.results = slices.Grow(x.d.results[:0], len(operands))[:len(operands)]
	out := x.d.results
	for k, t := range operands {
		root := 0
		if roots != nil {
			if k >= len(roots) || roots[k] < 0 || roots[k] >= int64(len(x.members)) {
				return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "the root of value %d is not a member of the group of %d", k, len(x.members))
			}
			root = int(roots[k])
		}
		var err error
		if out[k], err = x.one(t, root, body); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// one runs the collective on one of its operands.
func (x *exchange) one(t tensor.Tensor, root int, body tensor.Combiner) (tensor.Tensor, error) {
	switch x.c.Kind {
	case ir.OpAllGather:
		return x.allGather(t)
	case ir.OpReduceScatter:
		return x.reduceScatter(t, body)
	case ir.OpAllReduce, ir.OpCrossReplicaSum:
		return x.allReduce(t, body)
	case ir.OpAllToAll:
		return x.allToAll(t)
	case ir.OpCollectivePermute:
		return x.permute(t)
	case ir.OpCollectiveBroadcast:
		return x.broadcast(t, root)
	case ir.OpCollectiveReduce:
		return x.reduce(t, root, body)
	}
	return tensor.Tensor{}, diag.Unsupported(diag.NotSupported, diag.Position{}, "this op does not run on many devices")
}

// send sends elements, which must not change any more, to a member of the group. They lie in a parcel, or belong to the member.
func (x *exchange) send(member, step int, data []byte, p *parcel) {
	x.sendTo(x.members[member], step, data, p)
}

func (x *exchange) sendTo(id, step int, data []byte, p *parcel) {
	s := x.stamp
	s.step, s.bytes = step, len(data)
	x.count.bytes += int64(len(data))
	x.d.net.send(lane{from: x.d.id, to: id}, message{s, data, p})
}

// receive waits for a tensor like the given one, which then belongs to this device, from a member of the group.
func (x *exchange) receive(member, step int, like tensor.Tensor) (tensor.Tensor, error) {
	return x.receiveFrom(x.members[member], step, like)
}

func (x *exchange) receiveFrom(id, step int, like tensor.Tensor) (tensor.Tensor, error) {
	m, err := x.expect(id, step, len(like.Data))
	return tensor.Tensor{DType: like.DType, Shape: like.Shape, Data: m.data}, err
}

// expect waits for so many bytes from a device.
func (x *exchange) expect(id, step, bytes int) (message, error) {
	s := x.stamp
	s.step, s.bytes = step, bytes
	return x.d.receive(lane{from: id, to: x.d.id}, s)
}

// receive waits for the next message of a lane.
func (d *device) receive(l lane, want stamp) (message, error) {
	if d.meter != nil {
		d.meter.Wait(l.from)
		defer d.meter.Resume()
	}
	return d.net.receive(d.id, l, want)
}

// transfer runs send and recv: between the devices of a pair, or through a channel that the host shares.
func (x *exchange) transfer(operands []tensor.Tensor) ([]tensor.Tensor, error) {
	x.stamp.op, x.stamp.kind, x.stamp.round = 0, ir.OpSend, 0
	l := lane{anyDevice, anyDevice, x.c.Channel}
	for _, p := range x.c.Pairs {
		if x.c.Kind == ir.OpSend && p[0] == x.d.id || x.c.Kind == ir.OpRecv && p[1] == x.d.id {
			l.from, l.to = p[0], p[1]
		}
	}
	if len(x.c.Pairs) > 0 && l.from == anyDevice {
		return x.nothing(), nil
	}
	var out []tensor.Tensor
	for k, t := range operands {
		s := x.stamp
		s.step, s.bytes = k, len(t.Data)
		x.count.bytes += int64(len(t.Data))
		x.d.net.send(l, message{s, t.Clone().Data, nil})
	}
	for k, r := range x.c.Results {
		s := x.stamp
		_, bytes, err := dtype.Size(r.DType, r.Shape)
		if err != nil {
			return nil, err
		}
		s.step, s.bytes = k, int(bytes)
		m, err := x.d.receive(l, s)
		if err != nil {
			return nil, err
		}
		out = append(out, tensor.Tensor{DType: r.DType, Shape: r.Shape, Data: m.data})
	}
	return out, nil
}

// nothing returns zeros for the results of a device that no pair names.
func (x *exchange) nothing() []tensor.Tensor {
	return lists.Map(x.c.Results, func(r interp.ResultType) tensor.Tensor { return tensor.New(r.DType, r.Shape) })
}

// infeed takes the next entry of the queue.
func (x *exchange) infeed() ([]tensor.Tensor, error) {
	k := x.d.infed
	if x.d.infed++; k >= len(x.d.grid.infeed) {
		return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "the infeed queue has %d entries, number %d is read", len(x.d.grid.infeed), k)
	}
	return lists.Map(x.d.grid.infeed[k], tensor.Tensor.Clone), nil
}

// RunParallel implements interp.Peers: it runs the programs on a grid of their own.
func (d *device) RunParallel(ctx context.Context, p *interp.Parallel, operands []tensor.Tensor) ([]tensor.Tensor, error) {
	g := &grid{m: d.grid.m, opts: d.grid.opts, uniform: true}
	g.opts.Meter = nil
	for _, row := range p.Programs {
		g.programs = append(g.programs, row...)
	}
	for _, fn := range g.programs {
		g.uniform = g.uniform && fn == g.programs[0]
	}
	var err error
	g.in, err = interp.New(g.m, interp.Options{Replicas: len(p.Programs), Partitions: len(p.Programs[0]),
		MaxBytes: g.opts.MaxBytes / int64(len(g.programs)), WholeWindows: g.opts.WholeWindows})
	if err != nil {
		return nil, err
	}
	for _, fn := range p.Infeed {
		entry, err := g.in.Run(ctx, fn, nil)
		if err != nil {
			return nil, err
		}
		g.infeed = append(g.infeed, values(entry))
	}
	args, err := g.deal(operands)
	if err != nil {
		return nil, err
	}
	results, err := g.run(ctx, args)
	d.checks += g.traffic().Checks
	var out []tensor.Tensor
	for _, r := range results {
		for _, t := range r {
			out = append(out, t.Clone()) // results may share data with constants of the program
		}
	}
	return out, err
}

// deal gives each program the next operands, as many as it takes.
func (g *grid) deal(operands []tensor.Tensor) ([][]*tensor.Tensor, error) {
	args := make([][]*tensor.Tensor, len(g.programs))
	for id, fn := range g.programs {
		n, err := g.in.NumArgs(fn)
		if err != nil {
			return nil, err
		}
		if n > len(operands) {
			return nil, diag.Invalid(diag.BadOp, diag.Position{}, "the programs take more operands than the op has")
		}
		for k := range n {
			args[id] = append(args[id], &operands[k])
		}
		operands = operands[n:]
	}
	if len(operands) > 0 {
		return nil, diag.Invalid(diag.BadOp, diag.Position{}, "the op has %d operands more than the programs take", len(operands))
	}
	return args, nil
}

func values(ts []*tensor.Tensor) []tensor.Tensor {
	return lists.Map(ts, func(t *tensor.Tensor) tensor.Tensor { return *t })
}
