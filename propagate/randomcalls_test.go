package propagate_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// signature is a function that later ones may call.
type signature struct {
	name          string
	args, results []shape
	use           use
}

// use says what refers to a function: calls, whose functions go when they are imported, or composites, whose stay.
type use int

const (
	nobody use = iota
	byCalls
	byComposites
)

// function writes a function; those that are there already may be called: from several places, nested, from inside
// loops and manual computations. Some have constants alone or no arguments.
func (g *generator) function(name string, numArgs, steps int) string {
	g.args, g.scope = nil, scope{body: &strings.Builder{}}
	for range numArgs {
		g.argument(shape{g.dims(), g.elem()})
	}
	constant := numArgs == 0 && g.chance(2)
	for range steps {
		switch {
		case constant:
			[]func(){g.unary, g.binary, g.broadcast, g.iota}[g.r.Intn(4)]()
		case len(g.functions) > 0 && g.chance(2):
			g.call()
		case len(g.functions) > 0 && g.chance(8):
			regions[g.r.Intn(len(regions))](g)
		default:
			g.step()
		}
	}
	sig := signature{name: name, args: shapesOf(g.args)}
	var returned []value
	var args, results []string
	for _, v := range g.args {
		args = append(args, v.name+": "+v.typ()+g.argSharding(v.dims))
	}
	for range 1 + g.r.Intn(2) {
		returned = append(returned, g.any())
	}
	if g.features.priorities && !g.chance(8) {
		returned = append(returned, g.unused(returned)...)
	}
	for _, v := range returned {
		sig.results = append(sig.results, v.shape)
		results = append(results, v.typ()+g.argSharding(v.dims))
	}
	visibility := "private "
	if name == "main" || g.chance(8) {
		visibility = ""
	}
	g.functions = append(g.functions, sig)
	return fmt.Sprintf("  func.func %s@%s(%s) -> (%s) {\n%s    return %s : %s\n  }\n", visibility, name,
		strings.Join(args, ", "), strings.Join(results, ", "), g.body, namesOf(returned), typesOf(returned))
}

// unused returns the values of the function that nothing uses. Shardy crashes where a dimension with a user priority was
// removed before its round, with an operation that is dead.
func (g *generator) unused(returned []value) []value {
	used := map[string]bool{}
	for _, line := range strings.Split(g.body.String(), "\n") {
		_, operands, _ := strings.Cut(line, " = ")
		if operands == "" {
			operands = line // a terminator
		}
		for _, name := range valueName.FindAllString(operands, -1) {
			used[name] = true
		}
	}
	var list []value
	for _, v := range g.values {
		again := slices.ContainsFunc(returned, func(r value) bool { return r.name == v.name })
		if !used[v.name] && !again && !strings.HasPrefix(v.name, "%arg") {
			list = append(list, v)
		}
	}
	return list
}

var valueName = regexp.MustCompile(`%\w+(#\d+)?`)

// call calls one of the functions, or names one as what a composite stands for.
func (g *generator) call() {
	f := &g.functions[g.r.Intn(len(g.functions))]
	var operands []value
	for _, s := range f.args {
		operands = append(operands, g.like(s))
	}
	if f.use == nobody {
		if f.use = byCalls; len(operands) > 0 && g.chance(6) {
			f.use = byComposites
		}
	}
	if f.use == byComposites {
		if len(operands) > 0 {
			g.op("stablehlo.composite", fmt.Sprintf("name = \"my.op\", decomposition = @%s, version = 0 : i32", f.name), "", operands, f.results...)
		}
		return
	}
	out := g.results(f.results)
	attrs := ""
	if g.chance(3) {
		attrs = " {sdy.sharding = " + g.perValue(f.results) + "}"
	}
	g.line("%s = func.call @%s(%s)%s : (%s) -> (%s)", declare(out), f.name, namesOf(operands), attrs, typesOf(operands), typesOf(out))
	g.values = append(g.values, out...)
}
