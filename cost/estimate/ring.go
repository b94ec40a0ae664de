package estimate

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/fusion"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"
	"autoshard/subaxis"
)

// sends returns the picoseconds that each permute of a ring adds to the time of a program. Permutes of one step send side
// by side while the step computes: what they take beyond that shows. Every chunk, also the one that sends nothing,
// costs the overhead of one dispatch (cost.md section 3.5).
func (md *Model) sends(m *ir.Module, mesh *subaxis.Mesh, r *shardmap.Ring, fused []bool) map[ir.OpID]int64 {
	out := map[ir.OpID]int64{}
	for _, s := range r.Steps {
		if len(s.Permutes) == 0 {
			continue
		}
		c := md.permuting(m, mesh, s.Permutes)
		overhead := cost.Picoseconds(c.Overhead)
		total := max(0, cost.Picoseconds(c.Seconds-c.Overhead)-md.ops(m, s.Compute, fused)) + overhead
		if len(out) == 0 {
			total += overhead
		}
		n := int64(len(s.Permutes))
		for i, op := range s.Permutes {
			i := int64(i)
			out[op] = total*(i+1)/n - total*i/n
		}
	}
	return out
}

// permuted remembers what permutes cost: equal layers have equal rings.
type permuted struct {
	sync.Mutex
	costs map[string]cost.Cost
}

// permute is one of some axes.
type permute struct {
	axes []subaxis.Ref
	perm [][2]int64
}

// permuting returns the cost of permutes of a program that send side by side.
func (md *Model) permuting(m *ir.Module, mesh *subaxis.Mesh, permutes []ir.OpID) cost.Cost {
	of := func(op ir.OpID) permute { return permute{shardmap.AxesOf(m, op), shardmap.PermOf(m, op)} }
	return md.sideBySide(mesh, lists.Map(permutes, of), m.ValueType(m.Operand(permutes[0], 0)).Bytes())
}

// sideBySide returns the cost of permutes that send so many bytes each.
func (md *Model) sideBySide(mesh *subaxis.Mesh, permutes []permute, bytes int64) cost.Cost {
	key := binary.AppendVarint(nil, bytes)
	for _, x := range permutes {
		key = append(key, mesh.FormatList(x.axes)...)
		for _, p := range x.perm {
			key = binary.AppendVarint(binary.AppendVarint(key, p[0]), p[1])
		}
	}
	md.permuted.Lock()
	defer md.permuted.Unlock()
	c, ok := md.permuted.costs[string(key)]
	if !ok {
		var all []cost.Pair // between places in the mesh
		for _, x := range permutes {
			all = append(all, pairs(mesh, x.axes, x.perm)...)
		}
		c = md.topology.Permutation(all, bytes)
		md.permuted.costs[string(key)] = c
	}
	return c
}

// ops sums the prices of ops of a ring that are local.
func (md *Model) ops(m *ir.Module, ops []ir.OpID, fused []bool) int64 {
	total := int64(0)
	for _, op := range ops {
		if k := m.Kind(op); k != ir.OpShardMapPpermute && !inProduct(k) {
			total += md.Op(m, op, shapes(m, m.Operands(op)), shapes(m, m.ResultValues(op)), fused)
		}
	}
	return total
}

// inProduct says whether an op of a ring is part of a product: it reads slices of operands where they are, and writes
// a part of the result where that belongs.
func inProduct(k ir.Kind) bool { return k == ir.OpDynamicSlice || k == ir.OpDynamicUpdateSlice }

// settle says which results of a ring's ops reach memory: all that is kept from step to step, but not what a product
// adds to a sum that is there.
func settle(m *ir.Module, r *shardmap.Ring, f fusion.Values) {
	for _, op := range r.Ops {
		v := m.Result(op, 0)
		f.Set(v, false)
		if m.Kind(op) == ir.OpAdd && m.Kind(m.DefiningOp(m.Operand(op, 1))) == ir.OpDotGeneral {
			f.Set(m.Operand(op, 1), m.Kind(m.DefiningOp(m.Operand(op, 0))) != ir.OpShardMapPpermute)
		}
	}
}

