package propagate_test

import (
	"fmt"
	"slices"
	"strings"
)

// dotGeneral multiplies a value with one that fits: some dimensions are batches, some contracted.
func (g *generator) dotGeneral() {
	x := g.of("f32", "bf16", "i8")
	type pair struct{ lhs, size, kind int64 } // kinds: 0 batch, 1 contracted, 2 free on the right
	var pairs []pair
	var batch, contract, free []int64
	for d, size := range x.dims {
		switch kind := int64(g.r.Intn(3)); kind {
		case 0, 1:
			pairs = append(pairs, pair{int64(d), size, kind})
		default:
			free = append(free, size)
		}
	}
	if len(pairs) < 3 && g.chance(2) {
		pairs = append(pairs, pair{-1, g.pick(2, 4, 6, 8), 2})
	}
	if g.chance(2) {
		g.r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	}
	var rhs, rhsBatch, rhsContract, out, tail []int64
	for d, p := range pairs {
		rhs = append(rhs, p.size)
		switch p.kind {
		case 0:
			batch, rhsBatch, out = append(batch, p.lhs), append(rhsBatch, int64(d)), append(out, p.size)
		case 1:
			contract, rhsContract = append(contract, p.lhs), append(rhsContract, int64(d))
		default:
			tail = append(tail, p.size)
		}
	}
	elem := x.elem
	if elem == "i8" {
		elem = "i32"
	}
	dims := fmt.Sprintf("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, "+
		"lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s>", list(batch), list(rhsBatch), list(contract), list(rhsContract))
	g.op("stablehlo.dot_general", dims, "", []value{x, g.like(x.with(rhs))}, shape{slices.Concat(out, free, tail), elem})
}

// dot multiplies vectors and matrices.
func (g *generator) dot() {
	x := g.where("f32", func(v value) bool { return v.elem == "f32" && (len(v.dims) == 1 || len(v.dims) == 2) }, 2)
	y := []int64{x.dims[len(x.dims)-1]}
	out := slices.Clone(x.dims[:len(x.dims)-1])
	if g.chance(2) {
		n := g.pick(2, 4, 6)
		y, out = append(y, n), append(out, n)
	}
	g.op("stablehlo.dot", "", "", []value{x, g.like(x.with(y))}, x.with(out))
}

func (g *generator) einsum() {
	x := g.where("f32", func(v value) bool { return v.elem == "f32" && len(v.dims) == 2 }, 2)
	n := g.pick(2, 4)
	g.op("stablehlo.einsum", `einsum_config = "ab,bc->ac"`, "", []value{x, g.like(x.with([]int64{x.dims[1], n}))},
		x.with([]int64{x.dims[0], n}))
}

// window is a window over one dimension.
type window struct{ size, stride, low, high, base, dilation int64 }

// out returns how many windows there are over a dimension of a size.
func (w window) out(size int64) int64 {
	if size > 0 {
		size = (size-1)*w.base + 1
	}
	rest := size + w.low + w.high - (w.size-1)*w.dilation - 1
	if rest < 0 {
		return 0
	}
	return rest/w.stride + 1
}

// drawWindow draws a window that fits into a dimension.
func (g *generator) drawWindow(size int64) window {
	w := window{1, 1, 0, 0, 1, 1}
	if g.chance(3) {
		return w
	}
	w.size, w.stride = 1+int64(g.r.Intn(int(size))), g.pick(1, 1, 2, 3)
	if g.chance(3) {
		w.stride = w.size
	}
	if g.chance(3) {
		w.low, w.high = g.pick(0, 1), g.pick(0, 1, 2)
	}
	if g.chance(6) {
		w.base, w.dilation = g.pick(1, 2), g.pick(1, 2)
	}
	return w
}

// windowText is the part of the properties that operations with windows share.
func windowText(ws []window, names ...string) string {
	columns := make([][]int64, 4)
	var padding []string
	for _, w := range ws {
		for i, n := range []int64{w.size, w.stride, w.base, w.dilation} {
			columns[i] = append(columns[i], n)
		}
		padding = append(padding, fmt.Sprintf("[%d, %d]", w.low, w.high))
	}
	var parts []string
	for i, name := range names {
		if name != "" {
			parts = append(parts, name+" = "+ints(columns[i]))
		}
	}
	if len(ws) > 0 {
		parts = append(parts, fmt.Sprintf("padding = dense<[%s]> : tensor<%dx2xi64>", strings.Join(padding, ", "), len(ws)))
	}
	return strings.Join(parts, ", ")
}

