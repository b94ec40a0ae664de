package typed_test

import (
	"math"
	"slices"
	"strings"

	"autoshard/ir/dtype"
)

// drawers add a step each, and say whether they found operands. Common ops stand several times.
var drawers []func(d *drawing) bool

func init() {
	drawers = []func(d *drawing) bool{
		(*drawing).unary, (*drawing).unary, (*drawing).unary, (*drawing).binary, (*drawing).binary, (*drawing).binary, (*drawing).binary,
		(*drawing).with,
		(*drawing).selection, (*drawing).clamp, (*drawing).convert, (*drawing).reshaping, (*drawing).broadcast, (*drawing).reorder,
		(*drawing).slice,
		(*drawing).padding, (*drawing).concatenate, (*drawing).dot, (*drawing).dot, (*drawing).reduce, (*drawing).reduce, (*drawing).cumulative,
		(*drawing).window, (*drawing).sort, (*drawing).take, (*drawing).scatter, (*drawing).dynamicSlice, (*drawing).dynamicUpdateSlice,
		(*drawing).conv, (*drawing).iota, (*drawing).scan, (*drawing).while, (*drawing).cond, (*drawing).cond,
	}
	drawers = append(drawers, (*drawing).casting, (*drawing).axisIndex)
	for range 4 {
		drawers = append(drawers, (*drawing).reduction, (*drawing).moving, (*drawing).moving)
	}
}

func (d *drawing) step() {
	for range 100 {
		if drawers[d.pick(len(drawers))](d) {
			return
		}
	}
}

// modes of elementwise ops, by the operands that they take.
var (
	floatUnary = []string{"neg", "abs", "tanh", "logistic", "sin", "cos", "erf", "exp", "expm1", "tan", "log", "log1p", "sqrt", "rsqrt",
		"cbrt", "square",
		"erfc", "atan", "asinh", "sinh", "cosh", "asin", "acos", "atanh", "acosh", "lgamma", "erf_inv", "digamma", "barrier", "half_precision"}
	stepUnary   = []string{"sign", "floor", "ceil", "round_even", "round_away", "is_finite"}
	intUnary    = []string{"neg", "abs", "sign", "not", "popcnt", "clz", "barrier"}
	floatBinary = []string{"add", "sub", "mul", "mul", "max", "min", "div", "pow", "atan2", "rem"}
	intBinary   = []string{"add", "sub", "mul", "max", "min", "div", "rem", "and", "or", "xor", "shl", "sra", "srl"}
	boolBinary  = []string{"and", "or", "xor"}
)

func anything(drawn) bool   { return true }
func isNumber(x drawn) bool { return x.t != dtype.I1 }
func hasDims(x drawn) bool  { return len(x.dims) > 0 }
func isFine(x drawn) bool   { return !x.coarse }

func (d *drawing) of(list []string) string { return list[d.pick(len(list))] }

func (d *drawing) unary() bool {
	x, _ := d.one(anything)
	mode := d.of(intUnary)
	switch {
	case x.t == dtype.I1:
		mode = "not"
	case x.t == dtype.UI8 && (mode == "neg" || mode == "abs" || mode == "sign"):
		mode = "not"
	case x.float() && !x.coarse && d.chance(6):
		mode = d.of(stepUnary)
	case x.float():
		mode = d.of(floatUnary)
		if d.VJP && !d.Unchecked && strings.HasPrefix(mode, "erf") { // JAX casts its polynomial to nothing
			mode = "tanh"
		}
	}
	t, bound := x.t, max(x.bound, 4)
	switch mode {
	case "is_finite":
		t = dtype.I1
	case "square", "log1p", "sqrt":
		bound = x.bound*x.bound + 1
	case "lgamma":
		bound = 8 * (x.bound*x.bound + 1)
	}
	d.emit(randomStep{Op: "unary", Mode: mode}, t, x.dims, bound, x)
	return true
}

