package bytecode

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// module fills the module from the top op.
func (r *reader) readModule() error {
	top, err := r.topOp()
	if err != nil {
		return err
	}
	if r.ops[top.name].name != "builtin.module" {
		return r.body(block{at: top.at, ops: []op{top}}, 1)
	}
	g, err := r.generic(&top)
	if err != nil {
		return err
	}
	attrs := ir.MakeAttrs(append(g.Properties, g.Attrs...)...)
	if name, ok := attrs.Get("sym_name").(ir.StringAttr); ok {
		r.m.Name = string(name)
		attrs = attrs.Without("sym_name")
	}
	r.m.Attrs, r.m.Loc = attrs, g.Loc
	r.m.SetPos(0, r.position(top.at))
	return r.moduleBody(&top, 1)
}

// moduleBody reads the only block of a module into the body at hand.
func (r *reader) moduleBody(o *op, depth int) error {
	regions, err := r.regionsOf(o, depth)
	switch {
	case err != nil:
		return err
	case len(regions) != 1 || len(regions[0].blocks) > 1:
		return &problem{o.at, "a module must have one region with one block"}
	case len(regions[0].blocks) == 0:
		return nil
	case len(regions[0].blocks[0].args) > 0:
		return &problem{o.at, "the block of a module must have no arguments"}
	}
	return r.body(regions[0].blocks[0], depth)
}

// body adds the ops of a module: first its meshes become known, which shardings name.
func (r *reader) body(b block, depth int) error {
	for i := range b.ops {
		if r.ops[b.ops[i].name].name != "sdy.mesh" {
			continue
		}
		g, err := r.generic(&b.ops[i])
		if err == nil {
			err = r.asm.At(r.position(b.ops[i].at)).NameMesh(g)
		}
		if err != nil {
			return err
		}
	}
	s := &scope{}
	s.open(valuesOf(b))
	next := 0
	for i := range b.ops {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.topLevel(s, &next, &b.ops[i], depth); err != nil {
			return err
		}
		b.ops[i] = op{} // what it holds is not needed any more
	}
	return r.resolve(s, 0, true)
}

// valuesOf counts the values that a module's ops define.
func valuesOf(b block) int {
	n := len(b.args)
	for i := range b.ops {
		n += len(b.ops[i].results)
	}
	return n
}

// topLevel adds an op of a module's body.
func (r *reader) topLevel(s *scope, next *int, o *op, depth int) error {
	switch r.ops[o.name].name {
	case "sdy.mesh":
		g, err := r.generic(o)
		if err != nil {
			return err
		}
		return r.asm.At(r.position(o.at)).Mesh(g)
	case "func.func", "vhlo.func_v1":
		return r.function(o, depth)
	case "builtin.module":
		return r.nestedModule(o, depth)
	}
	return r.op(s, place{b: r.m.BuilderAtEnd(r.asm.Body()), next: next, depth: depth}, o)
}

// nestedModule adds a module inside another one. Its meshes have their own names: what was decoded in terms of the
// outer ones is decoded again.
func (r *reader) nestedModule(o *op, depth int) error {
	g, err := r.generic(o)
	if err != nil {
		return err
	}
	op, leave, err := r.asm.At(r.position(o.at)).Module(r.m.BuilderAtEnd(r.asm.Body()), g)
	if err != nil {
		return err
	}
	r.m.SetPos(op, r.position(o.at))
	attrs := r.attrRows
	r.attrRows = make([]memo[any], len(attrs))
	err = r.moduleBody(o, depth+1)
	r.attrRows = attrs
	leave()
	return err
}

// reserve makes room for the ops of a function.
func (r *reader) reserve(blocks []block) {
	ops, values, operands := 0, 0, 0
	for i := range blocks {
		ops += len(blocks[i].ops)
		for j := range blocks[i].ops {
			values += len(blocks[i].ops[j].results)
			operands += len(blocks[i].ops[j].operands)
		}
	}
	r.m.Reserve(ops, values, operands)
}

func (r *reader) function(o *op, depth int) error {
	g, err := r.generic(o)
	if err != nil {
		return err
	}
	regions, err := r.regionsOf(o, depth)
	if err != nil {
		return err
	}
	if len(regions) != 1 {
		return &problem{o.at, "a function must have one region"}
	}
	if t, ok := ir.Attrs(g.Properties).Get("function_type").(ir.TypeAttr); ok {
		if err := r.share(o, len(r.m.TypeOf(ir.TypeID(t)).Elems)); err != nil {
			return err
		}
	}
	id, err := r.asm.At(r.position(o.at)).Func(g, len(regions[0].blocks) == 0)
	if err != nil {
		return err
	}
	f := r.m.Func(id)
	r.m.SetPos(f.Op, r.position(o.at))
	if len(regions[0].blocks) == 0 {
		return nil
	}
	r.reserve(regions[0].blocks)
	return r.blocks(&scope{}, &regions[0], r.m.Region(f.Op, 0), f.Body, place{inFunc: true, depth: depth + 1})
}

