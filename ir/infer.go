package ir

import (
	"cmp"
	"slices"
)

// Infer returns the types of the results that an op would have, by the one rule that Verify holds it to (specification:
// stablehlo.md section 2.15):
//
//	types, err := ir.Infer(m, ir.OpTranspose, operands, attrs)
//
// It returns nil where the types do not follow from operands and attributes, as those of a reshape, and for an op
// without results. Bodies are the blocks inside the op; the types of ops like reduce follow from them, and without them
// are those that a body on the operands' own elements gives. Sizes that are not known stay Dynamic. Where an op may choose
// the elements of its result, as a product may, they are those of the first operand. The error says what is wrong with
// operands, attributes or bodies, without the op's name.
func Infer(m *Module, k Kind, operands []ValueID, attrs Attrs, bodies ...BlockID) ([]TypeID, error) {
	f := inference{m: m, kind: k, attrs: attrs, bodies: bodies, operands: m.TypesOf(operands)}
	if err := cmp.Or(f.declared(), f.operandCount()); err != nil {
		return nil, err
	}
	if err := f.rule(); err != nil {
		return nil, err
	}
	var types []TypeID
	for i := range f.results {
		id := f.results[i].id(m)
		if err := fitsMemory(m.TypeOf(id)); err != nil {
			return nil, err
		}
		types = append(types, id)
	}
	return types, nil
}

// fitsMemory checks a type that no text says: its sizes are not negative, and all together can be counted in bytes.
func fitsMemory(t *Type) error {
	switch {
	case slices.ContainsFunc(t.Dims, func(n int64) bool { return n < 0 && n != Dynamic }):
		return badType("result has a negative size")
	case t.TooLarge():
		return badType("result is larger than 2^56 bytes")
	}
	return nil
}

// inference is an op, in a program or about to be made, whose result types are asked for.
type inference struct {
	m        *Module
	kind     Kind
	operands []TypeID
	attrs    Attrs
	bodies   []BlockID // of its regions; none where they are still to be made
	results  []inferred
}

// inferred is the type of a result: elements and sizes, and the whole type where the program has it already.
type inferred struct {
	elem       *Type
	dims       []int64
	encoding   string
	same       TypeID
	anyElement bool // the op may say another element type
	alike      bool // as the operands are: quantized elements may differ
}

// id returns the type as one of the module.
func (r *inferred) id(m *Module) TypeID {
	if r.same != 0 {
		return r.same
	}
	return m.InternType(Type{Kind: TensorKind, DType: r.elem.DType, Quant: r.elem.Quant, Dims: r.dims, Encoding: r.encoding})
}

// rule applies the rule of the kind to operands and attributes that were checked.
func (f *inference) rule() error {
	if rule := opTable[f.kind].infer; rule != nil {
		return rule(f)
	}
	return nil
}

// operand returns the type of an operand, text its text.
func (f *inference) operand(i int) *Type { return f.m.TypeOf(f.operands[i]) }
func (f *inference) text(i int) string   { return f.m.FormatType(f.operands[i]) }

// signature is the types that a body takes and returns.
type signature struct{ args, results []TypeID }

// body returns the signature of the block inside a region; ok is false while there is none.
func (f *inference) body(region int) (s signature, ok bool) {
	if region >= len(f.bodies) {
		return s, false
	}
	b := f.bodies[region]
	if last := f.m.LastOp(b); last != 0 {
		s.results = f.m.TypesOf(f.m.Operands(last))
	}
	s.args = f.m.TypesOf(f.m.BlockArgs(b))
	return s, true
}

// isScalar says whether a type is a ranked tensor without dimensions.
func (t *Type) isScalar() bool { return t.isRanked() && len(t.Dims) == 0 }

// withSize returns the shape of an operand with another size of one dimension.
func (f *inference) withSize(i int, d, n int64) []int64 {
	dims := slices.Clone(f.operand(i).Dims)
	dims[d] = n
	return dims
}

// ints returns a list of integers among the attributes, and whether it is there.
func (f *inference) ints(name string) ([]int64, bool) {
	list, ok := f.attrs.Get(name).(Ints)
	return list, ok
}

// result adds a result of the given elements and sizes. Like the methods after it, it returns nil, so that a rule can end
// with it.
func (f *inference) result(elem *Type, dims []int64) error {
	f.results = append(f.results, inferred{elem: elem, dims: dims})
	return nil
}

// sized adds a result of the given sizes, whose elements the op may choose; usually they are those given.
func (f *inference) sized(elem *Type, dims []int64) error {
	f.results = append(f.results, inferred{elem: elem, dims: dims, anyElement: true})
	return nil
}

// shaped adds a result of the given elements in the shape of an operand.
func (f *inference) shaped(elem *Type, i int) error {
	t := f.operand(i)
	f.results = append(f.results, inferred{elem: elem, dims: t.Dims, encoding: t.Encoding})
	return nil
}

// same adds a result of a type that the program has.
func (f *inference) same(id TypeID) error {
	t := f.m.TypeOf(id)
	f.results = append(f.results, inferred{elem: t, dims: t.Dims, same: id})
	return nil
}

// alike adds a result of the type that all operands have.
func (f *inference) alike() error {
	t := f.operand(0)
	f.results = append(f.results, inferred{elem: t, dims: t.Dims, same: f.operands[0], alike: true})
	return nil
}

// inferSame is the rule of ops with one result, of the type of the first operand.
func inferSame(f *inference) error { return f.same(f.operands[0]) }

// inferAllSame is the rule of ops with a result of the type of each operand.
func inferAllSame(f *inference) error {
	for _, id := range f.operands {
		f.same(id)
	}
	return nil
}

// results compares the results of an op with what was inferred of them.
func (v *verifier) results(op OpID, want []inferred) error {
	m := v.m
	if len(want) == 0 {
		return nil
	}
	if n := m.NumResults(op); n != len(want) {
		return badOp("must have %d results, but has %d", len(want), n)
	}
	for i := range want {
		if err := v.agrees(op, i, &want[i]); err != nil {
			return err
		}
	}
	return nil
}

// agrees compares a result with what was inferred of it: sizes that are not known fit any.
func (v *verifier) agrees(op OpID, i int, want *inferred) error {
	have, elem := v.out(op, i), want.elem
	if want.anyElement || want.alike && (have.quantized() || elem.quantized()) {
		elem = have
	}
	switch {
	case v.m.Type(v.m.Result(op, i)) == want.same,
		have.isRanked() && elem.isRanked() && sameElem(have, elem) && sameShape(have.Dims, want.dims):
		return nil
	case want.alike:
		return v.unlike(op)
	case !want.elem.isRanked():
		return mismatch(v.m.FormatType(want.same), v.outText(op, i))
	}
	t := Type{Kind: TensorKind, DType: elem.DType, Quant: elem.Quant, Dims: want.dims}
	return mismatch(string(v.m.appendTensor(nil, &t)), v.outText(op, i))
}

func mismatch(want, have string) error {
	return badType("inferred type(s) '%s' are incompatible with return type(s) of operation '%s'", want, have)
}