func (d *drawing) binary() bool {
	x, _ := d.one(anything)
	y := d.mate(x)
	list := intBinary
	switch {
	case x.float():
		list = floatBinary
	case x.t == dtype.I1:
		list = boolBinary
	}
	mode := d.of(list)
	if mode == "rem" && (x.coarse || y.coarse) { // has jumps
		mode = "add"
	}
	bound := max(x.bound+y.bound, 4)
	switch mode {
	case "mul":
		bound = x.bound * y.bound
	case "pow":
		bound = x.bound*x.bound + 1
	}
	d.emit(randomStep{Op: "binary", Mode: mode}, x.t, x.dims, bound, x, y)
	return true
}

// mate returns a value of the type of another one: one that there is, or one that is made of a number.
func (d *drawing) mate(x drawn) drawn {
	y, ok := d.one(func(y drawn) bool { return y.like(x) && y.id != x.id })
	switch {
	case ok && !d.chance(4):
		return y
	case d.chance(4):
		return x
	}
	if y, ok = d.one(func(y drawn) bool { return y.t == x.t && len(y.dims) <= 1 && y.size() != x.size() }); ok && len(x.dims) > 0 {
		if len(y.dims) == 1 {
			y = d.reduced(y, []int64{0})
		}
		return d.emit(randomStep{Op: "broadcast", Shape: x.dims}, x.t, x.dims, y.bound, y)
	}
	return d.constant(x.t, x.dims)
}

// reduced sums dimensions, or takes the maximum or the conjunction of what has no sum.
func (d *drawing) reduced(x drawn, dims []int64) drawn {
	mode, bound := "sum", x.bound*float64(x.size())
	switch {
	case x.t == dtype.I1:
		mode = "and"
	case x.t != dtype.F32:
		mode, bound = "max", x.bound
	}
	return d.emit(randomStep{Op: "reduce", Mode: mode, Dims: dims}, x.t, without(x.dims, dims), bound, x)
}

func without(dims, drop []int64) []int64 {
	var out []int64
	for k, n := range dims {
		if !slices.Contains(drop, int64(k)) {
			out = append(out, n)
		}
	}
	return out
}

func (d *drawing) constant(t dtype.Type, dims []int64) drawn {
	v := float64(d.pick(5) - 2)
	switch {
	case t == dtype.I1:
		v = float64(d.pick(2))
	case t == dtype.UI8:
		v = math.Abs(v)
	case t.Kind() == dtype.Float:
		v /= 2
	}
	return d.add(&randomStep{Op: "const", DType: t.String(), Shape: dims, Value: v}, drawn{t: t, dims: dims, bound: 2})
}

func (d *drawing) number(v float64) drawn {
	return d.add(&randomStep{Op: "const", DType: "i32", Value: v}, drawn{t: dtype.I32, bound: 4})
}

// with adds an op with a constant.
func (d *drawing) with() bool {
	x, ok := d.one(isNumber)
	if !ok {
		return false
	}
	mode := d.of([]string{"add", "mul", "max", "min", "sub"})
	d.emit(randomStep{Op: "with", Mode: mode, Value: float64(1 + d.pick(3))}, x.t, x.dims, 3*x.bound+3, x)
	return true
}

// decision returns truth values of that shape.
func (d *drawing) decision(dims []int64) drawn {
	if p, ok := d.one(func(p drawn) bool { return p.t == dtype.I1 && slices.Equal(p.dims, dims) }); ok && d.chance(2) {
		return p
	}
	x, ok := d.one(func(x drawn) bool { return x.t != dtype.I1 && !x.coarse && slices.Equal(x.dims, dims) })
	switch {
	case ok:
	case len(dims) == 0:
		if x, ok = d.one(func(x drawn) bool { return x.t != dtype.I1 && isFine(x) && hasDims(x) }); !ok {
			return d.constant(dtype.I1, nil)
		}
		x = d.total(x)
	default:
		p := d.decision(nil)
		return d.emit(randomStep{Op: "broadcast", Shape: dims}, p.t, dims, 1, p)
	}
	y := d.constant(x.t, dims)
	return d.emit(randomStep{Op: "compare", Mode: d.of([]string{"EQ", "NE", "LT", "LE", "GT", "GE"})}, dtype.I1, dims, 1, x, y)
}

