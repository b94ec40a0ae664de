package localform

import (
	"cmp"
	"math"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Sort is what a sort does along the dimension that it sorts.
type Sort struct {
	Dim   int
	Keys  []ir.SortKey // nil where its comparator orders in another way than by keys
	Index int          // the operand that numbers the elements along the dimension; -1 where none does
	// Nobody sees in which order elements come that are equal to the comparator: there are none, or they are equal in every bit.
	Total bool
}

// Sorted returns it for an op. counts says whether a value numbers the elements of a dimension.
func Sorted(m *ir.Module, op ir.OpID, counts func(v ir.ValueID, d int) bool) Sort {
	s := Sort{Dim: SortedDim(m, op), Keys: ir.SortKeys(m, m.RegionBlock(op, 0))}
	s.Index = slices.IndexFunc(m.Operands(op), func(v ir.ValueID) bool { return counts(v, s.Dim) })
	exact := func(i int) bool {
		return slices.ContainsFunc(s.Keys, func(k ir.SortKey) bool { return k.Operand == i && !k.Canonical })
	}
	s.Total = s.Index >= 0 && exact(s.Index) || !slices.Contains(lists.Of(m.NumOperands(op), exact), false)
	return s
}

// SortedDim returns the dimension that a sort sorts.
func SortedDim(m *ir.Module, op ir.OpID) int {
	d := int(m.OpAttrs(op).Int("dimension", -1))
	if d < 0 {
		d += len(m.Shape(m.Operand(op, 0)))
	}
	return d
}

// Counts says whether an op numbers the elements of a dimension from 0 on, in a type that holds all of them.
func Counts(m *ir.Module) func(v ir.ValueID, d int) bool {
	return func(v ir.ValueID, d int) bool {
		op := m.DefiningOp(v)
		e := m.ValueType(v).DType
		return op != 0 && m.Kind(op) == ir.OpIota && m.OpAttrs(op).Int("iota_dimension", 0) == int64(d) &&
			(e.Kind() == dtype.Signed || e.Kind() == dtype.Unsigned) && e.Bytes() >= 4
	}
}

// NumberType returns the type of the numbers of n elements.
func NumberType(n int64) dtype.Type {
	if n > math.MaxInt32 {
		return dtype.I64
	}
	return dtype.I32
}

// Lasts returns, for each key, what stands behind all elements that count where it pads them and equal elements keep their order; false
// where that is not known.
func (s *Sort) Lasts(m *ir.Module, op ir.OpID) (lasts [][]byte, ok bool) {
	for _, k := range s.Keys {
		last, known := k.Last(m.ValueType(m.Operand(op, k.Operand)).DType)
		if !known {
			return nil, false
		}
		lasts = append(lasts, last)
	}
	return lasts, len(lasts) > 0
}

// Meeting is a round of a sorting network: pairs of positions, the lower one first, that sort what the two have, of which the lower one
// keeps the first half. No position is in two pairs.
type Meeting [][2]int64

// Network returns the rounds after which k sorted blocks of equal sizes are one sorted sequence: Batcher's merge exchange, which takes
// t(t+1)/2 of them for t = ceil(log2 k) (Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M).
func Network(k int64) (rounds []Meeting) {
	top := int64(1)
	for 2*top < k {
		top *= 2
	}
	for p := top; p > 0 && k > 1; p /= 2 {
		for q, r, d := top, int64(0), p; ; q, r, d = q/2, p, q-p {
			var round Meeting
			for i := range k - d {
				if i&p == r {
					round = append(round, [2]int64{i, i + d})
				}
			}
			rounds = append(rounds, round)
			if q == p {
				break
			}
		}
	}
	return rounds
}

// Pairs returns who sends to whom in a round, by receiver.
func (r Meeting) Pairs() [][2]int64 {
	var out [][2]int64
	for _, p := range r {
		out = append(out, p, [2]int64{p[1], p[0]})
	}
	slices.SortFunc(out, func(a, b [2]int64) int { return cmp.Compare(a[1], b[1]) })
	return out
}
