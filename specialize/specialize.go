// Package specialize makes a program static that JAX exported for any sizes or for several platforms.
//
// With symbolic shapes the entry asks its arguments for their sizes, checks what the export assumes of them, and hands
// them on as dimension variables:
//
//	func.func public @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?x8xf32>) -> tensor<?x8xf32> {
//	  %0 = stablehlo.get_dimension_size %arg0, dim = 0                                  b
//	  %1 = stablehlo.get_dimension_size %arg0, dim = 1                                  n
//	  %2 = stablehlo.get_dimension_size %arg1, dim = 0
//	  %3 = stablehlo.compare EQ, %2, %1, SIGNED
//	  stablehlo.custom_call @shape_assertion(%3, %2, %1) {error_message = "… {0} … {1}"}
//	  %4 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1)                         jax.global_constant = "b", "n"
//
// Given values of the variables, Run solves for the sizes of the arguments, by what the program itself computes from them
// and asserts of them; gives every value its type in the order of the program; computes what follows from sizes alone;
// and turns the dynamic ops into static ones. A program for several platforms takes the index of one as an argument,
// which becomes a constant.
package specialize

import (
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/names"
	"context"
)

// Size gives something the size Value: a dimension variable, such as b, or a dimension of an argument, such as arg0[1].
type Size struct {
	Name  string
	Value int64
}

// Options says what to make of a program.
type Options struct {
	Sizes     []Size
	Platform  string   // name or index of a platform; "" for the first that calls nothing of other hardware
	Platforms []string // the names by index, nil where they are not known
}

// Needed says whether a program has sizes or a platform to choose, or asks for sizes that follow from types.
func Needed(m *ir.Module) bool {
	if m.MayHave(ir.OpGetDimensionSize) {
		return true
	}
	main, ok := m.Main()
	if !ok || m.IsDeclaration(main) {
		return false
	}
	for i, arg := range m.BlockArgs(m.Func(main).Body) {
		if t := m.ValueType(arg); t.Kind == ir.TensorKind && !t.IsStatic() || isPlatform(m.Func(main).ArgAttrs[i]) {
			return true
		}
	}
	return false
}

// Run makes a program static, in place: its calls are inlined, and the platform is no argument any more. It returns the
// index of the platform, -1 for a program of one. It fails with diag.ErrInvalid where sizes are missing, unknown or
// break an assertion of the program, and with diag.ErrUnsupported where a size depends on data.
func Run(ctx context.Context, m *ir.Module, o Options) (platform int, err error) {
	p, err := newProgram(ctx, m)
	if err != nil {
		return -1, err
	}
	if platform, err = p.choosePlatform(o.Platform, o.Platforms); err != nil {
		return -1, err
	}
	p.names = names.Args(m, p.main)
	p.args = append(p.args, m.BlockArgs(m.Func(p.main).Body)...)
	if err := p.solve(o.Sizes); err != nil {
		return -1, err
	}
	return platform, p.refine(ctx)
}

// program is a program at hand, with calls inlined.
type program struct {
	m       *ir.Module
	main    ir.FuncID
	args    []ir.ValueID // of the entry, without the index of a platform
	names   names.Ports  // of args
	symbols []symbol
}

// symbol is a dimension variable: a scalar that the entry computes from the sizes of its arguments.
type symbol struct {
	name  string
	value ir.ValueID
}

func newProgram(ctx context.Context, m *ir.Module) (*program, error) {
	main, ok := m.Main()
	if !ok || m.IsDeclaration(main) {
		return nil, diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main` with a body")
	}
	p := &program{m: m, main: main}
	if blocks := m.Blocks(m.Regions(m.Func(main).Op)[0]); len(blocks) != 1 {
		return nil, diag.Unsupported(diag.NotSupported, m.OpPos(m.Func(main).Op),
			"the function `main` has %d blocks; only programs without branches between blocks can be made static", len(blocks))
	}
	marks := p.findSymbols()
	if err := ir.InlineCalls(ctx, m); err != nil {
		return nil, err
	}
	for i, op := range marks {
		p.symbols[i].value = m.Operand(op, 0)
		m.Erase(op)
	}
	return p, nil
}

// globalConstant is the attribute of an argument that JAX gives the same value everywhere: a dimension variable, or the
// index of the platform.
const globalConstant, platformIndex = "jax.global_constant", "_platform_index"

func isPlatform(attrs ir.Attrs) bool { return attrs.Str(globalConstant) == platformIndex }

// findSymbols finds what the entry passes on as dimension variables. It marks their values by ops that use them: results
// of calls are other values when calls are inlined.
func (p *program) findSymbols() (marks []ir.OpID) {
	m := p.m
	seen := map[string]bool{}
	for op := range m.Ops(m.Func(p.main).Body) {
		if m.Kind(op) != ir.OpCall {
			continue
		}
		callee, _ := m.Attr(op, "callee").(ir.SymbolAttr)
		if len(callee) != 1 {
			continue
		}
		f, ok := m.LookupFunc(callee[0])
		if !ok {
			continue
		}
		for i, attrs := range m.Func(f).ArgAttrs {
			if name := attrs.Str(globalConstant); name != "" && name != platformIndex && !seen[name] {
				seen[name] = true
				p.symbols = append(p.symbols, symbol{name: name})
				marks = append(marks, m.BuilderBefore(op).Op(ir.OpCustomCall, nil, nil, m.Operand(op, i)))
			}
		}
	}
	return marks
}

// place is a dimension of an argument.
type place struct {
	arg ir.ValueID
	dim int
}

// unknown returns the dimensions of the arguments that have no size, in order.
func (p *program) unknown() []place {
	var out []place
	for _, v := range p.args {
		for d, n := range p.m.Shape(v) {
			if n == ir.Dynamic {
				out = append(out, place{v, d})
			}
		}
	}
	return out
}

// constant emits a constant scalar or vector.
func constant(b *ir.Builder, m *ir.Module, t tensor.Tensor) ir.ValueID {
	return b.Constant(m.Dense(m.TensorType(t.DType, t.Shape...), t.Data))
}
