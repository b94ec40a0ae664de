package reshard_test

import (
	"fmt"
	"slices"
	"strings"
)

func (g *generator) op() {
	ops := []func(){g.unary, g.binary, g.dot, g.dot, g.dot, g.reshape, g.reshape, g.transpose, g.broadcast, g.reduce, g.slice,
		g.concatenate, g.concatenate, g.selectOp, g.pad, g.reverse, g.sort, g.cholesky, g.barrier, g.while, g.caseOp, g.call, g.manualOp,
		g.propagationBarrier, g.reshard, g.dynamicSlice, g.dynamicUpdateSlice, g.convolution, g.gather, g.twoResults, g.device}
	ops[g.r.Intn(len(ops))]()
}

func (g *generator) unary() {
	x := g.any()
	op := []string{"tanh", "negate", "exponential"}[g.r.Intn(3)]
	g.define(x.dims, "stablehlo."+op+" "+x.name, x.typ())
}

func (g *generator) binary() {
	x := g.any()
	y := g.like(x.dims)
	op := []string{"add", "multiply", "subtract"}[g.r.Intn(3)]
	g.define(x.dims, fmt.Sprintf("stablehlo.%s %s, %s", op, x.name, y.name), x.typ())
}

func (g *generator) selectOp() {
	x := g.any()
	y, p := g.like(x.dims), g.name()
	g.line("%s = stablehlo.compare LT, %s, %s%s : (%s, %s) -> %s", p, x.name, y.name, g.perValue(x.dims), x.typ(), y.typ(),
		tensorType(x.dims, "i1"))
	g.define(x.dims, fmt.Sprintf("stablehlo.select %s, %s, %s", p, x.name, y.name), tensorType(x.dims, "i1")+", "+x.typ())
}

// dot multiplies a value with one that fits: some dimensions are batches, some contracted.
func (g *generator) dot() {
	x := g.any()
	var lhsBatch, rhsBatch, lhsContract, rhsContract, rhs, batch, free []int64
	for d, size := range x.dims {
		switch g.r.Intn(4) {
		case 0:
			lhsBatch, rhsBatch = append(lhsBatch, int64(d)), append(rhsBatch, int64(len(rhs)))
			rhs, batch = append(rhs, size), append(batch, size)
		case 1, 2:
			lhsContract, rhsContract = append(lhsContract, int64(d)), append(rhsContract, int64(len(rhs)))
			rhs = append(rhs, size)
		default:
			free = append(free, size)
		}
	}
	out := append(batch, free...)
	if len(rhs) < 3 && !g.chance(4) {
		n := g.pick(2, 4, 6, 8)
		rhs, out = append(rhs, n), append(out, n)
	}
	y := g.like(rhs)
	op := fmt.Sprintf("stablehlo.dot_general %s, %s", x.name, y.name)
	if len(lhsBatch) > 0 {
		op += fmt.Sprintf(", batching_dims = %s x %s", list(lhsBatch), list(rhsBatch))
	}
	op += fmt.Sprintf(", contracting_dims = %s x %s", list(lhsContract), list(rhsContract))
	g.define(out, op, fmt.Sprintf("(%s, %s) -> %s", x.typ(), y.typ(), tensorType(out, "f32")))
}

func list(dims []int64) string {
	return strings.ReplaceAll(fmt.Sprint(dims), " ", ", ")
}

// reshape regroups the prime factors of a shape.
func (g *generator) reshape() {
	x := g.any()
	var factors, out []int64
	for _, d := range x.dims {
		for p := int64(2); p <= d; {
			if d%p == 0 {
				factors, d = append(factors, p), d/p
			} else {
				p++
			}
		}
		if g.chance(2) {
			g.r.Shuffle(len(factors), func(i, j int) { factors[i], factors[j] = factors[j], factors[i] })
		}
	}
	for len(factors) > 0 {
		n := 1 + g.r.Intn(min(4, len(factors)))
		size := int64(1)
		for _, f := range factors[:n] {
			size *= f
		}
		out, factors = append(out, size), factors[n:]
	}
	for len(out) < 4 && g.chance(4) {
		out = slices.Insert(out, g.r.Intn(len(out)+1), 1)
	}
	if len(out) <= 4 {
		g.define(out, "stablehlo.reshape "+x.name, fmt.Sprintf("(%s) -> %s", x.typ(), tensorType(out, "f32")))
	}
}

func (g *generator) transpose() {
	x := g.any()
	var perm, out []int64
	for _, p := range g.r.Perm(len(x.dims)) {
		perm, out = append(perm, int64(p)), append(out, x.dims[p])
	}
	g.define(out, "stablehlo.transpose "+x.name+", dims = "+list(perm), fmt.Sprintf("(%s) -> %s", x.typ(), tensorType(out, "f32")))
}