// Choice are the rings in the place of a collective and of the products beside it, which together are faster than these.
type Choice struct {
	Collective   int // index in the program's list
	Way          ring.Way
	Serial, Ring int64 // picoseconds of one run: one after the other, and overlapped
}

// Rings chooses the collective matmuls of a program that save time, in the order of its collectives. A product is part of at
// most one, that which saves most; of two ways that take as long, chunks walk one way. Chunks are no smaller than the
// hardware's tile. The products of a gather are one ring as far as they do not need each other: several take longer, each sends as much
// as one. Where they do, all of them are in rings or none: what gathers all the same hides nothing. The only error is the context's.
func (md *Model) Rings(ctx context.Context, p *shardmap.Program) ([]Choice, error) {
	var found []Choice
	var trial *ring.Trial
	module := p.Module
	groups := map[int][]ring.Candidate{} // by collective
	for _, c := range ring.Find(p) {
		groups[c.Collective] = append(groups[c.Collective], c)
	}
	for i := range p.Collectives {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(groups[i]) == 0 || !md.mayPay(p.Module, groups[i], &p.Collectives[i]) {
			continue
		}
		if trial == nil {
			copied := *p
			copied.Module = p.Module.Clone()
			module, trial = copied.Module, ring.NewTrial(&copied)
		}
		if choice, pays := md.fastest(module, p, groups[i], trial); pays {
			found = append(found, choice)
		}
	}
	return compatible(found, groups), nil
}

// compatible leaves out choices with a product that is part of one that saves more.
func compatible(found []Choice, groups map[int][]ring.Candidate) []Choice {
	slices.SortStableFunc(found, func(a, b Choice) int { return cmp.Compare(b.Serial-b.Ring, a.Serial-a.Ring) })
	taken := map[ir.OpID]bool{}
	found = slices.DeleteFunc(found, func(c Choice) bool {
		products := ring.Products(groups[c.Collective])
		if slices.ContainsFunc(products, func(op ir.OpID) bool { return taken[op] }) {
			return true
		}
		for _, op := range products {
			taken[op] = true
		}
		return false
	})
	slices.SortFunc(found, func(a, b Choice) int { return a.Collective - b.Collective })
	return found
}

// mayPay says whether rings could be faster than their collective: overlap hides at most what the collective takes, and
// costs a dispatch for each chunk.
func (md *Model) mayPay(m *ir.Module, group []ring.Candidate, x *shardmap.Collective) bool {
	overhead := 0.0
	if md.topology.Options().Fitted {
		overhead = md.hardware.Dispatch
	}
	chunks := group[0].Steps * int64(len(group))
	return group[0].Extent >= md.hardware.Tile && md.collective(m, x) > cost.Picoseconds(overhead)*chunks
}

// fastest prices the rings in the place of a collective, and says whether the best are faster than none.
func (md *Model) fastest(m *ir.Module, p *shardmap.Program, group []ring.Candidate, trial *ring.Trial) (Choice, bool) {
	x := &p.Collectives[group[0].Collective]
	out := Choice{Collective: group[0].Collective, Serial: md.collective(p.Module, x)}
	out.Serial += md.ops(p.Module, ring.Products(group), make([]bool, p.Module.NumValues()))
	pays := false
	for _, way := range []ring.Way{ring.OneWay, ring.BothWays} {
		if way == ring.BothWays && group[0].Extent/2 < md.hardware.Tile || !group[0].Allows(way) {
			continue
		}
		total := int64(0)
		for i := range group {
			total += md.chunked(m, p, &trial.Write(&group[i], way).Ring)
		}
		if total < out.Serial && (!pays || total < out.Ring) {
			out.Way, out.Ring, pays = way, total, true
		}
	}
	return out, pays
}

// chunked prices a ring.
func (md *Model) chunked(m *ir.Module, p *shardmap.Program, r *shardmap.Ring) int64 {
	f := fusion.None(m)
	settle(m, r, f)
	total := md.ops(m, r.Ops, f.Fused)
	for _, ps := range md.sends(m, &p.Mesh, r, f.Fused) {
		total += ps
	}
	return total
}

