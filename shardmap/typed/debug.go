package typed

import (
	"fmt"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
)

// LowerDebug is Lower with comparisons between devices added: of every value along the axes over which its type says that it
// is equal. Comparison k, an op check.expect_eq on line k of its place, is about what checks[k-1] says.
func (p *Program) LowerDebug() (program *shardmap.Program, checks []string) {
	d := &debugger{p: p}
	return p.lower(d), d.checks
}

// debugger adds to the program of one device a comparison after every equation: the block with that of the first
// member of the group along which the type says that all are equal.
type debugger struct {
	p         *Program // with types
	divergent AxisSet  // axes along which devices do not all come to the op at hand
	checks    []string // what each comparison is about
}

// enter notes that the inside of a loop or branch runs on some devices only, until the returned function is called. The
// predicate is that of the program with types, since lowering may have put another value in its place.
func (d *debugger) enter(op ir.OpID) func() {
	outer, m := d.divergent, d.p.Module
	which := m.Operand(op, 0)
	if m.Kind(op) == ir.OpWhile {
		which = m.Operand(m.LastOp(m.RegionBlock(op, 0)), 0)
	}
	d.divergent |= d.p.VarianceOf(which).V
	return func() { d.divergent = outer }
}

func (d *debugger) argument(l *lowering, b *ir.Builder, v ir.ValueID) { d.check(l, b, v, v) }

func (d *debugger) before(*lowering, ir.OpID) {}

func (d *debugger) after(l *lowering, b *ir.Builder, _ ir.OpID, v, lowered ir.ValueID) {
	d.check(l, b, v, lowered)
}

// check compares a value, as it is after lowering, between devices.
func (d *debugger) check(l *lowering, b *ir.Builder, v, lowered ir.ValueID) {
	t := d.p.VarianceOf(v)
	equal := d.p.Manual &^ (t.V | t.U | d.divergent)
	if equal == 0 || !l.m.ValueType(v).IsStatic() {
		return
	}
	bits := bitsOf(l.m, b, lowered)
	for _, x := range bits {
		first := b.Op1(ir.OpShardMapPbroadcast, l.m.Type(x), ir.MakeAttrs(ir.Named("axes", &ir.AxesAttr{Axes: l.refs(equal.Axes())})), x)
		op := b.Op(ir.OpCheckExpectEq, nil, nil, x, first)
		d.checks = append(d.checks, fmt.Sprintf("%s differs along %s", d.p.FormatValue(v), d.p.tuple(equal.Axes())))
		l.m.SetPos(op, diag.Position{Line: len(d.checks), Col: 1})
	}
}

// bitsOf emits the bits of a value as integers, so that a comparison tells all of them apart: a complex value has two
// parts, and booleans, integers and floats below a byte stand for themselves.
func bitsOf(m *ir.Module, b *ir.Builder, v ir.ValueID) []ir.ValueID {
	t := m.ValueType(v)
	switch t.DType.Kind() {
	case dtype.Complex:
		part := dtype.F32
		if t.DType == dtype.C128 {
			part = dtype.F64
		}
		re := b.Op1(ir.OpReal, m.TensorType(part, t.Dims...), nil, v)
		im := b.Op1(ir.OpImag, m.TensorType(part, t.Dims...), nil, v)
		return append(bitsOf(m, b, re), bitsOf(m, b, im)...)
	case dtype.Float:
		words := map[int]dtype.Type{8: dtype.UI8, 16: dtype.UI16, 32: dtype.UI32, 64: dtype.UI64}
		if word, ok := words[t.DType.Bits()]; ok {
			return []ir.ValueID{b.Op1(ir.OpBitcastConvert, m.TensorType(word, t.Dims...), nil, v)}
		}
	}
	return []ir.ValueID{v}
}
