package modeljson

import (
	"bytes"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// term is a value of an einsum with the letter of each of its dimensions; those that "..." stands for have letters of
// their own.
type term struct {
	value   ir.ValueID
	letters []byte
}

// einsum lowers a contraction such as bsd,dhk->bshk: letters of the result are kept, the others summed away. Operands
// are combined from left to right; each step is a multiplication (all letters shared and kept) or a dot_general, with
// reductions before it of letters that only one operand has and a transposition at the end. Before that, diagonals are
// taken, and dimensions of size 1 whose letter has another size elsewhere are dropped: nothing depends on them. The last
// operation is returned.
func (o *opReader) einsum() (ir.OpID, bool) {
	for i, k := range o.n.keys {
		if slices.Contains([]string{"value", "apply", "regions", "types", "shardings", "rule", "successors"}, k.name) {
			o.fail(k.at, diag.UnknownField, "field %q does not belong to \"einsum\"", o.n.keys[i].name)
			return 0, false
		}
	}
	equation := o.n.get("equation")
	if equation == nil || equation.kind != stringKind {
		o.fail(o.n.at, diag.BadModel, "einsum has no \"equation\", such as \"bi,ij->bj\"")
		return 0, false
	}
	inputs, out, ok := o.parseEquation(equation)
	if !ok {
		return 0, false
	}
	sizes, ok := o.letterSizes(equation, inputs)
	if !ok {
		return 0, false
	}
	e := &einsum{m: o.m, b: o.m.BuilderAtEnd(o.block), out: out, sizes: sizes, element: o.m.ValueType(inputs[0].value).DType}
	e.b.Loc = o.location(o.n)
	e.attrs = o.attributes(o.n.get("attributes"), ir.OpDotGeneral, 0)
	if e.attrs.Get("dot_dimension_numbers") != nil {
		o.fail(o.n.get("attributes").at, diag.BadAttribute, "einsum makes its own dot_dimension_numbers")
		return 0, false
	}
	if t := o.n.get("type"); t != nil {
		id := o.typ(t)
		if id == 0 {
			return 0, false
		}
		e.element = o.m.TypeOf(id).DType
	}
	first := o.m.NumOps()
	v := e.lower(inputs)
	for op := first; op < o.m.NumOps(); op++ {
		o.setPos(ir.OpID(op), o.n)
		for _, v := range o.m.Results(ir.OpID(op)) {
			if o.m.ValueType(v).TooLarge() {
				o.fail(equation.at, diag.TypeMismatch, "a step of the einsum is larger than 2^56 bytes: %s", o.typeText(o.m.Type(v)))
				return 0, false
			}
		}
	}
	return o.finishEinsum(v)
}

func (o *opReader) finishEinsum(v ir.ValueID) (ir.OpID, bool) {
	if t := o.n.get("type"); t != nil {
		if id := o.typ(t); id != o.m.Type(v) {
			o.fail(t.at, diag.TypeMismatch, "einsum makes %s, not %s", o.typeText(o.m.Type(v)), o.typeText(id))
			return 0, false
		}
	}
	o.m.SetSharding(v, o.sharding(o.n.get("sharding"), o.m.Type(v)))
	return o.m.DefiningOp(v), true
}

// einsum is the lowering of one equation.
type einsum struct {
	m       *ir.Module
	b       *ir.Builder
	out     []byte
	sizes   map[byte]int64 // of the letters
	element dtype.Type     // of the result
	attrs   ir.Attrs       // of every dot_general
}

func (e *einsum) lower(inputs []term) ir.ValueID {
	original := inputs[0].value
	for i := range inputs {
		inputs[i] = e.diagonal(e.dropOnes(inputs[i]))
	}
	acc := inputs[0]
	for i, in := range inputs[1:] {
		keep := slices.Clone(e.out)
		for _, later := range inputs[i+2:] {
			keep = append(keep, later.letters...)
		}
		acc = e.multiply(acc, in, keep)
	}
	acc = e.sum(acc, func(l byte) bool { return !slices.Contains(e.out, l) })
	acc = e.convert(acc)
	perm := lists.Map(e.out, func(l byte) int64 { return int64(slices.Index(acc.letters, l)) })
	if slices.IsSorted(perm) && e.m.DefiningOp(acc.value) != 0 && acc.value != original {
		return acc.value
	}
	return e.b.Op1(ir.OpTranspose, e.typ(e.out, e.element),
		ir.MakeAttrs(ir.NamedAttr{Name: "permutation", Value: ir.Ints(perm)}), acc.value)
}

// dropOnes reshapes dimensions of size 1 away whose letter has another size in another operand.
func (e *einsum) dropOnes(t term) term {
	var rest []byte
	for i, l := range t.letters {
		if e.m.Shape(t.value)[i] == e.sizes[l] {
			rest = append(rest, l)
		}
	}
	if len(rest) == len(t.letters) {
		return t
	}
	return term{e.b.Op1(ir.OpReshape, e.typ(rest, e.m.ValueType(t.value).DType), nil, t.value), rest}
}

// diagonal takes the diagonal over every letter that a term has several times. The n equal dimensions become the first
// of a reshape, in which the elements of the diagonal stand at equal distances.
func (e *einsum) diagonal(t term) term {
	i := slices.IndexFunc(t.letters, func(l byte) bool { return bytes.IndexByte(t.letters, l) != bytes.LastIndexByte(t.letters, l) })
	if i < 0 {
		return t
	}
	letter, element := t.letters[i], e.m.ValueType(t.value).DType
	var perm ir.Ints
	var rest []byte
	for d, l := range t.letters {
		if l == letter {
			perm = append(perm, int64(d))
		}
	}
	times := len(perm)
	for d, l := range t.letters {
		if l != letter {
			perm, rest = append(perm, int64(d)), append(rest, l)
		}
	}
	front := slices.Concat(bytes.Repeat([]byte{letter}, times), rest)
	v := e.b.Op1(ir.OpTranspose, e.typ(front, element), ir.MakeAttrs(ir.NamedAttr{Name: "permutation", Value: perm}),
		t.value)
	n, distance, all := e.sizes[letter], int64(0), int64(1)
	for range times {
		distance, all = distance*n+1, all*n
	}
	v = e.b.Op1(ir.OpReshape, e.m.TensorType(element, append([]int64{all}, e.dims(rest)...)...), nil, v)
	letters := append([]byte{letter}, rest...)
	start, limit, strides := make(ir.Ints, len(letters)), append(ir.Ints{all}, e.dims(rest)...), make(ir.Ints, len(letters))
	for d := range strides {
		strides[d] = 1
	}
	strides[0] = distance
	v = e.b.Op1(ir.OpSlice, e.typ(letters, element), ir.MakeAttrs(ir.NamedAttr{Name: "start_indices", Value: start},
		ir.NamedAttr{Name: "limit_indices", Value: limit}, ir.NamedAttr{Name: "strides", Value: strides}), v)
	return e.diagonal(term{v, letters})
}

// dims returns the sizes of letters.
func (e *einsum) dims(letters []byte) []int64 {
	return lists.Map(letters, func(l byte) int64 { return e.sizes[l] })
}

// convert brings what no contraction has brought to the result's element type.
func (e *einsum) convert(t term) term {
	if e.m.ValueType(t.value).DType == e.element {
		return t
	}
	return term{e.b.Op1(ir.OpConvert, e.typ(t.letters, e.element), nil, t.value), t.letters}
}

// typ returns the type of a tensor whose dimensions have those letters.
func (e *einsum) typ(letters []byte, element dtype.Type) ir.TypeID {
	return e.m.TensorType(element, e.dims(letters)...)
}

// sum reduces the letters for which drop holds.
func (e *einsum) sum(t term, drop func(byte) bool) term {
	var dims ir.Ints
	var rest []byte
	for i, l := range t.letters {
		if drop(l) {
			dims = append(dims, int64(i))
		} else {
			rest = append(rest, l)
		}
	}
	if len(dims) == 0 {
		return t
	}
	element := e.m.ValueType(t.value).DType
	scalar := e.m.TensorType(element)
	zero := e.b.Constant(e.m.Zeros(scalar))
	op := e.b.OpRegions(ir.OpReduce, []ir.TypeID{e.typ(rest, element)},
		ir.MakeAttrs(ir.NamedAttr{Name: "dimensions", Value: dims}), 1, t.value, zero)
	block := e.m.AddBlock(e.m.Regions(op)[0])
	x, y := e.m.AddBlockArg(block, scalar), e.m.AddBlockArg(block, scalar)
	body := e.m.BuilderAtEnd(block)
	body.Op(ir.OpStablehloReturn, nil, nil, body.Op1(ir.OpAdd, scalar, nil, x, y))
	return term{e.m.Result(op, 0), rest}
}

// multiply contracts two terms over the letters that keep lacks.
func (e *einsum) multiply(x, y term, keep []byte) term {
	kept := func(l byte) bool { return slices.Contains(keep, l) }
	x = e.sum(x, func(l byte) bool { return !kept(l) && !slices.Contains(y.letters, l) })
	y = e.sum(y, func(l byte) bool { return !kept(l) && !slices.Contains(x.letters, l) })
	if slices.Equal(x.letters, y.letters) && !slices.ContainsFunc(x.letters, func(l byte) bool { return !kept(l) }) {
		x, y = e.convert(x), e.convert(y)
		return term{e.b.Op1(ir.OpMultiply, e.m.Type(x.value), nil, x.value, y.value), x.letters}
	}
	if e.m.ValueType(x.value).DType != e.m.ValueType(y.value).DType {
		x, y = e.convert(x), e.convert(y)
	}
	d, letters := ir.Contraction(x.letters, y.letters, kept)
	return term{e.b.Op1(ir.OpDotGeneral, e.typ(letters, e.element),
		e.attrs.With("dot_dimension_numbers", &d), x.value, y.value), letters}
}
