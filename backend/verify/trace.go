package verify

import (
	"slices"
	"sync"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/shardmap"
)

// mostBuffered bounds the bytes of values that devices computed and that were not compared yet.
const mostBuffered = 4 << 30

// trace hands the values that devices compute to the one who compares them, in the order in which each was computed.
type trace struct {
	devices int
	watched map[ir.OpID][]ir.ValueID // of the program of one device
	queues  map[ir.ValueID]*queue

	mutex    sync.Mutex
	changed  *sync.Cond
	buffered int64
	most     int64
	waiting  bool // the reader waits for a value
	ended    bool // no more values will come
}

// queue holds the executions of one value that were not taken yet.
type queue struct {
	taken int
	seen  []int // executions by device
	next  []execution
}

type execution struct {
	blocks []tensor.Tensor // by device
	have   int
}

func newTrace(devices int) *trace {
	t := &trace{devices: devices, watched: map[ir.OpID][]ir.ValueID{}, queues: map[ir.ValueID]*queue{}, most: mostBuffered}
	t.changed = sync.NewCond(&t.mutex)
	return t
}

// watch has a value of the program of one device recorded. It returns false where that value is recorded already.
func (t *trace) watch(m *ir.Module, v ir.ValueID) bool {
	if t.queues[v] != nil {
		return false
	}
	t.queues[v] = &queue{seen: make([]int, t.devices)}
	op := m.DefiningOp(v)
	t.watched[op] = append(t.watched[op], v)
	return true
}

// record keeps what a device computed. Where more is kept than fits, it waits for the reader, unless that waits too.
func (t *trace) record(m *ir.Module, device int, s *interp.Step) {
	watched := t.watched[s.Op]
	if len(watched) == 0 {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for t.buffered > t.most && !t.waiting && !t.ended {
		t.changed.Wait()
	}
	for _, v := range watched {
		q := t.queues[v]
		at := q.seen[device] - q.taken
		q.seen[device]++
		if at == len(q.next) {
			q.next = append(q.next, execution{blocks: make([]tensor.Tensor, t.devices)})
		}
		block := s.Results[m.Index(v)]
		q.next[at].blocks[device] = block
		q.next[at].have++
		t.buffered += int64(len(block.Data))
	}
	t.changed.Broadcast()
}

// take returns the blocks of the next execution of a value, false where the run ended before all devices had it.
func (t *trace) take(v ir.ValueID) ([]tensor.Tensor, bool) {
	q := t.queues[v]
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for len(q.next) == 0 || q.next[0].have < t.devices {
		if t.ended {
			return nil, false
		}
		t.waiting = true
		t.changed.Broadcast()
		t.changed.Wait()
		t.waiting = false
	}
	blocks := q.next[0].blocks
	q.next = q.next[1:]
	q.taken++
	for _, b := range blocks {
		t.buffered -= int64(len(b.Data))
	}
	t.changed.Broadcast()
	return blocks, true
}

// end lets everybody go on: no more values come, or nobody reads them.
func (t *trace) end() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.ended = true
	t.changed.Broadcast()
}

// images returns for each value of the partitioned program the value of the program of one device that holds its block,
// as long as that has the shape of one; the others are left out.
func images(whole *ir.Module, p *shardmap.Program) map[ir.ValueID]ir.ValueID {
	out := map[ir.ValueID]ir.ValueID{}
	for v := ir.ValueID(1); int(v) < whole.NumValues(); v++ {
		if whole.DefiningOp(v) == 0 || whole.ValueType(v).Kind != ir.TensorKind {
			continue
		}
		local := p.Image(v)
		op := p.Module.DefiningOp(local)
		if op == 0 || p.Module.OpBlock(op) == 0 || p.Module.ValueType(local).DType != whole.ValueType(v).DType {
			continue
		}
		if l, ok := layoutOf(whole, v); ok && slices.Equal(l.LocalDims(whole.Shape(v)), p.Module.Shape(local)) {
			out[v] = local
		}
	}
	return out
}
