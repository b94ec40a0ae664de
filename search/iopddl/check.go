package iopddl

import (
	"math"
	"slices"

	"autoshard/internal/diag"
)

// maxCombinations bounds the strategies of an auxiliary node.
const maxCombinations = 4096

// check compares the lengths of lists and the numbers in them. The first error sticks.
func (d *decoder) check() {
	if n := d.intervals.len; n != d.costs.len || n != d.usages.len {
		d.fail(diag.BadModel, d.intervals.start, "nodes: %d intervals, %d costs, %d usages", n, d.costs.len, d.usages.len)
		return
	}
	if d.pairs.len != d.matrices.len {
		d.fail(diag.BadModel, d.pairs.start, "edges: %d node lists, %d cost lists", d.pairs.len, d.matrices.len)
		return
	}
	d.checkNodes()
	pairs, matrices := d.pairs.cursor(), d.matrices.cursor()
	for e := 0; e < d.pairs.len && d.err == nil; e++ {
		pairs.next()
		matrices.next()
		d.checkEdge(e, pairs, matrices)
	}
}

func (d *decoder) checkNodes() {
	intervals, costs, usages := d.intervals.cursor(), d.costs.cursor(), d.usages.cursor()
	for i := 0; i < d.costs.len && d.err == nil; i++ {
		intervals.next()
		costs.next()
		usages.next()
		d.scratch = intervals.numbers(d.scratch[:0])
		if len(d.scratch) != 2 {
			d.fail(diag.BadModel, intervals.at, "node %d: interval has %d numbers", i, len(d.scratch))
		} else if lo, hi := d.scratch[0], d.scratch[1]; lo < hi && lo < 0 {
			d.fail(diag.BadModel, intervals.at, "node %d: interval starts before 0", i)
		} else if lo < hi && hi > math.MaxInt32 {
			d.fail(diag.BadModel, intervals.at, "node %d: interval ends at %d, after %d", i, hi, math.MaxInt32)
		}
		d.scratch = usages.numbers(d.scratch[:0])
		switch k := int(d.costs.counts[i]); {
		case len(d.scratch) != k:
			d.fail(diag.BadModel, usages.at, "node %d: %d costs, %d usages", i, k, len(d.scratch))
		case k == 0:
			d.fail(diag.BadModel, costs.at, "node %d: no strategies", i)
		case slices.Min(d.scratch) < 0:
			d.fail(diag.BadModel, usages.at, "node %d: negative usage", i)
		}
	}
}

// checkEdge checks the nodes and the number of costs of edge e.
func (d *decoder) checkEdge(e int, pairs, matrices *cursor) {
	d.scratch = pairs.numbers(d.scratch[:0])
	want := 1
	for _, i := range d.scratch {
		if i < 0 || i >= int64(d.costs.len) {
			d.fail(diag.BadModel, pairs.at, "edge %d: node %d out of range, there are %d", e, i, d.costs.len)
			return
		}
		if want *= int(d.costs.counts[i]); len(d.scratch) > 2 && want > maxCombinations {
			if d.err == nil {
				d.err = diag.Unsupported(diag.NotSupported, d.lines.position(d.file, pairs.at),
					"edge %d: arity %d not supported at this size, more than %d combinations", e, len(d.scratch), maxCombinations)
			}
			return
		}
	}
	if got := int(d.matrices.pool.counts[matrices.id]); got != want {
		d.fail(diag.BadModel, matrices.at, "edge %d: %d costs, wants %d", e, got, want)
	}
}
