package ir

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
)

// maxProblems bounds how many problems Verify reports.
const maxProblems = 20

// Verify checks that a module follows the rules of its dialects: structure, the types of every op, meshes and
// shardings (specification: stablehlo.md sections 1.13 and 2.15, shardy.md section 1). The error is of class
// diag.ErrInvalid and has a located diagnostic for each problem, up to a limit, or it is the context's.
func Verify(ctx context.Context, m *Module) error {
	v := &verifier{ctx: ctx, m: m, funcs: map[string]FuncID{}}
	v.dictionary(0, m.Attrs)
	v.module(m.Body())
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(v.problems) == 0 {
		return nil
	}
	return &diag.Error{Class: diag.ErrInvalid, Diagnostics: v.problems}
}

type verifier struct {
	ctx      context.Context
	cut      error // the context's, once it has ended
	m        *Module
	problems []diag.Diagnostic
	funcs    map[string]FuncID
	manual   []manualScope // around the op at hand, outermost first
	isolated []OpID        // the ops around the op at hand whose regions see no value outside, outermost first
	checked  []ShardingID  // whether a sharding was found good by itself, by its id
	at       inference     // the op at hand, as its rule sees it
}

// opError is a problem of one op: its code and what is wrong, without the op's name.
type opError struct {
	code diag.Code
	text string
	bare bool // the text is not about the op at hand
}

func (e *opError) Error() string { return e.text }

func badOp(format string, args ...any) error {
	return &opError{code: diag.BadOp, text: fmt.Sprintf(format, args...)}
}

func badType(format string, args ...any) error {
	return &opError{code: diag.TypeMismatch, text: fmt.Sprintf(format, args...)}
}

func badAttr(format string, args ...any) error {
	return &opError{code: diag.BadAttribute, text: fmt.Sprintf(format, args...)}
}

func badSharding(code diag.Code, format string, args ...any) error {
	return &opError{code: code, text: fmt.Sprintf(format, args...)}
}

// opReport notes a problem of an op, unless err is nil.
func (v *verifier) opReport(op OpID, err error) {
	if err == nil || v.full() {
		return
	}
	code, text := diag.BadOp, err.Error()
	if e, ok := err.(*opError); ok {
		code = e.code
		if !e.bare {
			text = "'" + v.m.OpName(op) + "' op " + text
		}
	}
	pos := v.m.OpPos(op)
	d := diag.Diagnostic{Code: code, Pos: pos, Message: text, Source: v.m.SourceLine(pos.Line)}
	if at := v.m.FileLoc(v.m.OpLoc(op)); pos.Binary && at.Kind == LocFile {
		d.Notes = []diag.Note{{Pos: diag.Position{File: at.File, Line: at.Line, Col: at.Col}, Message: "it comes from here"}}
	}
	v.problems = append(v.problems, d)
}

// full says whether nothing more is to be found.
func (v *verifier) full() bool { return len(v.problems) >= maxProblems || v.cut != nil }

// module checks the body of a module. Its symbols are its own.
func (v *verifier) module(body BlockID) {
	m := v.m
	symbols := map[string]OpID{}
	for op := range m.Ops(body) {
		name, ok := v.symbol(op)
		if !ok {
			continue
		}
		if _, twice := symbols[name]; twice {
			v.opReport(op, &opError{code: diag.Redefined, text: fmt.Sprintf("redefinition of symbol named '%s'", name), bare: true})
		}
		symbols[name] = op
	}
	for op := range m.Ops(body) {
		if v.full() {
			return
		}
		switch m.Kind(op) {
		case OpModule:
			v.nestedModule(op)
		case OpFunc:
			v.function(op)
		case OpMesh:
		default:
			v.op(op)
		}
	}
}

// nestedModule checks a module inside another one. Its name may be anything that names one.
func (v *verifier) nestedModule(op OpID) {
	v.dictionary(op, v.m.OpAttrs(op))
	outer := v.funcs
	v.funcs = map[string]FuncID{}
	v.module(v.m.RegionBlock(op, 0))
	v.funcs = outer
}

// symbol returns the name that an op defines.
func (v *verifier) symbol(op OpID) (string, bool) {
	switch v.m.Kind(op) {
	case OpFunc:
		f := v.m.FuncOf(op)
		v.funcs[v.m.Func(f).Name] = f
		return v.m.Func(f).Name, true
	case OpMesh:
		id := v.m.MeshOf(op)
		if err := CheckMesh(&v.m.Mesh(id).Mesh); err != nil {
			v.opReport(op, badSharding(diag.BadMesh, "%s", err))
		}
		return v.m.Mesh(id).Name, true
	case OpModule:
		name := v.m.OpAttrs(op).Str("sym_name")
		return name, name != ""
	}
	return "", false
}