// total reduces a value to a number.
func (d *drawing) total(x drawn) drawn {
	var dims []int64
	for k := range x.dims {
		dims = append(dims, int64(k))
	}
	if len(dims) == 0 {
		return x
	}
	return d.reduced(x, dims)
}

func (d *drawing) selection() bool {
	x, _ := d.one(anything)
	y := d.mate(x)
	p := d.decision([][]int64{x.dims, nil}[d.pick(2)])
	d.emit(randomStep{Op: "select"}, x.t, x.dims, max(x.bound, y.bound), p, x, y)
	return true
}

func (d *drawing) clamp() bool {
	x, ok := d.one(isNumber)
	if !ok {
		return false
	}
	low, high := d.constant(x.t, nil), d.constant(x.t, nil)
	// JAX has no derivative by a limit that is a number
	if y, ok := d.one(func(y drawn) bool { return y.t == x.t && len(y.dims) == 0 }); ok && !d.VJP {
		high = y
	}
	if d.chance(2) {
		low, high = d.mate(x), d.mate(x)
	}
	d.emit(randomStep{Op: "clamp"}, x.t, x.dims, x.bound+low.bound+high.bound, low, x, high)
	return true
}

func (d *drawing) convert() bool {
	x, _ := d.one(anything)
	t := inputTypes[d.pick(len(inputTypes))]
	bound := x.bound
	switch toFloat := t.Kind() == dtype.Float; {
	case t == x.t || t.Kind() == dtype.Float && t != dtype.F32 && d.partial() || x.coarse && !toFloat ||
		x.float() && (t == dtype.UI8 || t == dtype.I1):
		return false
	case x.float() && !toFloat: // not near a jump
		x = d.emit(randomStep{Op: "with", Mode: "add", Value: 0.3}, x.t, x.dims, x.bound+1, x)
	case toFloat && x.t != dtype.I1:
		x = d.emit(randomStep{Op: "with", Mode: "rem", Value: 7}, x.t, x.dims, 6, x)
		bound = 6
	case toFloat:
		bound = 1
	}
	d.emit(randomStep{Op: "convert", DType: t.String()}, t, x.dims, bound, x)
	return true
}

func (d *drawing) reshape(x drawn, dims []int64) drawn {
	return d.emit(randomStep{Op: "reshape", Shape: dims}, x.t, dims, x.bound, x)
}

// reshaping splits, merges or adds dimensions.
func (d *drawing) reshaping() bool {
	x, _ := d.one(anything)
	dims := slices.Clone(x.dims)
	k := d.pick(len(dims) + 1)
	switch {
	case d.chance(3) && len(dims) < 4:
		dims = slices.Insert(dims, k, 1)
	case d.chance(3) && len(dims) > 1:
		k = d.pick(len(dims) - 1)
		dims = slices.Replace(dims, k, k+2, dims[k]*dims[k+1])
	case k < len(dims) && dims[k]%2 == 0 && len(dims) < 4:
		dims = slices.Replace(dims, k, k+1, 2, dims[k]/2)
	default:
		dims = []int64{x.size()}
	}
	d.reshape(x, dims)
	return true
}

func (d *drawing) broadcast() bool {
	x, ok := d.one(func(x drawn) bool { return len(x.dims) < 3 && x.size() <= maxElements/3 })
	if !ok {
		return false
	}
	dims, places := slices.Clone(x.dims), []int64{}
	at := d.pick(len(dims) + 1)
	for k := range dims {
		if k >= at {
			places = append(places, int64(k+1))
		} else {
			places = append(places, int64(k))
		}
		if dims[k] == 1 && x.size() <= 8 && d.chance(2) {
			dims[k] = 2
		}
	}
	dims = slices.Insert(dims, at, int64(1+d.pick(3)))
	d.emit(randomStep{Op: "broadcast", Shape: dims, Dims: places}, x.t, dims, x.bound, x)
	return true
}

