package emit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// Example is a run of a program that its file repeats: whole inputs and the outputs that they give.
type Example struct {
	Inputs, Outputs []Array
}

// Array is an array of an example: its elements lie row-major and little-endian, each in a whole number of bytes.
type Array struct {
	DType dtype.Type
	Dims  []int64
	Data  []byte
}

// Typed returns a shard_map program as the text of a Python file: the mesh, the specs, the body under shard_map with
// the check that the program asks for, and a main that runs it and compares it with the example, if there is one, or
// with the arrays of a file. Every cast is explicit, so that the text does not depend on what JAX would insert; a body
// that is not elaborated is written as it stands.
//
//	z:f32[2,32]{i} = psum[axes=(j,)] y
//
// becomes
//
//	z = lax.psum(y, "j")  # f32[2,32]{i}
//
// Errors are those of typed.Program.Validate, and of class diag.ErrUnsupported at an op that JAX has no function for; or they are
// the context's.
// Specification: shardmap.md sections 1.9, 1.10 and 9.
func Typed(ctx context.Context, p *typed.Program, example *Example) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := example.check(p); err != nil {
		return nil, err
	}
	f := &file{ctx: ctx, Program: &Program{Title: "The shard_map program " + p.Name + "."}, typed: p, example: example, names: newScope(),
		used: map[string]bool{}, constantNames: map[string]string{}}
	f.body = f.names.take(identifier(p.Name, "program"))
	e := newEmitter(f, p.Module)
	e.typed = p
	f.explicit = usesTerms(p)
	f.mesh = &p.Mesh
	if err := f.describeTyped(e); err != nil {
		return nil, err
	}
	for v, name := range p.Names {
		if name = identifier(name, ""); name != "" {
			e.given[v] = name
		}
	}
	f.use("on_devices")
	if err := e.topLevel(f.body, "The program of one device, over its blocks.", p.Func, f.Inputs); err != nil {
		return nil, err
	}
	if example != nil {
		if err := f.writeExample(e); err != nil {
			return nil, err
		}
	}
	return []byte(f.text()), nil
}

// check says whether the arrays of an example are those of the program.
func (x *Example) check(p *typed.Program) error {
	if x == nil {
		return nil
	}
	if len(x.Inputs) != len(p.Params) || len(x.Outputs) != len(p.Results) {
		return diag.Invalid(diag.BadInputs, diag.Position{}, "the example has %d inputs and %d outputs, the program %d and %d",
			len(x.Inputs), len(x.Outputs), len(p.Params), len(p.Results))
	}
	return nil
}

// usesTerms says whether values of a program are reduced or unreduced along some axes, of which JAX knows on a mesh
// with explicit axes only (specification: shardmap.md section 2.9).
func usesTerms(p *typed.Program) bool {
	inSpec := func(s typed.Spec) bool { return len(s.Unreduced)+len(s.Reduced) > 0 }
	inOp := func(k ir.Kind) bool {
		switch k {
		case ir.OpShardMapPreduced, ir.OpShardMapReducedVaryCast, ir.OpShardMapVaryUnreducedCast,
			ir.OpShardMapAllGatherReduced, ir.OpShardMapUnreducedPsum,
			ir.OpShardMapUnreducedPmax, ir.OpShardMapUnreducedPmin, ir.OpShardMapUnreducedPsumScatter:
			return true
		}
		return false
	}
	return slices.ContainsFunc(p.Params, func(x typed.Param) bool { return inSpec(x.Spec) }) ||
		slices.ContainsFunc(p.Results, func(r typed.Result) bool { return inSpec(r.Spec) }) ||
		len(p.Module.OpsWhere(p.Body(), inOp)) > 0
}

// describeTyped lists types and specs of inputs and outputs.
func (f *file) describeTyped(e *emitter) error {
	p := f.typed
	at := p.Module.Func(p.Func).Op
	for i, x := range p.Params {
		if x.Donated {
			f.Donated = append(f.Donated, int64(i))
		}
		if len(x.Spec.Unreduced) > 0 {
			return diag.Unsupported(diag.NotSupported, diag.Position{},
				"input `%s` with spec %s is given by terms of a sum, which no array holds: cast it inside the program", x.Name, x.Spec)
		}
		t := p.Module.TypeOf(x.Type)
		in, err := e.row(at, x.Name, t, t.Dims)
		if err != nil {
			return err
		}
		f.Inputs = append(f.Inputs, x.Name)
		f.inputs, f.inSpecs = append(f.inputs, in), append(f.inSpecs, f.typedSpec(x.Spec))
	}
	for i, r := range p.Results {
		v := p.Module.Operand(p.Return(), i)
		f.terms = f.terms || len(r.Spec.Unreduced) > 0
		name := cmp.Or(p.Names[v], fmt.Sprintf("out%d", i))
		out, err := e.row(at, name, p.Module.ValueType(v), p.GlobalDims(i))
		if err != nil {
			return err
		}
		f.outputs, f.outSpecs = append(f.outputs, out), append(f.outSpecs, f.typedSpec(r.Spec))
	}
	return nil
}