// generic returns what an op is made of but for operands and regions. Ops of VHLO become those of StableHLO.
func (r *reader) generic(o *op) (g mlir.GenericOp, err error) {
	name := r.ops[o.name]
	g.Name = name.name
	loc, err := r.attr(o.loc)
	if err != nil {
		return g, err
	}
	at, ok := loc.(ir.LocAttr)
	if !ok {
		return g, &problem{o.at, "location of an op is no location"}
	}
	g.Loc = ir.LocID(at)
	if o.attrs != none32 {
		if g.Attrs, err = r.dict(o.attrs, o.at); err != nil {
			return g, err
		}
	}
	if o.properties != none32 {
		g.Properties, err = r.propertiesOf(o, &name)
	} else if r.version < versionProperties {
		g.Properties, g.Attrs = splitInherent(&name, g.Attrs)
	}
	if err != nil {
		return g, err
	}
	if v, ok := strings.CutPrefix(g.Name, "vhlo."); ok {
		err = r.fromVHLO(o, &g, v)
	}
	if err != nil {
		return g, err
	}
	return g, r.share(o, len(g.Properties)+len(g.Attrs))
}

// share counts entries that ops share in the file, but not in a module, and refuses a file that makes too many of them.
func (r *reader) share(o *op, n int) error {
	const perByte, least = 4, 1 << 16
	if r.entries += n; r.entries > perByte*r.size+least {
		return diag.TooLarge(diag.InputTooLarge, r.position(o.at), "ops share more than %d attributes and arguments", perByte*r.size+least)
	}
	return nil
}

// fromVHLO makes an op of StableHLO of one of VHLO.
func (r *reader) fromVHLO(o *op, g *mlir.GenericOp, name string) (err error) {
	g.Name, g.Properties, err = r.vhlo.ToStableHLO(name, g.Properties)
	if err != nil {
		return &problem{o.at, err.Error()}
	}
	return nil
}

// dict returns the entries of a dictionary.
func (r *reader) dict(i, at int) (ir.Attrs, error) {
	v, err := r.attr(i)
	if err != nil {
		return nil, err
	}
	d, ok := v.(ir.DictAttr)
	if !ok {
		return nil, &problem{at, "attributes of an op are no dictionary"}
	}
	return ir.Attrs(d), nil
}

// splitInherent parts the attributes of an op, which older versions keep together, into its own ones and others.
func splitInherent(name *opName, attrs ir.Attrs) (own, others ir.Attrs) {
	for _, a := range attrs {
		if name.declares(a.Name) {
			own = append(own, a)
		} else {
			others = append(others, a)
		}
	}
	return own, others
}

func (n *opName) declares(attr string) bool {
	return slices.ContainsFunc(n.slots, func(s slot) bool { return s.name == attr })
}

// propertiesOf reads the properties of an op, which lie in its slots; an op that is not registered has a dictionary.
func (r *reader) propertiesOf(o *op, name *opName) (ir.Attrs, error) {
	d := &decoder{cursor: r.tables.properties[o.properties], reader: r}
	d.start = d.off
	if !name.registered {
		var dict ir.Attr
		refOf(d, &dict)
		entries, ok := dict.(ir.DictAttr)
		if !ok {
			d.invalid("properties of an op are no dictionary")
		}
		return ir.Attrs(entries), d.finish("properties of an op")
	}
	if !name.known {
		return nil, &problem{o.at, "unknown op '" + name.name + "': what its properties are is not known"}
	}
	var out ir.Attrs
	for _, s := range name.slots {
		if r.version >= versionSegments && (s.name == operandSegments || s.name == resultSegments) {
			continue
		}
		v := any(nil)
		if s.required {
			d.ref(&v)
		} else {
			d.optional(&v)
		}
		if a, ok := v.(ir.Attr); ok {
			out = append(out, ir.NamedAttr{Name: s.name, Value: a})
		} else if v != nil {
			d.invalid("property " + s.name + " is no attribute")
		}
	}
	for _, segments := range []string{operandSegments, resultSegments} {
		if r.version >= versionSegments && name.declares(segments) {
			out = append(out, ir.NamedAttr{Name: segments, Value: d.segments()})
		}
	}
	return ir.MakeAttrs(out...), d.finish("properties of " + r.opText(o))
}
