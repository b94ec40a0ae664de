package propagate_test

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/subaxis"
)

// regions write operations with bodies and those through which data flows.
var regions = []func(*generator){
	(*generator).while, (*generator).branches, (*generator).barrier, (*generator).manualComputation,
	(*generator).while, (*generator).manualComputation,
}

// inside writes some operations in an inner scope, with args to begin with; isolated ones do not see the values around.
// It returns one value of each of the shapes.
func (g *generator) inside(args []value, isolated bool, want []shape) []value {
	outer := g.scope
	if isolated {
		g.values, g.closed = nil, true
	}
	g.values = append(slices.Clone(g.values), args...)
	g.depth++
	for range g.r.Intn(4) {
		if g.depth > 2 {
			g.unary()
			continue
		}
		if len(g.functions) > 0 && (len(g.manual) == 0 || g.chance(6)) && g.chance(5) {
			g.call()
			continue
		}
		g.step()
	}
	var out []value
	for _, s := range want {
		out = append(out, g.like(s))
	}
	g.scope = outer
	return out
}

// carried draws up to three values that a region takes.
func (g *generator) carried(least int) []value {
	var list []value
	for range least + g.r.Intn(3) {
		list = append(list, g.any())
	}
	return list
}

// params names the arguments of a region.
func (g *generator) params(of []value) []value {
	var list []value
	for _, v := range of {
		list = append(list, value{g.name(), v.shape})
	}
	return list
}

func (g *generator) perhapsSharded(results []shape) string {
	if len(results) == 0 || !g.chance(g.features.density) {
		return ""
	}
	return "sdy.sharding = " + g.perValue(results)
}

// while carries a counter and some values through a loop.
func (g *generator) while() {
	n := g.like(shape{nil, "i32"})
	init := append([]value{n}, g.carried(0)...)
	args := g.params(init)
	var pairs []string
	for i, a := range args {
		pairs = append(pairs, a.name+" = "+init[i].name)
	}
	results := g.results(shapesOf(init))
	attrs := g.perhapsSharded(shapesOf(init))
	if attrs != "" {
		attrs = " attributes {" + attrs + "}"
	}
	g.line("%s = stablehlo.while(%s) : %s%s", declare(results), strings.Join(pairs, ", "), typesOf(init), attrs)
	g.line("cond {")
	outer := g.scope
	g.values = append(slices.Clone(g.values), args...)
	p := g.compare(args[0], g.like(args[0].shape))
	g.line("stablehlo.return %s : tensor<i1>", p.name)
	g.scope = outer
	g.line("} do {")
	out := g.inside(args, false, shapesOf(init))
	g.line("stablehlo.return %s : %s", namesOf(out), typesOf(out))
	g.line("}")
	g.values = append(g.values, results...)
}

// branches chooses one of several computations.
func (g *generator) branches() {
	var want []shape
	for _, v := range g.carried(1) {
		want = append(want, v.shape)
	}
	name, n, which := "stablehlo.case", 1+g.r.Intn(3), g.like(shape{nil, "i32"})
	if g.chance(3) {
		name, n, which = "stablehlo.if", 2, g.like(shape{nil, "i1"})
	}
	results := g.results(want)
	g.line("%s = %q(%s) ({", declare(results), name, which.name)
	for i := range n {
		if i > 0 {
			g.line("}, {")
		}
		out := g.inside(nil, false, want)
		g.line("stablehlo.return %s : %s", namesOf(out), typesOf(out))
	}
	attrs := g.perhapsSharded(want)
	if attrs != "" {
		attrs = " {" + attrs + "}"
	}
	g.line("})%s : (%s) -> (%s)", attrs, which.typ(), typesOf(results))
	g.values = append(g.values, results...)
}

func (g *generator) barrier() {
	operands := g.carried(1)
	g.op("stablehlo.optimization_barrier", "", "", operands, shapesOf(operands)...)
}

