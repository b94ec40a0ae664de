package reshard_test

import (
	"fmt"
	"slices"
	"strings"
)

func (g *generator) barrier() {
	x, y, v := g.any(), g.any(), g.name()
	g.line("%s:2 = stablehlo.optimization_barrier%s %s, %s : %s, %s", v, g.perValue(x.dims, y.dims), x.name, y.name, x.typ(), y.typ())
	g.values = append(g.values, value{v + "#0", x.dims}, value{v + "#1", y.dims})
}

func (g *generator) propagationBarrier() {
	x := g.any()
	g.define(x.dims, "sdy.propagation_barrier "+x.name+" allowed_direction=NONE", x.typ())
}

func (g *generator) reshard() {
	x := g.any()
	v := value{g.name(), x.dims}
	target := strings.ReplaceAll(g.sharding(x.dims), "unreduced=max{", "unreduced={")
	g.line("%s = sdy.reshard %s %s : %s", v.name, x.name, target, x.typ())
	g.values = append(g.values, v)
}

func (g *generator) twoResults() {
	x, r := g.any(), g.name()
	y := g.shape()
	g.line("%s:2 = stablehlo.custom_call @two(%s)%s : (%s) -> (%s, %s)", r, x.name, g.perValue(x.dims, y), x.typ(), x.typ(),
		tensorType(y, "f32"))
	g.values = append(g.values, value{r + "#0", x.dims}, value{r + "#1", y})
}

// device runs a custom call on one device.
func (g *generator) device() {
	if !g.devices || len(g.manual) > 0 {
		return
	}
	x, y, r := g.any(), g.any(), g.name()
	second := g.sharding(y.dims)
	if g.chance(3) {
		second = "<@device0, []>"
	}
	g.line("%s:2 = stablehlo.custom_call @single(%s, %s) {sdy.sharding = #sdy.sharding_per_value<[<@device%d, []>, %s]>} : (%s, %s) -> "+
		"(%s, %s)",
		r, x.name, y.name, min(1, g.r.Intn(4)), second, x.typ(), y.typ(), x.typ(), y.typ())
	g.values = append(g.values, value{r + "#0", x.dims}, value{r + "#1", y.dims})
}

// inside writes a region's ops and returns a value of a shape that is made there or outside.
func (g *generator) inside(dims []int64, args ...value) value {
	outer := g.values
	if args != nil && len(g.manual) > 0 {
		g.values = nil
	}
	g.values, g.indent = append(slices.Clone(g.values), args...), g.indent+"  "
	for range g.r.Intn(3) {
		g.op()
	}
	v := g.like(dims)
	g.values, g.indent = outer, g.indent[2:]
	return v
}

// while carries a counter and one value through a loop.
func (g *generator) while() {
	x, c, r := g.any(), g.name(), g.name()
	g.line("%s = stablehlo.constant dense<0> : tensor<i32>", c)
	i, a := r+"_i", r+"_a"
	attr := g.perValue(nil, x.dims)
	if attr != "" {
		attr = " attributes" + attr
	}
	g.line("%s:2 = stablehlo.while(%s = %s, %s = %s) : tensor<i32>, %s%s", r, i, c, a, x.name, x.typ(), attr)
	g.line("cond {")
	g.line("  %s_p = stablehlo.compare LT, %s, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>", r, i, i)
	g.line("  stablehlo.return %s_p : tensor<i1>", r)
	g.line("} do {")
	manual := g.manual
	b := g.inside(x.dims, value{a, x.dims})
	g.manual = manual
	g.line("  stablehlo.return %s, %s : tensor<i32>, %s", i, b.name, x.typ())
	g.line("}")
	g.values = append(g.values, value{r + "#1", x.dims})
}

// caseOp chooses one of two branches.
func (g *generator) caseOp() {
	x, c, r := g.any(), g.name(), g.name()
	g.line("%s = stablehlo.constant dense<0> : tensor<i32>", c)
	g.line("%s = \"stablehlo.case\"(%s) ({", r, c)
	for i := range 2 {
		if i > 0 {
			g.line("}, {")
		}
		b := g.inside(x.dims)
		g.line("  stablehlo.return %s : %s", b.name, x.typ())
	}
	g.line("})%s : (tensor<i32>) -> %s", g.perValue(x.dims), x.typ())
	g.values = append(g.values, value{r, x.dims})
}

// call calls one of the functions that are there.
func (g *generator) call() {
	if len(g.functions) == 0 || len(g.manual) > 0 {
		return
	}
	f := g.functions[g.r.Intn(len(g.functions))]
	var names, types, outs []string
	for _, dims := range f.args {
		v := g.like(dims)
		names, types = append(names, v.name), append(types, v.typ())
	}
	r := g.name()
	for i, dims := range f.results {
		v := value{r, dims}
		if len(f.results) > 1 {
			v.name = fmt.Sprintf("%s#%d", r, i)
		}
		g.values = append(g.values, v)
		outs = append(outs, v.typ())
	}
	results := r
	if len(outs) > 1 {
		results = fmt.Sprintf("%s:%d", r, len(outs))
	}
	g.line("%s = func.call @%s(%s)%s : (%s) -> (%s)", results, f.name, strings.Join(names, ", "), g.perValue(f.results...),
		strings.Join(types, ", "), strings.Join(outs, ", "))
}

// manualOp runs a few ops per device along the first axis, which cuts the first dimension of the operand and result.
func (g *generator) manualOp() {
	x := g.any()
	n := g.axes[0].Size
	if len(g.manual) > 0 || len(x.dims) == 0 || x.dims[0]%n != 0 || g.orders > 0 {
		return
	}
	manual := []string{g.axes[0].Name}
	local := slices.Clone(x.dims)
	local[0] /= n
	g.manual = manual
	in, out := g.manualSharding(x.dims), g.manualSharding(x.dims)
	r := g.name()
	a := value{r + "_m", local}
	g.line("%s = sdy.manual_computation(%s) in_shardings=[%s] out_shardings=[%s] manual_axes={%q} (%s: %s) {", r, x.name, in, out, manual[0],
		a.name, a.typ())
	b := g.inside(local, a)
	g.manual = nil
	g.line("  sdy.return %s : %s", b.name, b.typ())
	g.line("} : (%s) -> %s", x.typ(), x.typ())
	g.values = append(g.values, value{r, x.dims})
}

// manualSharding is a sharding whose first dimension is cut along the manual axis first.
func (g *generator) manualSharding(dims []int64) string {
	s := g.sharding(dims)
	first := fmt.Sprintf("%q", g.axes[0].Name)
	at := strings.Index(s, "[{") + 2
	if s[at] != '}' {
		first += ", "
	}
	return s[:at] + first + s[at:]
}
