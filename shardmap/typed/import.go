package typed

import (
	"context"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// ImportOptions says how to read a manual computation.
type ImportOptions struct {
	Unchecked bool // no variance: outputs are taken on trust
	Whole     bool // a function that does more than the manual computation is refused; else the rest of it is dropped
	Options
}

// Import makes a program of the only sdy.manual_computation of a module, as JAX exports it: device groups become axes
// of the mesh, which is refined where shardings or groups name parts of axes, arithmetic on partition ids becomes
// axis_index, hints about automatic axes are dropped, and the types are inferred by Elaborate. A gather is taken as one
// that leaves its value varying, unless an output then varies over axes that its sharding leaves out, or a predicate along
// those of collectives that it decides about: the text does not tell the two apart. The module is not changed.
//
// It returns an error of class diag.ErrInvalid for a module that breaks its own rules and for a body that Elaborate
// refuses, and diag.ErrUnsupported for one without a form here: parts of an axis without a common refinement
// (E_SUBAXIS_CONFLICT), manual computations in each other, reductions other than sum, maximum and minimum.
func Import(ctx context.Context, source *ir.Module, opts ImportOptions) (*Program, error) {
	if err := ir.Verify(ctx, source); err != nil {
		return nil, err
	}
	m := source.Clone()
	if err := ir.InlineCalls(ctx, m); err != nil {
		return nil, err
	}
	var found []ir.OpID
	main, ok := m.Main()
	if !ok {
		return nil, diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	for op := range m.Ops(m.Func(main).Body) {
		if m.Kind(op) == ir.OpSdyManualComputation {
			found = append(found, op)
		}
	}
	if len(found) != 1 {
		at := m.OpPos(m.Func(main).Op)
		if len(found) > 1 {
			at = m.OpPos(found[1])
		}
		return nil, diag.Unsupported(diag.NotSupported, at, "the function `main` has %d manual computations; a program is made of one",
			len(found))
	}
	if opts.Whole && !onlyOp(m, m.Func(main).Body, found[0]) {
		return nil, diag.Unsupported(diag.NotSupported, m.OpPos(found[0]),
			"the function `main` does more than its manual computation, which a shard_map program has no place for; `autoshard plan` takes the "+
				"whole model")
	}
	i := &manualReader{op: found[0], importer: &importer{m: m, splits: true, pieces: map[ir.OpID][][]int{},
		p: &Program{Name: m.Name, Check: !opts.Unchecked, Module: m, Names: map[ir.ValueID]string{}}}}
	if err := i.interfaces(main); err != nil {
		return nil, err
	}
	if err := i.body(main); err != nil {
		return nil, err
	}
	opts.Mixed = true // casts have vanished from the text
	i.p.invariantGathers(opts.Options)
	_, err := i.p.Elaborate(opts.Options)
	return i.p, err
}

// onlyOp says whether a block does nothing but one op: this takes the block's arguments and gives its results.
func onlyOp(m *ir.Module, b ir.BlockID, op ir.OpID) bool {
	return m.FirstOp(b) == op && m.NextOp(op) == m.LastOp(b) && slices.Equal(m.Operands(op), m.BlockArgs(b)) &&
		slices.Equal(m.Operands(m.LastOp(b)), m.ResultValues(op))
}

// manualReader turns a manual computation into a program.
type manualReader struct {
	*importer
	op      ir.OpID
	outputs []string // names of the results; "" where main gives none
}

// interfaces reads the mesh, the manual axes and the shardings, and the names that main gives.
func (i *manualReader) interfaces(main ir.FuncID) error {
	m, p := i.m, i.p
	if m.Name == "" {
		p.Name = "main"
	}
	manual, _ := m.Attr(i.op, "manual_axes").(*ir.AxesAttr)
	args := m.BlockArgs(m.RegionBlock(i.op, 0))
	mesh := ir.MeshID(0)
	for _, v := range append(append([]ir.ValueID{}, args...), m.ResultValues(i.op)...) {
		if s := m.Sharding(v); s != 0 && len(m.Mesh(m.ShardingOf(s).Mesh).Axes) > 0 {
			mesh = m.ShardingOf(s).Mesh
		}
	}
	if mesh == 0 || manual == nil {
		return diag.Invalid(diag.BadMesh, m.OpPos(i.op), "the mesh cannot be empty (E_MESH_EMPTY)")
	}
	body := m.RegionBlock(i.op, 0)
	if err := inlineManual(m, body); err != nil {
		return err
	}
	shardmap.DropHints(m, body)
	shardmap.OverAxes(m, body, mesh, nil)
	ir.EraseDead(m)
	if err := i.refine(&m.Mesh(mesh).Mesh); err != nil {
		return err
	}
	p.Mesh = i.refined.Fine
	for _, r := range manual.Axes {
		whole, _ := i.refined.Coarse.Lookup(m.Mesh(manual.Mesh).Axes[r.Axis].Name)
		for _, a := range i.refined.Axes([]subaxis.Ref{whole}) {
			p.Manual |= 1 << a
		}
	}
	if err := p.checkMesh(); err != nil {
		return err
	}
	in := names.Args(m, main)
	taken := map[string]int64{}
	for k, v := range args {
		name, donated := "", false
		if arg := m.Operand(i.op, k); m.DefiningOp(arg) == 0 && m.ArgBlock(arg) == m.Func(main).Body {
			donated = m.Func(main).ArgAttrs[m.Index(arg)].Donated()
			if in.Given[m.Index(arg)] {
				name = identifier(in.Names[m.Index(arg)])
			}
		}
		p.Params = append(p.Params, Param{Name: unique(taken, name, "arg"+itoa(int64(k))), Type: m.Type(m.Operand(i.op, k)), Spec: i.spec(v),
			Donated: donated})
	}
	out, returned := names.Results(m, main), m.Operands(m.LastOp(m.Func(main).Body))
	for _, v := range m.ResultValues(i.op) {
		p.Results = append(p.Results, Result{Spec: i.spec(v)})
		name := ""
		if k := slices.Index(returned, v); k >= 0 && out.Given[k] {
			name = unique(taken, identifier(out.Names[k]), "out"+itoa(int64(k)))
		}
		i.outputs = append(i.outputs, name)
	}
	return nil
}

// refine cuts the axes of the mesh for the parts that the shardings and groups of the manual computation name.
func (i *manualReader) refine(mesh *subaxis.Mesh) error {
	m := i.m
	i.refined = refine.New(*mesh).Mesh()
	cuts := refine.New(*mesh)
	var problem error
	add := func(op ir.OpID, from ir.MeshID, refs []subaxis.Ref) {
		if err := cuts.Add(i.ofMesh(from, refs)...); err != nil && problem == nil {
			err.(*diag.Error).Diagnostics[0].Pos = m.OpPos(op)
			problem = err
		}
	}
	body := m.RegionBlock(i.op, 0)
	for _, v := range append(m.BlockArgs(body), m.ResultValues(i.op)...) {
		s := m.ShardingOf(m.Sharding(v))
		for _, d := range s.Dims {
			add(i.op, s.Mesh, d.Axes)
		}
		add(i.op, s.Mesh, s.Unreduced)
	}
	refining := &Refining{mesh: *mesh, cuts: cuts}
	refining.CutBody(m, body)
	i.refined = cuts.Mesh()
	return problem
}

// ofMesh returns parts of the axes of some mesh as those of the axes with the same names in the mesh of the manual
// computation; others are left out.
func (i *manualReader) ofMesh(from ir.MeshID, refs []subaxis.Ref) (out []subaxis.Ref) {
	for _, r := range refs {
		own := i.m.Mesh(from).Axes[r.Axis]
		if whole, ok := i.refined.Coarse.Lookup(own.Name); ok && int64(whole.Size) == own.Size {
			out = append(out, subaxis.Ref{Axis: whole.Axis, Pre: r.Pre, Size: r.Size})
		}
	}
	return out
}

// spec reads the sharding of a value at the border of the manual computation. Axes that are not manual are hints.
func (i *manualReader) spec(v ir.ValueID) (out Spec) {
	s := i.m.ShardingOf(i.m.Sharding(v))
	names := func(refs []subaxis.Ref) []string {
		axes := slices.DeleteFunc(i.refined.Axes(i.ofMesh(s.Mesh, refs)), func(a int) bool { return !i.p.Manual.Has(a) })
		return i.refined.Names(axes)
	}
	out.Dims = lists.Map(s.Dims, func(d ir.DimSharding) []string { return names(d.Axes) })
	out.Unreduced = names(s.Unreduced)
	return out.trimmed()
}

// body moves the region into the function of the program, with collectives over axes, and drops the rest of main.
func (i *manualReader) body(main ir.FuncID) error {
	m, p := i.m, i.p
	from := m.RegionBlock(i.op, 0)
	f := m.AddFunc(ir.FuncSpec{Name: "shard_map_body"})
	p.Func = f
	to := m.Func(f).Body
	for k, v := range m.BlockArgs(from) {
		arg := m.AddBlockArg(to, m.Type(v))
		m.Func(f).ArgAttrs = append(m.Func(f).ArgAttrs, nil)
		m.ReplaceUses(v, arg)
		p.Names[arg] = p.Params[k].Name
	}
	results := p.moveBody(m, from, to, ir.OpReturn)
	p.returns(results)
	for k, v := range results {
		if p.Names[v] == "" && i.outputs[k] != "" {
			p.Names[v] = i.outputs[k]
		}
	}
	m.EraseFuncs(func(id ir.FuncID) bool { return id != f })
	if err := i.convert(to); err != nil {
		return err
	}
	if err := i.refuseForeign(to); err != nil {
		return err
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		m.SetSharding(v, 0)
	}
	for id := range m.NamedMeshes() {
		m.Erase(m.Mesh(id).Op)
	}
	ir.EraseDead(m)
	return nil
}

// inlineManual puts the bodies of manual computations without operands in their place: JAX wraps one around partition ids
// where axes are left automatic.
func inlineManual(m *ir.Module, b ir.BlockID) (err error) {
	m.Walk(b, func(op ir.OpID) {
		switch {
		case m.Kind(op) != ir.OpSdyManualComputation || err != nil:
		case m.NumOperands(op) > 0:
			err = diag.Unsupported(diag.NotSupported, m.OpPos(op), "a manual computation stands inside another one")
		default:
			body := m.RegionBlock(op, 0)
			err = inlineManual(m, body)
			m.Splice(op, body)
		}
	})
	return err
}

// invariantGathers makes those gathers invariant on which a value depends that varies over more than it may.
func (p *Program) invariantGathers(opts Options) {
	if !p.Check || p.Validate() != nil {
		return
	}
	t, m := infer(p, opts), p.Module
	for _, limit := range p.limits() {
		if int(limit.value) >= len(t.vars) {
			t = infer(p, opts) // of the gathers that another value made invariant
		}
		extra := t.vars[limit.value].V &^ limit.may
		if extra == 0 {
			continue
		}
		ops, _ := p.causes([]ir.ValueID{limit.value})
		for _, op := range ops {
			c, err := p.Collective(op)
			if err != nil || c.Kind != ir.OpShardMapAllGather || c.Groups != nil || c.Set()&extra == 0 {
				continue
			}
			c.Kind = ir.OpShardMapAllGatherInvariant
			w := Edit(p, op).Emit(c, m.Operand(op, 0))
			m.InheritPos(m.DefiningOp(w), op)
			m.ReplaceUses(m.Result(op, 0), w)
			m.Erase(op)
		}
	}
}

// limit says along which axes a value may vary.
type limit struct {
	value ir.ValueID
	may   AxisSet
}

// limits returns those of the outputs, by their specs, and of predicates, which have to be equal along the axes of the
// collectives that they decide about.
func (p *Program) limits() []limit {
	m := p.Module
	var out []limit
	for i, r := range p.Results {
		out = append(out, limit{m.Operand(p.Return(), i), p.SpecVariance(r.Spec).V})
	}
	m.Walk(p.Body(), func(op ir.OpID) {
		var predicate ir.ValueID
		switch m.Kind(op) {
		case ir.OpWhile:
			predicate = m.Operand(m.LastOp(m.RegionBlock(op, 0)), 0)
		case ir.OpIf, ir.OpCase:
			predicate = m.Operand(op, 0)
		default:
			return
		}
		if axes := p.communicated(op); axes != 0 {
			out = append(out, limit{predicate, ^axes})
		}
	})
	return out
}

// communicated returns the axes of all collectives in the regions of an op.
func (p *Program) communicated(op ir.OpID) (axes AxisSet) {
	m := p.Module
	for b := range m.InnerBlocks(op) {
		m.Walk(b, func(inner ir.OpID) {
			if c, err := p.Collective(inner); err == nil && c.Kind.Communicates() {
				axes |= c.Set()
			}
		})
	}
	return axes
}