// typedSpec returns a spec, without entries at the end that cut nothing.
func (f *file) typedSpec(s typed.Spec) *expr {
	var entries []*expr
	for _, axes := range s.Dims {
		switch len(axes) {
		case 0:
			entries = append(entries, atom("None"))
		case 1:
			entries = append(entries, atom(quoted(axes[0])))
		default:
			entries = append(entries, tuple(quotedAll(axes)...))
		}
	}
	for len(entries) > 0 && entries[len(entries)-1].head == "None" {
		entries = entries[:len(entries)-1]
	}
	for _, set := range []struct {
		name string
		axes []string
	}{{"unreduced", s.Unreduced}, {"reduced", s.Reduced}} {
		if len(set.axes) > 0 {
			entries = append(entries, keyword(set.name, braces(quotedAll(set.axes)...)))
		}
	}
	return call("P", entries...)
}

func quotedAll(names []string) []*expr {
	return lists.Map(names, func(n string) *expr { return atom(quoted(n)) })
}

// writeExample writes the function that returns the example's arrays.
func (f *file) writeExample(e *emitter) error {
	var b strings.Builder
	b.WriteString("def example():\n    \"\"\"Returns inputs, and the outputs that they give.\"\"\"\n")
	for _, part := range []struct {
		name   string
		arrays []Array
	}{{"inputs", f.example.Inputs}, {"outputs", f.example.Outputs}} {
		items := lists.Of(len(part.arrays), func(i int) *expr { return e.array(&part.arrays[i]) })
		b.WriteString(statement(4, part.name+" = ", list(items...), ""))
	}
	b.WriteString("    return inputs, outputs\n")
	f.functions = append(f.functions, b.String())
	return nil
}

// array returns an array of NumPy: a range, a list, or the bytes of a larger one.
func (e *emitter) array(x *Array) *expr {
	t := &ir.Type{Kind: ir.TensorKind, DType: x.DType, Dims: x.Dims}
	n := int(t.Elements())
	if first, ok := rangeStart(x, n); ok {
		bounds := []*expr{number(first), number(first + int64(n))}
		if first == 0 {
			bounds = bounds[1:]
		}
		return shaped(method(call("np.arange", bounds...), "astype", e.dtypeOf(x.DType)), x.Dims)
	}
	texts, exact := make([]string, n), n <= maxInline
	for k := 0; exact && k < n; k++ {
		texts[k], exact = literal(x.DType, x.Data, k)
	}
	if !exact {
		return atom(e.constantName(t, x.Data))
	}
	return shaped(call("np.array", list(lists.Map(texts, atom)...), e.dtypeOf(x.DType)), x.Dims)
}

// rangeStart says whether the n elements are consecutive whole numbers that their type holds, and returns the first.
func rangeStart(x *Array, n int) (int64, bool) {
	number := x.DType == dtype.F32 || x.DType == dtype.F64 || x.DType == dtype.I32 || x.DType == dtype.I64
	if !number || n < 3 {
		return 0, false
	}
	first := x.number(0)
	for k := range n {
		if v := x.number(k); v != first+float64(k) || v != math.Trunc(v) || math.Abs(v) > 1<<24 {
			return 0, false
		}
	}
	return int64(first), true
}

// number returns element k of floats or signed integers.
func (x *Array) number(k int) float64 {
	bits := bitsAt(x.Data, x.DType, k)
	if x.DType.Kind() == dtype.Float {
		return dtype.Decode(x.DType, bits)
	}
	return float64(dtype.Wrap(x.DType, int64(bits)))
}

// shaped gives an array with one dimension its shape.
func shaped(x *expr, dims []int64) *expr {
	if len(dims) == 1 {
		return x
	}
	return method(x, "reshape", ints(dims))
}
