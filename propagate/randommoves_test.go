package propagate_test

import (
	"fmt"
	"slices"
)

// slice takes ranges, with strides.
func (g *generator) slice() {
	x := g.any()
	var start, limit, stride, out []int64
	for _, size := range x.dims {
		s, l, t := int64(0), size, int64(1)
		if g.chance(2) && size > 0 {
			l = 1 + int64(g.r.Intn(int(size)))
			if g.chance(3) {
				s = int64(g.r.Intn(int(l)))
			}
			if g.chance(4) {
				t = g.pick(2, 3)
			}
		}
		start, limit, stride = append(start, s), append(limit, l), append(stride, t)
		out = append(out, (l-s+t-1)/t)
	}
	g.op("stablehlo.slice", fmt.Sprintf("start_indices = %s, limit_indices = %s, strides = %s", ints(start), ints(limit), ints(stride)),
		"", []value{x}, x.with(out))
}

// split cuts a value in two and may put the parts together again, the other way round.
func (g *generator) split() {
	x := g.positive(1)
	d := g.r.Intn(len(x.dims))
	if x.dims[d] < 2 {
		return
	}
	at := 1 + int64(g.r.Intn(int(x.dims[d])-1))
	var parts []value
	for _, r := range [][2]int64{{0, at}, {at, x.dims[d]}} {
		start, limit, stride := make([]int64, len(x.dims)), slices.Clone(x.dims), make([]int64, len(x.dims))
		for i := range stride {
			stride[i] = 1
		}
		start[d], limit[d] = r[0], r[1]
		out := slices.Clone(x.dims)
		out[d] = r[1] - r[0]
		parts = append(parts, g.op("stablehlo.slice", fmt.Sprintf("start_indices = %s, limit_indices = %s, strides = %s",
			ints(start), ints(limit), ints(stride)), "", []value{x}, x.with(out))...)
	}
	if g.chance(2) {
		parts[0], parts[1] = parts[1], parts[0]
	}
	if g.chance(4) {
		parts = append(parts, x)
	}
	g.concatenateAt(d, parts)
}

func (g *generator) concatenate() {
	x := g.any()
	if len(x.dims) == 0 {
		return
	}
	operands := []value{x}
	for range g.r.Intn(3) {
		operands = append(operands, g.like(x.shape))
	}
	g.concatenateAt(g.r.Intn(len(x.dims)), operands)
}

func (g *generator) concatenateAt(d int, operands []value) {
	out := slices.Clone(operands[0].dims)
	for _, y := range operands[1:] {
		out[d] += y.dims[d]
	}
	g.op("stablehlo.concatenate", fmt.Sprintf("dimension = %d : i64", d), "", operands, operands[0].with(out))
}

func (g *generator) pad() {
	x := g.any()
	low, high, inner := make([]int64, len(x.dims)), make([]int64, len(x.dims)), make([]int64, len(x.dims))
	out := slices.Clone(x.dims)
	for d, size := range out {
		if g.chance(2) {
			low[d], high[d] = g.pick(0, 0, 1, 2, -1), g.pick(0, 1, 2, 4)
			if size > 0 {
				inner[d] = g.pick(0, 0, 1)
			}
			out[d] += low[d] + high[d] + max(0, size-1)*inner[d]
		}
		if out[d] < 0 {
			return
		}
	}
	g.op("stablehlo.pad", fmt.Sprintf("edge_padding_low = %s, edge_padding_high = %s, interior_padding = %s", ints(low), ints(high),
		ints(inner)),
		"", []value{x, g.like(shape{nil, x.elem})}, x.with(out))
}

// indices returns n scalars that say where something starts.
func (g *generator) indices(n int) []value {
	var list []value
	for range n {
		if g.chance(3) {
			list = append(list, g.constant(shape{nil, "i32"}))
		} else {
			list = append(list, g.like(shape{nil, "i32"}))
		}
	}
	return list
}

func (g *generator) dynamicSlice() {
	x := g.any()
	if len(x.dims) == 0 {
		return // MLIR prints what it cannot read
	}
	out := slices.Clone(x.dims)
	for d, size := range out {
		if size > 0 && g.chance(2) {
			out[d] = g.pick(1, 1+int64(g.r.Intn(int(size))))
		}
	}
	g.op("stablehlo.dynamic_slice", "slice_sizes = "+ints(out), "", append([]value{x}, g.indices(len(out))...), x.with(out))
}

func (g *generator) dynamicUpdateSlice() {
	x := g.any()
	part := slices.Clone(x.dims)
	for d, size := range part {
		if size > 0 && g.chance(2) {
			part[d] = 1 + int64(g.r.Intn(int(size)))
		}
	}
	u := g.like(x.with(part))
	g.op("stablehlo.dynamic_update_slice", "", "", append([]value{x, u}, g.indices(len(part))...), x.shape)
}

// topK finds the best elements of the last dimension.
func (g *generator) topK() {
	x := g.positive(1)
	last := len(x.dims) - 1
	out := slices.Clone(x.dims)
	out[last] = 1 + int64(g.r.Intn(int(out[last])))
	g.op("chlo.top_k", fmt.Sprintf("k = %d : i64", out[last]), "", []value{x}, x.with(out), shape{out, "i32"})
}

// sort sorts some tensors by the first one.
func (g *generator) sort() {
	x := g.positive(1)
	operands := []value{x}
	params := "%a: tensor<f32>, %b: tensor<f32>"
	for i := range g.r.Intn(3) {
		y := g.like(shape{x.dims, g.word("f32", "i32")})
		operands = append(operands, y)
		params += fmt.Sprintf(", %%c%d: tensor<%s>, %%d%d: tensor<%s>", i, y.elem, i, y.elem)
	}
	region := "{\n^bb0(" + params + "):\n%p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n" +
		"stablehlo.return %p : tensor<i1>\n}"
	g.op("stablehlo.sort", fmt.Sprintf("dimension = %d : i64, is_stable = true", g.r.Intn(len(x.dims))), region, operands,
		shapesOf(operands)...)
}
