package rule

import (
	"slices"

	"autoshard/ir"
	"autoshard/localform"
)

func init() {
	register(&Family{
		Name:  "reduce",
		Why:   "kept dimensions pass through, reduced ones are combined across shards",
		build: buildReduce,
		local: true,
		reads: []string{"dimensions"},
		seeks: true,

		combine: combineReduce,
		judge:   mergePartial,
		pads:    owned,
	}, ir.OpReduce)
	register(&Family{
		Name:  "reduce_window",
		Why:   "dimensions without a window pass through; windows reach over to neighbouring shards",
		build: buildReduceWindow,
		judge: fetchOrRun,
		pads:  owned,
	}, ir.OpReduceWindow)
	register(&Family{
		Name:  "select_and_scatter",
		Why:   "dimensions without a window pass through; windows reach over to neighbouring shards",
		build: buildSelectAndScatter,
		seeks: true,
		judge: fetchTouching,
		pads:  passing,
	}, ir.OpSelectAndScatter)
	register(&Family{
		Name:  "sort",
		Why:   "slices are sorted independently; along the sorted dimension shards exchange what they have",
		build: buildSort,
		seeks: true,
		judge: exchangeSorted,
		pads:  owned,
	}, ir.OpSort)
}

func buildReduce(b *builder) bool {
	reduced := b.ints("dimensions")
	inputs, kind := len(b.in)/2, reduction
	if b.computing && localform.Exchanged(b.m, b.op) {
		kind = permutation
	}
	out := 0
	for d, size := range b.in[0] {
		ins, outs := slices.Repeat([]int{none}, len(b.in)), slices.Repeat([]int{none}, len(b.out))
		for i := range inputs {
			ins[i] = d
		}
		if hasInt(reduced, d) {
			b.factor(ins, outs, size, kind, false)
			continue
		}
		for i := range outs {
			outs[i] = out
		}
		out++
		b.factor(ins, outs, size, passThrough, false)
	}
	return true
}

func buildReduceWindow(b *builder) bool {
	w := ir.Windows(b.m, b.op)
	if len(w) != len(b.out[0]) {
		return false
	}
	return b.passing(b.out[0], func(d int) bool { return trivial(w[d]) }, permutation, b.conservative)
}

func buildSelectAndScatter(b *builder) bool {
	w := ir.Windows(b.m, b.op)
	if len(w) != len(b.out[0]) {
		return false
	}
	for d, size := range b.out[0] {
		if trivial(w[d]) {
			b.everywhere(d, size, passThrough, false)
			continue
		}
		if b.computing {
			b.factor([]int{d, d, none}, []int{d}, size, permutation, false)
			continue
		}
		b.factor([]int{none, d, none}, []int{none}, b.in[1][d], needReplication, b.conservative)
		b.factor([]int{d, none, none}, []int{d}, size, permutation, b.conservative)
	}
	return true
}

func buildSort(b *builder) bool {
	shape, sorted, kind := b.in[0], localform.SortedDim(b.m, b.op), needReplication
	if b.computing {
		kind = permutation
	}
	alone := true
	for d, size := range shape {
		alone = alone && (d == sorted || size == 1)
	}
	return b.passing(shape, func(d int) bool { return d != sorted }, kind, alone)
}

// exchangeSorted cuts the dimension that is sorted: the devices along it are a sorting network.
func exchangeSorted(v *verdict) {
	for _, f := range v.rule.Permutation {
		v.cut(f, v.rule.Sizes[f])
	}
}

// trivial says whether a window covers one element, moves by one and pads nothing.
func trivial(w ir.Window) bool { return w.Size == 1 && w.Stride == 1 && w.Low == 0 && w.High == 0 }

// combineReduce recognises a reduce of one operand whose partial results combine. A sum counts its initial value once per
// device, so it must be zero; minima and maxima may repeat theirs.
func combineReduce(m *ir.Module, op ir.OpID) (ir.Reduction, bool) {
	if m.NumResults(op) != 1 {
		return ir.ReduceSum, false
	}
	r, ok := ir.ReductionOf(m, op, 0)
	if ok && r == ir.ReduceSum && !IsZero(m, m.Operand(op, m.NumOperands(op)-1)) {
		return r, false
	}
	return r, ok
}
