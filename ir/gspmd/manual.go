package gspmd

import (
	"bytes"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// The custom calls that mark values, and those between which every device computes for itself.
const (
	markTarget   = "Sharding"
	resultTarget = "xla.sdy.FuncResultSharding"
)

var (
	toBlocks = []string{"SPMDFullToShardShape", "xla.sdy.GlobalToLocalShape"}
	toWhole  = []string{"SPMDShardToFullShape", "xla.sdy.LocalToGlobalShape"}
)

// NamesBlocks says whether a program, as text or in binary form, names the operations at which it goes from whole tensors to blocks of
// devices, or back.
func NamesBlocks(src []byte) bool {
	return slices.ContainsFunc(slices.Concat(toBlocks, toWhole), func(name string) bool { return bytes.Contains(src, []byte(name)) })
}

// is says whether an operation is a custom call of one of the targets.
func is(m *ir.Module, op ir.OpID, targets ...string) bool {
	return op != 0 && m.Kind(op) == ir.OpCustomCall && slices.Contains(targets, m.OpAttrs(op).Str("call_target_name"))
}

// changes returns the operations at which a program goes from whole tensors to blocks, or back.
func changes(m *ir.Module) []ir.OpID {
	targets := slices.Concat(toBlocks, toWhole)
	return slices.DeleteFunc(m.OpsOf(m.Body(), ir.OpCustomCall), func(op ir.OpID) bool { return !is(m, op, targets...) })
}

// region is a call that every device makes for itself, with the operations around it that say of what.
type region struct {
	call    ir.OpID
	inputs  []end // of the call's operands
	outputs []end // one for each value that leaves
	marks   []ir.OpID
	manual  ir.ShardAxes
	mesh    ir.MeshID
}

// end is where a value enters or leaves a region.
type end struct {
	change   ir.OpID
	whole    ir.ValueID
	block    ir.ValueID // of the call
	sharding ir.ShardingID
}

// regions makes manual computations of the calls between blocks and whole tensors.
func (im *importer) regions() error {
	for _, call := range im.m.OpsOf(im.m.Body(), ir.OpCall) {
		r := &region{call: call}
		if err := im.find(r); err != nil {
			return err
		}
		if len(r.inputs)+len(r.outputs) > 0 {
			im.build(r)
		}
	}
	if left := changes(im.m); len(left) > 0 {
		return diag.Unsupported(diag.NotSupported, im.m.OpPos(left[0]), "a change between whole tensors and blocks of devices that is not "+
			"around a call of one function: export the program with Shardy's dialect (`jax_use_shardy_partitioner`), where it is a "+
			"manual computation")
	}
	return nil
}

// find finds the ends of a region.
func (im *importer) find(r *region) error {
	m := im.m
	for _, v := range m.Operands(r.call) {
		change := im.source(r, v)
		if change == 0 {
			continue
		}
		from := m.Index(im.unmarked(v))
		if from >= m.NumOperands(change) {
			return diag.Invalid(diag.BadOp, m.OpPos(change), "the operands and results of a change to blocks must be as many")
		}
		e := end{change: change, whole: m.Operand(change, from), block: v}
		if err := im.enters(r, &e, from); err != nil {
			return err
		}
		r.inputs = append(r.inputs, e)
	}
	for _, v := range m.ResultValues(r.call) {
		if err := im.leaves(r, v, v); err != nil {
			return err
		}
	}
	if n := len(r.inputs); n > 0 && n != m.NumOperands(r.call) {
		return diag.Unsupported(diag.NotSupported, m.OpPos(r.call), "a call takes blocks of devices beside whole tensors")
	}
	return nil
}

// unmarked returns the value before the marks that say that it is a block already.
func (im *importer) unmarked(v ir.ValueID) ir.ValueID {
	for is(im.m, im.m.DefiningOp(v), markTarget) {
		v = im.m.Operand(im.m.DefiningOp(v), 0)
	}
	return v
}

// source returns the change that an operand of a call is a block of, 0 where it is none, and notes the marks between.
func (im *importer) source(r *region, v ir.ValueID) ir.OpID {
	change := im.m.DefiningOp(im.unmarked(v))
	if !is(im.m, change, toBlocks...) {
		return 0
	}
	for op := im.m.DefiningOp(v); op != change; op = im.m.DefiningOp(im.m.Operand(op, 0)) {
		r.marks = append(r.marks, op)
	}
	return change
}

// enters finds how the whole tensor of an end lies, and along which axes devices compute for themselves: what the change says, or of GSPMD
// the mark before it.
func (im *importer) enters(r *region, e *end, i int) error {
	m := im.m
	p := results(m, e.change)
	if text := p.attrs.Frontend().Str("xla.sdy.in_shardings"); text != "" {
		return im.shardyEnd(r, e, "xla.sdy.in_shardings", i)
	}
	block, err := im.layout(e.change, p.attrs.Str(shardingAttr), m.Type(m.Result(e.change, i)))
	if err != nil {
		return err
	}
	mark := m.DefiningOp(e.whole)
	if !is(m, mark, markTarget) {
		return diag.Unsupported(diag.NotSupported, m.OpPos(e.change), "nothing says how the tensor lies that becomes blocks here: "+
			"GSPMD marks it by a custom call @Sharding")
	}
	whole := results(m, mark)
	l, err := im.layout(mark, whole.attrs.Str(shardingAttr), m.Type(e.whole))
	if err != nil {
		return err
	}
	around := func(axis subaxis.Ref) bool { return slices.Contains(l.Manual, axis) } // axes of a region that this one is in
	r.manual, r.mesh = slices.DeleteFunc(slices.Clone(block.Manual), around), im.mesh
	e.sharding = im.intern(l, whole.open())
	if m.HasOneUse(e.whole) { // the computation says all that the mark does
		r.marks, e.whole = append(r.marks, mark), m.Operand(mark, 0)
	}
	return nil
}

// leaves finds the ends of a result of a call, behind marks.
func (im *importer) leaves(r *region, v, block ir.ValueID) error {
	m := im.m
	for u := range m.Uses(v) {
		switch {
		case is(m, u.Op, markTarget):
			r.marks = append(r.marks, u.Op)
			if err := im.leaves(r, m.Result(u.Op, 0), block); err != nil {
				return err
			}
		case is(m, u.Op, toWhole...):
			e := end{change: u.Op, whole: m.Result(u.Op, int(u.Index)), block: block}
			if err := im.left(r, &e, int(u.Index)); err != nil {
				return err
			}
			r.outputs = append(r.outputs, e)
		case len(r.inputs) > 0:
			return diag.Unsupported(diag.NotSupported, m.OpPos(u.Op), "a block of a device is used outside of the call that computes blocks")
		}
	}
	return nil
}

// left finds how the whole tensor lies that a block becomes.
func (im *importer) left(r *region, e *end, i int) error {
	p := results(im.m, e.change)
	if p.attrs.Frontend().Str("xla.sdy.out_shardings") != "" {
		return im.shardyEnd(r, e, "xla.sdy.out_shardings", i)
	}
	l, err := im.layout(e.change, p.attrs.Str(shardingAttr), im.m.Type(e.whole))
	if err != nil {
		return err
	}
	e.sharding = im.intern(l, p.open())
	if r.mesh == 0 { // without inputs the call is manual along all axes
		r.manual, r.mesh = im.m.Mesh(im.mesh).All(), im.mesh
	}
	return nil
}

// shardyEnd reads the sharding of an end, and the manual axes, from the frontend attributes of its change.
func (im *importer) shardyEnd(r *region, e *end, name string, i int) error {
	p := results(im.m, e.change)
	list, err := im.shardyList(p, name, p.attrs.Frontend().Str(name))
	if err != nil {
		return err
	}
	e.sharding = list[i]
	r.mesh = im.m.ShardingOf(e.sharding).Mesh
	axes := p.attrs.Frontend().Str("xla.sdy.manual_axes")
	axes = strings.TrimSuffix(strings.TrimPrefix(axes, "#sdy<manual_axes"), ">")
	text := "<@" + ir.FormatSymbol(im.m.Mesh(r.mesh).Name) + ", [], replicated=" + axes + ">"
	all, err := mlir.ParseShardingIn(im.m, im.m.Body(), text, diag.Position{})
	if err != nil {
		return at(err, im.m.OpPos(e.change))
	}
	r.manual = im.m.ShardingOf(all).Replicated
	return nil
}

// build puts a manual computation of the call in its place.
func (im *importer) build(r *region) {
	m := im.m
	var operands, returned []ir.ValueID
	var types []ir.TypeID
	for _, e := range r.inputs {
		operands = append(operands, e.whole)
	}
	for _, e := range r.outputs {
		types = append(types, m.Type(e.whole))
	}
	attrs := ir.MakeAttrs(ir.Named("manual_axes", &ir.AxesAttr{Mesh: r.mesh, Axes: r.manual}))
	op := m.BuilderBefore(r.call).OpRegions(ir.OpSdyManualComputation, types, attrs, 1, operands...)
	m.InheritPos(op, r.call)
	body := m.AddBlock(m.Region(op, 0))
	values := map[ir.ValueID]ir.ValueID{}
	for _, e := range r.inputs {
		arg := m.AddBlockArg(body, m.Type(e.block))
		m.SetSharding(arg, e.sharding)
		values[e.block] = arg
	}
	at := m.BuilderAtEnd(body)
	m.CloneOp(at, r.call, values)
	for i, e := range r.outputs {
		returned = append(returned, values[e.block])
		m.SetSharding(m.Result(op, i), e.sharding)
		m.ReplaceUses(e.whole, m.Result(op, i))
	}
	at.Op(ir.OpSdyReturn, nil, nil, returned...)
	im.remove(r)
}

// remove takes the call and what is around it out of the program.
func (im *importer) remove(r *region) {
	gone := map[ir.OpID]bool{}
	erase := func(op ir.OpID) {
		if !gone[op] && !slices.ContainsFunc(im.m.ResultValues(op), im.m.HasUses) {
			gone[op] = true
			im.m.Erase(op)
		}
	}
	for _, e := range r.outputs {
		erase(e.change)
	}
	for _, op := range slices.Backward(r.marks) {
		erase(op)
	}
	erase(r.call)
	for _, op := range r.marks {
		erase(op)
	}
	for _, e := range r.inputs {
		erase(e.change)
	}
	for _, op := range r.marks { // before the changes
		erase(op)
	}
}
