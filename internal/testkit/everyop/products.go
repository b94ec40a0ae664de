package everyop

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var productOps = family{
	ir.OpDot: (*drawing).dot, ir.OpDotGeneral: (*drawing).dotGeneral, ir.OpEinsum: (*drawing).einsum, ir.OpUnaryEinsum: (*drawing).unaryEinsum,
	ir.OpChloRaggedDot: (*drawing).raggedDot,
}

// mixing is which types may differ in a product.
type mixing uint8

const (
	sameTypes  mixing = iota
	wideResult        // than the operands, which are of one type
	allTypes
)

// factors draws two operands of a product, and the type of the result: mostly that of both. Floats are small whole numbers, whose sums
// most types have, or positive, so that they only lose by rounding.
func (d *drawing) factors(lhs, rhs []int64, may mixing) ([]ir.ValueID, dtype.Type) {
	e := d.drawType(func(e dtype.Type) bool { return isNumber(e) && !Lacking(e) })
	other, result, of := e, e, anything
	if may != sameTypes && d.odds("types differ", 4) {
		alike := func(t dtype.Type) bool { return t.Kind() == e.Kind() && !Lacking(t) }
		result = d.drawType(func(t dtype.Type) bool { return alike(t) && t.Bits() >= e.Bits() })
		if may == allTypes {
			other = d.drawType(func(t dtype.Type) bool { return alike(t) && t.Bits() <= result.Bits() })
		}
	}
	if isInexact(e) {
		if of = whole; !isComplex(e) && d.odds("rounded", 2) {
			of = positive
		}
	}
	return []ir.ValueID{d.input(e, lhs, of), d.input(other, rhs, of)}, result
}

// product writes a product with its own type of elements.
func (d *drawing) product(k ir.Kind, a ir.Attrs, operands []ir.ValueID, e dtype.Type, terms int64) {
	results, err := ir.Infer(d.m, k, operands, a)
	if err != nil {
		d.t.Fatalf("%s: %v", k, err)
	}
	v := d.typed(k, d.m.TensorType(e, d.m.TypeOf(results[0]).Dims...), a, operands...)
	d.rounds(d.m.DefiningOp(v), terms)
}

func (d *drawing) precision(a ir.Attrs, dialect string) ir.Attrs {
	if d.odds("precision", 2) {
		of := func() ir.EnumAttr {
			p := d.enum("precision")
			p.Dialect = dialect
			return p
		}
		return a.With("precision_config", ir.ArrayAttr{of(), of()})
	}
	return a
}

func (d *drawing) dot(k ir.Kind) {
	n := d.size()
	lhs, rhs := append(d.shape(0, 1), n), append([]int64{n}, d.shape(0, 1)...)
	operands, e := d.factors(lhs, rhs, allTypes)
	d.product(k, d.precision(nil, "stablehlo"), operands, e, n)
}

// paired draws the shapes of two operands that share dimensions: up to two batches and up to two that are summed over.
func (d *drawing) paired() (lhs, rhs []int64, dims ir.DotDims, terms int64) {
	batch, summed := d.shape(0, 2), d.shape(0, 2)
	side := func() (dims, batches, sums []int64) {
		free := d.shape(0, 2)
		order := d.permutation(len(batch) + len(summed) + len(free))
		return placed(slices.Concat(batch, summed, free), order), order[:len(batch)], order[len(batch):][:len(summed)]
	}
	lhs, dims.LhsBatch, dims.LhsContract = side()
	rhs, dims.RhsBatch, dims.RhsContract = side()
	return lhs, rhs, dims, lists.Product(summed)
}

func (d *drawing) dotGeneral(k ir.Kind) {
	lhs, rhs, dims, terms := d.paired()
	a := attrs("dot_dimension_numbers", &dims)
	if d.odds("algorithm", 5) { // what it rounds is whole
		of := func(name string) ir.TypeID { t, _ := dtype.Parse(name); return d.m.ScalarType(t) }
		types := pick(d, []string{"bf16", "tf32", "f32"}, "algorithm")
		algorithm := &ir.DotAlgorithm{LhsType: of(types), RhsType: of(types), AccumulationType: of("f32"),
			LhsCount: 1, RhsCount: 1, Operations: 1}
		if types != "f32" {
			algorithm.Operations = pick(d, []int64{1, 3}, "operations")
		}
		operands := []ir.ValueID{d.input(dtype.F32, lhs, whole), d.input(dtype.F32, rhs, whole)}
		d.product(k, a.With("algorithm", algorithm), operands, dtype.F32, terms)
		return
	}
	operands, e := d.factors(lhs, rhs, allTypes)
	d.product(k, d.precision(a, "stablehlo"), operands, e, terms)
}

