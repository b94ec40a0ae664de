package typed

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// Setup says what a new program is.
type Setup struct {
	Manual    []string // manual axes; nil for all
	Unchecked bool     // no variance
}

// Builder makes a program op by op. The first error stops it: methods then return 0, and Finish returns the error.
//
//	b := typed.NewBuilder("sum", mesh, typed.Setup{})
//	x := b.Param("x", dtype.F32, []int64{8}, typed.P("i"))
//	b.Result(b.Psum(x, "i"), typed.P())
//	p, err := b.Finish()
type Builder struct {
	p       *Program
	m       *ir.Module
	at      *ir.Builder
	err     error
	results []ir.ValueID
	old     ir.OpID // function that Finish drops, 0 for none
}

// NewBuilder returns a builder of a program over a mesh.
func NewBuilder(name string, mesh subaxis.Mesh, s Setup) *Builder {
	m := ir.NewModule()
	p := &Program{Name: name, Mesh: mesh, Check: !s.Unchecked, Module: m, Names: map[ir.ValueID]string{}}
	b := &Builder{p: p, m: m}
	p.Func = m.AddFunc(ir.FuncSpec{Name: "main"})
	b.at = m.BuilderAtEnd(p.Body())
	b.fail(p.checkMesh())
	p.Manual = p.allAxes()
	if s.Manual != nil {
		b.fail(p.setManual(s.Manual))
	}
	return b
}

// setManual makes those axes the manual ones.
func (p *Program) setManual(names []string) error {
	p.Manual = 0
	for _, name := range names {
		a := axisNumber(&p.Mesh, name)
		if a < 0 {
			return p.bad(diag.UnknownAxis, "E_AXIS_UNKNOWN", "manual axis `%s` is not in the mesh", name)
		}
		p.Manual |= 1 << a
	}
	return nil
}

// Edit returns a builder that inserts ops before an op of a program. Its Finish only checks for errors of the builder.
func Edit(p *Program, before ir.OpID) *Builder {
	return &Builder{p: p, m: p.Module, at: p.Module.BuilderBefore(before)}
}

func (b *Builder) fail(err error) {
	if b.err == nil && err != nil {
		b.err = err
	}
}

// Err returns the first error.
func (b *Builder) Err() error { return b.err }

// Param adds a parameter: a global array and its spec. It returns the block.
func (b *Builder) Param(name string, t dtype.Type, dims []int64, s Spec) ir.ValueID {
	if b.err != nil {
		return 0
	}
	what := "input `" + name + "`"
	block, err := b.p.blockDims(what, s, dims)
	if err != nil {
		return b.stop(err)
	}
	f := b.m.Func(b.p.Func)
	f.ArgAttrs = append(f.ArgAttrs, nil)
	v := b.m.AddBlockArg(f.Body, b.m.TensorType(t, block...))
	b.p.Params = append(b.p.Params, Param{Name: name, Type: b.m.TensorType(t, dims...), Spec: s})
	b.p.Names[v] = name
	return v
}

func (b *Builder) stop(err error) ir.ValueID {
	b.fail(err)
	return 0
}

// Result adds an output: a block and how blocks are joined.
func (b *Builder) Result(v ir.ValueID, s Spec) {
	b.results = append(b.results, v)
	b.p.Results = append(b.p.Results, Result{Spec: s})
}

// Name gives a value its name.
func (b *Builder) Name(v ir.ValueID, name string) ir.ValueID {
	if v != 0 {
		b.p.Names[v] = name
	}
	return v
}

// Finish ends the body and returns the program, not yet elaborated, or the first error.
func (b *Builder) Finish() (*Program, error) {
	if b.err != nil {
		return nil, b.err
	}
	b.p.end(b.results)
	if b.old != 0 {
		b.m.Erase(b.old)
		b.old = 0
	}
	if err := b.p.Validate(); err != nil {
		return nil, err
	}
	return b.p, nil
}

// end adds the return op and gives the function its result types.
func (p *Program) end(results []ir.ValueID) {
	p.Module.BuilderAtEnd(p.Body()).Op(ir.OpReturn, nil, nil, results...)
	p.returns(results)
}

// returns gives the function the types of what it returns.
func (p *Program) returns(results []ir.ValueID) {
	f := p.Module.Func(p.Func)
	f.ResultTypes = p.Module.TypesOf(results)
	f.ResultAttrs, f.ResultShardings = make([]ir.Attrs, len(results)), make([]ir.ShardingID, len(results))
}

// collective emits an op of this package; over no axes it is the identity.
func (b *Builder) collective(c Collective, axes []string, operands ...ir.ValueID) ir.ValueID {
	if b.err != nil || slices.Contains(operands, 0) {
		return 0
	}
	var err error
	if c.Axes, err = b.p.boundAxes(c.Axes, axes); err != nil {
		return b.stop(b.about(err, c.Kind, operands))
	}
	if len(c.Axes) == 0 && len(operands) == 1 {
		return operands[0] // a group of one
	}
	t, err := b.p.resultType(&c, b.m.TypesOf(operands))
	if err != nil {
		return b.stop(b.about(err, c.Kind, operands))
	}
	return b.m.Result(b.at.Op(c.Kind, []ir.TypeID{t}, b.p.attrs(&c), operands...), 0)
}

// Emit adds an op of this package with the given content.
func (b *Builder) Emit(c Collective, operands ...ir.ValueID) ir.ValueID {
	return b.collective(c, nil, operands...)
}

// about puts the op before the message of an error.
func (b *Builder) about(err error, kind ir.Kind, operands []ir.ValueID) error {
	e, ok := err.(*diag.Error)
	if !ok {
		return err
	}
	prefix := localName(kind)
	for _, v := range operands {
		prefix += " " + b.p.FormatValue(v)
	}
	e.Diagnostics[0].Message = prefix + ": " + e.Diagnostics[0].Message
	return e
}

// badOp stops the builder because an op does not fit its operands.
func (b *Builder) badOp(kind ir.Kind, operands []ir.ValueID, text string) ir.ValueID {
	return b.stop(b.about(diag.Invalid(diag.BadOp, diag.Position{}, "%s", text), kind, operands))
}

// i64s returns a list of integers as an attribute that is never nil.
func i64s(list []int64) ir.Ints { return append(ir.Ints{}, list...) }

// Type returns the type of a value, 0 after an error.
func (b *Builder) Type(v ir.ValueID) ir.TypeID {
	if b.err != nil || v == 0 {
		return 0
	}
	return b.m.Type(v)
}
