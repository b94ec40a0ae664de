package propagate_test

import (
	"fmt"
	"slices"
	"strings"
)

// indexing is what gather and scatter share: which dimensions of the operand slices leave out, which are batches, and where
// the dimensions of a slice and of the indices stand in the result of a gather or the update of a scatter.
type indexing struct {
	slice            []int64 // sizes of a slice
	collapsed, batch []int64 // of the operand
	indexBatch       []int64 // of the indices, one for each of batch
	indexed          []int64 // dimensions of the operand that indices say
	vector           int64   // dimension of the indices that holds an index
	indices          []int64 // their shape
	offsets          []int64 // dimensions of the result that are those of a slice
	result           []int64
}

// drawIndexing draws all of that for an operand.
func (g *generator) drawIndexing(x value) *indexing {
	n := &indexing{}
	var offset, lookups []int64 // sizes of slices' own dimensions; shape of the indices without the vector
	for d, size := range x.dims {
		d, part := int64(d), size
		switch kind := g.r.Intn(6); kind {
		case 0:
			part, n.batch = 1, append(n.batch, d)
			n.indexBatch, lookups = append(n.indexBatch, int64(len(lookups))), append(lookups, size)
		case 1, 2:
			part, n.collapsed = 1, append(n.collapsed, d)
			if !g.chance(5) {
				n.indexed = append(n.indexed, d)
			}
		default:
			if g.chance(3) {
				part = 1 + int64(g.r.Intn(int(size)))
			}
			if offset = append(offset, part); part < size || g.chance(6) {
				n.indexed = append(n.indexed, d)
			}
		}
		n.slice = append(n.slice, part)
	}
	for range g.r.Intn(3) {
		at := g.r.Intn(len(lookups) + 1)
		lookups = slices.Insert(lookups, at, g.pick(1, 2, 4, 6))
		for i, b := range n.indexBatch {
			if b >= int64(at) {
				n.indexBatch[i]++
			}
		}
	}
	n.vector = int64(len(lookups))
	n.indices = slices.Clone(lookups)
	if len(n.indexed) != 1 || g.chance(2) {
		if g.chance(3) {
			n.vector = int64(g.r.Intn(len(lookups) + 1))
		}
		n.indices = slices.Insert(n.indices, int(n.vector), int64(len(n.indexed)))
		for i, b := range n.indexBatch {
			if b >= n.vector {
				n.indexBatch[i]++
			}
		}
	}
	if g.chance(3) {
		g.r.Shuffle(len(n.indexed), func(i, j int) { n.indexed[i], n.indexed[j] = n.indexed[j], n.indexed[i] })
	}
	n.place(g, offset, lookups)
	return n
}

// place mixes the dimensions of the slices with those of the indices.
func (n *indexing) place(g *generator, offset, lookups []int64) {
	total := len(offset) + len(lookups)
	n.offsets = g.permutation(total)[:len(offset)]
	if g.chance(2) {
		n.offsets = nil
		for i := range offset {
			n.offsets = append(n.offsets, int64(len(lookups)+i))
		}
	}
	slices.Sort(n.offsets)
	for i := range total {
		if slices.Contains(n.offsets, int64(i)) {
			n.result, offset = append(n.result, offset[0]), offset[1:]
		} else {
			n.result, lookups = append(n.result, lookups[0]), lookups[1:]
		}
	}
}

// dimsText writes the attribute, with the names of gather or scatter for the same things.
func (n *indexing) dimsText(kind string, names ...string) string {
	var parts []string
	for i, dims := range [][]int64{n.offsets, n.collapsed, n.batch, n.indexBatch, n.indexed} {
		if len(dims) > 0 {
			parts = append(parts, names[i]+" = "+list(dims))
		}
	}
	parts = append(parts, fmt.Sprintf("index_vector_dim = %d", n.vector))
	return "#stablehlo." + kind + "<" + strings.Join(parts, ", ") + ">"
}

func (g *generator) gather() {
	x := g.positive(1)
	n := g.drawIndexing(x)
	dims := n.dimsText("gather", "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
		"start_index_map")
	g.op("stablehlo.gather", fmt.Sprintf("dimension_numbers = %s, slice_sizes = %s", dims, ints(n.slice)), "",
		[]value{x, g.like(shape{n.indices, "i32"})}, x.with(n.result))
}

// scatter puts updates into one tensor or two, by a computation whose kind a rule may know or not.
func (g *generator) scatter() {
	x := g.positive(1)
	n := g.drawIndexing(x)
	dims := n.dimsText("scatter", "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
		"scatter_dims_to_operand_dims")
	inputs, updates := []value{x}, []value{g.like(x.with(n.result))}
	if g.chance(4) {
		inputs, updates = append(inputs, g.like(x.shape)), append(updates, g.like(x.with(n.result)))
	}
	indices := g.like(shape{n.indices, "i32"})
	region := g.combiner(slices.Repeat([]string{"f32"}, 2*len(inputs)), len(inputs),
		g.word("add", "multiply", "maximum", "minimum", "subtract"))
	if g.chance(4) {
		region = g.combiner(slices.Repeat([]string{"f32"}, 2*len(inputs)), len(inputs), "add")
	}
	g.op("stablehlo.scatter", "scatter_dimension_numbers = "+dims, region, slices.Concat(inputs, []value{indices}, updates),
		slices.Repeat([]shape{x.shape}, len(inputs))...)
}
