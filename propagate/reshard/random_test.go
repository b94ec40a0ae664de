package reshard_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"autoshard/subaxis"
)

// generator writes random programs whose values have random shardings, so that ops disagree with their operands.
type generator struct {
	r         *rand.Rand
	axes      []subaxis.Axis
	orders    int      // meshes with the same axes and other orders of devices
	unreduced bool     // some shardings have unreduced axes
	rare      bool     // but only few of them
	kinds     []string // of reductions
	devices   bool     // some custom calls run on one device
	functions []signature
	values    []value
	body      strings.Builder
	next      int
	indent    string
	manual    []string // axes of the computation around
}

// value is a tensor that later ops may use.
type value struct {
	name string
	dims []int64
}

func (v value) typ() string { return tensorType(v.dims, "f32") }

// signature is a function that others may call.
type signature struct {
	name          string
	args, results [][]int64
}

func tensorType(dims []int64, elem string) string {
	s := "tensor<"
	for _, d := range dims {
		s += fmt.Sprint(d, "x")
	}
	return s + elem + ">"
}

// randomProgram returns the text of a module.
func randomProgram(seed int64) string {
	g := &generator{r: rand.New(rand.NewSource(seed)), kinds: []string{"", "", "", "max"}}
	g.unreduced, g.devices = g.chance(3), g.chance(10)
	return g.module()
}

// randomUnreduced returns the text of a module with unreduced axes.
func randomUnreduced(seed int64) string {
	g := &generator{r: rand.New(rand.NewSource(seed)), kinds: []string{"", "", "", "", "", "", "max"}, unreduced: true, rare: true}
	return g.module()
}

func (g *generator) module() string {
	for i := range 2 + g.r.Intn(3) {
		g.axes = append(g.axes, subaxis.Axis{Name: string([]rune("xyza")[i]), Size: g.pick(2, 2, 3, 4, 4, 6, 8)})
	}
	if g.chance(4) {
		g.orders = 1
	}
	var text strings.Builder
	text.WriteString("module {\n" + g.meshes())
	for i := range g.r.Intn(3) {
		text.WriteString(g.function(fmt.Sprint("f", i), "private "))
	}
	return text.String() + g.function("main", "") + "}\n"
}

func (g *generator) meshes() string {
	var axes, ids []string
	n := int64(1)
	for _, a := range g.axes {
		axes = append(axes, fmt.Sprintf("%q=%d", a.Name, a.Size))
		n *= a.Size
	}
	for i := range n {
		ids = append(ids, fmt.Sprint(n-1-i))
	}
	content := strings.Join(axes, ", ")
	s := fmt.Sprintf("  sdy.mesh @mesh = <[%s]>\n", content)
	if g.orders > 0 {
		s += fmt.Sprintf("  sdy.mesh @mesh1 = <[%s], device_ids=[%s]>\n", content, strings.Join(ids, ", "))
	}
	if g.devices {
		s += "  sdy.mesh @device0 = <[], device_ids=[0]>\n  sdy.mesh @device1 = <[], device_ids=[1]>\n"
	}
	return s
}

func (g *generator) function(name, visibility string) string {
	g.values, g.indent = nil, "    "
	g.body.Reset()
	sig := signature{name: name}
	var args []string
	for i := range 1 + g.r.Intn(3) {
		v := value{fmt.Sprintf("%%arg%d", i), g.shape()}
		g.values, sig.args = append(g.values, v), append(sig.args, v.dims)
		args = append(args, v.name+": "+v.typ()+g.argSharding(v.dims))
	}
	for range 1 + g.r.Intn(8) {
		g.op()
	}
	var names, types, results []string
	for range 1 + g.r.Intn(2) {
		v := g.any()
		sig.results = append(sig.results, v.dims)
		names, types, results = append(names, v.name), append(types, v.typ()), append(results, v.typ()+g.argSharding(v.dims))
	}
	g.functions = append(g.functions, sig)
	return fmt.Sprintf("  func.func %s@%s(%s) -> (%s) {\n%s    return %s : %s\n  }\n", visibility, name, strings.Join(args, ", "),
		strings.Join(results, ", "), g.body.String(), strings.Join(names, ", "), strings.Join(types, ", "))
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

// like returns a value of a shape, a custom call where there is none.
func (g *generator) like(dims []int64) value {
	var same []value
	for _, v := range g.values {
		if slices.Equal(v.dims, dims) {
			same = append(same, v)
		}
	}
	if len(same) > 0 && !g.chance(4) {
		return same[g.r.Intn(len(same))]
	}
	x := g.any()
	return g.define(dims, "stablehlo.custom_call @source("+x.name+")", fmt.Sprintf("(%s) -> %s", x.typ(), tensorType(dims, "f32")))
}

func (g *generator) name() string {
	g.next++
	return fmt.Sprintf("%%v%d", g.next)
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(&g.body, g.indent+format+"\n", args...)
}

// define adds an op with one result. op is the text after the equal sign, up to the attributes.
func (g *generator) define(dims []int64, op, types string) value {
	v := value{g.name(), dims}
	g.line("%s = %s%s : %s", v.name, op, g.perValue(dims), types)
	g.values = append(g.values, v)
	return v
}

// perValue returns the attribute with the shardings of results.
func (g *generator) perValue(results ...[]int64) string {
	if g.chance(4) {
		return ""
	}
	var texts []string
	for _, dims := range results {
		texts = append(texts, g.sharding(dims))
	}
	return " {sdy.sharding = #sdy.sharding_per_value<[" + strings.Join(texts, ", ") + "]>}"
}

func (g *generator) argSharding(dims []int64) string {
	if g.chance(4) {
		return ""
	}
	return " {sdy.sharding = #sdy.sharding" + g.sharding(dims) + "}"
}

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
	mesh := "@mesh"
	if g.orders > 0 && g.chance(3) {
		mesh = "@mesh1"
	}
	s := "<" + mesh + ", [" + strings.Join(texts, ", ") + "]"
	if len(pool) > 0 && g.unreduced && g.chance(2) && (!g.rare || g.chance(8)) {
		s += ", unreduced=" + g.kinds[g.r.Intn(len(g.kinds))] + "{" + g.format(pool[:1]) + "}"
	}
	return s + ">"
}

func (g *generator) format(axes []subaxis.Ref) string {
	mesh := subaxis.Mesh{Axes: g.axes}
	return mesh.FormatList(axes)
}

func (g *generator) dim(axes []subaxis.Ref) string {
	s := "{" + g.format(axes)
	if g.chance(4) {
		if len(axes) > 0 {
			s += ", "
		}
		s += "?"
	}
	return s + "}"
}

// pool returns the free axes of the mesh in random order, some of them cut in two.
func (g *generator) pool() []subaxis.Ref {
	var list []subaxis.Ref
	for i, a := range g.axes {
		if slices.Contains(g.manual, a.Name) {
			continue
		}
		r := subaxis.Ref{Axis: int32(i), Pre: 1, Size: int32(a.Size)}
		if cut := int32(g.pick(1, 1, 2, 3)); cut > 1 && cut < r.Size && r.Size%cut == 0 {
			list = append(list, subaxis.Ref{Axis: r.Axis, Pre: 1, Size: cut}, subaxis.Ref{Axis: r.Axis, Pre: cut, Size: r.Size / cut})
			continue
		}
		list = append(list, r)
	}
	g.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