// Overlap is how a collective that gathers an operand of products, or reduces and scatters the result of one, may overlap with them. Times
// are in picoseconds.
type Overlap struct {
	Price  int64 // of the collective
	Hidden int64 // what sending a ring's chunks takes, which products may hide
	Starts int64 // what a ring takes beside that: every chunk costs the overhead of one dispatch (cost.md section 3.5)

	adding, chunks, tile, launch int64
}

// Overlap returns that of a collective over some axes; bytes as in [Model.Price].
func (md *Model) Overlap(kind collectives.Kind, axes []subaxis.Ref, bytes int64) Overlap {
	n := subaxis.Product(axes)
	c := md.topology.Collective(kind, axes, collectives.GroupBytes(kind, n, bytes))
	o := Overlap{Price: cost.Picoseconds(c.Seconds), Starts: n * cost.Picoseconds(c.Overhead), chunks: n, tile: md.hardware.Tile}
	if md.topology.Options().Fitted {
		o.launch = cost.Picoseconds(md.hardware.Launch)
	}
	chunk := bytes
	if kind == collectives.ReduceScatter { // a part is added to the sum that comes by
		chunk, o.adding = bytes/n, md.moving(3*bytes/n)
	}
	o.Hidden = md.walking(axes, ring.OneWay, chunk)
	if n > 2 {
		o.Hidden = min(o.Hidden, md.walking(axes, ring.BothWays, chunk))
	}
	return o
}

// walking returns the picoseconds for which chunks of so many bytes that walk round a ring are sent.
func (md *Model) walking(axes []subaxis.Ref, way ring.Way, chunk int64) int64 {
	n := subaxis.Product(axes)
	if n > ring.MostSteps {
		return 0
	}
	sends := lists.Map(way.Sends(n), func(perm [][2]int64) permute { return permute{axes, perm} })
	c := md.sideBySide(&md.mesh, sends, chunk/int64(len(sends)))
	return (n - 1) * cost.Picoseconds(c.Seconds-c.Overhead)
}

// Possible says whether there could be a ring: all chunks together have the given extent along the dimension that is gathered or
// scattered.
func (o *Overlap) Possible(extent int64) bool {
	return o.chunks >= 2 && o.chunks <= ring.MostSteps && extent >= o.chunks*o.tile
}

// Beside returns what a product of some picoseconds hides at most of what a ring sends, and how much longer it takes at least in chunks.
// One chunk is multiplied while nothing is sent, the others hide as much as they take, every chunk is a launch, and its part is added to
// the others, which takes what [Model.Adding] says where a contracted dimension is gathered, else 0.
func (o *Overlap) Beside(product, adding int64) (hides, longer int64) {
	launches := max(0, o.chunks*o.launch-product)
	rounding := 2 * o.chunks // of the prices of chunks to picoseconds
	return (product+launches)/o.chunks*(o.chunks-1) + o.chunks, launches + (o.chunks-1)*(o.adding+adding) - rounding
}

// Saves returns the most picoseconds that a ring could save over the collective and one product of some picoseconds one after the other.
// Extent and adding are those of [Overlap.Possible] and [Overlap.Beside].
func (o *Overlap) Saves(product, extent, adding int64) int64 {
	if !o.Possible(extent) {
		return 0
	}
	hides, longer := o.Beside(product, adding)
	return max(0, o.Price-max(0, o.Hidden-hides)-o.Starts-longer)
}

// Adding returns the picoseconds of adding one of several parts to a product's result of so many elements.
func (md *Model) Adding(t dtype.Type, elements int64) int64 {
	whole := elements * int64(ring.SumType(t).Bytes())
	// What is added is not written first, as the product alone would: one of at least two parts may count half.
	return max(0, md.moving(2*whole)-md.moving(whole))
}

// moving returns the picoseconds of an op that reads and writes so many bytes in all.
func (md *Model) moving(bytes int64) int64 {
	return cost.Picoseconds(md.hardware.Op(cost.Work{Bytes: float64(bytes)}, md.topology.Options()).Seconds)
}
