package everyop

import (
	"fmt"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var controlOps = family{
	ir.OpCall: (*drawing).call, ir.OpComposite: (*drawing).call, ir.OpIf: (*drawing).branch, ir.OpCase: (*drawing).branch,
	ir.OpWhile: (*drawing).loop, ir.OpOptimizationBarrier: (*drawing).barrier, ir.OpTuple: (*drawing).tuple,
	ir.OpGetTupleElement: (*drawing).tuple, ir.OpPartitionId: (*drawing).ownNumber, ir.OpReplicaId: (*drawing).ownNumber,
}

// ownNumber draws the number of the device or of the process that runs the program, of which there is one.
func (d *drawing) ownNumber(k ir.Kind) {
	for range d.between(1, 2, "times") {
		d.emit(k, nil)
	}
}

// step writes an op of a body, which makes of a value another one of its type, exactly, with another value now and then.
func (d *drawing) step(b *ir.Builder, v, other ir.ValueID) ir.ValueID {
	t, e := d.m.Type(v), d.typeOf(v)
	switch {
	case Lacking(e) || d.odds("as it is", 4):
		return v
	case isComplex(e) || isInteger(e) && d.odds("negated", 3):
		return b.Op1(ir.OpNegate, t, nil, v)
	case !isInexact(e):
		return b.Op1(pick(d, []ir.Kind{ir.OpAdd, ir.OpXor, ir.OpOr}, "op of the body"), t, nil, v, other)
	}
	return b.Op1(pick(d, []ir.Kind{ir.OpMaximum, ir.OpMinimum}, "op of the body"), t, nil, v, other)
}

// call draws a function of two values and a call of it.
func (d *drawing) call(k ir.Kind) {
	x := d.any(isAny, 0, 3)
	y := d.like(d.m.Type(x))
	name := fmt.Sprint("f", d.m.NumOps())
	t := d.m.Type(x)
	f := d.m.Func(d.m.AddFunc(ir.FuncSpec{Name: name, Visibility: "private", Args: []ir.TypeID{t, t}, Results: []ir.TypeID{t, t}}))
	b, args := d.m.BuilderAtEnd(f.Body), d.m.BlockArgs(f.Body)
	v := d.step(b, args[0], args[1])
	b.Op(ir.OpReturn, nil, nil, d.step(b, v, args[0]), v)
	a := attrs("callee", ir.SymbolAttr{name})
	if k == ir.OpComposite {
		a = attrs("decomposition", ir.SymbolAttr{name}, "name", ir.StringAttr("some.op"))
		if d.odds("version", 2) {
			a = a.With("version", d.i32(d.between(0, 3, "version"))).
				With("composite_attributes", ir.DictAttr(attrs("n", d.m.I64(1))))
		}
	}
	d.made(d.b.Op(k, []ir.TypeID{t, t}, a, x, y))
}

// branch draws branches that capture values. The number of one may lie outside.
func (d *drawing) branch(k ir.Kind) {
	x := d.any(isAny, 0, 3)
	y, z := d.like(d.m.Type(x)), d.any(isAny, 0, 2)
	which, branches := d.like(d.m.TensorType(dtype.I1)), 2
	if k == ir.OpCase {
		branches = int(d.between(1, 3, "branches"))
		which = d.integers(dtype.I32, []int64{d.between(-1, int64(branches), "branch")})
	}
	op := d.made(d.b.OpRegions(k, []ir.TypeID{d.m.Type(x), d.m.Type(z)}, nil, branches, which))
	for i := range branches {
		b, _ := d.region(op, i)
		v := d.step(b, x, y)
		end(b, d.step(b, v, x), z)
	}
}

// loop draws a loop of some rounds that carries two values, one of which may take the other's place.
func (d *drawing) loop(k ir.Kind) {
	x := d.any(isAny, 0, 3)
	y := d.like(d.m.Type(x))
	t, counter := d.m.Type(x), d.m.TensorType(dtype.I32)
	n := d.integers(dtype.I32, []int64{d.between(0, 4, "rounds")})
	begin := d.integers(dtype.I32, []int64{d.between(0, 1, "begin")})
	op := d.made(d.b.OpRegions(k, []ir.TypeID{counter, t, t}, nil, 2, begin, x, y))
	b, v := d.region(op, 0, counter, t, t)
	end(b, b.Op1(ir.OpCompare, d.m.TensorType(dtype.I1), ir.CompareAttrs("LT", dtype.I32), v[0], n))
	b, v = d.region(op, 1, counter, t, t)
	next := []ir.ValueID{d.step(b, v[1], v[2]), d.step(b, v[2], x)}
	if d.odds("swapped", 2) {
		next[0], next[1] = next[1], next[0]
	}
	end(b, b.Op1(ir.OpAdd, counter, nil, v[0], b.Integer(dtype.I32, 1)), next[0], next[1])
}

func (d *drawing) barrier(k ir.Kind) {
	operands := lists.Of(int(d.between(1, 3, "operands")), func(int) ir.ValueID { return d.any(isAny, 0, 3) })
	d.made(d.b.Op(k, lists.Map(operands, d.m.Type), nil, operands...))
}

// tuple draws a tuple, now and then of tuples, and takes an element out of it.
func (d *drawing) tuple(ir.Kind) {
	elements := lists.Of(int(d.between(1, 3, "elements")), func(int) ir.ValueID { return d.any(isAny, 0, 3) })
	of := func(list []ir.ValueID) ir.ValueID {
		return d.b.Op1(ir.OpTuple, d.m.InternType(ir.Type{Kind: ir.TupleKind, Elems: lists.Map(list, d.m.Type)}), nil, list...)
	}
	take := func(v ir.ValueID, i int64) ir.ValueID {
		return d.b.Op1(ir.OpGetTupleElement, d.m.ValueType(v).Elems[i], attrs("index", d.i32(i)), v)
	}
	v := of(elements)
	if d.odds("nested", 3) {
		v = take(of([]ir.ValueID{elements[0], v}), 1)
	}
	d.values = append(d.values, take(v, d.between(0, int64(len(elements))-1, "element")))
}
