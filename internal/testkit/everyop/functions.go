package everyop

import (
	"math"
	"math/rand/v2"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Functions returns the elementwise ops of one and two operands that have no attributes which say what they compute, and whose result
// types follow.
func Functions() (all []ir.Kind) {
	for _, k := range Kinds() {
		if (k.IsUnary() || k.IsBinary()) && recipes[k] == nil && !k.Declares("exponent_bits") && !k.Declares("comparison_direction") {
			all = append(all, k)
		}
	}
	return all
}

// Function returns a program of one of [Functions] on n numbers of a type, nil where the op does not take it. The leading bits of the
// first operand are spread evenly: of one operand 256 numbers are all of eight bits, and 65,536 all of sixteen, of two as many are all
// pairs of eight.
func Function(k ir.Kind, e dtype.Type, n int, seed uint64) *Program {
	d := begin(nil)
	if !d.takes(k, nil)(e) {
		return nil
	}
	s := spread{rand.New(rand.NewPCG(seed, uint64(k)<<8|uint64(e))), n, k.IsBinary()}
	of := classFor(k, e, e.Part().Bits() > 16 && s.r.IntN(2) == 0)
	var operands []ir.ValueID
	for i := range k.MinOperands() {
		d.inputs = append(d.inputs, s.numbers(e, of, i))
		operands = append(operands, d.m.AddBlockArg(d.main, d.m.TensorType(e, int64(n))))
	}
	d.differs(d.emitOp(k, 0, nil, operands...))
	return d.end([]ir.Kind{k})
}

// spread makes n numbers for each of one or two operands.
type spread struct {
	r     *rand.Rand
	n     int
	pairs bool
}

// numbers returns the numbers of an operand.
func (s spread) numbers(e dtype.Type, of class, operand int) *tensor.Tensor {
	x := tensor.New(e, []int64{int64(s.n)})
	x.Data = x.Data[:0]
	part := e.Part()
	for i := range s.n * e.Bytes() / part.Bytes() {
		x.Data = dtype.AppendBits(x.Data, part, s.number(part, of, operand, i%s.n))
	}
	return &x
}

// number returns the bits of the i-th number.
func (s spread) number(e dtype.Type, of class, operand, i int) uint64 {
	if isFloat(e) && (of == plain || of == above) {
		v := math.Ldexp(1+s.r.Float64(), s.r.IntN(9)-5)
		if s.r.IntN(2) == 0 && (of == plain || v < 8) {
			v = -v
		}
		return dtype.Encode(e, v)
	}
	bits := s.bits(e.Bits(), operand, i)
	if of == normal && math.Abs(dtype.Decode(e, bits)) < dtype.Decode(e, 1<<e.Mantissa()) {
		return dtype.Encode(e, 0)
	}
	if isInteger(e) {
		return uint64(dtype.Wrap(e, int64(bits))) & (1<<(8*e.Bytes()-1)<<1 - 1)
	}
	return bits
}

// bits returns the i-th of the numbers that are spread over a width, or any where they are not.
func (s spread) bits(width, operand, i int) uint64 {
	lead := uint64(i) << 16 / uint64(s.n)
	drawn := s.r.Uint64() >> (64 - width)
	switch {
	case s.pairs && width <= 8: // the first operand has the leading half
		return lead >> (8 * (1 - operand)) & (1<<width - 1)
	case operand == 1:
		return drawn
	case width <= 16:
		return lead >> (16 - width)
	}
	return lead<<(width-16) | drawn&(1<<(width-16)-1)
}
