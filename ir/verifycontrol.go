package ir

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

func checkReturn(v *verifier, op OpID) error {
	m := v.m
	parent := m.ParentOp(op)
	if m.Kind(parent) != OpFunc {
		return badOp("expects parent op 'func.func'")
	}
	return v.returnsFrom(op, m.Func(m.FuncOf(parent)))
}

// checkOtherReturn checks the return of another dialect, which may end a function too.
func checkOtherReturn(v *verifier, op OpID) error {
	if parent := v.m.ParentOp(op); v.m.Kind(parent) == OpFunc && v.m.NextOp(op) == 0 {
		return v.returnsFrom(op, v.m.Func(v.m.FuncOf(parent)))
	}
	return nil
}

// returnsFrom checks the operands of a return against the results of its function.
func (v *verifier) returnsFrom(op OpID, f *Func) error {
	m := v.m
	if n := m.NumOperands(op); n != len(f.ResultTypes) {
		return badOp("has %d operands, but enclosing function (@%s) returns %d", n, f.Name, len(f.ResultTypes))
	}
	for i, want := range f.ResultTypes {
		if have := m.Type(m.Operand(op, i)); have != want {
			return &opError{code: diag.TypeMismatch, bare: true,
				text: fmt.Sprintf("type of return operand %d ('%s') doesn't match function result type ('%s') in function @%s",
					i, m.FormatType(have), m.FormatType(want), f.Name)}
		}
	}
	return nil
}

func (v *verifier) callee(a Attr) (*Func, error) {
	name, ok := a.(SymbolAttr)
	if !ok || len(name) != 1 {
		return nil, badOp("requires a 'callee' symbol reference attribute")
	}
	f, ok := v.funcs[name[0]]
	if !ok {
		return nil, &opError{code: diag.Undefined, text: fmt.Sprintf("'%s' does not reference a valid function", name[0])}
	}
	return v.m.Func(f), nil
}

func checkCall(v *verifier, op OpID) error {
	f, err := v.callee(v.m.Attr(op, "callee"))
	if err != nil {
		return err
	}
	return v.signatureOf(op, f)
}

// signatureOf checks operands and results of a call against the function.
func (v *verifier) signatureOf(op OpID, f *Func) error {
	m := v.m
	args := m.BlockArgs(f.Body)
	if m.NumOperands(op) != len(args) {
		return badOp("incorrect number of operands for callee: @%s takes %d, but got %d", f.Name, len(args), m.NumOperands(op))
	}
	for i, a := range args {
		if m.Type(a) != m.Type(m.Operand(op, i)) {
			return badType("operand type mismatch: expected operand type '%s', but provided '%s' for operand number %d", m.FormatType(m.Type(a)),
				v.inText(op, i), i)
		}
	}
	if m.NumResults(op) != len(f.ResultTypes) {
		return badOp("incorrect number of results for callee: @%s returns %d, but got %d", f.Name, len(f.ResultTypes), m.NumResults(op))
	}
	for i, t := range f.ResultTypes {
		if m.Type(m.Result(op, i)) != t {
			return badType("result type mismatch at index %d: op result type is '%s', function result type is '%s'", i, v.outText(op, i),
				m.FormatType(t))
		}
	}
	return nil
}

func checkCustomCall(v *verifier, op OpID) error {
	a := v.m.OpAttrs(op)
	const typedFFI = 4
	if _, isDict := a.Get("backend_config").(DictAttr); isDict && a.Int("api_version", 1) != typedFFI {
		return badAttr("backend_config for api_version %d must be a string attribute", a.Int("api_version", 1))
	}
	operands, ok1 := a.Get("operand_layouts").(ArrayAttr)
	results, ok2 := a.Get("result_layouts").(ArrayAttr)
	if ok1 != ok2 {
		return badAttr("layout attributes should be specified for either both operands and results or none")
	}
	if ok1 && len(operands) != v.m.NumOperands(op) {
		return badAttr("number of operands must match the number of operand layouts, %d != %d", v.m.NumOperands(op), len(operands))
	}
	if n := v.m.NumResults(op); ok2 && len(results) != n && (n != 1 || v.out(op, 0).Kind != TupleKind) {
		return badAttr("number of results must match the number of result layouts, %d != %d", n, len(results))
	}
	return cmp.Or(v.layouts(op, operands, results), v.outputAliases(op, a))
}

// layouts checks that the layouts of tensors are permutations of their dimensions.
func (v *verifier) layouts(op OpID, operands, results ArrayAttr) error {
	types := append(v.at.operands, v.m.TypesOf(v.m.ResultValues(op))...)
	if len(operands)+len(results) != len(types) {
		return nil
	}
	for i, l := range append(slices.Clone(operands), results...) {
		d, ok := l.(*Dense)
		t := v.m.TypeOf(types[i])
		if !ok || !t.isRanked() || !v.m.TypeOf(d.Type).IsStatic() {
			continue
		}
		n := v.m.TypeOf(d.Type).Elements()
		perm := d.Int64s()
		if n != int64(t.Rank()) || d.Splat && n > 1 || !unique(perm) || !within(perm, t.Rank()) {
			return badAttr("incorrect layout %v for type '%s', layout must be a permutation of [0, %d)", perm, v.m.FormatType(types[i]), t.Rank())
		}
	}
	return nil
}

