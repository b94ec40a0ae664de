package everyop

import (
	"slices"

	"pgregory.net/rapid"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

func (d *drawing) between(low, high int64, what string) int64 {
	return rapid.Int64Range(low, high).Draw(d.t, what)
}

// odds says yes once in n times.
func (d *drawing) odds(what string, n int64) bool { return d.between(1, n, what) == n }

func pick[T any](d *drawing, list []T, what string) T { return rapid.SampledFrom(list).Draw(d.t, what) }

// each returns a number for every dimension.
func each(rank int, of func(k int) int64) []int64 { return lists.Of(rank, of) }

// drawType draws one of the types that fit.
func (d *drawing) drawType(fits func(dtype.Type) bool) dtype.Type {
	return pick(d, lists.Filter(types, fits), "element type")
}

// size draws a size, now and then none.
func (d *drawing) size() int64 {
	return pick(d, []int64{1, 2, 3, 4, 5, 2, 3, 4, 6, 7, 1, 2, 3, 4, 5, 0}, "size")
}

// some draws a positive size.
func (d *drawing) some() int64 { return max(1, d.size()) }

// shape draws a shape of few elements.
func (d *drawing) shape(low, high int64) []int64 {
	dims := each(int(d.between(low, high, "rank")), func(int) int64 { return d.size() })
	for k := range dims {
		if lists.Product(dims) > 200 {
			dims[k] = min(dims[k], 2)
		}
	}
	return dims
}

// pool returns the values that ops made and that fit. Rounded ones are for ops that only move them.
func (d *drawing) pool(fits func(ir.ValueID) bool) []ir.ValueID {
	return lists.Filter(d.values, func(v ir.ValueID) bool { return d.rounded[v] == Rounding{} && fits(v) })
}

// any returns a tensor of a type that fits and of a rank in a range: what an op made, or a new one.
func (d *drawing) any(fits func(dtype.Type) bool, low, high int64) ir.ValueID {
	made := d.pool(func(v ir.ValueID) bool {
		t := d.m.ValueType(v)
		return t.IsStatic() && fits(t.DType) && int64(t.Rank()) >= low && int64(t.Rank()) <= high
	})
	if len(made) > 0 && !d.odds("new", 3) {
		return pick(d, made, "operand")
	}
	return d.input(d.drawType(fits), d.shape(low, high), anything)
}

// fresh returns a new tensor, for an op that sees the bits of floats: which NaN stands for no number is up to who computes.
func (d *drawing) fresh(fits func(dtype.Type) bool, low, high int64) ir.ValueID {
	return d.input(d.drawType(fits), d.shape(low, high), anything)
}

// moved is any, for an op that only moves elements: rounded ones, too.
func (d *drawing) moved(low, high int64) ir.ValueID {
	made := lists.Filter(d.values, func(v ir.ValueID) bool {
		t := d.m.ValueType(v)
		return d.rounded[v] != Rounding{} && t.IsStatic() && int64(t.Rank()) >= low && int64(t.Rank()) <= high
	})
	if len(made) > 0 && d.odds("rounded", 2) {
		return pick(d, made, "operand")
	}
	return d.any(isAny, low, high)
}

// like returns a tensor of a type: what an op made, or a new one.
func (d *drawing) like(t ir.TypeID) ir.ValueID {
	made := d.pool(func(v ir.ValueID) bool { return d.m.Type(v) == t })
	if len(made) > 0 && d.odds("made", 2) {
		return pick(d, made, "operand")
	}
	return d.input(d.m.TypeOf(t).DType, d.m.TypeOf(t).Dims, anything)
}

// scalar returns a new scalar of the element type of a value.
func (d *drawing) scalar(like ir.ValueID, of class) ir.ValueID {
	return d.input(d.typeOf(like), nil, of)
}

// typeOf returns the element type of a value.
func (d *drawing) typeOf(v ir.ValueID) dtype.Type { return d.m.ValueType(v).DType }

// emit writes an op whose result types follow from its operands, and returns its first result.
func (d *drawing) emit(k ir.Kind, attrs ir.Attrs, operands ...ir.ValueID) ir.ValueID {
	return d.m.Result(d.emitOp(k, 0, attrs, operands...), 0)
}

// emitOp writes an op with regions that are still empty.
func (d *drawing) emitOp(k ir.Kind, regions int, attrs ir.Attrs, operands ...ir.ValueID) ir.OpID {
	results, err := ir.Infer(d.m, k, operands, attrs)
	if err != nil {
		d.t.Fatalf("%s: %v", k, err)
	}
	return d.made(d.b.OpRegions(k, results, attrs, regions, operands...))
}

// typed writes an op with a result of a type.
func (d *drawing) typed(k ir.Kind, t ir.TypeID, attrs ir.Attrs, operands ...ir.ValueID) ir.ValueID {
	return d.m.Result(d.made(d.b.Op(k, []ir.TypeID{t}, attrs, operands...)), 0)
}

// made notes the results of an op. What it moves is rounded as it was.
func (d *drawing) made(op ir.OpID) ir.OpID {
	for _, v := range d.m.ResultValues(op) {
		d.values = append(d.values, v)
		for _, x := range slices.Backward(d.m.Operands(op)) {
			if r := d.rounded[x]; r != (Rounding{}) {
				d.rounded[v] = r
			}
		}
	}
	return op
}

// rounds notes that an op rounds those of its results that are no whole numbers, so many times each element.
func (d *drawing) rounds(op ir.OpID, terms int64) {
	for _, v := range d.m.ResultValues(op) {
		if isInexact(d.typeOf(v)) {
			d.rounded[v] = Rounding{d.m.Kind(op), d.typeOf(d.m.Operand(op, 0)), max(1, terms)}
		}
	}
}

func attrs(pairs ...any) ir.Attrs {
	var list []ir.NamedAttr
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, ir.Named(pairs[i].(string), pairs[i+1].(ir.Attr)))
	}
	return ir.MakeAttrs(list...)
}

// enum draws a case of an enum of StableHLO.
func (d *drawing) enum(name string, but ...string) ir.EnumAttr {
	cases := lists.Filter(ir.Enums[name].Cases, func(c string) bool { return !slices.Contains(but, c) })
	return ir.EnumAttr{Dialect: ir.Enums[name].Dialect, Enum: name, Value: pick(d, cases, name)}
}

func (d *drawing) bool(what string) ir.BoolAttr { return ir.BoolAttr(d.odds(what, 2)) }

// permutation draws an order of the dimensions.
func (d *drawing) permutation(rank int) []int64 {
	return rapid.Permutation(lists.Range[int64](rank)).Draw(d.t, "order")
}

// subset draws some of the dimensions, in order.
func (d *drawing) subset(rank int, what string) []int64 {
	return lists.Filter(lists.Range[int64](rank), func(int64) bool { return d.odds(what, 2) })
}

// region begins a block with arguments in a region of an op; what the builder then writes goes there until end.
func (d *drawing) region(op ir.OpID, i int, args ...ir.TypeID) (b *ir.Builder, values []ir.ValueID) {
	block := d.m.AddBlock(d.m.Regions(op)[i])
	for _, t := range args {
		values = append(values, d.m.AddBlockArg(block, t))
	}
	return d.m.BuilderAtEnd(block), values
}

// end ends a region.
func end(b *ir.Builder, values ...ir.ValueID) { b.Op(ir.OpStablehloReturn, nil, nil, values...) }
