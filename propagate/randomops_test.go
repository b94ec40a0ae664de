package propagate_test

import (
	"fmt"
	"slices"
	"strings"
)

// common is how many of the families stand for most operations of real programs.
const common = 12

// families write operations, each its own family; the first ones are common.
var families = []func(*generator){
	(*generator).unary, (*generator).binary, (*generator).dotGeneral, (*generator).reshape, (*generator).transpose,
	(*generator).broadcast, (*generator).reduce, (*generator).slice, (*generator).concatenate, (*generator).choose,
	(*generator).constraint, (*generator).dynamicUpdateSlice,
	(*generator).dot, (*generator).convolution, (*generator).reduceWindow, (*generator).selectAndScatter, (*generator).gather,
	(*generator).scatter, (*generator).sort, (*generator).pad, (*generator).dynamicSlice, (*generator).reverse, (*generator).fft,
	(*generator).matrix, (*generator).random, (*generator).customCall, (*generator).bitcast, (*generator).iota, (*generator).clamp,
	(*generator).mapOp, (*generator).topK, (*generator).batchNorm, (*generator).complexParts, (*generator).convert,
	(*generator).collective, (*generator).chlo, (*generator).token, (*generator).propagationBarrier, (*generator).device,
	(*generator).einsum, (*generator).split,
}

// step writes an operation of some family.
func (g *generator) step() { g.families[g.r.Intn(len(g.families))](g) }

