package typed

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// inside runs f with the builder at the end of a new block of a region and ends the block with what f returns.
func (b *Builder) inside(region ir.RegionID, args []ir.TypeID, f func(args []ir.ValueID) []ir.ValueID) []ir.ValueID {
	outer := b.at
	defer func() { b.at = outer }()
	block := b.m.AddBlock(region)
	values := lists.Map(args, func(t ir.TypeID) ir.ValueID { return b.m.AddBlockArg(block, t) })
	b.at = b.m.BuilderAtEnd(block)
	results := f(values)
	if b.err == nil {
		b.at.Op(ir.OpStablehloReturn, nil, nil, results...)
	}
	return results
}

// Scan runs a body once for each of length rows of the arrays in xs, last row first if reverse. The body takes the
// carries and the rows, may use values of the program around it, and returns new carries and rows of results; Scan
// returns the last carries and the stacked results.
func (b *Builder) Scan(carry, xs []ir.ValueID, length int64, reverse bool, body func(carry, row []ir.ValueID) (next,
	out []ir.ValueID)) (last, stacked []ir.ValueID) {
	none := func() ([]ir.ValueID, []ir.ValueID) { return make([]ir.ValueID, len(carry)), nil }
	if b.err != nil || slices.Contains(carry, 0) || slices.Contains(xs, 0) {
		return none()
	}
	args := b.m.TypesOf(carry)
	for _, x := range xs {
		dims := b.m.Shape(x)
		if len(dims) == 0 || dims[0] != length {
			b.fail(b.about(b.p.bad("AS1101", "E_OP", "a scan of %d steps needs arrays with %d rows", length, length),
				ir.OpShardMapScan, []ir.ValueID{x}))
			return none()
		}
		args = append(args, b.m.WithDims(b.m.Type(x), dims[1:]))
	}
	var outs []ir.ValueID
	region := b.m.DetachedRegion()
	b.inside(region, args, func(v []ir.ValueID) []ir.ValueID {
		var next []ir.ValueID
		next, outs = body(v[:len(carry):len(carry)], v[len(carry):])
		if b.err == nil && len(next) != len(carry) {
			b.fail(b.p.bad("AS1102", "E_OP", "the body of a scan returns %d carries of %d", len(next), len(carry)))
		}
		return append(slices.Clone(next), outs...)
	})
	if b.err != nil {
		return none()
	}
	results := b.m.TypesOf(carry)
	for _, v := range outs {
		results = append(results, b.m.WithDims(b.m.Type(v), append([]int64{length}, b.m.Shape(v)...)))
	}
	attrs := ir.MakeAttrs(ir.Named("carries", b.m.I64(int64(len(carry)))), ir.Named("length", b.m.I64(length)),
		ir.Named("reverse", ir.BoolAttr(reverse)))
	op := b.at.Op(ir.OpShardMapScan, results, attrs, append(slices.Clone(carry), xs...)...)
	b.m.AdoptRegions(op, []ir.RegionID{region})
	all := b.m.ResultValues(op)
	return all[:len(carry)], all[len(carry):]
}

// While runs body on the values as long as cond returns true.
func (b *Builder) While(init []ir.ValueID, cond func([]ir.ValueID) ir.ValueID, body func([]ir.ValueID) []ir.ValueID) []ir.ValueID {
	if b.err != nil || slices.Contains(init, 0) {
		return make([]ir.ValueID, len(init))
	}
	types := b.m.TypesOf(init)
	regions := []ir.RegionID{b.m.DetachedRegion(), b.m.DetachedRegion()}
	b.inside(regions[0], types, func(v []ir.ValueID) []ir.ValueID { return []ir.ValueID{cond(v)} })
	b.inside(regions[1], types, body)
	if b.err != nil {
		return make([]ir.ValueID, len(init))
	}
	op := b.at.Op(ir.OpWhile, types, nil, init...)
	b.m.AdoptRegions(op, regions)
	return b.m.ResultValues(op)
}

// Cond runs the branch that a scalar selects: of a boolean, the first one if it is false; of an i32, the one of that
// number. Branches may use values of the program around them.
func (b *Builder) Cond(which ir.ValueID, branches ...func() []ir.ValueID) []ir.ValueID {
	if b.err != nil || which == 0 {
		return nil
	}
	kind := ir.OpCase
	if b.m.ValueType(which).DType == dtype.I1 {
		kind = ir.OpIf
		branches = slices.Clone(branches)
		slices.Reverse(branches)
	}
	var regions []ir.RegionID
	var results []ir.ValueID
	for _, branch := range branches {
		region := b.m.DetachedRegion()
		regions = append(regions, region)
		results = b.inside(region, nil, func([]ir.ValueID) []ir.ValueID { return branch() })
	}
	if b.err != nil || slices.Contains(results, 0) {
		return make([]ir.ValueID, len(results))
	}
	op := b.at.Op(kind, b.m.TypesOf(results), nil, which)
	b.m.AdoptRegions(op, regions)
	return b.m.ResultValues(op)
}