func (v *verifier) outputAliases(op OpID, a Attrs) error {
	list, _ := a.Get("output_operand_aliases").(ArrayAttr)
	for _, e := range list {
		if alias, ok := e.(*OutputAlias); ok && (alias.OperandIndex < 0 || alias.OperandIndex >= int64(v.m.NumOperands(op))) {
			return badAttr("expects operandIndex in the output_operand_alias attribute to be in range [0, %d); got: %d", v.m.NumOperands(op),
				alias.OperandIndex)
		}
	}
	return nil
}

// compositeName is what MLIR asks of the name of a composite.
var compositeName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$`)

func checkComposite(v *verifier, op OpID) error {
	if name := v.m.OpAttrs(op).Str("name"); !compositeName.MatchString(name) {
		return badAttr("name %q must be a valid namespaced op name, such as \"my_namespace.my_op\"", name)
	}
	f, err := v.callee(v.m.Attr(op, "decomposition"))
	if err != nil {
		return err
	}
	return v.signatureOf(op, f)
}

// sameTypeLists checks two lists of types, which may differ in what is dynamic.
func (v *verifier) sameTypeLists(have, want []TypeID, what string) error {
	if len(have) != len(want) {
		return badType("%s: expected %d, but got %d", what, len(want), len(have))
	}
	for i := range have {
		if !v.compatible(have[i], want[i]) {
			return badType("%s: expected '%s', but got '%s' at index %d", what, v.m.FormatType(want[i]), v.m.FormatType(have[i]), i)
		}
	}
	return nil
}

// compatible says whether two types are equal up to dynamic sizes.
func (v *verifier) compatible(a, b TypeID) bool {
	x, y := v.m.TypeOf(a), v.m.TypeOf(b)
	return a == b || x.isRanked() && y.isRanked() && sameElem(x, y) && sameShape(x.Dims, y.Dims)
}

// returnsTypes checks that a region returns values of the types of the op's results.
func (v *verifier) returnsTypes(op OpID, region int) error {
	body, _ := v.at.body(region)
	if v.m.LastOp(v.m.RegionBlock(op, region)) == 0 {
		return badOp("region #%d has no terminator", region)
	}
	results := v.m.TypesOf(v.m.ResultValues(op))
	return v.sameTypeLists(body.results, results, fmt.Sprintf("region #%d returns types that do not match the op's result types",
		region))
}

func checkWhile(v *verifier, op OpID) error {
	operands := v.at.operands
	condition, _ := v.at.body(0)
	body, _ := v.at.body(1)
	if err := cmp.Or(
		v.sameTypeLists(v.m.TypesOf(v.m.ResultValues(op)), operands, "result types do not match operand types"),
		v.sameTypeLists(condition.args, operands, "expect operands to be compatible with condition block arguments"),
		v.sameTypeLists(body.args, operands, "expect operands to be compatible with body block arguments")); err != nil {
		return err
	}
	if len(condition.results) != 1 {
		return badOp("expect condition body returns a single value")
	}
	if t := v.m.TypeOf(condition.results[0]); t.Kind != TensorKind || t.DType != dtype.I1 || len(t.Dims) != 0 {
		return badType("expect condition block return a zero-ranked tensor of i1 but got '%s'", v.m.FormatType(condition.results[0]))
	}
	return v.returnsTypes(op, 1)
}

func checkBranches(v *verifier, op OpID) error {
	m := v.m
	want := dtype.I32
	if m.Kind(op) == OpIf {
		want = dtype.I1
	}
	if t := v.in(op, 0); !t.isRanked() || t.DType != want || len(t.Dims) != 0 {
		return badType("operand #0 must be tensor<%s>, but got '%s'", want, v.inText(op, 0))
	}
	for i := range m.NumRegions(op) {
		if n := len(m.BlockArgs(m.RegionBlock(op, i))); n != 0 {
			return badOp("branch %d must have 0 arguments, but found %d", i, n)
		}
		if err := v.returnsTypes(op, i); err != nil {
			return err
		}
	}
	return nil
}

func checkOptimizationBarrier(v *verifier, op OpID) error {
	return v.sameTypeLists(v.m.TypesOf(v.m.ResultValues(op)), v.at.operands, "requires the same types for operands and results")
}

func checkTokens(v *verifier, op OpID) error {
	for i := range v.m.NumOperands(op) {
		if v.in(op, i).Kind != TokenKind {
			return badType("operand #%d must be a token, but got '%s'", i, v.inText(op, i))
		}
	}
	if v.out(op, 0).Kind != TokenKind {
		return badType("result #0 must be a token, but got '%s'", v.outText(op, 0))
	}
	return nil
}

func checkTuple(v *verifier, op OpID) error {
	out := v.out(op, 0)
	if out.Kind != TupleKind {
		return badType("result #0 must be a tuple, but got '%s'", v.outText(op, 0))
	}
	return v.sameTypeLists(v.at.operands, out.Elems, "has return type mismatch with its operands")
}

// inferTupleElement is the rule of an op that takes one value out of a tuple.
func inferTupleElement(f *inference) error {
	t, i := f.operand(0), f.attrs.Int("index", -1)
	if t.Kind != TupleKind {
		return badType("operand #0 must be a tuple, but got '%s'", f.text(0))
	}
	if i < 0 || i >= int64(len(t.Elems)) {
		return badAttr("index %d is out of bounds of operand with size %d", i, len(t.Elems))
	}
	return f.same(t.Elems[i])
}

// inferBranches is the rule of a choice: its results are those of the first branch.
func inferBranches(f *inference) error {
	body, _ := f.body(0)
	for _, id := range body.results {
		f.same(id)
	}
	return nil
}
