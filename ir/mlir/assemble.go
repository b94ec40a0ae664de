package mlir

import (
	"context"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// Assembler adds ops to a module from the parts that the generic form shows, for readers of forms that are not text:
// they share with the text reader what those parts mean.
//
//	a := mlir.NewAssembler(m, mlir.Options{File: "x.mlirbc"})
//	op, err := a.At(pos).Op(m.BuilderAtEnd(body), mlir.GenericOp{Name: "stablehlo.add", Operands: …, Results: …})
//
// Errors are of class diag.ErrInvalid, diag.ErrTooLarge or diag.ErrUnsupported, at the place that At gave.
type Assembler struct{ p *parser }

// GenericOp is an op in its generic form.
type GenericOp struct {
	Name       string
	Operands   []ir.ValueID
	Results    []ir.TypeID
	Properties []ir.NamedAttr // what the op declares
	Attrs      []ir.NamedAttr // what else stands on it
	Regions    []ir.RegionID  // detached
	Successors []ir.BlockID
	Loc        ir.LocID
}

// NewAssembler returns an assembler for the body of a module.
func NewAssembler(m *ir.Module, opts Options) *Assembler {
	p := newParser(context.Background(), m, "", opts.withDefaults())
	p.scanned = true
	p.axes = map[ir.OpaqueAttr]unresolvedAxes{}
	p.stop()
	return &Assembler{p}
}

// At says where what comes next stands.
func (a *Assembler) At(pos diag.Position) *Assembler {
	a.p.base = pos
	return a
}

// Body returns the block of the module at hand.
func (a *Assembler) Body() ir.BlockID { return a.p.body }

// Attr reads the text of an attribute, which may name the meshes declared so far.
func (a *Assembler) Attr(text string) (out ir.Attr, err error) {
	err = a.text(text, func(q *parser) { out = q.attr(0) })
	return out, err
}

// Type reads the text of a type.
func (a *Assembler) Type(text string) (out ir.TypeID, err error) {
	if t, ok := a.p.types[text]; ok {
		return t, nil
	}
	err = a.text(text, func(q *parser) { out = q.typ() })
	if err == nil && !strings.ContainsAny(text, "#!") {
		a.p.types[text] = out
	}
	return out, err
}

func (a *Assembler) text(text string, read func(q *parser)) error {
	return bareFragment(a.p.m, text, a.p.base, func(q *parser) {
		q.symbolTable, q.axes = a.p.symbolTable, a.p.axes
		read(q)
	})
}

// Op adds an op that is no function, mesh or module.
func (a *Assembler) Op(b *ir.Builder, g GenericOp) (ir.OpID, error) {
	p := a.p
	o := p.push()
	defer p.pop()
	o.name = g.Name
	p.setKind(o, true)
	if o.kind == ir.OpFunc || o.kind == ir.OpMesh || o.kind == ir.OpModule {
		p.fail(o.at, diag.BadOp, "'%s' op must stand directly in a module", o.name)
	}
	if p.err == nil {
		o.values, o.results = append(o.values, g.Operands...), append(o.results, g.Results...)
		o.regions, o.branches = append(o.regions, g.Regions...), append(o.branches, g.Successors...)
		p.addProperties(o, g.Properties)
		o.attrs = append(o.attrs, g.Attrs...)
		p.fromGeneric(o)
	}
	if err := a.failed(); err != nil {
		return 0, err
	}
	b.Loc = g.Loc
	return p.build(b, o), nil
}

// failed returns the problems of the last op.
func (a *Assembler) failed() error {
	p := a.p
	if p.err != nil {
		return p.err
	}
	if len(p.problems) > 0 {
		return &diag.Error{Class: diag.ErrInvalid, Diagnostics: p.problems}
	}
	return nil
}

// Func adds a function. A declaration has no body; another one has an entry block with the arguments of its type.
func (a *Assembler) Func(g GenericOp, declaration bool) (ir.FuncID, error) {
	p := a.p
	o, name := a.symbol(ir.OpFunc, g)
	defer p.pop()
	spec, args := p.functionSpec(o, name)
	spec.Declaration = declaration
	if p.err == nil {
		p.defineSymbol(o.at, name)
	}
	id := p.addFunction(o, spec, args)
	if p.err == nil {
		op := p.m.Func(id).Op
		p.m.SetAttrs(op, ir.MakeAttrs(o.attrs...))
		p.m.SetLoc(op, g.Loc)
	}
	return id, a.failed()
}

// symbol returns the state of an op that defines a symbol, and the symbol's name; pop gives the state back.
func (a *Assembler) symbol(kind ir.Kind, g GenericOp) (*opState, string) {
	p := a.p
	o := p.push()
	o.kind, o.name = kind, g.Name
	o.attrs = append(append(o.attrs, g.Properties...), g.Attrs...)
	name, ok := o.take(symbolNameAttr).(ir.StringAttr)
	if !ok {
		p.fail(o.at, diag.BadOp, "'%s' op requires attribute 'sym_name'", o.name)
	}
	return o, string(name)
}

// NameMesh makes a mesh known before its op is added: shardings may name it before.
func (a *Assembler) NameMesh(g GenericOp) error {
	o, name := a.symbol(ir.OpMesh, g)
	defer a.p.pop()
	a.p.nameGenericMesh(o.at, name, ir.MakeAttrs(o.attrs...))
	return a.failed()
}

// Mesh adds the op of a mesh.
func (a *Assembler) Mesh(g GenericOp) error {
	p := a.p
	o, name := a.symbol(ir.OpMesh, g)
	defer p.pop()
	if mesh, ok := p.genericMeshAxes(o); ok {
		p.declareMesh(o, o.at, name, mesh)
	}
	if id, ok := p.meshes[name]; ok && p.err == nil {
		p.m.SetLoc(p.m.Mesh(id).Op, g.Loc)
	}
	return a.failed()
}

// Module adds a module inside the one at hand, which becomes the one at hand until the function returned is called.
func (a *Assembler) Module(b *ir.Builder, g GenericOp) (op ir.OpID, leave func(), err error) {
	p := a.p
	attrs := ir.MakeAttrs(slices.Concat(g.Properties, g.Attrs)...)
	if name, ok := attrs.Get(symbolNameAttr).(ir.StringAttr); ok && !p.defineSymbol(token{}, string(name)) {
		return 0, nil, a.failed()
	}
	op = b.OpRegions(ir.OpModule, nil, attrs, 1)
	p.m.SetLoc(op, g.Loc)
	outer := p.symbolTable
	p.symbolTable = newSymbolTable(p.m.AddBlock(p.m.Regions(op)[0]))
	p.scanned = true
	return op, func() { p.symbolTable = outer }, nil
}
