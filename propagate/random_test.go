package propagate_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"autoshard/subaxis"
)

// generator writes random modules in MLIR's text form: functions that call each other, with operations of all families,
// regions, and random shardings. Each module has its own mixture: few features make differences easy to see, many make
// them meet.
//
//	text := randomProgram(seed)
type generator struct {
	r         *rand.Rand
	mesh      subaxis.Mesh
	meshes    []string // of those axes; the others differ in the order of devices
	features  features
	families  []func(*generator)
	functions []signature // that later ones may call
	args      []value     // of the function that is being written
	next      int
	scope
}

// scope is where operations are being written.
type scope struct {
	values []value // that later operations may use
	body   *strings.Builder
	manual []string // axes of the manual computations around
	depth  int      // of regions
	closed bool     // whether values of the function are out of sight
}

// features say what a module may have.
type features struct {
	priorities, groups, subAxes, unreduced, rules, odd, regions, named, calls, elements bool

	density int // one op result in so many has a sharding
}

// shape is a type of a tensor.
type shape struct {
	dims []int64
	elem string
}

func (s shape) typ() string {
	t := "tensor<"
	for _, d := range s.dims {
		t += fmt.Sprint(d, "x")
	}
	return t + s.elem + ">"
}

func (s shape) equal(o shape) bool { return s.elem == o.elem && slices.Equal(s.dims, o.dims) }

func (s shape) with(dims []int64) shape { return shape{dims, s.elem} }

// value is a tensor that operations may use.
type value struct {
	name string
	shape
}

// randomProgram returns the text of a module.
func randomProgram(seed int64) string {
	g := &generator{r: rand.New(rand.NewSource(seed))}
	g.features = features{priorities: g.chance(3), groups: g.chance(4), subAxes: g.chance(2), unreduced: g.chance(6), rules: g.chance(4),
		odd: g.chance(12), regions: g.chance(2), named: g.chance(6), calls: g.chance(3), elements: g.chance(2), density: int(g.pick(2, 4, 5, 8))}
	g.drawMeshes()
	g.drawFamilies()
	var texts []string
	if g.features.calls {
		for i := range 1 + g.r.Intn(3) {
			texts = append(texts, g.function(fmt.Sprintf([]string{"f%d", "f_%d"}[g.r.Intn(2)], i), g.r.Intn(3), 1+g.r.Intn(4)))
		}
	}
	texts = append(texts, g.function("main", 1+g.r.Intn(4), 2+g.r.Intn(12)))
	g.r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return "module {\n" + g.meshText() + strings.Join(texts, "") + "}\n"
}

func (g *generator) drawMeshes() {
	for i := range 1 + g.r.Intn(3) + g.r.Intn(2) {
		g.mesh.Axes = append(g.mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: g.pick(2, 2, 3, 4, 4, 6, 8, 1)})
	}
	g.r.Shuffle(len(g.mesh.Axes), func(i, j int) { g.mesh.Axes[i], g.mesh.Axes[j] = g.mesh.Axes[j], g.mesh.Axes[i] })
	g.meshes = []string{"@mesh"}
	if g.chance(8) {
		g.meshes = append(g.meshes, "@other")
	}
	if g.features.odd {
		g.meshes = append(g.meshes, "mesh<["+g.axesText()+"]>")
	}
}

func (g *generator) axesText() string {
	var axes []string
	for _, a := range g.mesh.Axes {
		axes = append(axes, fmt.Sprintf("%q=%d", a.Name, a.Size))
	}
	return strings.Join(axes, ", ")
}

func (g *generator) meshText() string {
	text := fmt.Sprintf("  sdy.mesh @mesh = <[%s]>\n", g.axesText())
	if slices.Contains(g.meshes, "@other") {
		total := int64(1)
		for _, a := range g.mesh.Axes {
			total *= a.Size
		}
		ids := ""
		if total > 1 && total <= 512 {
			ids = ", device_ids=" + list(g.permutation(int(total)))
		}
		text += fmt.Sprintf("  sdy.mesh @other = <[%s]%s>\n", g.axesText(), ids)
	}
	if g.features.odd {
		text += "  sdy.mesh @one = <[], device_ids=[1]>\n  sdy.mesh @empty = <[]>\n"
	}
	return text
}

// drawFamilies takes all families of operations, or a few.
func (g *generator) drawFamilies() {
	g.families = slices.Concat(families, families[:common], families[:common])
	if g.chance(2) {
		g.r.Shuffle(len(g.families), func(i, j int) { g.families[i], g.families[j] = g.families[j], g.families[i] })
		g.families = g.families[:3+g.r.Intn(4)]
	}
	if g.features.regions {
		g.families = slices.Concat(g.families, regions)
	}
	if g.features.named {
		g.families = append(g.families, (*generator).namedComputation)
	}
	if g.features.groups {
		g.families = append(g.families, (*generator).group)
	}
}

func (g *generator) chance(n int) bool { return g.r.Intn(n) == 0 }

func (g *generator) pick(of ...int64) int64 { return of[g.r.Intn(len(of))] }

func (g *generator) word(of ...string) string { return of[g.r.Intn(len(of))] }