// convolution slides windows over the dimensions between batch and features, in groups of features or batches.
func (g *generator) convolution() {
	x := g.where("f32", func(v value) bool {
		return v.elem == "f32" && len(v.dims) >= 2 && len(v.dims) <= 4 && !slices.Contains(v.dims, 0)
	}, 3)
	perm := g.permutation(len(x.dims)) // batch, feature, spatial ...
	batch, feature := x.dims[perm[0]], x.dims[perm[1]]
	featureGroups, batchGroups := int64(1), int64(1)
	switch {
	case g.chance(4) && feature%2 == 0:
		featureGroups = g.pick(2, feature)
	case g.chance(4) && batch%2 == 0:
		batchGroups = g.pick(2, batch)
	}
	filters := g.pick(1, 2, 4) * featureGroups * batchGroups
	kernel, out := []int64{feature / featureGroups, filters}, []int64{batch / batchGroups, filters}
	var ws []window
	for _, p := range perm[2:] {
		w := g.drawWindow(x.dims[p])
		if w.out(x.dims[p]) == 0 {
			return
		}
		ws = append(ws, w)
		kernel, out = append(kernel, w.size), append(out, w.out(x.dims[p]))
	}
	kp, op := g.permutation(len(kernel)), g.permutation(len(out))
	properties := fmt.Sprintf("batch_group_count = %d : i64, feature_group_count = %d : i64, dimension_numbers = #stablehlo.conv<%sx%s->%s>",
		batchGroups, featureGroups, layout("bf", perm), layout("io", kp), layout("bf", op))
	if len(ws) > 0 {
		properties += ", " + windowText(ws, "", "window_strides", "lhs_dilation", "rhs_dilation")
	}
	k := g.like(x.with(placed(kernel, kp)))
	g.op("stablehlo.convolution", properties, "", []value{x, k}, x.with(placed(out, op)))
}

// layout names dimensions; the i-th one stands at perm[i].
func layout(letters string, perm []int64) string {
	words := make([]string, len(perm))
	for i, p := range perm {
		if i < 2 {
			words[p] = letters[i : i+1]
		} else {
			words[p] = fmt.Sprint(i - 2)
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// placed puts the i-th size at perm[i].
func placed(sizes, perm []int64) []int64 {
	out := make([]int64, len(sizes))
	for i, p := range perm {
		out[p] = sizes[i]
	}
	return out
}

// reduce combines some dimensions of one tensor or several.
func (g *generator) reduce() {
	x := g.of("f32", "i32")
	var dims, out []int64
	for d, size := range x.dims {
		if g.chance(2) {
			dims = append(dims, int64(d))
		} else {
			out = append(out, size)
		}
	}
	inputs, inits, elems := []value{x}, []value{g.like(shape{nil, x.elem})}, []string{x.elem}
	for range g.r.Intn(2) * g.r.Intn(3) {
		y := g.like(shape{x.dims, g.word("f32", "i32")})
		inputs, inits, elems = append(inputs, y), append(inits, g.like(shape{nil, y.elem})), append(elems, y.elem)
	}
	var results []shape
	for _, e := range elems {
		results = append(results, shape{out, e})
	}
	region := g.combiner(slices.Concat(elems, elems), len(elems), g.word("add", "maximum", "minimum", "multiply"))
	g.op("stablehlo.reduce", "dimensions = "+ints(dims), region, slices.Concat(inputs, inits), results...)
}

// reduceWindow combines the elements of windows.
func (g *generator) reduceWindow() {
	x := g.positive(1)
	ws, out := g.windows(x.dims)
	if out == nil {
		return
	}
	inputs, inits := []value{x}, []value{g.like(shape{nil, "f32"})}
	if g.chance(4) {
		inputs, inits = append(inputs, g.like(x.shape)), append(inits, g.like(shape{nil, "f32"}))
	}
	elems := slices.Repeat([]string{"f32"}, 2*len(inputs))
	g.op("stablehlo.reduce_window", windowText(ws, "window_dimensions", "window_strides", "base_dilations", "window_dilations"),
		g.combiner(elems, len(inputs), "add"), slices.Concat(inputs, inits), slices.Repeat([]shape{x.with(out)}, len(inputs))...)
}

// windows draws a window for every dimension; out is nil where one has no place.
func (g *generator) windows(dims []int64) (ws []window, out []int64) {
	for _, size := range dims {
		w := g.drawWindow(size)
		n := w.out(size)
		if n == 0 {
			return nil, nil
		}
		ws, out = append(ws, w), append(out, n)
	}
	return ws, out
}

func (g *generator) selectAndScatter() {
	x := g.positive(1)
	var ws []window
	var out []int64
	for _, size := range x.dims {
		w := g.drawWindow(size)
		w.base, w.dilation = 1, 1
		if w.out(size) == 0 {
			return
		}
		ws, out = append(ws, w), append(out, w.out(size))
	}
	const choose = "{\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> " +
		"tensor<i1>\n" +
		"stablehlo.return %p : tensor<i1>\n}"
	g.op("stablehlo.select_and_scatter", windowText(ws, "window_dimensions", "window_strides"),
		choose+", "+g.combiner([]string{"f32", "f32"}, 1, "add"), []value{x, g.like(x.with(out)), g.like(shape{nil, "f32"})}, x.shape)
}