func (g *generator) broadcast() {
	x := g.any()
	var dims, out []int64
	for _, size := range x.dims {
		if len(out) < 3 && g.chance(3) {
			out = append(out, g.pick(2, 4, 8))
		}
		dims = append(dims, int64(len(out)))
		if size == 1 && g.chance(2) {
			size = g.pick(2, 4)
		}
		out = append(out, size)
	}
	if len(out) < 3 {
		out = append(out, g.pick(2, 4, 8))
	}
	g.define(out, "stablehlo.broadcast_in_dim "+x.name+", dims = "+list(dims), fmt.Sprintf("(%s) -> %s", x.typ(), tensorType(out, "f32")))
}

func (g *generator) reduce() {
	x := g.any()
	var dims, out []int64
	for d, size := range x.dims {
		if g.chance(2) {
			dims = append(dims, int64(d))
		} else {
			out = append(out, size)
		}
	}
	init, kind := g.like(nil), []string{"add", "maximum"}[g.r.Intn(2)]
	if g.chance(3) {
		y, r := g.like(x.dims), g.name()
		g.line("%s:2 = stablehlo.reduce(%s init: %s), (%s init: %s) across dimensions = %s%s : (%s, %s, tensor<f32>, tensor<f32>) -> (%s, %s)",
			r, x.name, init.name, y.name, init.name, list(dims), g.perValue(out, out), x.typ(), x.typ(), tensorType(out, "f32"),
			tensorType(out, "f32"))
		g.line("reducer(%s_a: tensor<f32>, %s_b: tensor<f32>) (%s_c: tensor<f32>, %s_d: tensor<f32>) {", r, r, r, r)
		g.line("  stablehlo.return %s_a, %s_c : tensor<f32>, tensor<f32>", r, r)
		g.line("}")
		g.values = append(g.values, value{r + "#0", out}, value{r + "#1", out})
		return
	}
	g.define(out, fmt.Sprintf("stablehlo.reduce(%s init: %s) applies stablehlo.%s across dimensions = %s", x.name, init.name, kind,
		list(dims)),
		fmt.Sprintf("(%s, tensor<f32>) -> %s", x.typ(), tensorType(out, "f32")))
}

func (g *generator) slice() { g.sliceOf(g.any()) }

func (g *generator) sliceOf(x value) value {
	var ranges []string
	var out []int64
	for _, size := range x.dims {
		end := size
		if g.chance(2) {
			end = 1 + int64(g.r.Intn(int(size)))
		}
		ranges, out = append(ranges, fmt.Sprintf("0:%d", end)), append(out, end)
	}
	return g.define(out, "stablehlo.slice "+x.name+" ["+strings.Join(ranges, ", ")+"]",
		fmt.Sprintf("(%s) -> %s", x.typ(), tensorType(out, "f32")))
}

func (g *generator) pad() {
	x := g.any()
	if len(x.dims) == 0 {
		return
	}
	low, high, inner := make([]int64, len(x.dims)), make([]int64, len(x.dims)), make([]int64, len(x.dims))
	out := slices.Clone(x.dims)
	d := g.r.Intn(len(x.dims))
	high[d] = g.pick(1, 2, 4)
	out[d] += high[d]
	c := g.like(nil)
	g.define(out, fmt.Sprintf("stablehlo.pad %s, %s, low = %s, high = %s, interior = %s", x.name, c.name, list(low), list(high), list(inner)),
		fmt.Sprintf("(%s, tensor<f32>) -> %s", x.typ(), tensorType(out, "f32")))
}

func (g *generator) reverse() {
	x := g.any()
	if len(x.dims) > 0 {
		g.define(x.dims, fmt.Sprintf("stablehlo.reverse %s, dims = [%d]", x.name, g.r.Intn(len(x.dims))), x.typ())
	}
}

func (g *generator) sort() {
	x := g.any()
	if len(x.dims) == 0 {
		return
	}
	y, r := g.like(x.dims), g.name()
	g.line("%s:2 = \"stablehlo.sort\"(%s, %s) <{dimension = %d : i64, is_stable = true}> ({", r, x.name, y.name, g.r.Intn(len(x.dims)))
	g.line("^bb0(%s_a: tensor<f32>, %s_b: tensor<f32>, %s_c: tensor<f32>, %s_d: tensor<f32>):", r, r, r, r)
	g.line("  %s_p = stablehlo.compare GT, %s_a, %s_b : (tensor<f32>, tensor<f32>) -> tensor<i1>", r, r, r)
	g.line("  stablehlo.return %s_p : tensor<i1>", r)
	g.line("})%s : (%s, %s) -> (%s, %s)", g.perValue(x.dims, x.dims), x.typ(), x.typ(), x.typ(), x.typ())
	g.values = append(g.values, value{r + "#0", x.dims}, value{r + "#1", x.dims})
}

