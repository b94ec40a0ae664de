package propagate_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"autoshard/subaxis"
)

// generator writes small random programs with random shardings, in MLIR's text form.
type generator struct {
	r          *rand.Rand
	mesh       subaxis.Mesh
	values     []value
	body       strings.Builder
	next       int
	indent     string
	priorities bool
	groups     bool
}

// value is a tensor of f32 that later ops may use.
type value struct {
	name string
	dims []int64
}

func (v value) typ() string { return tensorType(v.dims, "f32") }

func tensorType(dims []int64, elem string) string {
	s := "tensor<"
	for _, d := range dims {
		s += fmt.Sprint(d, "x")
	}
	return s + elem + ">"
}

// randomProgram returns the text of a module with one function.
func randomProgram(seed int64) string {
	g := &generator{r: rand.New(rand.NewSource(seed)), indent: "    "}
	g.priorities, g.groups = g.chance(3), g.chance(4)
	for i := range 1 + g.r.Intn(3) {
		g.mesh.Axes = append(g.mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: g.pick(2, 2, 3, 4, 4, 6, 8, 1)})
	}
	var args []string
	for i := range 1 + g.r.Intn(4) {
		v := value{fmt.Sprintf("%%arg%d", i), g.shape()}
		g.values = append(g.values, v)
		args = append(args, v.name+": "+v.typ()+g.argSharding(v.dims))
	}
	for range 2 + g.r.Intn(12) {
		g.op()
	}
	results := []value{g.any()}
	if g.chance(2) {
		results = append(results, g.any())
	}
	return g.module(args, results)
}

func (g *generator) module(args []string, results []value) string {
	var axes, names, types, attrs []string
	for _, a := range g.mesh.Axes {
		axes = append(axes, fmt.Sprintf("%q=%d", a.Name, a.Size))
	}
	for _, v := range results {
		names, types = append(names, v.name), append(types, v.typ())
		attrs = append(attrs, v.typ()+g.argSharding(v.dims))
	}
	return fmt.Sprintf("module {\n  sdy.mesh @mesh = <[%s]>\n  func.func @main(%s) -> (%s) {\n%s    return %s : %s\n  }\n}\n",
		strings.Join(axes, ", "), strings.Join(args, ", "), strings.Join(attrs, ", "), g.body.String(),
		strings.Join(names, ", "), strings.Join(types, ", "))
}

func (g *generator) chance(n int) bool { return g.r.Intn(n) == 0 }

func (g *generator) pick(of ...int64) int64 { return of[g.r.Intn(len(of))] }

func (g *generator) shape() []int64 {
	dims := make([]int64, g.r.Intn(4))
	for i := range dims {
		dims[i] = g.pick(1, 2, 3, 4, 4, 6, 8, 8, 12, 16)
	}
	return dims
}

func (g *generator) any() value { return g.values[g.r.Intn(len(g.values))] }

// like returns a value of a shape, a constant where there is none.
func (g *generator) like(dims []int64) value {
	var same []value
	for _, v := range g.values {
		if slices.Equal(v.dims, dims) {
			same = append(same, v)
		}
	}
	if len(same) > 0 && !g.chance(6) {
		return same[g.r.Intn(len(same))]
	}
	name := g.name()
	g.line("%s = stablehlo.constant dense<1.000000e+00> : %s", name, tensorType(dims, "f32"))
	g.values = append(g.values, value{name, dims})
	return value{name, dims}
}

func (g *generator) name() string {
	g.next++
	return fmt.Sprintf("%%v%d", g.next)
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(&g.body, g.indent+format+"\n", args...)
}

// define adds an op with one result. The format gets the op after the equal sign, up to the attributes.
func (g *generator) define(dims []int64, op, types string) value {
	v := value{g.name(), dims}
	attr := ""
	if g.chance(5) {
		attr = " {sdy.sharding = #sdy.sharding_per_value<[" + g.sharding(dims) + "]>}"
	}
	g.line("%s = %s%s : %s", v.name, op, attr, types)
	g.values = append(g.values, v)
	return v
}

func (g *generator) argSharding(dims []int64) string {
	if !g.chance(2) {
		return ""
	}
	return " {sdy.sharding = #sdy.sharding" + g.sharding(dims) + "}"
}

// sharding returns the text of a random sharding of a shape.
func (g *generator) sharding(dims []int64) string {
	pool := g.pool()
	var texts []string
	for range dims {
		var axes []subaxis.Ref
		for len(pool) > 0 && g.chance(2) {
			if n := len(axes); n > 0 && axes[n-1].CanMerge(pool[0]) {
				break
			}
			axes, pool = append(axes, pool[0]), pool[1:]
		}
		texts = append(texts, g.dim(axes))
	}
	s := "<@mesh, [" + strings.Join(texts, ", ") + "]"
	if len(pool) > 0 && g.chance(5) {
		s += ", replicated={" + g.mesh.FormatList(pool[:1]) + "}"
	}
	return s + ">"
}

func (g *generator) dim(axes []subaxis.Ref) string {
	s := "{" + g.mesh.FormatList(axes)
	closed := g.chance(3)
	if !closed {
		if len(axes) > 0 {
			s += ", "
		}
		s += "?"
	}
	s += "}"
	if g.priorities && g.chance(2) && !(closed && len(axes) == 0) {
		s += fmt.Sprintf("p%d", g.r.Intn(3))
	}
	return s
}

// pool returns the axes of the mesh in random order, some of them cut in two.
func (g *generator) pool() []subaxis.Ref {
	var list []subaxis.Ref
	for i := range g.mesh.Axes {
		r := g.mesh.Full(i)
		if cut := g.pick(1, 1, 2, 3); cut > 1 && cut < int64(r.Size) && int64(r.Size)%cut == 0 {
			list = append(list, subaxis.Ref{Axis: r.Axis, Pre: 1, Size: int32(cut)},
				subaxis.Ref{Axis: r.Axis, Pre: int32(cut), Size: r.Size / int32(cut)})
			continue
		}
		list = append(list, r)
	}
	g.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
