package merge

import (
	"cmp"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
)

// group is collectives that become one.
type group struct {
	members []int     // of the program's list, in its order: the others wait for the last
	off     []ir.OpID // what is put off until after it, in order
}

// alike tells collectives apart that cannot be merged.
type alike struct {
	block              ir.BlockID
	kind               ir.Kind
	axes               string
	element            dtype.Type
	with               string // how a reduce-scatter combines elements
	dim, split, concat int64
}

// mergeable are the ops over axes whose form in StableHLO takes several operands, and reduce-scatters, of which it takes one.
var mergeable = []ir.Kind{ir.OpShardMapPsum, ir.OpShardMapPmax, ir.OpShardMapPmin, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllToAll,
	ir.OpShardMapPsumScatter}

// finder finds the collectives of a program that can be merged.
type finder struct {
	*Waiting
	p     *shardmap.Program
	most  int64
	late  []int32 // per collective: until when it can wait, 0 where that is not known
	taken []bool
}

// find returns the groups of a program. What comes later is settled first: it says until when what it is made of can wait.
func find(p *shardmap.Program, most int64) []group {
	n := len(p.Collectives)
	f := finder{Waiting: NewWaiting(p.Module, p.Module.Func(p.Main).Body), p: p, most: most, late: make([]int32, n), taken: make([]bool, n)}
	kinds := map[alike][]int{}
	for i := range p.Collectives {
		c := &p.Collectives[i]
		if key, ok := f.key(c); ok {
			kinds[key] = append(kinds[key], i)
		}
		if c.Kind != collectives.AllReduce && c.Kind != collectives.ReduceScatter && c.From != 0 {
			f.late[i] = f.Needed(p.Module.Result(c.Op, 0))
		}
	}
	var out []group
	for i := n - 1; i >= 0; i-- {
		key, ok := f.key(&p.Collectives[i])
		if !ok || f.taken[i] {
			continue
		}
		before, _ := slices.BinarySearch(kinds[key], i)
		if g := f.group(i, kinds[key][:before]); len(g.members) > 1 {
			out = append(out, g)
		}
	}
	return out
}

// key says with what a collective can be merged, if with any. Those that the user wrote stay as they are. Reduce-scatters are copied on
// the way, whatever dimension they scatter, and so are all-gathers that are merged with those along other dimensions: a mark says which are
// worth that.
func (f *finder) key(c *shardmap.Collective) (alike, bool) {
	m, op := f.p.Module, c.Op
	if c.From == 0 || !slices.Contains(mergeable, m.Kind(op)) {
		return alike{}, false
	}
	attrs := m.OpAttrs(op)
	key := alike{m.OpBlock(op), m.Kind(op), f.p.Mesh.FormatList(c.Axes), m.ValueType(m.Operand(op, 0)).DType, attrs.Str("kind"),
		attrs.Int("dim", 0), attrs.Int("split", 0), attrs.Int("concat", 0)}
	joined := attrs.Get(shardmap.JoinedAttr) != nil
	if joined || c.Kind == collectives.ReduceScatter {
		key.dim = 0
	}
	return key, joined || c.Kind != collectives.ReduceScatter
}

// group returns a collective with those of its kind before it that can wait for it, the nearest first, as long as there is room.
func (f *finder) group(last int, before []int) group {
	m, ops := f.m, f.p.Collectives
	now := f.at[ops[last].Op]
	members, bytes := []int{last}, moved(m, ops[last].Op)
	for _, i := range slices.Backward(before) {
		op := ops[i].Op
		if f.taken[i] || bytes+moved(m, op) > f.most || f.until(i) <= now {
			continue
		}
		members, f.taken[i] = append(members, i), true
		bytes += moved(m, op)
		f.at[op] = now
	}
	slices.Reverse(members)
	return group{members, f.putOff(members[:len(members)-1], now)}
}

// until returns the place until which a collective can wait. What is gathered is large: it does not wait for what needs it to be put off,
// and not longer where that was put off for a reduction.
func (f *finder) until(i int) int32 {
	if f.late[i] == 0 {
		f.forget()
		f.late[i] = f.Value(f.m.Result(f.p.Collectives[i].Op, 0))
	}
	return f.late[i]
}

// putOff returns what needs some collectives and stands before a place to which they move, in order, and notes that it moves too.
func (f *finder) putOff(members []int, to int32) []ir.OpID {
	var off []ir.OpID
	seen := map[ir.OpID]bool{}
	var follow func(op ir.OpID)
	follow = func(op ir.OpID) {
		for _, v := range f.m.Results(op) {
			for u := range f.m.Uses(v) {
				if user := f.m.AncestorIn(u.Op, f.m.OpBlock(op)); f.at[user] < to && !seen[user] {
					off, seen[user] = append(off, user), true
					follow(user)
				}
			}
		}
	}
	for _, i := range members {
		follow(f.p.Collectives[i].Op)
	}
	slices.SortFunc(off, func(a, b ir.OpID) int { return cmp.Compare(f.at[a], f.at[b]) })
	for _, op := range off {
		f.at[op] = to
	}
	return off
}

// moved returns the bytes that a collective reads and makes.
func moved(m *ir.Module, op ir.OpID) int64 {
	return m.ValueType(m.Operand(op, 0)).Bytes() + m.ValueType(m.Result(op, 0)).Bytes()
}
