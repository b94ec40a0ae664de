package rule

import (
	"slices"

	"autoshard/ir"
)

func init() {
	register(&Family{
		Name:  "slice",
		Why:   "whole dimensions pass through, cut ones move elements between shards",
		local: true,
		judge: (*verdict).fetch,
		build: func(b *builder) bool { return b.mismatch(b.in[0], b.out[0], permutation, b.conservative) },
		pads:  passing,
	}, ir.OpSlice)
	register(&Family{
		Name:  "pad",
		Why:   "dimensions that stay as they are pass through, padded ones move elements between shards",
		build: buildPad,
		local: true,
		reads: []string{"edge_padding_low", "edge_padding_high", "interior_padding"},

		judge: (*verdict).fetch,
		pads:  passing,
	}, ir.OpPad)
	register(&Family{
		Name:  "concatenate",
		Why:   "the joined dimension moves elements between shards, the others pass through",
		build: buildConcatenate,
		judge: (*verdict).fetch,
		pads:  passing,
	}, ir.OpConcatenate)
	register(&Family{
		Name:  "reverse",
		Why:   "reversed dimensions move elements between shards, the others pass through",
		build: buildReverse,
		local: true,
		reads: []string{"dimensions"},
		judge: (*verdict).fetch,
		pads:  passing,
	}, ir.OpReverse)
	register(&Family{
		Name:  "dynamic_slice",
		Why:   "whole dimensions pass through; a cut one is searched on every shard",
		build: buildDynamicSlice,
		local: true,
		seeks: true,

		combine: sums,
		pads:    masked,
	}, ir.OpDynamicSlice)
	register(&Family{
		Name:  "dynamic_update_slice",
		Why:   "operand and result are alike; of an update that covers a part of a dimension every shard takes what falls into it",
		local: true,
		build: buildDynamicUpdateSlice,

		judge: own,
		pads:  owned,
	}, ir.OpDynamicUpdateSlice)
}

// buildPad looks at the padding, not at the sizes: what is cut off at one end may be added at the other.
func buildPad(b *builder) bool {
	low, high, inner := b.ints("edge_padding_low"), b.ints("edge_padding_high"), b.ints("interior_padding")
	for d, size := range b.in[0] {
		if low[d] == 0 && high[d] == 0 && inner[d] == 0 {
			b.everywhere(d, size, passThrough, false)
		} else {
			b.everywhere(d, size, permutation, b.conservative && size != b.out[0][d])
		}
	}
	return true
}

func buildConcatenate(b *builder) bool {
	joined := int(b.int("dimension", 0))
	kind := needReplication
	if b.joinsSlices() {
		kind = permutation
	}
	for d, size := range b.out[0] {
		switch {
		case d != joined:
			b.everywhere(d, size, passThrough, false)
		case !b.conservative:
			b.everywhere(d, size, kind, false)
		}
	}
	return true
}

// joinsSlices says whether all operands are slices, or pieces of one value of which at least one is a slice.
func (b *builder) joinsSlices() bool {
	slices, sameSource := 0, true
	var source ir.ValueID
	for i := range b.in {
		v := b.m.Operand(b.op, i)
		if s := b.definedBy(i, ir.OpSlice); s != 0 {
			slices++
			v = b.m.Operand(s, 0)
		}
		sameSource = sameSource && (i == 0 || v == source)
		source = v
	}
	return slices == len(b.in) || slices > 0 && sameSource
}

func buildReverse(b *builder) bool {
	reversed := b.ints("dimensions")
	return b.passing(b.out[0], func(d int) bool { return !hasInt(reversed, d) }, permutation, false)
}

func buildDynamicSlice(b *builder) bool {
	operand, result := b.in[0], b.out[0]
	if !b.computing {
		return b.mismatch(operand, result, needReplication, true)
	}
	for d, size := range operand {
		if size == result[d] {
			b.everywhere(d, size, passThrough, false)
			continue
		}
		b.factor(dims(len(b.in), 0, d), []int{none}, size, reduction, false)
		b.factor(nil, []int{d}, result[d], needReplication, false)
	}
	return true
}

func buildDynamicUpdateSlice(b *builder) bool {
	operand, update := b.in[0], b.in[1]
	for d, size := range operand {
		if size == update[d] {
			b.everywhere(d, size, passThrough, false)
			continue
		}
		b.factor(dims(len(b.in), 0, d), []int{d}, size, permutation, false)
		b.factor(dims(len(b.in), 1, d), []int{none}, update[d], permutation, false)
	}
	return true
}

// own cuts dimensions that an update covers in part: every device writes what falls into its own block.
func own(v *verdict) {
	for d, n := range v.m.Shape(v.m.Operand(v.op, 0)) {
		if v.m.Shape(v.m.Operand(v.op, 1))[d] == n {
			continue
		}
		v.keep("every device writes what of all of it falls into its block", slices.Concat(v.rule.Operands[0][d], v.rule.Operands[1][d])...)
		places := [][]int32{v.rule.Operands[0][d], v.rule.Results[0][d]}
		if f := places[0][0]; v.alone(f, places) {
			v.cut(f, v.rule.Sizes[f])
		}
	}
}
