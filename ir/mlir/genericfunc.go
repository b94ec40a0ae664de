package mlir

import (
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// emptyFunctionType reads : () -> ().
func (p *parser) emptyFunctionType() {
	p.expect(tokColon)
	at := p.tok
	inputs, results := p.functionType(nil, nil)
	if p.err == nil && len(inputs)+len(results) > 0 {
		p.fail(at, diag.TypeMismatch, "operation has neither operands nor results: its type must be () -> ()")
	}
}

// genericSymbol reads "func.func"() <{…}> ({…}) and "sdy.mesh"() <{…}>; the name has been read.
func (p *parser) genericSymbol(o *opState) {
	p.expect(tokLParen)
	p.expect(tokRParen)
	if p.accept(tokLess) {
		o.attrs = p.attrDict(o.attrs)
		p.expect(tokGreater)
	}
	at := o.at
	name, ok := o.take(symbolNameAttr).(ir.StringAttr)
	if !ok {
		p.fail(at, diag.BadOp, "'%s' op requires attribute 'sym_name' among its properties <{…}>", o.name)
		return
	}
	if o.kind == ir.OpMesh {
		p.genericMesh(o, string(name))
		return
	}
	p.genericFunction(o, string(name))
}

func (p *parser) genericMesh(o *opState, name string) {
	mesh, ok := p.genericMeshAxes(o)
	if !ok {
		return
	}
	p.optionalAttrDict(o)
	p.emptyFunctionType()
	p.declareMesh(o, o.at, name, mesh)
}

// genericMeshAxes takes the mesh itself out of the attributes.
func (p *parser) genericMeshAxes(o *opState) (mesh subaxis.Mesh, ok bool) {
	text, ok := o.take("mesh").(ir.OpaqueAttr)
	if !ok {
		p.fail(o.at, diag.BadOp, "'sdy.mesh' op requires attribute 'mesh'")
		return mesh, false
	}
	mesh, err := p.meshOfText(o.at, string(text))
	if err != nil {
		p.fail(o.at, diag.BadMesh, "%v", err)
	}
	return mesh, err == nil
}

// meshOfText reads #sdy.mesh<…>.
func (p *parser) meshOfText(at token, text string) (mesh subaxis.Mesh, err error) {
	err = bareFragment(p.m, text, p.position(at), func(q *parser) {
		q.next()
		mesh, _ = q.meshContent()
	})
	return mesh, err
}

// scanGenericMesh declares a mesh in generic form that is needed before the parser comes to it.
func (p *parser) scanGenericMesh(start token) {
	p.next()
	p.expect(tokRParen)
	if !p.accept(tokLess) {
		return
	}
	entries := ir.MakeAttrs(p.attrDict(nil)...)
	p.nameGenericMesh(start, entries.Str(symbolNameAttr), entries)
}

// nameGenericMesh declares a mesh that is whole and new.
func (p *parser) nameGenericMesh(start token, name string, entries ir.Attrs) {
	text, _ := entries.Get("mesh").(ir.OpaqueAttr)
	if _, twice := p.meshes[name]; text == "" || twice || p.err != nil {
		return
	}
	if mesh, err := p.meshOfText(start, string(text)); err == nil {
		p.addMesh(start, name, mesh)
	}
}

func (p *parser) genericFunction(o *opState, name string) {
	spec, argAttrs := p.functionSpec(o, name)
	if !p.expect(tokLParen) || !p.defineSymbol(o.at, name) {
		return
	}
	start := p.lexer
	p.next()
	spec.Declaration = p.at(tokRBrace)
	p.lexer = start
	id := p.addFunction(o, spec, argAttrs)
	p.genericBody(id, spec)
	p.expect(tokRParen)
	if p.at(tokLBrace) {
		o.attrs = p.attrDict(o.attrs)
	}
	p.emptyFunctionType()
	if p.err == nil {
		p.m.SetAttrs(p.m.Func(id).Op, ir.MakeAttrs(o.attrs...))
		p.endFunction(id)
	}
}

// functionSpec takes what a function is out of its attributes.
func (p *parser) functionSpec(o *opState, name string) (spec ir.FuncSpec, argAttrs [][]ir.NamedAttr) {
	spec.Name = name
	typ, ok := o.take("function_type").(ir.TypeAttr)
	if !ok || p.m.TypeOf(ir.TypeID(typ)).Kind != ir.FunctionKind {
		p.fail(o.at, diag.BadOp, "'func.func' op requires attribute 'function_type' with a function type")
		return spec, nil
	}
	row := p.m.TypeOf(ir.TypeID(typ))
	spec.Args, spec.Results = row.Elems[:row.Inputs], row.Elems[row.Inputs:]
	if v, ok := o.take("sym_visibility").(ir.StringAttr); ok {
		spec.Visibility = string(v)
	}
	argAttrs = signatureDicts(o.take("arg_attrs"), len(spec.Args))
	for _, d := range signatureDicts(o.take("res_attrs"), len(spec.Results)) {
		spec.ResultAttrs = append(spec.ResultAttrs, ir.Attrs(d))
	}
	return spec, argAttrs
}

// genericBody reads the region of a function, whose block header names the arguments.
func (p *parser) genericBody(id ir.FuncID, spec ir.FuncSpec) {
	if spec.Declaration {
		p.next()
		p.expect(tokRBrace)
		return
	}
	at := p.tok
	p.expect(tokLBrace)
	var args []blockArg
	if p.accept(tokBlock) {
		if p.accept(tokLParen) {
			p.list(tokRParen, func() { args = append(args, p.blockArg()) })
		}
		p.expect(tokColon)
	}
	if p.err != nil {
		return
	}
	same := len(args) == len(spec.Args)
	for i := range args {
		same = same && args[i].typ == spec.Args[i]
	}
	if !same {
		p.fail(at, diag.TypeMismatch, "entry block of function @%s must have the arguments of its type", spec.Name)
		return
	}
	p.functionOps(id, args)
}

// signatureDicts returns n dictionaries of arguments or results.
func signatureDicts(a ir.Attr, n int) [][]ir.NamedAttr {
	out := make([][]ir.NamedAttr, n)
	list, _ := a.(ir.ArrayAttr)
	for i := range min(n, len(list)) {
		if d, ok := list[i].(ir.DictAttr); ok {
			out[i] = ir.Attrs(d)
		}
	}
	return out
}