func (v *verifier) function(op OpID) {
	m := v.m
	id := m.FuncOf(op)
	f := m.Func(id)
	if !slices.Contains([]string{"", "public", "private", "nested"}, f.Visibility) {
		v.opReport(op, badAttr("visibility expected to be one of \"public\", \"private\", \"nested\", but got %q", f.Visibility))
	}
	if m.IsDeclaration(id) {
		if f.Visibility != "private" {
			v.opReport(op, badOp("symbol declaration cannot have public visibility: a function without a body must be private"))
		}
		v.signature(op, f)
		return
	}
	v.signature(op, f)
	v.region(op, m.Regions(op)[0])
}

// signature checks the attributes and shardings of arguments and results.
func (v *verifier) signature(op OpID, f *Func) {
	m := v.m
	for i, arg := range m.BlockArgs(f.Body) {
		v.argAttrs(op, "arg", i, f.ArgAttrs[i])
		v.opReport(op, v.valueSharding(fmt.Sprintf("arg %d - ", i), m.Sharding(arg), m.Type(arg)))
	}
	for i, t := range f.ResultTypes {
		v.argAttrs(op, "result", i, f.ResultAttrs[i])
		v.opReport(op, v.valueSharding(fmt.Sprintf("result %d - ", i), f.ResultShardings[i], t))
	}
}

func (v *verifier) argAttrs(op OpID, what string, i int, attrs Attrs) {
	for _, e := range attrs {
		if e.Name == "sdy.sharding" {
			v.opReport(op, badSharding(diag.BadSharding, "%s %d should have a sharding attribute of type TensorShardingAttr", what, i))
		}
		if !strings.Contains(e.Name, ".") {
			v.opReport(op, badAttr("%ss may only have dialect attributes: %q has no dialect before a dot", what, e.Name))
		}
	}
}

// dictionary checks the attributes of a module, whose names must say their dialect; those of functions need not.
func (v *verifier) dictionary(op OpID, attrs Attrs) {
	for _, e := range attrs {
		if strings.Contains(e.Name, ".") || e.Name == "sym_visibility" || e.Name == "sym_name" {
			continue
		}
		v.opReport(op, &opError{code: diag.BadAttribute, bare: true,
			text: fmt.Sprintf("'builtin.module' op can only contain attributes with dialect-prefixed names, found: '%s'", e.Name)})
	}
}

// region checks the blocks of a region that belongs to an op with a terminator.
func (v *verifier) region(parent OpID, r RegionID) {
	m := v.m
	terminator := terminatorOf(m.Kind(parent))
	for _, b := range m.Blocks(r) {
		last := m.LastOp(b)
		if last == 0 && terminator != OpUnregistered {
			v.opReport(parent, badOp("expects a block to end with '%s', but it is empty", terminator))
			continue
		}
		for op := range m.Ops(b) {
			if v.full() {
				return
			}
			v.op(op)
			v.terminator(parent, op, op == last, terminator)
		}
	}
	v.blocks(parent, r)
}

// terminator checks that a block ends with the op that ends its kind of blocks, which stands nowhere else.
func (v *verifier) terminator(parent, op OpID, last bool, want Kind) {
	k := v.m.Kind(op)
	switch {
	case k.IsTerminator() && !last:
		v.opReport(op, badOp("must be the last operation in the parent block"))
	case k == OpBranch || k == OpCondBranch:
	case last && want != OpUnregistered && k != want && k != OpUnregistered && !(anyReturn(v.m.Kind(parent)) && k.IsTerminator()):
		v.opReport(op, badOp("cannot end a block of '%s': '%s' must", v.m.OpName(parent), want))
	}
}

// anyReturn says whether the return of any dialect may end the blocks inside an op. JAX ends the functions that custom
// calls compare with by stablehlo.return.
func anyReturn(k Kind) bool { return k == OpFunc || k == OpComposite }

// terminatorOf returns the op that ends the blocks inside an op, OpUnregistered if anything may.
func terminatorOf(k Kind) Kind {
	switch d := k.Dialect(); {
	case k == OpFunc:
		return OpReturn
	case d == "sdy":
		return OpSdyReturn
	case d == "stablehlo", d == "chlo":
		return OpStablehloReturn
	}
	return OpUnregistered
}