func (g *generator) permutation(n int) []int64 {
	var list []int64
	for _, p := range g.r.Perm(n) {
		list = append(list, int64(p))
	}
	return list
}

func (g *generator) dims() []int64 {
	dims := make([]int64, g.r.Intn(4))
	for i := range dims {
		dims[i] = g.pick(1, 2, 3, 4, 4, 6, 8, 8, 12, 16)
	}
	if len(dims) > 0 && g.chance(150) {
		dims[0] = 0
	}
	return dims
}

func (g *generator) elem() string {
	if !g.features.elements || g.chance(2) {
		return "f32"
	}
	return g.word("i32", "i32", "i1", "bf16", "complex<f32>", "i8", "ui32", "f32")
}

// any returns some value.
func (g *generator) any() value {
	if len(g.values) == 0 {
		return g.like(shape{g.dims(), g.elem()})
	}
	return g.values[g.r.Intn(len(g.values))]
}

// of returns some value with one of the element types.
func (g *generator) of(elems ...string) value {
	return g.where(elems[0], func(v value) bool { return slices.Contains(elems, v.elem) })
}

// positive returns some value of f32 with a rank and no dimension of size zero.
func (g *generator) positive(minRank int) value {
	return g.where("f32", func(v value) bool {
		return v.elem == "f32" && len(v.dims) >= minRank && !slices.Contains(v.dims, 0)
	}, minRank)
}

// where returns some value that fits, one of elem and of the ranks where there is none.
func (g *generator) where(elem string, fits func(value) bool, rank ...int) value {
	var list []value
	for _, v := range g.values {
		if fits(v) {
			list = append(list, v)
		}
	}
	if len(list) > 0 {
		return list[g.r.Intn(len(list))]
	}
	dims := make([]int64, append(rank, g.r.Intn(3))[0])
	for i := range dims {
		dims[i] = g.pick(2, 4, 6, 8)
	}
	return g.constant(shape{dims, elem})
}

// like returns a value of a shape, mostly one that is there already, or a new argument.
func (g *generator) like(s shape) value {
	var same []value
	for _, v := range g.values {
		if v.equal(s) {
			same = append(same, v)
		}
	}
	if len(same) > 0 && !g.chance(6) {
		return same[g.r.Intn(len(same))]
	}
	if len(g.args) > 0 && len(g.args) < 9 && !g.closed && g.chance(2) {
		return g.argument(s)
	}
	return g.constant(s)
}

// argument adds an argument to the function.
func (g *generator) argument(s shape) value {
	v := value{fmt.Sprintf("%%arg%d", len(g.args)), s}
	g.args, g.values = append(g.args, v), append(g.values, v)
	return v
}

func (g *generator) constant(s shape) value {
	text := "1"
	switch s.elem {
	case "f32", "bf16":
		text = "1.0"
	case "i1":
		text = "true"
	case "complex<f32>":
		text = "(1.0, 0.0)"
	}
	return g.op("stablehlo.constant", fmt.Sprintf("value = dense<%s> : %s", text, s.typ()), "", nil, s)[0]
}

func (g *generator) name() string {
	g.next++
	return fmt.Sprintf("%%v%d", g.next)
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(g.body, "    "+format+"\n", args...)
}

// op writes an operation in the form that all have, perhaps with shardings and a rule, and returns its results.
func (g *generator) op(name, properties, region string, operands []value, results ...shape) []value {
	out := g.results(results)
	text := fmt.Sprintf("%q(%s)", name, namesOf(operands))
	if len(results) > 0 {
		text = declare(out) + " = " + text
	}
	if properties != "" {
		text += " <{" + properties + "}>"
	}
	if region != "" {
		text += " (" + region + ")"
	}
	g.line("%s%s : (%s) -> (%s)", text, g.attributes(name, operands, results), typesOf(operands), typesOf(out))
	g.values = append(g.values, out...)
	return out
}

// results names new values.
func (g *generator) results(shapes []shape) []value {
	name := g.name()
	var out []value
	for i, s := range shapes {
		if len(shapes) > 1 {
			out = append(out, value{fmt.Sprintf("%s#%d", name, i), s})
		} else {
			out = append(out, value{name, s})
		}
	}
	return out
}

// declare returns what stands before the equal sign.
func declare(results []value) string {
	name, _, many := strings.Cut(results[0].name, "#")
	if many {
		return fmt.Sprintf("%s:%d", name, len(results))
	}
	return name
}

func namesOf(values []value) string {
	var list []string
	for _, v := range values {
		list = append(list, v.name)
	}
	return strings.Join(list, ", ")
}

func typesOf(values []value) string {
	var list []string
	for _, v := range values {
		list = append(list, v.typ())
	}
	return strings.Join(list, ", ")
}

func shapesOf(values []value) []shape {
	var list []shape
	for _, v := range values {
		list = append(list, v.shape)
	}
	return list
}

// ints is the text of a dense array of integers.
func ints(list []int64) string {
	if len(list) == 0 {
		return "array<i64>"
	}
	return "array<i64: " + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]") + ">"
}

func list(dims []int64) string { return strings.ReplaceAll(fmt.Sprint(dims), " ", ", ") }
