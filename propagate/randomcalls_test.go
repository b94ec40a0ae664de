package propagate_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"autoshard/subaxis"
)

// signature is a function that later ones may call.
type signature struct {
	name          string
	args, results [][]int64
}

// callGenerator writes random modules of several functions that call each other: from several places, nested, from
// inside loops and manual computations, with constants alone or without arguments.
type callGenerator struct {
	r          *rand.Rand
	mesh       subaxis.Mesh
	priorities bool
	groups     bool
	functions  []signature
	texts      []string
}

// randomCalls returns the text of a module.
func randomCalls(seed int64) string {
	c := &callGenerator{r: rand.New(rand.NewSource(seed))}
	one := &generator{r: c.r}
	c.priorities, c.groups = one.chance(4), one.chance(5)
	for i := range 1 + c.r.Intn(3) {
		c.mesh.Axes = append(c.mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: one.pick(2, 2, 3, 4, 4, 6, 8)})
	}
	for i := range 1 + c.r.Intn(4) {
		c.function(fmt.Sprintf([]string{"f%d", "f_%d"}[c.r.Intn(2)], i), c.r.Intn(3))
	}
	c.function("main", 1+c.r.Intn(3))
	c.r.Shuffle(len(c.texts), func(i, j int) { c.texts[i], c.texts[j] = c.texts[j], c.texts[i] })
	var axes []string
	for _, a := range c.mesh.Axes {
		axes = append(axes, fmt.Sprintf("%q=%d", a.Name, a.Size))
	}
	return fmt.Sprintf("module {\n  sdy.mesh @mesh = <[%s]>\n%s}\n", strings.Join(axes, ", "), strings.Join(c.texts, ""))
}

// function writes a function; those that are there already may be called.
func (c *callGenerator) function(name string, numArgs int) {
	g := &generator{r: c.r, mesh: c.mesh, indent: "    ", priorities: c.priorities, groups: c.groups}
	var args []string
	sig := signature{name: name}
	for i := range numArgs {
		v := value{fmt.Sprintf("%%arg%d", i), g.shape()}
		g.values = append(g.values, v)
		sig.args = append(sig.args, v.dims)
		args = append(args, v.name+": "+v.typ()+g.argSharding(v.dims))
	}
	if numArgs == 0 {
		g.like(g.shape())
	}
	constant := numArgs == 0 && g.chance(2)
	for range 1 + c.r.Intn(6) {
		switch {
		case constant:
			[]func(){g.unary, g.binary, g.broadcast, g.iota}[c.r.Intn(4)]()
		case len(c.functions) > 0 && g.chance(2):
			c.call(g)
		case len(c.functions) > 0 && g.chance(6):
			c.loop(g)
		case g.chance(10):
			c.manual(g)
		default:
			g.op()
		}
	}
	var names, types, results []string
	for range 1 + c.r.Intn(2) {
		v := g.any()
		sig.results = append(sig.results, v.dims)
		names, types, results = append(names, v.name), append(types, v.typ()), append(results, v.typ()+g.argSharding(v.dims))
	}
	visibility := "private "
	if name == "main" || g.chance(8) {
		visibility = ""
	}
	c.texts = append(c.texts, fmt.Sprintf("  func.func %s@%s(%s) -> (%s) {\n%s    return %s : %s\n  }\n", visibility, name,
		strings.Join(args, ", "), strings.Join(results, ", "), g.body.String(), strings.Join(names, ", "), strings.Join(types, ", ")))
	c.functions = append(c.functions, sig)
}

// call calls one of the functions.
func (c *callGenerator) call(g *generator) {
	f := c.functions[c.r.Intn(len(c.functions))]
	var names, types, outs, shardings []string
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
		outs, shardings = append(outs, v.typ()), append(shardings, g.sharding(dims))
	}
	attr := ""
	if g.chance(3) {
		attr = " {sdy.sharding = #sdy.sharding_per_value<[" + strings.Join(shardings, ", ") + "]>}"
	}
	results := r
	if len(outs) > 1 {
		results = fmt.Sprintf("%s:%d", r, len(outs))
	}
	g.line("%s = func.call @%s(%s)%s : (%s) -> (%s)", results, f.name, strings.Join(names, ", "), attr,
		strings.Join(types, ", "), strings.Join(outs, ", "))
}

// loop carries a value through a while whose body calls a function.
func (c *callGenerator) loop(g *generator) {
	x := g.any()
	n, r := g.name(), g.name()
	g.line("%s = stablehlo.constant dense<0> : tensor<i32>", n)
	i, a := r+"_i", r+"_a"
	g.line("%s:2 = stablehlo.while(%s = %s, %s = %s) : tensor<i32>, %s", r, i, n, a, x.name, x.typ())
	g.line("cond {")
	g.line("  %s_p = stablehlo.compare LT, %s, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>", r, i, i)
	g.line("  stablehlo.return %s_p : tensor<i1>", r)
	g.line("} do {")
	outer := g.values
	g.values, g.indent = append(slices.Clone(outer), value{a, x.dims}), g.indent+"  "
	c.call(g)
	b := g.like(x.dims)
	g.line("stablehlo.return %s, %s : tensor<i32>, %s", i, b.name, x.typ())
	g.values, g.indent = outer, g.indent[2:]
	g.line("}")
	g.values = append(g.values, value{r + "#1", x.dims})
}

// manual runs a few ops, and perhaps a call, per device along the first axis of the mesh.
func (c *callGenerator) manual(g *generator) {
	x := g.any()
	axis := c.mesh.Axes[0]
	if len(x.dims) == 0 || x.dims[0]%axis.Size != 0 {
		return
	}
	local := append([]int64{x.dims[0] / axis.Size}, x.dims[1:]...)
	s := "<@mesh, [{\"" + axis.Name + "\", ?}" + strings.Repeat(", {?}", len(local)-1) + "]>"
	r := value{g.name(), x.dims}
	a := value{r.name + "_a", local}
	g.line("%s = sdy.manual_computation(%s) in_shardings=[%s] out_shardings=[%s] manual_axes={%q} (%s: %s) {",
		r.name, x.name, s, s, axis.Name, a.name, a.typ())
	outer, indent := g.values, g.indent
	g.values, g.indent = []value{a}, indent+"  "
	b := value{g.name(), local}
	g.line("%s = stablehlo.negate %s : %s", b.name, a.name, a.typ())
	g.values = append(g.values, b)
	out := g.any()
	g.line("sdy.return %s : %s", out.name, out.typ())
	g.values, g.indent = append(outer, r), indent
	g.line("} : (%s) -> %s", x.typ(), x.typ())
}