// op checks one op and what is inside it.
func (v *verifier) op(op OpID) {
	if v.cut = v.ctx.Err(); v.cut != nil {
		return
	}
	m := v.m
	k := m.Kind(op)
	v.opReport(op, v.shardings(op))
	v.edges(op)
	v.opReport(op, v.ruleOf(op))
	v.isolation(op)
	if k == OpSdyManualComputation {
		v.opReport(op, v.enterManual(op))
		defer v.leaveManual()
	}
	if k.has(isolated) {
		v.isolated = append(v.isolated, op)
		defer func() { v.isolated = v.isolated[:len(v.isolated)-1] }()
	}
	for _, r := range m.Regions(op) {
		v.region(op, r)
	}
	if k == OpUnregistered || v.full() {
		return
	}
	v.opReport(op, v.shape(op))
}

// isolation checks that an op inside an isolated one reads nothing from outside of that.
func (v *verifier) isolation(op OpID) {
	if len(v.isolated) == 0 || v.full() {
		return
	}
	wall := v.isolated[len(v.isolated)-1]
	for _, x := range v.m.Operands(op) {
		if v.m.lies(v.m.BlockOf(x), wall) {
			continue
		}
		v.opReport(op, badOp("using value defined outside the region"))
		last := &v.problems[len(v.problems)-1]
		last.Notes = append(last.Notes, diag.Note{Pos: v.m.OpPos(wall), Message: "required by region isolation constraints"})
		return
	}
}

// lies says whether a block is inside an op.
func (m *Module) lies(b BlockID, op OpID) bool {
	for around := m.BlockOp(b); around != 0; around = m.ParentOp(around) {
		if around == op {
			return true
		}
	}
	return false
}

// shape checks the attributes, counts and types of an op by themselves: the results have the types that Infer returns.
func (v *verifier) shape(op OpID) error {
	m, f := v.m, &v.at
	f.m, f.kind, f.attrs = m, m.Kind(op), m.OpAttrs(op)
	f.operands, f.bodies, f.results = f.operands[:0], f.bodies[:0], f.results[:0]
	for i := range m.NumOperands(op) {
		f.operands = append(f.operands, m.Type(m.Operand(op, i)))
	}
	if err := cmp.Or(f.declared(), f.operandCount(), v.counts(op)); err != nil {
		return err
	}
	for i := range m.NumRegions(op) {
		f.bodies = append(f.bodies, m.RegionBlock(op, i))
	}
	if err := f.rule(); err != nil {
		return err
	}
	if check := opTable[f.kind].check; check != nil {
		if err := check(v, op); err != nil {
			return err
		}
	}
	return v.results(op, f.results)
}

func fitsArity(have, want int) bool { return have == want || want < 0 && have >= least(want) }

// operandCount checks the number of operands and that they are tensors where they must be.
func (f *inference) operandCount() error {
	want := opTable[f.kind].arity
	if want == (arity{}) {
		return nil
	}
	if n := len(f.operands); !fitsArity(n, want.operands) {
		return badOp("expected %s, but found %d", arityText(want.operands, "operand"), n)
	}
	for i := range f.operands {
		if !f.kind.has(anyType) && !f.operand(i).isRanked() {
			return badType("operand #%d must be a ranked tensor, but got '%s'", i, f.text(i))
		}
	}
	return nil
}

// counts checks the number of results and regions and that results are tensors where they must be.
func (v *verifier) counts(op OpID) error {
	m := v.m
	want := opTable[m.Kind(op)].arity
	if want == (arity{}) {
		return nil
	}
	if n := m.NumResults(op); !fitsArity(n, want.results) {
		return badOp("expected %s, but found %d", arityText(want.results, "result"), n)
	}
	if n := m.NumRegions(op); !fitsArity(n, want.regions) {
		return badOp("expected %s, but found %d", arityText(want.regions, "region"), n)
	}
	for i := range m.NumRegions(op) {
		if len(m.Blocks(m.Region(op, i))) != 1 {
			return badOp("region #%d must have one block", i)
		}
	}
	for i, r := range m.Results(op) {
		if !m.Kind(op).has(anyType) && !m.ValueType(r).isRanked() {
			return badType("result #%d must be a ranked tensor, but got '%s'", i, m.FormatType(m.Type(r)))
		}
	}
	return nil
}

func arityText(n int, what string) string {
	if n < 0 {
		return fmt.Sprintf("at least %d %ss", least(n), what)
	}
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (t *Type) isRanked() bool { return t.Kind == TensorKind && !t.Unranked }
