package estimate

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir"
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
		c := md.topology.Permutation(pairsOf(m, mesh, s.Permutes), m.ValueType(m.Operand(s.Permutes[0], 0)).Bytes())
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

// pairsOf returns the transfers of some permutes together, between places in the mesh.
func pairsOf(m *ir.Module, mesh *subaxis.Mesh, permutes []ir.OpID) []cost.Pair {
	var pairs []cost.Pair
	for _, op := range permutes {
		perm := shardmap.PermOf(m, op)
		for _, members := range mesh.Groups(shardmap.AxesOf(m, op)) {
			for _, p := range perm {
				pairs = append(pairs, cost.Pair{Source: members[p[0]], Target: members[p[1]]})
			}
		}
	}
	return pairs
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
func settle(m *ir.Module, r *shardmap.Ring, fused []bool) {
	for _, op := range r.Ops {
		v := m.Result(op, 0)
		fused[v] = false
		if m.Kind(op) == ir.OpAdd && m.Kind(m.DefiningOp(m.Operand(op, 1))) == ir.OpDotGeneral {
			fused[m.Operand(op, 1)] = m.Kind(m.DefiningOp(m.Operand(op, 0))) != ir.OpShardMapPpermute
		}
	}
}

// Choice is a ring that is faster than the product and the collective that it replaces.
type Choice struct {
	Collective   int // index in the program's list
	Way          ring.Way
	Serial, Ring int64 // picoseconds of one run: one after the other, and overlapped
}

// Rings chooses the collective matmuls of a program that save time, in the order of its collectives. A product is part
// of at most one, that which saves most; of two ways that take as long, chunks walk one way. Chunks are no smaller than
// the hardware's tile. The only error is the context's.
func (md *Model) Rings(ctx context.Context, p *shardmap.Program) ([]Choice, error) {
	var best []Choice
	var trial *ring.Trial
	module := p.Module
	byProduct := map[ir.OpID]int{}
	candidates := ring.Find(p)
	for i := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := &candidates[i]
		x := &p.Collectives[c.Collective]
		if !md.mayPay(c, x, &p.Mesh) {
			continue
		}
		if trial == nil {
			copied := *p
			copied.Module = p.Module.Clone()
			module, trial = copied.Module, ring.NewTrial(&copied)
		}
		choice, pays := md.fastest(module, p, c, trial)
		if !pays {
			continue
		}
		if at, ok := byProduct[c.Product]; !ok {
			byProduct[c.Product] = len(best)
			best = append(best, choice)
		} else if b := &best[at]; choice.Serial-choice.Ring > b.Serial-b.Ring {
			*b = choice
		}
	}
	slices.SortFunc(best, func(a, b Choice) int { return a.Collective - b.Collective })
	return best, nil
}

// mayPay says whether a ring could be faster than its collective: overlap hides at most what the collective takes, and
// costs a dispatch for each chunk.
func (md *Model) mayPay(c *ring.Candidate, x *shardmap.Collective, mesh *subaxis.Mesh) bool {
	overhead := 0.0
	if md.topology.Options().Fitted {
		overhead = md.hardware.Dispatch
	}
	return c.Extent >= md.hardware.Tile && md.collective(x, mesh) > cost.Picoseconds(overhead)*c.Steps
}

// fastest prices the rings of a candidate, and says whether the best is faster than none.
func (md *Model) fastest(m *ir.Module, p *shardmap.Program, c *ring.Candidate, trial *ring.Trial) (Choice, bool) {
	x := &p.Collectives[c.Collective]
	fused := make([]bool, p.Module.NumValues())
	out := Choice{Collective: c.Collective, Serial: md.collective(x, &p.Mesh) + md.ops(p.Module, []ir.OpID{c.Product}, fused)}
	pays := false
	for _, way := range []ring.Way{ring.OneWay, ring.BothWays} {
		if !c.Allows(way) || way == ring.BothWays && c.Extent/2 < md.hardware.Tile {
			continue
		}
		r := trial.Write(c, way)
		fused = make([]bool, m.NumValues())
		settle(m, &r.Ring, fused)
		total := md.ops(m, r.Ops, fused)
		for _, ps := range md.sends(m, &p.Mesh, &r.Ring, fused) {
			total += ps
		}
		if total < out.Serial && (!pays || total < out.Ring) {
			out.Way, out.Ring, pays = way, total, true
		}
	}
	return out, pays
}

// Overlap is how a collective that gathers an operand of a product, or reduces and scatters its result, may overlap with the product.
type Overlap struct {
	price, shown, overhead, chunks int64
}

// Overlap returns that of a collective over some axes; bytes as in [Model.Price].
func (md *Model) Overlap(kind collectives.Kind, axes []subaxis.Ref, bytes int64) Overlap {
	n := subaxis.Product(axes)
	c := md.topology.Collective(kind, axes, collectives.GroupBytes(kind, n, bytes))
	return Overlap{cost.Picoseconds(c.Seconds), cost.Picoseconds(c.Seconds - c.Overhead), cost.Picoseconds(c.Overhead), n}
}

// Saves returns the most picoseconds that a ring could save over the collective and a product of some picoseconds one after the other
// (cost.md section 3.5). One chunk is multiplied while nothing is sent, the others hide as much as they take, and every chunk costs the
// overhead of one dispatch.
func (o Overlap) Saves(product int64) int64 {
	if o.chunks < 2 || o.chunks > ring.MostSteps {
		return 0
	}
	hidden := min(o.shown, product/o.chunks*(o.chunks-1)+product%o.chunks)
	return max(0, o.price-(o.shown-hidden)-o.chunks*o.overhead)
}
