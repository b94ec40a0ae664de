package programs

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"

	"pgregory.net/rapid"
)

// The sizes of what [Sums] adds up, and of the batch that it sums over before.
const (
	batch, sumRows, sumCols = 8, 4, 6
)

// summing writes a sum.
type summing struct {
	t      *rapid.T
	m      *ir.Module
	b      *ir.Builder
	typ    ir.TypeID
	inputs []ir.ValueID
}

// Sums draws a module with a function that adds up matrices as gradients are: products of two inputs over their first dimension, the
// batch, with what linear ops make of them on the way, in any order, once or in the rounds of a loop, or of a loop in a loop, that carries
// the sum.
func Sums(t *rapid.T) *ir.Module {
	s := &summing{t: t, m: ir.NewModule()}
	s.typ = s.m.TensorType(dtype.F32, sumRows, sumCols)
	var args []ir.TypeID
	for range rapid.IntRange(1, 3).Draw(t, "inputs") {
		args = append(args, s.m.TensorType(dtype.F32, batch, sumRows), s.m.TensorType(dtype.F32, batch, sumCols))
	}
	args = append(args, s.typ)
	f := s.m.Func(s.m.AddFunc(ir.FuncSpec{Name: "main", Args: args, Results: []ir.TypeID{s.typ}}))
	s.inputs, s.b = s.m.BlockArgs(f.Body), s.m.BuilderAtEnd(f.Body)
	sum := s.loops(rapid.IntRange(0, 2).Draw(t, "loops"))
	if rapid.Bool().Draw(t, "after the loop") {
		sum = s.plus(sum, s.term())
	}
	s.b.Op(ir.OpReturn, nil, nil, sum)
	return s.m
}

// loops writes a sum in so many loops around each other.
func (s *summing) loops(n int) ir.ValueID {
	if n == 0 {
		return s.sum(lists.Of(rapid.IntRange(1, 4).Draw(s.t, "terms"), func(int) ir.ValueID { return s.term() }))
	}
	begin := s.zeros()
	if rapid.Bool().Draw(s.t, "begins with a term") {
		begin = s.term()
	}
	op, body, end := threeRounds(s.m, s.b, begin)
	inside := *s
	inside.b = body
	end(inside.plus(s.m.BlockArgs(s.m.RegionBlock(op, 1))[1], inside.loops(n-1)))
	return s.m.Result(op, 1)
}

// term writes a matrix: mostly a product over the batch, or an input.
func (s *summing) term() ir.ValueID {
	pairs := (len(s.inputs) - 1) / 2
	i := rapid.IntRange(0, 2*pairs).Draw(s.t, "term") / 2
	if i == pairs {
		return s.inputs[2*pairs]
	}
	x, y, dims := s.inputs[2*i], s.inputs[2*i+1], &ir.DotDims{LhsContract: []int64{0}, RhsContract: []int64{0}}
	if rapid.Bool().Draw(s.t, "transposed") {
		v := s.b.Op1(ir.OpDotGeneral, s.m.TensorType(dtype.F32, sumCols, sumRows), attrs("dot_dimension_numbers", dims), y, x)
		return s.b.Op1(ir.OpTranspose, s.typ, attrs("permutation", ir.Ints{1, 0}), v)
	}
	v := s.b.Op1(ir.OpDotGeneral, s.typ, attrs("dot_dimension_numbers", dims), x, y)
	if rapid.Bool().Draw(s.t, "reshaped") {
		v = s.b.Op1(ir.OpReshape, s.m.TensorType(dtype.F32, sumRows*sumCols), nil, v)
		v = s.b.Op1(ir.OpReshape, s.typ, nil, v)
	}
	if rapid.Bool().Draw(s.t, "negated") {
		v = s.b.Op1(ir.OpNegate, s.typ, nil, v)
	}
	if rapid.Bool().Draw(s.t, "scaled") {
		v = s.scaled(v)
	}
	return s.moved(v)
}

// scaled writes a multiple of a term.
func (s *summing) scaled(v ir.ValueID) ir.ValueID {
	factor := s.spread(4) // so that nothing is rounded
	switch rapid.SampledFrom([]string{"divided", "multiplied", "multiplies"}).Draw(s.t, "how") {
	case "divided":
		return s.b.Op1(ir.OpDivide, s.typ, nil, v, factor)
	case "multiplied":
		return s.b.Op1(ir.OpMultiply, s.typ, nil, v, factor)
	}
	return s.b.Op1(ir.OpMultiply, s.typ, nil, factor, v)
}

// sum adds up terms, any two at a time.
func (s *summing) sum(terms []ir.ValueID) ir.ValueID {
	for len(terms) > 1 {
		terms = rapid.Permutation(terms).Draw(s.t, "next")
		terms = append(terms[2:], s.plus(terms[0], terms[1]))
	}
	return terms[0]
}

func (s *summing) plus(a, b ir.ValueID) ir.ValueID {
	if rapid.Bool().Draw(s.t, "swapped") {
		a, b = b, a
	}
	return s.b.Op1(ir.OpAdd, s.typ, nil, a, b)
}
