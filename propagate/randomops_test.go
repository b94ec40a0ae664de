package propagate_test

import (
	"fmt"
	"slices"
	"strings"
)

func (g *generator) op() {
	ops := []func(){g.unary, g.binary, g.binary, g.dot, g.dot, g.reshape, g.reshape, g.transpose, g.broadcast, g.reduce,
		g.slice, g.concatenate, g.selectOp, g.constraint, g.barrier, g.dynamicSlice, g.pad, g.reverse, g.while, g.group,
		g.propagationBarrier, g.iota, g.dynamicUpdateSlice, g.convolution}
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
	y := g.like(x.dims)
	p := value{g.name(), x.dims}
	g.line("%s = stablehlo.compare LT, %s, %s : (%s, %s) -> %s", p.name, x.name, y.name, x.typ(), y.typ(), tensorType(x.dims, "i1"))
	g.define(x.dims, fmt.Sprintf("stablehlo.select %s, %s, %s", p.name, x.name, y.name), tensorType(x.dims, "i1")+", "+x.typ())
}

// dot multiplies a value with one that fits: some dimensions are batches, some contracted.
func (g *generator) dot() {
	x := g.any()
	var lhsBatch, rhsBatch, lhsContract, rhsContract, rhs, batch, free []int64
	for d, size := range x.dims {
		switch g.r.Intn(3) {
		case 0:
			lhsBatch, rhsBatch = append(lhsBatch, int64(d)), append(rhsBatch, int64(len(rhs)))
			rhs, batch = append(rhs, size), append(batch, size)
		case 1:
			lhsContract, rhsContract = append(lhsContract, int64(d)), append(rhsContract, int64(len(rhs)))
			rhs = append(rhs, size)
		default:
			free = append(free, size)
		}
	}
	out := append(batch, free...)
	if len(rhs) < 3 && g.chance(2) {
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
		n := 1 + g.r.Intn(min(3, len(factors)))
		size := int64(1)
		for _, f := range factors[:n] {
			size *= f
		}
		out, factors = append(out, size), factors[n:]
	}
	for len(out) < 4 && g.chance(4) {
		out = slices.Insert(out, g.r.Intn(len(out)+1), 1)
	}
	if len(out) > 4 {
		return
	}
	g.define(out, "stablehlo.reshape "+x.name, fmt.Sprintf("(%s) -> %s", x.typ(), tensorType(out, "f32")))
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
	init := g.like(nil)
	g.define(out, fmt.Sprintf("stablehlo.reduce(%s init: %s) applies stablehlo.add across dimensions = %s", x.name, init.name, list(dims)),
		fmt.Sprintf("(%s, tensor<f32>) -> %s", x.typ(), tensorType(out, "f32")))
}

func (g *generator) slice() {
	x := g.any()
	var ranges []string
	var out []int64
	for _, size := range x.dims {
		end := size
		if g.chance(2) {
			end = 1 + int64(g.r.Intn(int(size)))
		}
		ranges, out = append(ranges, fmt.Sprintf("0:%d", end)), append(out, end)
	}
	g.define(out, "stablehlo.slice "+x.name+" ["+strings.Join(ranges, ", ")+"]", fmt.Sprintf("(%s) -> %s", x.typ(), tensorType(out, "f32")))
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

func (g *generator) iota() {
	dims := g.shape()
	if len(dims) > 0 {
		g.define(dims, "stablehlo.iota dim = 0", tensorType(dims, "f32"))
	}
}

func (g *generator) concatenate() {
	x := g.any()
	if len(x.dims) == 0 {
		return
	}
	y := g.like(x.dims)
	d := g.r.Intn(len(x.dims))
	out := slices.Clone(x.dims)
	out[d] *= 2
	g.define(out, fmt.Sprintf("stablehlo.concatenate %s, %s, dim = %d", x.name, y.name, d), fmt.Sprintf("(%s, %s) -> %s", x.typ(), y.typ(), tensorType(out, "f32")))
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
	starts := strings.Repeat(", "+start, len(out))
	g.define(out, fmt.Sprintf("stablehlo.dynamic_slice %s%s, sizes = %s", x.name, starts, list(out)),
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
	x := g.any()
	if len(x.dims) != 3 {
		return
	}
	window, stride := 1+int64(g.r.Intn(int(x.dims[1]))), g.pick(1, 1, 2, 3)
	k := g.like([]int64{window, x.dims[2], g.pick(1, 4, 6)})
	out := []int64{x.dims[0], (x.dims[1]-window)/stride + 1, k.dims[2]}
	op := fmt.Sprintf("stablehlo.convolution(%s, %s) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [%d]}"+
		" {batch_group_count = 1 : i64, feature_group_count = 1 : i64}", x.name, k.name, stride)
	v := value{g.name(), out}
	g.line("%s = %s : (%s, %s) -> %s", v.name, op, x.typ(), k.typ(), v.typ())
	g.values = append(g.values, v)
}

func (g *generator) constraint() {
	x := g.any()
	v := value{g.name(), x.dims}
	g.line("%s = sdy.sharding_constraint %s %s : %s", v.name, x.name, g.sharding(x.dims), x.typ())
	g.values = append(g.values, v)
}

func (g *generator) barrier() {
	x, y := g.any(), g.any()
	v := g.name()
	g.line("%s:2 = stablehlo.optimization_barrier %s, %s : %s, %s", v, x.name, y.name, x.typ(), y.typ())
	g.values = append(g.values, value{v + "#0", x.dims}, value{v + "#1", y.dims})
}

func (g *generator) propagationBarrier() {
	x := g.any()
	v := value{g.name(), x.dims}
	way := []string{"NONE", "FORWARD", "BACKWARD"}[g.r.Intn(3)]
	g.line("%s = sdy.propagation_barrier %s allowed_direction=%s : %s", v.name, x.name, way, x.typ())
	g.values = append(g.values, v)
}

func (g *generator) group() {
	if x := g.any(); g.groups {
		y := g.like(x.dims)
		id := g.r.Intn(2)*100 + len(x.dims)*10 // one shape per group
		for _, d := range x.dims {
			id = id*17 + int(d)
		}
		g.line("sdy.sharding_group %s group_id=%d : %s", x.name, id, x.typ())
		g.line("sdy.sharding_group %s group_id=%d : %s", y.name, id, y.typ())
	}
}

// while carries a counter and one value through a loop with a small body.
func (g *generator) while() {
	x := g.any()
	y := g.like(x.dims)
	c, r := g.name(), g.name()
	g.line("%s = stablehlo.constant dense<0> : tensor<i32>", c)
	i, a := r+"_i", r+"_a"
	g.line("%s:2 = stablehlo.while(%s = %s, %s = %s) : tensor<i32>, %s", r, i, c, a, x.name, x.typ())
	g.line("cond {")
	g.line("  %s_p = stablehlo.compare LT, %s, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>", r, i, i)
	g.line("  stablehlo.return %s_p : tensor<i1>", r)
	g.line("} do {")
	outer := g.values
	g.values, g.indent = append(slices.Clone(outer), value{a, x.dims}), g.indent+"  "
	b := g.define(x.dims, fmt.Sprintf("stablehlo.multiply %s, %s", a, y.name), x.typ())
	if g.chance(2) {
		b = g.define(x.dims, "stablehlo.tanh "+b.name, x.typ())
	}
	g.line("stablehlo.return %s, %s : tensor<i32>, %s", i, b.name, x.typ())
	g.values, g.indent = outer, g.indent[2:]
	g.line("}")
	g.values = append(g.values, value{r + "#1", x.dims})
}