// reorder transposes or reverses.
func (d *drawing) reorder() bool {
	x, ok := d.one(hasDims)
	if !ok {
		return false
	}
	if d.chance(2) {
		d.emit(randomStep{Op: "reverse", Dims: []int64{int64(d.pick(len(x.dims)))}}, x.t, x.dims, x.bound, x)
		return true
	}
	perm, dims := d.order(len(x.dims)), make([]int64, len(x.dims))
	for k, p := range perm {
		dims[k] = x.dims[p]
	}
	d.emit(randomStep{Op: "transpose", Dims: perm}, x.t, dims, x.bound, x)
	return true
}

// order returns a permutation.
func (d *drawing) order(n int) []int64 {
	perm := make([]int64, n)
	for k := range perm {
		perm[k] = int64(k)
	}
	d.shuffle(n, func(i, j int) { perm[i], perm[j] = perm[j], perm[i] })
	return perm
}

func (d *drawing) slice() bool {
	x, ok := d.one(hasDims)
	if !ok {
		return false
	}
	s := randomStep{Op: "slice"}
	var dims []int64
	for _, n := range x.dims {
		low := int64(d.pick(int(n)))
		high := low + 1 + int64(d.pick(int(n-low)))
		stride := int64(1 + d.pick(2))
		s.Low, s.High, s.Interior = append(s.Low, low), append(s.High, high), append(s.Interior, stride)
		dims = append(dims, (high-low+stride-1)/stride)
	}
	d.emit(s, x.t, dims, x.bound, x)
	return true
}

func (d *drawing) padding() bool {
	x, ok := d.one(func(x drawn) bool { return hasDims(x) && x.size() <= 16 })
	if !ok {
		return false
	}
	s := randomStep{Op: "pad"}
	var dims []int64
	for _, n := range x.dims {
		low, high, interior := int64(d.pick(3)), int64(d.pick(3)-1), int64(d.pick(5)/4)
		size := n + low + high + (n-1)*interior
		if size < 1 {
			low, size = 1, size+1-low
		}
		s.Low, s.High, s.Interior = append(s.Low, low), append(s.High, high), append(s.Interior, interior)
		dims = append(dims, size)
	}
	v, ok := d.one(func(v drawn) bool { return v.t == x.t && len(v.dims) == 0 })
	if out := (drawn{dims: dims}); out.size() > maxElements || slices.Min(dims) < 1 {
		return false
	}
	switch {
	case d.VJP && d.chance(2): // JAX has no derivative by the value alone
		v = d.total(x)
	case d.VJP || !ok:
		v = d.constant(x.t, nil)
	}
	d.emit(s, x.t, dims, max(x.bound, v.bound), x, v)
	return true
}

func (d *drawing) concatenate() bool {
	x, ok := d.one(func(x drawn) bool { return hasDims(x) && x.size() <= 32 })
	if !ok {
		return false
	}
	dim := d.pick(len(x.dims))
	y, ok := d.one(func(y drawn) bool {
		return y.t == x.t && len(y.dims) == len(x.dims) && y.size() <= 32 && slices.Equal(without(y.dims, []int64{int64(dim)}),
			without(x.dims, []int64{int64(dim)}))
	})
	if !ok {
		y = x
	}
	dims := slices.Clone(x.dims)
	dims[dim] += y.dims[dim]
	d.emit(randomStep{Op: "concatenate", Dim: int64(dim)}, x.t, dims, max(x.bound, y.bound), x, y)
	return true
}

func (d *drawing) iota() bool {
	t := []dtype.Type{dtype.F32, dtype.I32, dtype.I8}[d.pick(3)]
	dims := append(d.shape(3), int64(1+d.pick(4)))
	d.add(&randomStep{Op: "iota", DType: t.String(), Shape: dims, Dim: int64(d.pick(len(dims)))}, drawn{t: t, dims: dims, bound: 4})
	return true
}
