package estimate

import (
	"context"
	"slices"

	"autoshard/cost"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Live is a value of a per-device program, and the ops from the first to the last at which it is in memory, by their numbers in program
// order: from its own, or from the one behind that if an elementwise op writes it over what nothing needs any more. Where values are
// written over each other in loops and updates, it is the one that is there longest, with the ops of all.
type Live struct {
	Held
	Def, Last int32
	Shared    bool // others are written over it, or it over others
}

// Memory is what a per-device program holds, op by op.
type Memory struct {
	Lives []Live
	Ops   []ir.OpID // by number, those inside loops and branches included
	*reading
	model *Model
	p     *shardmap.Program

	number map[ir.OpID]int32
	lives  map[ir.ValueID]int
}

// Memory returns what a program holds, as [Model.Program] counts it. The only error is the context's.
func (md *Model) Memory(ctx context.Context, p *shardmap.Program) (*Memory, error) {
	r, err := md.read(ctx, p) // which settles what rings keep
	if err != nil {
		return nil, err
	}
	h, err := held(ctx, p.Module, p.Main, r.Values)
	if err != nil {
		return nil, err
	}
	out := &Memory{reading: r, model: md, p: p, number: map[ir.OpID]int32{}, lives: h.at}
	for i, b := range h.buffers {
		out.Lives = append(out.Lives, Live{Held{h.values[i], b.Bytes}, b.Def, b.Last, h.shared[i]})
	}
	out.count(p.Module.Func(p.Main).Body)
	return out, nil
}

// count numbers the ops of a block as ir.Liveness does.
func (mem *Memory) count(b ir.BlockID) {
	m := mem.p.Module
	for op := range m.Ops(b) {
		mem.number[op] = int32(len(mem.Ops))
		mem.Ops = append(mem.Ops, op)
		if m.Kind(op).HasBodies() {
			for i := range m.NumRegions(op) {
				mem.count(m.RegionBlock(op, i))
			}
		}
	}
}

// Peak returns the most bytes that are alive at once, and the number of the first op at which they are.
func (mem *Memory) Peak() (bytes int64, at int32) {
	peak := cost.Peak(mem.buffers(), nil)
	return peak.Bytes, peak.At
}

func (mem *Memory) buffers() []cost.Buffer {
	out := make([]cost.Buffer, len(mem.Lives))
	for i, l := range mem.Lives {
		out[i] = cost.Buffer{Def: l.Def, Last: l.Last, Bytes: l.Bytes}
	}
	return out
}

// Recomputation is what making values again would change: each is dropped after its last use before the peak, and made again for the first
// one behind it, by its op or its collective.
type Recomputation struct {
	Values      int   // that can be made again
	SavedBytes  int64 // of the program's peak, which may be elsewhere then
	Picoseconds int64 // that a step takes longer
}

// Recompute returns what it would change to make some values again after the peak. Those do not count of which that cannot be said: loops
// or branches make or use them, the op makes several, or what it reads is dropped, too, or not in memory any more when it would run again.
func (mem *Memory) Recompute(lives []int) (out Recomputation) {
	m := mem.p.Module
	peak, at := mem.Peak()
	buffers := mem.buffers()
	dropped := map[ir.ValueID]bool{}
	for _, i := range lives {
		dropped[mem.Lives[i].Value] = true
	}
	for _, i := range lives {
		before, behind, ok := mem.around(i, at)
		op := m.DefiningOp(mem.Lives[i].Value)
		if !ok || slices.ContainsFunc(m.Operands(op), func(v ir.ValueID) bool { return dropped[v] }) {
			continue
		}
		out.Values++
		buffers = append(buffers, cost.Buffer{Def: behind, Last: buffers[i].Last, Bytes: buffers[i].Bytes})
		buffers[i].Last = before
		if c := mem.Collective(op); c != nil {
			out.Picoseconds += mem.model.collective(m, c)
		} else {
			out.Picoseconds += mem.model.Op(m, op, shapes(m, m.Operands(op)), shapes(m, m.ResultValues(op)), mem.Fused)
		}
	}
	out.SavedBytes = peak - cost.Peak(buffers, nil).Bytes
	return out
}

// around returns the last use of a value before an op and the first one behind it. It is false where the value cannot be made again there.
func (mem *Memory) around(i int, at int32) (before, behind int32, ok bool) {
	m, live := mem.p.Module, mem.Lives[i]
	op := m.DefiningOp(live.Value)
	if op == 0 || live.Shared || m.Kind(op).HasBodies() || m.NumResults(op) != 1 || m.OpBlock(op) != m.Func(mem.p.Main).Body ||
		live.Def >= at || live.Last <= at {
		return 0, 0, false
	}
	before, behind = live.Def, live.Last
	for u := range m.Uses(live.Value) {
		n := mem.number[u.Op]
		switch {
		case m.OpBlock(u.Op) != m.OpBlock(op) || n == at || m.Kind(u.Op).IsTerminator():
			return 0, 0, false
		case n < at:
			before = max(before, n)
		default:
			behind = min(behind, n)
		}
	}
	for _, v := range m.Operands(op) {
		if !mem.alive(v, behind) {
			return 0, 0, false
		}
	}
	return before, behind, true
}

// Collective returns the collective that an op is, nil for a local op.
func (mem *Memory) Collective(op ir.OpID) *shardmap.Collective {
	if i, ok := mem.index[op]; ok {
		return &mem.p.Collectives[i]
	}
	return nil
}

// alive says whether a value is surely at hand at an op: in memory that nothing else is written to, or a constant that needs none.
func (mem *Memory) alive(v ir.ValueID, at int32) bool {
	if op := mem.p.Module.DefiningOp(v); mem.Unheld[v] && op != 0 && mem.p.Module.NumOperands(op) == 0 {
		return true
	}
	i, ok := mem.lives[v]
	return ok && !mem.Lives[i].Shared && mem.Lives[i].Def <= at && at <= mem.Lives[i].Last
}

// Find returns the number of a value among those that are held, false where it never is.
func (mem *Memory) Find(v ir.ValueID) (int, bool) {
	i, ok := mem.lives[v]
	return i, ok
}
