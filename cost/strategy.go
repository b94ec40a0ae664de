package cost

import (
	"cmp"
	"math"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// Cut is where a set of mesh axes lies in the operands of a product.
type Cut struct {
	Axes []subaxis.Ref
	A, B Side
}

// Move is one communication of a matmul option.
type Move struct {
	Operand byte // 'A', 'B' or 'C'
	Kind    collectives.Kind
	Axes    []subaxis.Ref
	V       int64
	Cost    Cost
}

// MatmulOption is one way to compute a sharded product. Names and sides are those of every cut, in order.
type MatmulOption struct {
	Names  []string // as in cost.md section 3.2, such as "2a"
	A, B   []Side   // where the axes cut the operands of the local product
	Result []Side
	Moves  []Move // that send something, in order
	FLOPs  float64
	Local  Roofline
	Net    float64 // seconds of the moves
	Lower  float64 // seconds if everything overlaps
	Upper  float64 // seconds if nothing does: local product, then moves
}

// Seconds returns the option's time with compute and communication combined as asked.
func (o MatmulOption) Seconds(overlap Combine) float64 { return overlap.Of(o.Local.Seconds, o.Net) }

// MatmulOptions returns the ways to compute a product that some sets of axes cut: every combination of the rows that cost.md section 3.2
// has for each of them, in its order, the last set fastest. Extents are whole: no cut is divided out. It fails with diag.ErrInvalid where
// an operand has no such side or the table no row: then one operand must be gathered first.
func (t *Topology) MatmulOptions(m Matmul, cuts []Cut) ([]MatmulOption, error) {
	ways := [][]recipe{nil}
	for _, c := range cuts {
		rows, ok := recipes[[2]Side{c.A, c.B}]
		if !ok {
			return nil, diag.Invalid(diag.BadSharding, diag.Position{},
				"no way to multiply operands cut on %v and %v by the same axes, gather one first", c.A, c.B)
		}
		var longer [][]recipe
		for _, way := range ways {
			for _, r := range rows {
				longer = append(longer, append(slices.Clone(way), r))
			}
		}
		ways = longer
	}
	out := make([]MatmulOption, len(ways))
	for i, way := range ways {
		s := strategy{t: t, m: m, cuts: cuts}
		out[i] = s.follow(way)
	}
	return out, nil
}

// To returns an option with its result brought to other sides. Slices are free; nothing makes a partial sum of a whole.
func (t *Topology) To(m Matmul, cuts []Cut, o MatmulOption, result []Side) MatmulOption {
	s := strategy{t: t, m: m, cuts: cuts, option: o}
	s.option.Moves = slices.Clip(o.Moves)
	s.bring('C', o.Result, result)
	s.option.Result = result
	s.total()
	return s.option
}

// strategy builds an option.
type strategy struct {
	t      *Topology
	m      Matmul
	cuts   []Cut
	option MatmulOption
}

// follow builds the option of one row for each cut.
func (s *strategy) follow(way []recipe) MatmulOption {
	o := &s.option
	var a, b, product []Side
	for i, r := range way {
		side, err := ProductSide(r.a, r.b)
		if err != nil {
			panic(err) // the table has only local products that exist
		}
		o.Names = append(o.Names, r.name)
		o.A, o.B, o.Result = append(o.A, r.a), append(o.B, r.b), append(o.Result, r.result)
		a, b, product = append(a, s.cuts[i].A), append(b, s.cuts[i].B), append(product, side)
	}
	s.bring('A', a, o.A)
	s.bring('B', b, o.B)
	s.bring('C', product, o.Result)
	local := s.m
	for i, c := range s.cuts {
		on := o.A[i]
		if on == Nowhere {
			on = o.B[i]
		}
		local = local.local(subaxis.Product(c.Axes), on)
	}
	o.FLOPs = local.FLOPs()
	o.Local = s.t.hw.LocalMatmul(local, s.t.options)
	s.total()
	return *o
}

// total sums up what the moves take.
func (s *strategy) total() {
	o := &s.option
	o.Net = 0
	for _, move := range o.Moves {
		o.Net += move.Cost.Seconds
	}
	o.Lower, o.Upper = Largest.Of(o.Local.Seconds, o.Net), Sum.Of(o.Local.Seconds, o.Net)
}

// block returns the bytes of an operand's block where the cuts lie on given sides.
func (s *strategy) block(operand byte, sides []Side) int64 {
	m := s.m
	for i, c := range s.cuts {
		m = m.local(subaxis.Product(c.Axes), sides[i])
	}
	switch operand {
	case 'A':
		return m.BytesA()
	case 'B':
		return m.BytesB()
	}
	return m.BytesC()
}

// bring adds the communications that take an operand or the result from some sides to others: slices first, which are free and make the
// rest smaller, then reductions, exchanges, and last what makes blocks larger (specification: cost.md section 2.7). What is of one kind
// and ends on one side is one communication over all its axes.
func (s *strategy) bring(operand byte, from, to []Side) {
	now := slices.Clone(from)
	for i := range now {
		if now[i] == Nowhere {
			now[i] = to[i]
		}
	}
	for _, side := range s.scattered(now, to) {
		s.move(operand, collectives.ReduceScatter, now, func(i int) bool { return now[i] == Unreduced && to[i] == side }, side)
	}
	s.move(operand, collectives.AllReduce, now, func(i int) bool { return now[i] == Unreduced && to[i] == Nowhere }, Nowhere)
	for i := range now {
		if now[i] != to[i] && now[i] != Unreduced && to[i] != Nowhere {
			s.move(operand, collectives.AllToAll, now, func(j int) bool { return j == i }, to[i])
		}
	}
	s.move(operand, collectives.AllGather, now, func(i int) bool { return now[i] != to[i] && to[i] == Nowhere }, Nowhere)
}

// scattered returns the sides on which sums are scattered, those first that make blocks smallest.
func (s *strategy) scattered(now, to []Side) []Side {
	ways := map[Side]int64{}
	var sides []Side
	for i := range now {
		if now[i] != Unreduced || to[i] == Unreduced || to[i] == Nowhere {
			continue
		}
		if ways[to[i]] == 0 {
			ways[to[i]] = 1
			sides = append(sides, to[i])
		}
		ways[to[i]] *= subaxis.Product(s.cuts[i].Axes)
	}
	slices.SortStableFunc(sides, func(x, y Side) int { return cmp.Compare(ways[y], ways[x]) })
	return sides
}

// move adds one communication along the cuts that a test picks, whose side becomes another. V is what cost.md section 0.3 says: the block
// without these cuts where they are a part of the dimensions, the whole block where sums are reduced.
func (s *strategy) move(operand byte, kind collectives.Kind, now []Side, along func(int) bool, to Side) {
	var axes []subaxis.Ref
	without := slices.Clone(now)
	for i, c := range s.cuts {
		if along(i) {
			axes = append(axes, c.Axes...)
			without[i] = Nowhere
		}
	}
	if len(axes) == 0 {
		return
	}
	v := s.block(operand, without)
	s.option.Moves = append(s.option.Moves, Move{operand, kind, axes, v, s.t.Collective(kind, axes, v)})
	for i := range now {
		if along(i) {
			without[i] = to
		}
	}
	copy(now, without)
}

// Fastest returns the index of the option that takes the least time among those whose result lies on given sides, -1 if there is none.
// Times within 1e-12 of each other are equal, and the first option wins.
func Fastest(options []MatmulOption, result []Side, overlap Combine) int {
	best, least := -1, math.Inf(1)
	for i := range options {
		if s := options[i].Seconds(overlap); slices.Equal(options[i].Result, result) && s < least*(1-1e-12) {
			best, least = i, s
		}
	}
	return best
}
