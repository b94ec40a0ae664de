package typed

import (
	"context"
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// maxDevices bounds the devices of a mesh.
const maxDevices = 1 << 30

// Validate checks everything about a program but the variance of its values: the mesh, the specs against the types,
// and every op of the body (specification: shardmap.md section 1.4). The error is of class diag.ErrInvalid, or
// diag.ErrUnsupported for an op that has no place in a body.
func (p *Program) Validate() error {
	if err := p.checkMesh(); err != nil {
		return err
	}
	if err := p.checkManual(); err != nil {
		return err
	}
	if err := p.checkParams(); err != nil {
		return err
	}
	ret := p.Return()
	if ret == 0 || p.Module.Kind(ret) != ir.OpReturn || p.Module.NumOperands(ret) != len(p.Results) {
		return p.bad(diag.BadOp, "E_TREE", "the body must return one block for each of the %d output specs", len(p.Results))
	}
	for i, r := range p.Results {
		if err := p.checkOutSpec(i, p.Module.Operand(ret, i), r.Spec); err != nil {
			return err
		}
		if _, _, err := dtype.Size(p.Module.ValueType(p.Module.Operand(ret, i)).DType, p.GlobalDims(i)); err != nil {
			return err
		}
	}
	if err := p.checkOps(p.Body()); err != nil {
		return p.showBlocks(err)
	}
	return p.showBlocks(ir.Verify(context.Background(), p.Module))
}

func (p *Program) checkManual() error {
	if p.Manual == 0 || !p.Manual.In(p.allAxes()) {
		return p.bad(diag.BadMesh, "E_MESH_EMPTY", "a program needs at least one manual axis of its mesh")
	}
	return nil
}

// checkOutSpec checks the spec of output i, whose block is v.
func (p *Program) checkOutSpec(i int, v ir.ValueID, s Spec) error {
	return p.checkSpec(fmt.Sprintf("output %d, %s:%s,", i, p.NameOf(v), formatType(p.Module.ValueType(v))), s, p.Module.Shape(v), true)
}

// checkMesh checks the axes: at least one, with names that are identifiers, few enough for a set.
func (p *Program) checkMesh() error {
	if len(p.Mesh.Axes) == 0 {
		return p.bad(diag.BadMesh, "E_MESH_EMPTY", "the mesh cannot be empty")
	}
	if len(p.Mesh.Axes) > MaxAxes {
		return p.bad(diag.BadMesh, "E_MESH_EMPTY", "the mesh has %d axes, the limit is %d", len(p.Mesh.Axes), MaxAxes)
	}
	devices := int64(1)
	for i, a := range p.Mesh.Axes {
		if !isIdentifier(a.Name) {
			return p.bad(diag.BadMesh, "E_MESH_EMPTY", "axis name %q is not an identifier", a.Name)
		}
		if a.Size < 1 || a.Size > maxDevices/devices {
			return p.bad(diag.BadMesh, "E_MESH_EMPTY", "axis `%s` of size %d makes a mesh of no or more than %d devices", a.Name, a.Size, maxDevices)
		}
		devices *= a.Size
		if axisNumber(&p.Mesh, a.Name) != i {
			return p.bad(diag.BadMesh, "E_MESH_EMPTY", "axis `%s` is in the mesh twice", a.Name)
		}
	}
	if err := ir.CheckMesh(&p.Mesh); err != nil {
		return p.bad(diag.BadMesh, "E_MESH_EMPTY", "the devices do not fit the mesh: %v", err)
	}
	return nil
}

func isIdentifier(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (p *Program) checkParams() error {
	args := p.Module.BlockArgs(p.Body())
	if len(args) != len(p.Params) {
		return p.bad(diag.BadOp, "E_TREE", "the body takes %d blocks, there are %d input specs", len(args), len(p.Params))
	}
	for i, param := range p.Params {
		what := "input `" + param.Name + "`"
		t := p.Module.TypeOf(param.Type)
		if _, _, err := dtype.Size(t.DType, t.Dims); err != nil {
			return err
		}
		block, err := p.blockDims(what, param.Spec, t.Dims)
		if err != nil {
			return err
		}
		if have := p.Module.ValueType(args[i]); have.DType != t.DType || !slices.Equal(have.Dims, block) {
			return p.bad(diag.TypeMismatch, "E_OP", "%s of type %s with spec %s has blocks of shape %s, the body takes %s",
				what, formatType(t), param.Spec, formatDims(block), formatType(have))
		}
	}
	return nil
}

// foreign says whether a body must not have an op: one that names devices otherwise than by axes, or calls what is not in the body.
func foreign(k ir.Kind) bool {
	switch k {
	case ir.OpCall, ir.OpPartitionId, ir.OpReplicaId, ir.OpSdyManualComputation, ir.OpAsyncStart, ir.OpAsyncDone:
		return true
	}
	return k.Transfers() || k.Communicates() && !k.IsShardMap()
}

// checkOps checks the ops of shard_map programs, about which package ir has no rules.
func (p *Program) checkOps(b ir.BlockID) error {
	for op := range p.Module.Within(b) {
		if err := p.checkOp(op); err != nil {
			return err
		}
	}
	return nil
}

func (p *Program) checkOp(op ir.OpID) error {
	m := p.Module
	kind := m.Kind(op)
	for _, v := range m.Results(op) {
		if t := m.ValueType(v); !t.IsStatic() || t.Quant != 0 || t.Encoding != "" {
			return diag.Unsupported(diag.NotSupported, p.where(op),
				"`%s` has a result of type %s; values of a body are plain arrays of static shape",
				m.OpName(op), m.FormatType(m.Type(v)))
		}
	}
	if foreign(kind) {
		return diag.Unsupported(diag.NotSupported, p.where(op),
			"`%s` has no place in the body of a shard_map program; collectives name axes of the mesh", m.OpName(op))
	}
	if kind == ir.OpWhile || kind == ir.OpIf || kind == ir.OpCase || kind == ir.OpReduce {
		return p.checkRegions(op)
	}
	if kind != ir.OpUnregistered && !kind.IsShardMap() {
		return nil
	}
	if kind == ir.OpShardMapScan {
		return p.inOp(op, p.checkScanTypes(op))
	}
	c, err := p.Collective(op)
	if err != nil {
		return p.inOp(op, err)
	}
	if len(c.Axes) == 0 {
		return p.badAt(op, diag.BadOp, "E_OP", "needs at least one axis")
	}
	t, err := p.resultType(&c, m.TypesOf(m.Operands(op)))
	if err != nil {
		return p.inOp(op, err)
	}
	if m.NumResults(op) != 1 || m.NumRegions(op) != 0 {
		return p.badAt(op, diag.BadOp, "E_OP", "has one result and no region")
	}
	if have := m.Type(m.Result(op, 0)); have != t {
		return p.badAt(op, diag.TypeMismatch, "E_COLL_SHAPE", "its result is %s, not %s", formatType(m.TypeOf(t)), formatType(m.TypeOf(have)))
	}
	return nil
}

// checkRegions checks that the regions of an op of package ir are complete, so that the rest can rely on it before
// ir.Verify has run.
func (p *Program) checkRegions(op ir.OpID) error {
	m := p.Module
	bad := func() error {
		return p.badAt(op, diag.BadOp, "E_OP", "has regions that do not fit its operands and results")
	}
	for r := range m.NumRegions(op) {
		b := m.RegionBlock(op, r)
		if b == 0 || m.LastOp(b) == 0 || !m.Kind(m.LastOp(b)).IsTerminator() {
			return bad()
		}
		n, args := m.NumOperands(m.LastOp(b)), len(m.BlockArgs(b))
		switch m.Kind(op) {
		case ir.OpWhile:
			if args != m.NumOperands(op) || args != m.NumResults(op) || r == 0 && n != 1 || r == 1 && n != args {
				return bad()
			}
		case ir.OpIf, ir.OpCase:
			if n != m.NumResults(op) || m.NumOperands(op) != 1 {
				return bad()
			}
		}
	}
	if n := m.NumRegions(op); n == 0 || m.Kind(op) == ir.OpWhile && n != 2 {
		return bad()
	}
	return nil
}

// inOp puts the equation before the message of an error.
func (p *Program) inOp(op ir.OpID, err error) error {
	e, ok := err.(*diag.Error)
	if !ok {
		return err
	}
	d := &e.Diagnostics[0]
	d.Message = p.equation(op) + ": " + d.Message
	return p.placed(op, e)
}

func (p *Program) checkScanTypes(op ir.OpID) error {
	m, info := p.Module, p.ScanOf(op)
	bad := func(format string, args ...any) error { return p.bad(diag.TypeMismatch, "E_OP", format, args...) }
	n := m.NumOperands(op)
	if m.NumRegions(op) != 1 || m.RegionBlock(op, 0) == 0 || info.Carries < 0 || info.Carries > n || info.Carries > m.NumResults(op) ||
		info.Length < 0 || info.Length > 1<<31-1 {
		return bad("needs a body, a number of carries and a length")
	}
	body := m.RegionBlock(op, 0)
	args, ret := m.BlockArgs(body), m.LastOp(body)
	if ret == 0 || m.Kind(ret) != ir.OpStablehloReturn || len(args) != n || m.NumOperands(ret) != m.NumResults(op) {
		return bad("its body takes %d values and must take %d, and must return %d", len(args), n, m.NumResults(op))
	}
	row := func(t ir.TypeID) ir.TypeID {
		if dims := m.TypeOf(t).Dims; m.TypeOf(t).IsStatic() && len(dims) > 0 && dims[0] == info.Length {
			return m.WithDims(t, dims[1:])
		}
		return 0
	}
	for i := range n {
		want := m.Type(m.Operand(op, i))
		if i >= info.Carries {
			want = row(want)
		}
		if want != m.Type(args[i]) {
			return bad("operand %d is %s, its body takes %s", i, formatType(m.ValueType(m.Operand(op, i))), formatType(m.ValueType(args[i])))
		}
	}
	for i := range m.NumResults(op) {
		v, want := m.Operand(ret, i), m.Type(m.Result(op, i))
		if i < info.Carries && m.Type(v) != m.Type(args[i]) {
			return bad(
				"carry input and carry output must have equal types: carry %d is %s and the body returns %s",
				i, formatType(m.ValueType(args[i])), p.FormatValue(v))
		}
		if i >= info.Carries {
			want = row(want)
		}
		if want != m.Type(v) || !m.TypeOf(want).IsStatic() || m.ValueType(v).DType == dtype.Invalid {
			return bad("result %d is %s, its body returns %s", i, formatType(m.ValueType(m.Result(op, i))), p.FormatValue(v))
		}
	}
	return nil
}
