package mesh

import (
	"context"
	"errors"
	"slices"
	"sync"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// lockstep runs all devices of a machine op by op: the blocks of all devices lie one behind the other, an op computes them at once, and a
// collective copies and folds what is there. Nobody waits, and what several devices have is computed once. Devices that somebody looks at
// or measures, and those that go different ways, run as goroutines that send messages. The two give the same bits, but for those of NaN,
// and the same counts.
type lockstep struct {
	mutex sync.Mutex
	apart bool      // the devices have to be goroutines
	sent  [][]int64 // by collective and device: the bytes that it sends each time
	done  []*company
}

// company are the devices of one run.
type company struct {
	rounds  []int64 // by collective: how often it was executed
	shared  []*interp.Shared
	results []tensor.Tensor // of the collective at hand
	blocks  []tensor.Tensor // of the members of a group
}

// run executes the program, or says that the devices have to be goroutines. So they have to be where one of them fails, which says which.
func (l *lockstep) run(ctx context.Context, m *Machine, args []interp.Blocks) ([]interp.Blocks, Traffic, error) {
	c, err := l.begin()
	if err != nil {
		return nil, Traffic{}, err
	}
	results, stats, err := m.in.RunTogether(ctx, m.fn, c, args)
	if err != nil {
		if ctx.Err() != nil {
			return nil, Traffic{}, ctx.Err()
		}
		l.end(nil, errors.Is(err, interp.ErrApart))
		return nil, Traffic{}, interp.ErrApart
	}
	t := l.traffic(m, c, stats.PeakBytes)
	l.end(c, false)
	return results, t, nil
}

func (l *lockstep) begin() (*company, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.apart {
		return nil, interp.ErrApart
	}
	if n := len(l.done); n > 0 {
		c := l.done[n-1]
		l.done = l.done[:n-1]
		return c, nil
	}
	return &company{}, nil
}

// end keeps a company for the next run.
func (l *lockstep) end(c *company, apart bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.apart = l.apart || apart
	if c != nil {
		clear(c.rounds)
		l.done = append(l.done, c)
	}
}

// traffic says what the collectives of a run moved.
func (l *lockstep) traffic(m *Machine, c *company, peak int64) Traffic {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	t := Traffic{Sent: make([]int64, m.devices), PeakBytes: slices.Repeat([]int64{peak}, m.devices)}
	if len(c.rounds) > 0 {
		t.Collectives = make([]CollectiveTraffic, 0, len(c.rounds))
	}
	for index, rounds := range c.rounds {
		if rounds == 0 {
			continue
		}
		s := c.shared[index]
		for len(l.sent) <= index {
			l.sent = append(l.sent, nil)
		}
		if l.sent[index] == nil {
			l.sent[index] = lists.Of(m.devices, func(d int) int64 { return sentBy(s, d) })
		}
		total := CollectiveTraffic{Op: s.Op, Kind: s.Kind, Executions: rounds}
		for _, g := range s.Groups {
			total.Group = max(total.Group, len(g))
		}
		for d, bytes := range l.sent[index] {
			t.Sent[d] += rounds * bytes
			total.Bytes += rounds * bytes
		}
		t.Collectives = append(t.Collectives, total)
	}
	t.merge()
	return t
}

// merge sorts collectives by op, and makes those of one op one.
func (t *Traffic) merge() {
	slices.SortFunc(t.Collectives, func(a, b CollectiveTraffic) int { return int(a.Op - b.Op) })
	all := t.Collectives
	t.Collectives = all[:0]
	for _, c := range all {
		if n := len(t.Collectives); n > 0 && t.Collectives[n-1].Op == c.Op {
			t.Collectives[n-1].Executions += c.Executions
			t.Collectives[n-1].Bytes += c.Bytes
			continue
		}
		t.Collectives = append(t.Collectives, c)
	}
}

// sentBy returns the bytes that a device sends in one execution of a collective, as its messages would count them.
func sentBy(s *interp.Shared, device int) (bytes int64) {
	members, mine := s.Group(device)
	n := int64(len(members))
	for k := range s.Values {
		elements, width := s.Values[k].Elements, s.Values[k].Width
		switch s.Kind {
		case ir.OpAllGather:
			bytes += (n - 1) * elements * width
		case ir.OpReduceScatter, ir.OpAllToAll:
			bytes += (n - 1) * (elements / n) * width
		case ir.OpAllReduce, ir.OpCrossReplicaSum:
			from, to := chunk(mine, int(n), int(elements))
			own := int64(to - from)
			bytes += (elements - own + (n-1)*own) * width
		case ir.OpCollectivePermute:
			for _, p := range s.Pairs {
				if p[0] == device && p[1] != device {
					bytes += elements * width
				}
			}
		}
	}
	return bytes
}

// Exchange implements interp.Company.
func (c *company) Exchange(s *interp.Shared, operands []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor, error) {
	for len(c.rounds) <= s.Index {
		c.rounds, c.shared = append(c.rounds, 0), append(c.shared, nil)
	}
	c.rounds[s.Index]++
	c.shared[s.Index] = s
	c.results = c.results[:0]
	for k := range operands {
		out, err := c.exchange(s, &s.Values[k], operands[k], body)
		if err != nil {
			return nil, err
		}
		c.results = append(c.results, out)
	}
	return c.results, nil
}

// exchange carries out a collective on one operand.
func (c *company) exchange(s *interp.Shared, v *interp.Passed, x tensor.Tensor, body tensor.Combiner) (tensor.Tensor, error) {
	if v.Same {
		return x, nil
	}
	out := tensor.Tensor{DType: x.DType, Shape: v.Shape}
	block := tensor.Tensor{DType: x.DType, Shape: v.Shape}
	like := x
	if v.Operand != nil {
		like.Shape = x.Shape[1:]
	}
	if v.Result != nil {
		block.Shape = v.Shape[1:]
	}
	if s.Kind == ir.OpReduceScatter {
		if parts, moved := partsFirst(x, like.Shape, s.Dim, block.Shape[s.Dim]); moved {
			x = parts
			defer memory.Give(parts.Data)
		}
	}
	size := int(lists.Product(block.Shape)) * x.DType.Bytes()
	out.Data = memory.Take(int64(size * len(v.Parts)))
	operandSize := len(x.Data) / int(v.Operand.Blocks())
	for k := range v.Parts {
		part := &v.Parts[k]
		block.Data = out.Data[k*size:][:size:size]
		c.blocks = c.blocks[:0]
		for _, from := range part.From {
			like.Data = x.Data[int(from)*operandSize:][:operandSize:operandSize]
			c.blocks = append(c.blocks, like)
		}
		if err := combine(s, block, c.blocks, part.Position, body); err != nil {
			return out, err
		}
	}
	return out, nil
}

// combine makes one block of a result of the blocks of the members of a group.
func combine(s *interp.Shared, out tensor.Tensor, blocks []tensor.Tensor, position int, body tensor.Combiner) error {
	switch s.Kind {
	case ir.OpAllGather:
		tensor.ConcatenateInto(out, blocks, s.Dim)
	case ir.OpAllReduce, ir.OpCrossReplicaSum:
		return tensor.FoldInto(out, blocks, body)
	case ir.OpReduceScatter:
		size := len(out.Data)
		for k := range blocks {
			blocks[k] = tensor.Tensor{DType: out.DType, Shape: out.Shape, Data: blocks[k].Data[position*size:][:size:size]}
		}
		return tensor.FoldInto(out, blocks, body)
	case ir.OpAllToAll:
		size, place := blocks[0].Shape[s.Dim]/int64(len(blocks)), int64(0)
		step := blocks[0].Shape[s.Concat]
		if s.Concat == s.Dim {
			step = size
		}
		for _, b := range blocks {
			tensor.CopyPart(out, place, s.Concat, b, int64(position)*size, s.Dim, size)
			place += step
		}
	case ir.OpCollectivePermute:
		if len(blocks) == 0 {
			clear(out.Data)
			return nil
		}
		copy(out.Data, blocks[0].Data)
	}
	return nil
}

// partsFirst returns blocks in each of which the parts along a dimension, of some size, lie one behind the other, if they do not already.
func partsFirst(x tensor.Tensor, block []int64, dim, size int64) (parts tensor.Tensor, moved bool) {
	before := lists.Product(block[:dim])
	if before == 1 || size == block[dim] || x.Len() == 0 {
		return x, false
	}
	count := block[dim] / size
	run := size * lists.Product(block[dim+1:])
	return tensor.Transpose(tensor.Reshape(x, []int64{int64(x.Len()) / (before * count * run), before, count, run}), []int64{0, 2, 1, 3}), true
}