func (g *generator) cholesky() {
	dims := []int64{g.pick(2, 4, 8), g.pick(4, 8, 12), g.pick(4, 8), 0}
	dims[3] = dims[2]
	x := g.like(dims[g.r.Intn(3):])
	g.define(x.dims, "stablehlo.cholesky "+x.name+", lower = true", x.typ())
}

func (g *generator) dynamicSlice() {
	x := g.any()
	if len(x.dims) == 0 {
		return
	}
	start := g.name()
	g.line("%s = stablehlo.constant dense<0> : tensor<i32>", start)
	out := slices.Clone(x.dims)
	out[g.r.Intn(len(out))] = 1
	g.define(out, fmt.Sprintf("stablehlo.dynamic_slice %s%s, sizes = %s", x.name, strings.Repeat(", "+start, len(out)), list(out)),
		fmt.Sprintf("(%s%s) -> %s", x.typ(), strings.Repeat(", tensor<i32>", len(out)), tensorType(out, "f32")))
}

func (g *generator) dynamicUpdateSlice() {
	x := g.any()
	if len(x.dims) == 0 {
		return
	}
	start := g.name()
	g.line("%s = stablehlo.constant dense<0> : tensor<i32>", start)
	part := slices.Clone(x.dims)
	d := g.r.Intn(len(part))
	part[d] = 1 + int64(g.r.Intn(int(part[d])))
	u := g.like(part)
	g.define(x.dims, fmt.Sprintf("stablehlo.dynamic_update_slice %s, %s%s", x.name, u.name, strings.Repeat(", "+start, len(part))),
		fmt.Sprintf("(%s, %s%s) -> %s", x.typ(), u.typ(), strings.Repeat(", tensor<i32>", len(part)), x.typ()))
}

// convolution slides a window over the middle dimension of a tensor of rank 3.
func (g *generator) convolution() {
	x := g.like([]int64{g.pick(4, 8), g.pick(8, 16), g.pick(2, 4)})
	window, stride := 1+int64(g.r.Intn(int(x.dims[1]))), g.pick(1, 1, 2, 3)
	k := g.like([]int64{window, x.dims[2], g.pick(1, 4, 6)})
	out := []int64{x.dims[0], (x.dims[1]-window)/stride + 1, k.dims[2]}
	attr := strings.TrimSuffix(strings.TrimPrefix(g.perValue(out), " {"), "}")
	if attr != "" {
		attr = ", " + attr
	}
	v := value{g.name(), out}
	g.line("%s = stablehlo.convolution(%s, %s) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [%d]}"+
		" {batch_group_count = 1 : i64, feature_group_count = 1 : i64%s} : (%s, %s) -> %s", v.name, x.name, k.name, stride, attr, x.typ(),
		k.typ(), v.typ())
	g.values = append(g.values, v)
}

// gather takes rows of a matrix.
func (g *generator) gather() {
	x, n := g.like([]int64{g.pick(4, 8, 16), g.pick(2, 8)}), g.pick(3, 4, 8)
	i, out := g.name(), []int64{n, x.dims[1]}
	g.line("%s = stablehlo.custom_call @indices(%s)%s : (%s) -> tensor<%dx1xi32>", i, x.name, g.perValue([]int64{n, 1}), x.typ(), n)
	g.define(out, fmt.Sprintf("\"stablehlo.gather\"(%s, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "+
		"collapsed_slice_dims = [0], "+
		"start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, %d>}>", x.name, i, x.dims[1]),
		fmt.Sprintf("(%s, tensor<%dx1xi32>) -> %s", x.typ(), n, tensorType(out, "f32")))
}

// concatenate joins two values, perhaps slices of one.
func (g *generator) concatenate() {
	x := g.any()
	if len(x.dims) == 0 {
		return
	}
	y := g.like(x.dims)
	if g.chance(3) {
		x = g.sliceOf(x)
		y = g.like(x.dims)
	}
	d := g.r.Intn(len(x.dims))
	out := slices.Clone(x.dims)
	out[d] *= 2
	g.define(out, fmt.Sprintf("stablehlo.concatenate %s, %s, dim = %d", x.name, y.name, d),
		fmt.Sprintf("(%s, %s) -> %s", x.typ(), y.typ(), tensorType(out, "f32")))
}