var unaries = map[string][]string{
	"f32": {"abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log", "log_plus_one", "logistic", "negate",
		"round_nearest_afz", "round_nearest_even", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh"},
	"bf16":         {"negate", "tanh", "exponential"},
	"i32":          {"abs", "count_leading_zeros", "negate", "not", "popcnt", "sign"},
	"ui32":         {"count_leading_zeros", "not", "popcnt"},
	"i8":           {"negate", "not"},
	"i1":           {"not"},
	"complex<f32>": {"negate", "exponential", "cosine", "log"},
}

var binaries = map[string][]string{
	"f32":  {"add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"},
	"bf16": {"add", "multiply"},
	"i32": {"add", "and", "divide", "maximum", "multiply", "or", "power", "remainder", "shift_left", "shift_right_arithmetic",
		"shift_right_logical", "subtract", "xor"},
	"ui32":         {"add", "and", "xor", "shift_left"},
	"i8":           {"add", "minimum"},
	"i1":           {"and", "or", "xor"},
	"complex<f32>": {"add", "multiply", "divide"},
}

func (g *generator) unary() {
	x := g.any()
	if ops := unaries[x.elem]; len(ops) > 0 {
		g.op("stablehlo."+g.word(ops...), "", "", []value{x}, x.shape)
	}
}

func (g *generator) binary() {
	x := g.any()
	if ops := binaries[x.elem]; len(ops) > 0 {
		g.op("stablehlo."+g.word(ops...), "", "", []value{x, g.like(x.shape)}, x.shape)
	}
}

func (g *generator) compare(x, y value) value {
	return g.op("stablehlo.compare", "comparison_direction = #stablehlo<comparison_direction "+g.word("LT", "EQ")+">", "",
		[]value{x, y}, shape{x.dims, "i1"})[0]
}

func (g *generator) choose() {
	x := g.of("f32", "i32", "bf16")
	y := g.like(x.shape)
	var p value
	if g.chance(3) {
		p = g.like(shape{nil, "i1"})
	} else {
		p = g.compare(x, y)
	}
	g.op("stablehlo.select", "", "", []value{p, x, y}, x.shape)
}

func (g *generator) clamp() {
	x := g.of("f32", "i32")
	lo, hi := g.like(shape{nil, x.elem}), g.like(shape{nil, x.elem})
	if g.chance(2) {
		lo, hi = g.like(x.shape), g.like(x.shape)
	}
	g.op("stablehlo.clamp", "", "", []value{lo, x, hi}, x.shape)
}

func (g *generator) convert() {
	x := g.of("f32", "i32", "i1", "bf16", "ui32")
	switch {
	case x.elem == "f32" && g.chance(3):
		g.op("stablehlo.reduce_precision", "exponent_bits = 8 : i32, mantissa_bits = 7 : i32", "", []value{x}, x.shape)
	case x.elem == "f32" && g.chance(3):
		g.op("stablehlo.is_finite", "", "", []value{x}, shape{x.dims, "i1"})
	default:
		g.op("stablehlo.convert", "", "", []value{x}, shape{x.dims, g.word("f32", "i32", "bf16", "ui32", "f32")})
	}
}

func (g *generator) complexParts() {
	if x := g.of("f32", "complex<f32>"); x.elem == "f32" {
		g.op("stablehlo.complex", "", "", []value{x, g.like(x.shape)}, shape{x.dims, "complex<f32>"})
	} else {
		g.op("stablehlo."+g.word("real", "imag"), "", "", []value{x}, shape{x.dims, "f32"})
	}
}

// bitcast reads elements as others of the same size, as several smaller ones, or as parts of a larger one.
func (g *generator) bitcast() {
	x := g.of("f32", "i32", "i8", "ui32")
	out := shape{x.dims, g.word("i32", "ui32", "f32")}
	switch n := len(x.dims); {
	case x.elem == "i8" && n > 0 && x.dims[n-1] == 4:
		out.dims = x.dims[:n-1]
	case x.elem == "i8":
		out.elem = "ui8"
	case g.chance(2):
		out = shape{append(slices.Clone(x.dims), 4), "i8"}
	}
	g.op("stablehlo.bitcast_convert", "", "", []value{x}, out)
}

// broadcast adds dimensions anywhere, widens some of size one, and may change their order.
func (g *generator) broadcast() {
	x := g.any()
	n := min(4, len(x.dims)+g.r.Intn(3))
	if n < len(x.dims) {
		return
	}
	places := g.permutation(n)[:len(x.dims)]
	if !g.chance(5) {
		slices.Sort(places)
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = g.pick(1, 2, 4, 6, 8)
	}
	for i, p := range places {
		if x.dims[i] != 1 || g.chance(2) {
			out[p] = x.dims[i]
		}
	}
	g.op("stablehlo.broadcast_in_dim", "broadcast_dimensions = "+ints(places), "", []value{x}, x.with(out))
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
	if slices.Contains(x.dims, 0) {
		out = []int64{g.pick(1, 2, 4), 0}
	}
	for len(factors) > 0 && len(out) == 0 || len(factors) > 0 && out[len(out)-1] != 0 {
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
	if len(out) <= 5 {
		g.op("stablehlo.reshape", "", "", []value{x}, x.with(out))
	}
}

func (g *generator) transpose() {
	x := g.any()
	perm := g.permutation(len(x.dims))
	var out []int64
	for _, p := range perm {
		out = append(out, x.dims[p])
	}
	g.op("stablehlo.transpose", "permutation = "+ints(perm), "", []value{x}, x.with(out))
}

func (g *generator) reverse() {
	x := g.any()
	if n := len(x.dims); n > 0 {
		dims := g.permutation(n)[:1+g.r.Intn(n)]
		g.op("stablehlo.reverse", "dimensions = "+ints(dims), "", []value{x}, x.shape)
	}
}

func (g *generator) iota() {
	if dims := g.dims(); len(dims) > 0 {
		g.op("stablehlo.iota", fmt.Sprintf("iota_dimension = %d : i64", g.r.Intn(len(dims))), "", nil, shape{dims, g.word("f32", "i32")})
	}
}

func (g *generator) constraint() {
	x := g.any()
	for range 1 + g.r.Intn(2)*g.r.Intn(3) {
		out := g.results([]shape{x.shape})
		op := "sharding_constraint"
		if g.chance(10) {
			op = "reshard"
		}
		g.line("%s = sdy.%s %s %s : %s", out[0].name, op, x.name, g.sharding(x.dims), x.typ())
		g.values = append(g.values, out...)
		x = out[0]
	}
}

func (g *generator) propagationBarrier() {
	x := g.any()
	out := g.results([]shape{x.shape})
	g.line("%s = sdy.propagation_barrier %s allowed_direction=%s : %s", out[0].name, x.name, g.word("NONE", "FORWARD", "BACKWARD"), x.typ())
	g.values = append(g.values, out...)
}

// group puts two values into a group; groups have one shape each.
func (g *generator) group() {
	if len(g.manual) > 0 {
		return
	}
	x := g.any()
	y := g.like(x.shape)
	id := g.r.Intn(2)*100 + len(x.dims)*10 + len(x.elem)
	for _, d := range x.dims {
		id = id*17 + int(d)
	}
	for _, v := range []value{x, y} {
		g.line("sdy.sharding_group %s group_id=%d : %s", v.name, id, v.typ())
	}
}

var chloUnaries = []string{"acos", "asinh", "digamma", "erf", "erf_inv", "lgamma", "sinh", "square"}

func (g *generator) chlo() {
	x := g.of("f32")
	switch {
	case g.chance(3):
		g.op("chlo."+g.word("next_after", "polygamma", "zeta"), "", "", []value{x, g.like(x.shape)}, x.shape)
	case g.chance(3):
		g.op("chlo.broadcast_subtract", "", "", []value{x, g.like(x.shape)}, x.shape)
	default:
		g.op("chlo."+g.word(chloUnaries...), "", "", []value{x}, x.shape)
	}
}

// mapOp maps a computation over some operands.
func (g *generator) mapOp() {
	x := g.of("f32", "i32")
	operands := []value{x}
	if g.chance(2) {
		operands = append(operands, g.like(x.shape))
	}
	dims := g.permutation(len(x.dims))
	slices.Sort(dims)
	g.op("stablehlo.map", "dimensions = "+ints(dims), g.combiner(slices.Repeat([]string{x.elem}, len(operands)), 1, "add"), operands, x.shape)
}

// combiner is a region over scalars: the i-th result combines arguments i and i+n of 2n, or is one where there are n.
func (g *generator) combiner(args []string, results int, op string) string {
	var params, outs, types []string
	body := ""
	for i, elem := range args {
		params = append(params, fmt.Sprintf("%%x%d: tensor<%s>", i, elem))
	}
	for i := range results {
		other := i
		if i+results < len(args) {
			other = i + results
		}
		a, b := i, other
		if g.chance(4) {
			a, b = b, a
		}
		t := "tensor<" + args[i] + ">"
		body += fmt.Sprintf("%%y%d = stablehlo.%s %%x%d, %%x%d : %s\n", i, op, a, b, t)
		outs, types = append(outs, fmt.Sprintf("%%y%d", i)), append(types, t)
	}
	return fmt.Sprintf("{\n^bb0(%s):\n%sstablehlo.return %s : %s\n}", strings.Join(params, ", "), body, strings.Join(outs, ", "),
		strings.Join(types, ", "))
}

// token makes a token and lets an operation wait for it.
func (g *generator) token() {
	t, x := g.name(), g.any()
	out := g.results([]shape{x.shape, {nil, "f32"}})
	name := declare(out)
	g.line("%s = stablehlo.create_token : !stablehlo.token", t)
	g.line("%s = stablehlo.optimization_barrier %s, %s : %s, !stablehlo.token", name, x.name, t, x.typ())
	g.values = append(g.values, out[0])
}

// device asks which device this is.
func (g *generator) device() {
	g.op("stablehlo."+g.word("partition_id", "replica_id"), "", "", nil, shape{nil, "ui32"})
}
