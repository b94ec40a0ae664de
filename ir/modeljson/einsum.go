package modeljson

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// term is a value of an einsum with the letter of each of its dimensions.
type term struct {
	value   ir.ValueID
	letters []byte
}

// einsum lowers a contraction such as bsd,dhk->bshk: letters of the result are kept, the others summed away. Operands
// are combined from left to right; each step is a multiplication (all letters shared and kept) or a dot_general, with
// reductions before it of letters that only one operand has and a transposition at the end. The last operation is
// returned.
func (o *opReader) einsum() (ir.OpID, bool) {
	for i, k := range o.n.keys {
		if slices.Contains([]string{"value", "apply", "regions", "types", "shardings"}, k.name) {
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
	if !ok || !o.checkSizes(equation, inputs, out) {
		return 0, false
	}
	e := &einsum{m: o.m, b: o.m.BuilderAtEnd(o.block), out: out, element: o.m.ValueType(inputs[0].value).DType}
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

// parseEquation splits an equation and pairs its terms with the operands.
func (o *opReader) parseEquation(n *node) (inputs []term, out []byte, ok bool) {
	left, right, arrow := strings.Cut(strings.ReplaceAll(n.text, " ", ""), "->")
	if !arrow {
		o.fail(n.at, diag.BadModel, "equation %q has no \"->\": write the letters of the result behind it", n.text)
		return nil, nil, false
	}
	terms := strings.Split(left, ",")
	if len(terms) != len(o.operands) {
		o.fail(n.at, diag.BadModel, "equation %q has %d terms for %d operands", n.text, len(terms), len(o.operands))
		return nil, nil, false
	}
	for _, t := range append(terms, right) {
		for i := range len(t) {
			letter := t[i] >= 'a' && t[i] <= 'z' || t[i] >= 'A' && t[i] <= 'Z'
			switch {
			case !letter:
				o.fail(n.at, diag.NotSupported, "equation %q has %q: use one letter for each dimension", n.text, t[i:i+1])
				return nil, nil, false
			case strings.IndexByte(t[:i], t[i]) >= 0:
				o.fail(n.at, diag.NotSupported, "equation %q repeats %q within %q, diagonals are not supported", n.text, t[i:i+1], t)
				return nil, nil, false
			}
		}
	}
	for i, t := range terms {
		inputs = append(inputs, term{o.operands[i], []byte(t)})
	}
	return inputs, []byte(right), true
}

// checkSizes compares the terms with the operands' types, and letters with each other.
func (o *opReader) checkSizes(n *node, inputs []term, out []byte) bool {
	sizes := map[byte]int64{}
	element := o.m.ValueType(inputs[0].value).DType
	for i, in := range inputs {
		t := o.m.ValueType(in.value)
		name := o.n.get("operands").elems[i].text
		switch {
		case !t.IsStatic():
			o.fail(n.at, diag.TypeMismatch, "operand %q has type %s, einsum needs known sizes", name, o.typeText(o.m.Type(in.value)))
			return false
		case t.Rank() != len(in.letters):
			o.fail(n.at, diag.TypeMismatch, "term %q has %d letters, operand %q has type %s", in.letters, len(in.letters), name, o.typeText(o.m.Type(in.value)))
			return false
		case t.DType != element:
			o.fail(n.at, diag.TypeMismatch, "operand %q has elements of type %s, the first has %s: convert it", name, t.DType, element)
			return false
		}
		for j, letter := range in.letters {
			if size, ok := sizes[letter]; ok && size != t.Dims[j] {
				o.fail(n.at, diag.TypeMismatch, "letter %q has size %d and, in operand %q, %d", string(letter), size, name, t.Dims[j])
				return false
			}
			sizes[letter] = t.Dims[j]
		}
	}
	for _, letter := range out {
		if _, ok := sizes[letter]; !ok {
			o.fail(n.at, diag.BadModel, "letter %q of the result is in no operand", string(letter))
			return false
		}
	}
	return true
}

// einsum is the lowering of one equation.
type einsum struct {
	m       *ir.Module
	b       *ir.Builder
	out     []byte
	element dtype.Type // of the result
	attrs   ir.Attrs   // of every dot_general
}

func (e *einsum) lower(inputs []term) ir.ValueID {
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
	perm := make([]int64, len(e.out))
	for i, l := range e.out {
		perm[i] = int64(slices.Index(acc.letters, l))
	}
	if slices.IsSorted(perm) && e.m.DefiningOp(acc.value) != 0 && acc.value != inputs[0].value {
		return acc.value
	}
	return e.b.Op1(ir.OpTranspose, e.typ(acc.value, acc.letters, e.out, e.element),
		ir.MakeAttrs(ir.NamedAttr{Name: "permutation", Value: ir.Ints(perm)}), acc.value)
}

// convert brings what no contraction has brought to the result's element type.
func (e *einsum) convert(t term) term {
	if e.m.ValueType(t.value).DType == e.element {
		return t
	}
	return term{e.b.Op1(ir.OpConvert, e.typ(t.value, t.letters, t.letters, e.element), nil, t.value), t.letters}
}

// typ returns the type with the sizes of a value's letters in another order, or with fewer letters.
func (e *einsum) typ(v ir.ValueID, have, want []byte, element dtype.Type) ir.TypeID {
	dims := make([]int64, len(want))
	for i, l := range want {
		dims[i] = e.m.Shape(v)[slices.Index(have, l)]
	}
	return e.m.TensorType(element, dims...)
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
	zero := e.b.Op1(ir.OpConstant, scalar, ir.MakeAttrs(ir.NamedAttr{Name: "value",
		Value: &ir.Dense{Type: scalar, Data: make([]byte, element.Bytes()), Splat: true}}))
	op := e.b.OpRegions(ir.OpReduce, []ir.TypeID{e.typ(t.value, t.letters, rest, element)},
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
	var d ir.DotDims
	var batch, free []byte
	dims := []int64{}
	for i, l := range x.letters {
		j := slices.Index(y.letters, l)
		switch {
		case j < 0:
			free = append(free, l)
		case kept(l):
			d.LhsBatch, d.RhsBatch = append(d.LhsBatch, int64(i)), append(d.RhsBatch, int64(j))
			batch = append(batch, l)
		default:
			d.LhsContract, d.RhsContract = append(d.LhsContract, int64(i)), append(d.RhsContract, int64(j))
		}
	}
	letters := append(batch, free...)
	for _, l := range letters {
		dims = append(dims, e.m.Shape(x.value)[slices.Index(x.letters, l)])
	}
	for j, l := range y.letters {
		if !slices.Contains(x.letters, l) {
			letters = append(letters, l)
			dims = append(dims, e.m.Shape(y.value)[j])
		}
	}
	return term{e.b.Op1(ir.OpDotGeneral, e.m.TensorType(e.element, dims...),
		e.attrs.With("dot_dimension_numbers", &d), x.value, y.value), letters}
}
