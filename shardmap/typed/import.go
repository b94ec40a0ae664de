package typed

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// ImportOptions says how to read a manual computation.
type ImportOptions struct {
	Unchecked bool // no variance: outputs are taken on trust
	Options
}

// Import makes a program of the only sdy.manual_computation of a module, as JAX exports it: device groups become axes
// of the mesh, arithmetic on partition ids becomes axis_index, hints about automatic axes are dropped, and the types
// are inferred by Elaborate. A gather is taken as one that leaves its value varying, unless an output then varies over
// axes that its sharding leaves out: the text does not tell the two apart. The module is not changed.
//
// It returns an error of class diag.ErrInvalid for a module that breaks its own rules and for a body that Elaborate refuses, and diag.ErrUnsupported for one
// without a form here: parts of axes (refine the mesh first), manual computations in each other, reductions other than
// sum, maximum and minimum.
func Import(source *ir.Module, opts ImportOptions) (*Program, error) {
	if err := ir.Verify(source); err != nil {
		return nil, err
	}
	m := source.Clone()
	if err := ir.InlineCalls(m); err != nil {
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
		return nil, diag.Unsupported(diag.NotSupported, diag.Position{},
			"the function `main` has %d manual computations; a program is made of one", len(found))
	}
	i := &importer{m: m, op: found[0], p: &Program{Name: m.Name, Check: !opts.Unchecked, Module: m, Names: map[ir.ValueID]string{}}}
	if err := i.interfaces(); err != nil {
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

// importer turns a manual computation into a program.
type importer struct {
	m  *ir.Module
	op ir.OpID
	p  *Program
}

// interfaces reads the mesh, the manual axes and the shardings.
func (i *importer) interfaces() error {
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
	p.Mesh = subaxis.Mesh{Axes: m.Mesh(mesh).Axes, DeviceIDs: m.Mesh(mesh).DeviceIDs}
	for _, r := range manual.Axes {
		p.Manual |= 1 << axisNumber(&p.Mesh, m.Mesh(manual.Mesh).Axes[r.Axis].Name)
	}
	if err := p.checkMesh(); err != nil {
		return err
	}
	for k, v := range args {
		s, err := i.spec(v)
		if err != nil {
			return err
		}
		name := "arg" + itoa(int64(k))
		p.Params = append(p.Params, Param{Name: name, Type: m.Type(m.Operand(i.op, k)), Spec: s})
	}
	for _, v := range m.ResultValues(i.op) {
		s, err := i.spec(v)
		if err != nil {
			return err
		}
		p.Results = append(p.Results, Result{Spec: s})
	}
	return nil
}

// spec reads the sharding of a value at the border of the manual computation. Axes that are not manual are hints.
func (i *importer) spec(v ir.ValueID) (Spec, error) {
	var out Spec
	s := i.m.ShardingOf(i.m.Sharding(v))
	mesh := &i.m.Mesh(s.Mesh).Mesh
	names := func(refs []subaxis.Ref) (list []string, err error) {
		for _, r := range refs {
			name := mesh.Axes[r.Axis].Name
			if !i.p.Manual.Has(axisNumber(&i.p.Mesh, name)) {
				continue
			}
			if !mesh.IsFull(r) {
				return nil, partOfAxis(i.m.OpPos(i.op), mesh.Format(r))
			}
			list = append(list, name)
		}
		return list, nil
	}
	for _, d := range s.Dims {
		axes, err := names(d.Axes)
		if err != nil {
			return out, err
		}
		out.Dims = append(out.Dims, axes)
	}
	unreduced, err := names(s.Unreduced)
	out.Unreduced = unreduced
	return out.trimmed(), err
}

func partOfAxis(pos diag.Position, axis string) error {
	return diag.Unsupported(diag.NotSupported, pos,
		"the axis %s is a part of an axis; refine the mesh so that it is one of its own", strings.TrimSpace(axis))
}

// body moves the region into the function of the program, with collectives over axes, and drops the rest of main.
func (i *importer) body(main ir.FuncID) error {
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
	fn := m.Func(f)
	for _, v := range results {
		fn.ResultTypes = append(fn.ResultTypes, m.Type(v))
		fn.ResultAttrs = append(fn.ResultAttrs, nil)
		fn.ResultShardings = append(fn.ResultShardings, 0)
	}
	for op := range m.Ops(m.Body()) {
		if id := m.FuncOf(op); id != 0 && id != f {
			m.Erase(op)
		}
	}
	if err := i.convert(to); err != nil {
		return err
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		m.SetSharding(v, 0)
	}
	for op := range m.Ops(m.Body()) {
		if m.Kind(op) == ir.OpMesh {
			m.Erase(op)
		}
	}
	ir.EraseDead(m)
	return nil
}

// convert replaces the ops of a block, and of the blocks inside it, that name devices.
func (i *importer) convert(b ir.BlockID) error {
	return i.convertAll(slices.Collect(i.m.Ops(b)))
}

// convertAll converts ops of which some may be gone when it comes to them.
func (i *importer) convertAll(ops []ir.OpID) error {
	for _, op := range ops {
		if i.m.OpBlock(op) == 0 {
			continue
		}
		if err := i.convertOp(op); err != nil {
			return err
		}
	}
	return nil
}

func (i *importer) convertOp(op ir.OpID) error {
	m := i.m
	switch m.Kind(op) {
	case ir.OpSdyShardingConstraint, ir.OpSdyReshard, ir.OpSdyPropagationBarrier, ir.OpSdyDataFlowEdge:
		m.ReplaceUses(m.Result(op, 0), m.Operand(op, 0))
		m.Erase(op)
		return nil
	case ir.OpSdyShardingGroup:
		m.Erase(op)
		return nil
	case ir.OpSdyManualComputation:
		return i.inner(op)
	case ir.OpPartitionId:
		return i.partition(op)
	}
	if convert, ok := imports[m.Kind(op)]; ok {
		return convert(i, op)
	}
	for _, r := range m.Regions(op) {
		for _, b := range m.Blocks(r) {
			if err := i.convert(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// inner puts the body of a manual computation without operands in its place: JAX wraps one around partition ids where
// axes are left automatic.
func (i *importer) inner(op ir.OpID) error {
	m := i.m
	if m.NumOperands(op) > 0 {
		return diag.Unsupported(diag.NotSupported, m.OpPos(op), "a manual computation stands inside another one")
	}
	body := m.RegionBlock(op, 0)
	last := m.LastOp(body)
	ops := slices.Collect(m.Ops(body))
	ops = ops[:len(ops)-1]
	for _, o := range ops {
		m.MoveBefore(o, op)
	}
	if err := i.convertAll(ops); err != nil {
		return err
	}
	for k, v := range m.Results(op) {
		m.ReplaceUses(v, m.Operand(last, k))
	}
	m.Erase(op)
	return nil
}

// invariantGathers makes those gathers invariant on which an output depends that varies over more than its spec says.
func (p *Program) invariantGathers(opts Options) {
	if !p.Check || p.Validate() != nil {
		return
	}
	t, m, ret := infer(p, opts), p.Module, p.Return()
	for i, r := range p.Results {
		v := m.Operand(ret, i)
		extra := t.vars[v].V &^ p.SpecVariance(r.Spec).V
		if extra == 0 {
			continue
		}
		for _, op := range p.slice(v) {
			c, err := p.Collective(op)
			if err != nil || c.Name != AllGather || c.Groups != nil || c.Set()&extra == 0 {
				continue
			}
			c.Name = AllGatherInvariant
			w := Edit(p, op).Emit(c, m.Operand(op, 0))
			m.ReplaceUses(m.Result(op, 0), w)
			m.Erase(op)
		}
	}
}

// slice returns the ops on which a value depends.
func (p *Program) slice(v ir.ValueID) []ir.OpID {
	m := p.Module
	seen := map[ir.OpID]bool{}
	var order []ir.OpID
	var visit func(v ir.ValueID)
	visit = func(v ir.ValueID) {
		op := m.DefiningOp(v)
		if op == 0 {
			op = m.BlockOp(m.ArgBlock(v))
		}
		if seen[op] || m.Kind(op) == ir.OpFunc {
			return
		}
		seen[op] = true
		order = append(order, op)
		for _, x := range operandsOf(m, op) {
			visit(x)
		}
		for _, r := range m.Regions(op) {
			for _, b := range m.Blocks(r) {
				if last := m.LastOp(b); last != 0 {
					for _, x := range m.Operands(last) {
						visit(x)
					}
				}
			}
		}
	}
	visit(v)
	return order
}