// raggedDot draws a product of which a dimension of one operand is cut into groups: one of rows, one that is summed over, or a batch.
func (d *drawing) raggedDot(k ir.Kind) {
	m, n, sum, groups := d.some(), d.some(), d.some(), d.some()
	lhs, rhs := []int64{m, sum}, []int64{groups, sum, n}
	dims := &ir.RaggedDims{Dot: ir.DotDims{LhsContract: []int64{1}, RhsContract: []int64{1}}, Ragged: []int64{0}, Group: []int64{0}}
	cut := m
	switch d.between(0, 2, "what is cut") {
	case 1:
		rhs, cut = []int64{sum, n}, sum
		dims = &ir.RaggedDims{Dot: ir.DotDims{LhsContract: []int64{1}, RhsContract: []int64{0}}, Ragged: []int64{1}}
	case 2:
		b := d.some()
		lhs, rhs, cut = []int64{b, m, sum}, []int64{b, sum, n}, b
		dims = &ir.RaggedDims{Dot: ir.DotDims{LhsBatch: []int64{0}, RhsBatch: []int64{0}, LhsContract: []int64{2}, RhsContract: []int64{1}},
			Ragged: []int64{0}}
	}
	operands, e := d.factors(lhs, rhs, allTypes)
	sizes := d.integers(d.drawType(isIndex), each(int(groups), func(int) int64 {
		size := d.between(0, cut, "group")
		cut -= size
		return size
	}), groups)
	a := d.precision(attrs("ragged_dot_dimension_numbers", dims), "chlo")
	d.product(k, a, append(operands, sizes), e, sum)
}

// letters draws distinct letters of dimensions.
func (d *drawing) letters(n int) string {
	return string(rapid.Permutation([]byte("abcdefghij")).Draw(d.t, "letters")[:n])
}

func (d *drawing) einsum(k ir.Kind) {
	lhs, rhs, dims, terms := d.paired()
	all := d.letters(len(lhs) + len(rhs))
	left, right := []byte(all[:len(lhs)]), []byte(all[len(lhs):])
	for i, at := range dims.RhsBatch {
		right[at] = left[dims.LhsBatch[i]]
	}
	for i, at := range dims.RhsContract {
		right[at] = left[dims.LhsContract[i]]
	}
	sizes := map[byte]int64{}
	for i, l := range left {
		sizes[l] = lhs[i]
	}
	for i, l := range right {
		sizes[l] = rhs[i]
	}
	kept := lists.Filter(slices.Compact(slices.Sorted(slices.Values(slices.Concat(left, right)))), func(l byte) bool {
		at := int64(slices.Index(left, l))
		return !slices.Contains(dims.LhsContract, at)
	})
	kept = rapid.Permutation(kept).Draw(d.t, "result")
	operands, e := d.factors(lhs, rhs, sameTypes)
	config := string(left) + "," + string(right) + "->" + string(kept)
	t := d.m.TensorType(e, lists.Map(kept, func(l byte) int64 { return sizes[l] })...)
	d.rounds(d.m.DefiningOp(d.typed(k, t, attrs("einsum_config", ir.StringAttr(config)), operands...)), terms)
}

// unaryEinsum draws a transpose of which some dimensions are summed over.
func (d *drawing) unaryEinsum(k ir.Kind) {
	dims := d.shape(0, 3)
	all := d.letters(len(dims))
	kept := rapid.Permutation(d.subset(len(dims), "kept")).Draw(d.t, "result")
	config := strings.Builder{}
	config.WriteString(all + "->")
	for _, at := range kept {
		config.WriteByte(all[at])
	}
	e := d.drawType(func(e dtype.Type) bool { return isInteger(e) || isFloat(e) && e.Bits() >= 16 })
	x := d.input(e, dims, whole)
	t := d.m.TensorType(e, lists.Pick(dims, kept)...)
	v := d.typed(k, t, attrs("einsum_config", ir.StringAttr(config.String())), x)
	d.rounds(d.m.DefiningOp(v), lists.Product(dims))
}
