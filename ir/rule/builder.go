package rule

import (
	"slices"

	"autoshard/ir"
)

// factorType says what sharding a factor costs.
type factorType uint8

const (
	passThrough factorType = iota
	reduction
	needReplication
	permutation
)

// none stands for "this tensor does not have the factor" in lists of dimensions.
const none = -1

// builder collects factors in the order of the calls, which fixes their letters.
type builder struct {
	m            *ir.Module
	op           ir.OpID
	conservative bool
	computing    bool      // rather than propagating, see Computing
	in, out      [][]int64 // shapes of operands and results
	rule         *ir.Rule
}

func newBuilder(m *ir.Module, op ir.OpID, conservative bool) *builder {
	in, out := m.NumOperands(op), m.NumResults(op)
	b := &builder{m: m, op: op, conservative: conservative, rule: &ir.Rule{}}
	shapes, tensors := make([][]int64, in+out), make([][][]int32, in+out)
	rank := 0
	for i := range shapes {
		if i < in {
			shapes[i] = m.Shape(m.Operand(op, i))
		} else {
			shapes[i] = m.Shape(m.Result(op, i-in))
		}
		rank += len(shapes[i])
	}
	dims := emptyDims(rank)
	for i, shape := range shapes {
		tensors[i], dims = dims[:len(shape):len(shape)], dims[len(shape):]
	}
	b.in, b.out = shapes[:in:in], shapes[in:]
	b.rule.Operands, b.rule.Results = tensors[:in:in], tensors[in:]
	return b
}

// emptyDims returns dimensions without factors, each with room for the one factor that most have.
func emptyDims(n int) [][]int32 {
	dims, room := make([][]int32, n), make([]int32, n)
	for d := range dims {
		dims[d] = room[d : d : d+1]
	}
	return dims
}

// factor appends a factor of the given size. It stands in dimension inDims[i] of operand i and outDims[i] of
// result i; a dimension that has factors already does not take one of size 1.
func (b *builder) factor(inDims, outDims []int, size int64, kind factorType, blocked bool) {
	f := b.newFactor(size, kind, blocked)
	for i, d := range inDims {
		b.place(b.rule.Operands[i], d, f, size == 1)
	}
	for i, d := range outDims {
		b.place(b.rule.Results[i], d, f, size == 1)
	}
}

func (b *builder) place(dims [][]int32, d int, f int32, skipIfTaken bool) {
	if d < 0 || d >= len(dims) || skipIfTaken && len(dims[d]) > 0 {
		return
	}
	dims[d] = append(dims[d], f)
}

func (b *builder) newFactor(size int64, kind factorType, blocked bool) int32 {
	r := b.rule
	f := int32(len(r.Sizes))
	r.Sizes = append(r.Sizes, size)
	switch kind {
	case reduction:
		r.Reduction = append(r.Reduction, f)
	case needReplication:
		r.NeedReplication = append(r.NeedReplication, f)
	case permutation:
		r.Permutation = append(r.Permutation, f)
	}
	if blocked {
		r.Blocked = append(r.Blocked, f)
	}
	return f
}

// everywhere appends a factor that stands in dimension d of all operands and results that are not scalars.
func (b *builder) everywhere(d int, size int64, kind factorType, blocked bool) {
	f := b.newFactor(size, kind, blocked)
	b.placeAll(b.rule.Operands, d, f)
	b.placeAll(b.rule.Results, d, f)
}

// operandsOnly and resultsOnly append a factor that stands in dimension d on one side.
func (b *builder) operandsOnly(d int, size int64, kind factorType) {
	b.placeAll(b.rule.Operands, d, b.newFactor(size, kind, false))
}

func (b *builder) resultsOnly(d int, size int64, kind factorType) {
	b.placeAll(b.rule.Results, d, b.newFactor(size, kind, false))
}

func (b *builder) placeAll(tensors [][][]int32, d int, f int32) {
	for _, dims := range tensors {
		b.place(dims, d, f, false)
	}
}

// pointwise appends a pass-through factor for every dimension of a shape.
func (b *builder) pointwise(shape []int64) { b.pointwiseIf(shape, func(int) bool { return true }) }

func (b *builder) pointwiseIf(shape []int64, keep func(d int) bool) {
	for d, size := range shape {
		if keep(d) {
			b.everywhere(d, size, passThrough, false)
		}
	}
}

// mismatch appends a factor for every dimension: pass-through where both sizes agree, else of the given type.
// The factor has the size of the operand. It returns true, as builders do.
func (b *builder) mismatch(in, out []int64, kind factorType, blocked bool) bool {
	return b.passing(in, func(d int) bool { return in[d] == out[d] }, kind, blocked)
}

// passing appends a factor for every dimension of a shape: pass-through where passes holds, else of the given type. It
// returns true, as builders do.
func (b *builder) passing(shape []int64, passes func(d int) bool, kind factorType, blocked bool) bool {
	for d, size := range shape {
		if passes(d) {
			b.everywhere(d, size, passThrough, false)
		} else {
			b.everywhere(d, size, kind, blocked)
		}
	}
	return true
}

// finish gives every dimension that has no factor one of its own, of size 1.
func (b *builder) finish() *ir.Rule {
	for _, tensors := range [][][][]int32{b.rule.Operands, b.rule.Results} {
		for _, dims := range tensors {
			for d := range dims {
				if len(dims[d]) == 0 {
					dims[d] = []int32{b.newFactor(1, passThrough, false)}
				}
			}
		}
	}
	return b.rule
}

func (b *builder) attr(name string) ir.Attr       { return b.m.Attr(b.op, name) }
func (b *builder) ints(name string) []int64       { return b.m.OpAttrs(b.op).Ints(name) }
func (b *builder) int(name string, d int64) int64 { return b.m.OpAttrs(b.op).Int(name, d) }

// definedBy returns the op that defines operand i if it is of that kind, else 0.
func (b *builder) definedBy(i int, kind ir.Kind) ir.OpID {
	if op := b.m.DefiningOp(b.m.Operand(b.op, i)); op != 0 && b.m.Kind(op) == kind {
		return op
	}
	return 0
}

// dims returns n entries of none with d at position i.
func dims(n, i, d int) []int {
	out := slices.Repeat([]int{none}, n)
	out[i] = d
	return out
}

func hasInt(list []int64, d int) bool { return slices.Contains(list, int64(d)) }