// namedComputation writes a body with a name, its shardings given or not.
func (g *generator) namedComputation() {
	operands := g.carried(0)
	args := g.params(operands)
	var want []shape
	for _, v := range g.carried(1) {
		want = append(want, v.shape)
	}
	in, out := "", ""
	g.depth++
	if len(operands) > 0 && g.chance(2) {
		in = " in_shardings=[" + g.shardings(shapesOf(operands)) + "]"
	}
	if g.chance(2) {
		out = " out_shardings=[" + g.shardings(want) + "]"
	}
	g.depth--
	results := g.results(want)
	g.line("%s = sdy.named_computation<%q>(%s)%s%s (%s) {", declare(results), g.word("foo", "bar"), namesOf(operands), in, out,
		signatureText(args))
	g.isolatedBody(args, want)
	g.line("} : (%s) -> %s", typesOf(operands), resultTypes(results))
	g.values = append(g.values, results...)
}

// isolatedBody writes an isolated body that returns values of some shapes.
func (g *generator) isolatedBody(args []value, want []shape) {
	inner := g.inside(args, true, want)
	g.line("sdy.return %s : %s", namesOf(inner), typesOf(inner))
}

func signatureText(args []value) string {
	var list []string
	for _, a := range args {
		list = append(list, a.name+": "+a.typ())
	}
	return strings.Join(list, ", ")
}

func resultTypes(results []value) string {
	if len(results) == 1 {
		return results[0].typ()
	}
	return "(" + typesOf(results) + ")"
}

// manualComputation runs its body per device along some axes that are not manual yet.
func (g *generator) manualComputation() {
	var axes []string
	for _, a := range g.mesh.Axes {
		if !slices.Contains(g.manual, a.Name) && g.chance(2) {
			axes = append(axes, a.Name)
		}
	}
	if g.chance(3) {
		slices.Reverse(axes)
	}
	operands := g.carried(1)
	args := g.params(operands)
	all := g.meshes
	g.meshes = []string{g.word(all...)} // its shardings have one mesh
	g.depth++
	var in, out []string
	for i := range args {
		var text string
		args[i].dims, text = g.localSharding(operands[i].dims, axes, true)
		in = append(in, text)
	}
	var results []shape
	var want []shape
	for range 1 + g.r.Intn(2) {
		local := args[g.r.Intn(len(args))].shape
		dims, text := g.localSharding(local.dims, axes, false)
		want, results, out = append(want, local), append(results, local.with(dims)), append(out, text)
	}
	g.meshes = all
	g.depth--
	values := g.results(results)
	g.line("%s = sdy.manual_computation(%s) in_shardings=[%s] out_shardings=[%s] manual_axes={%s} (%s) {", declare(values), namesOf(operands),
		strings.Join(in, ", "), strings.Join(out, ", "), quoted(axes), signatureText(args))
	outer := g.manual
	g.manual = slices.Concat(g.manual, axes)
	g.isolatedBody(args, want)
	g.manual = outer
	g.line("} : (%s) -> %s", typesOf(operands), resultTypes(values))
	g.values = append(g.values, values...)
}

func quoted(axes []string) string {
	var list []string
	for _, a := range axes {
		list = append(list, fmt.Sprintf("%q", a))
	}
	return strings.Join(list, ", ")
}

// localSharding draws a sharding whose dimensions start with manual axes, where they fit, and returns the sizes on the
// other side of the manual computation: inwards, local ones of global ones.
func (g *generator) localSharding(dims []int64, manual []string, inward bool) ([]int64, string) {
	var mine, pool []subaxis.Ref
	for _, r := range g.pool() {
		switch {
		case !slices.Contains(manual, g.mesh.Axes[r.Axis].Name):
			pool = append(pool, r)
		case g.mesh.IsFull(r):
			mine = append(mine, r)
		}
	}
	out := slices.Clone(dims)
	var texts []string
	for d, size := range dims {
		var axes []subaxis.Ref
		for len(mine) > 0 && !g.chance(3) {
			n := int64(mine[0].Size)
			if inward && size%n != 0 || !inward && size*n > 64 {
				break
			}
			if axes, mine = append(axes, mine[0]), mine[1:]; inward {
				size /= n
			} else {
				size *= n
			}
		}
		out[d] = size
		var free []subaxis.Ref
		free, pool = g.take(pool)
		texts = append(texts, g.dim(append(axes, free...)))
	}
	return out, g.shardingText(texts, slices.Concat(mine, pool))
}
