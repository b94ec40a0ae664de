// Package names says what a program calls its arguments and results. It is the one home of these names: plans, traces,
// emitted programs, explanations and errors take them from here.
//
//	func.func @main(%arg0: tensor<8x4xf32> loc("p['layers'][0]['wq']"), %arg1: tensor<8x4xf32>)
//	    -> (tensor<8x8xf32> {jax.result_info = "result[0]['k']"})
//
// has the arguments p['layers'][0]['wq'] and arg1, and the result result[0]['k']. The name of an argument is its
// jax.arg_info, which JAX wrote up to 0.4, or its autoshard.name, which model.json gives, or the name of its location,
// where JAX writes it today. The name of a result is its jax.result_info or its autoshard.name. What has no name is
// numbered: arg1, out0.
//
// Names are unique among the arguments and among the results of a function: the second argument that the program calls
// x is x#2.
package names

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// Attr is the attribute that names an argument or a result where the program comes from model.json: a string.
const Attr = "autoshard.name"

// The attributes that JAX writes: today only that of results.
const (
	argInfo    = "jax.arg_info"
	resultInfo = "jax.result_info"
)

// Ports are the names of the arguments or of the results of a function.
type Ports struct {
	Names []string // all different, none empty
	Given []bool   // whether the program gives the name; the others are numbered
	kind  string   // argument or result
}

// Args returns the names of the arguments of a function that has a body.
func Args(m *ir.Module, f ir.FuncID) Ports {
	fn := m.Func(f)
	args := m.BlockArgs(fn.Body)
	given := make([]string, len(args))
	for i, v := range args {
		given[i] = clean(argName(m, fn.ArgAttrs[i], m.ArgLoc(v)))
	}
	return ports("argument", "arg", given)
}

// Results returns the names of the results of a function.
func Results(m *ir.Module, f ir.FuncID) Ports {
	fn := m.Func(f)
	return ports("result", "out", lists.Of(len(fn.ResultTypes), func(i int) string { return clean(resultName(fn.ResultAttrs[i])) }))
}

// Name returns the name that the program gives, "" for none.
func (p *Ports) Name(i int) string {
	if !p.Given[i] {
		return ""
	}
	return p.Names[i]
}

// Describe names an argument or a result in a sentence: argument 3 (p['wq']), result 0.
func (p *Ports) Describe(i int) string { return describe(p.kind, i, p.Names[i], p.Given[i]) }

// Port names an input or an output of a program, as kind says, in a sentence, as Ports.Describe does: input 3 (p['wq']). A
// name that is only its number is not repeated.
func Port(kind string, i int, name string) string {
	return describe(kind, i, name, name != numbered("arg", i) && name != numbered("out", i))
}

func describe(kind string, i int, name string, given bool) string {
	text := kind + " " + strconv.Itoa(i)
	if given && name != "" {
		text += " (" + name + ")"
	}
	return text
}

func numbered(base string, i int) string { return base + strconv.Itoa(i) }

func argName(m *ir.Module, attrs ir.Attrs, loc ir.LocID) string {
	for _, name := range []string{attrs.Str(argInfo), attrs.Str(Attr)} {
		if name != "" {
			return name
		}
	}
	if l := m.LocOf(loc); l.Kind == ir.LocName {
		return l.Name
	}
	return ""
}

// resultName returns the name of a result. JAX up to 0.5 wrote the path alone, [0]['k'], and nothing for the only
// result; today it writes result[0]['k'] and result.
func resultName(attrs ir.Attrs) string {
	info, ok := attrs.Get(resultInfo).(ir.StringAttr)
	switch {
	case !ok:
		return attrs.Str(Attr)
	case info == "" || info[0] == '[' || info[0] == '.':
		return "result" + string(info)
	}
	return string(info)
}

// clean escapes what does not print, so that a name stays in its line.
func clean(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return name
	}
	quoted := strconv.Quote(name)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// ports makes names unique. Those that the program gives come first: a numbered one gives way.
func ports(kind, base string, given []string) Ports {
	p := Ports{Names: make([]string, len(given)), Given: make([]bool, len(given)), kind: kind}
	taken := make(map[string]int, len(given)) // by name: the number of its last namesake, 1 for none
	for i, name := range given {
		if name != "" {
			p.Names[i], p.Given[i] = take(taken, name), true
		}
	}
	for i := range p.Names {
		if !p.Given[i] {
			p.Names[i] = take(taken, numbered(base, i))
		}
	}
	return p
}

func take(taken map[string]int, name string) string {
	unique := name
	for taken[unique] > 0 {
		taken[name]++
		unique = name + "#" + strconv.Itoa(taken[name])
	}
	taken[unique] = 1
	return unique
}

// Label writes names into the attributes of a function where it has none, as JAX up to 0.4 did, so that they outlive a
// text without locations. Numbered names are not written.
func Label(m *ir.Module, f ir.FuncID, args, results []string) {
	fn := m.Func(f)
	label := func(list []ir.Attrs, attr, base string, names []string) {
		for i := range list {
			if names[i] != "" && names[i] != numbered(base, i) && list[i].Get(attr) == nil && list[i].Get(Attr) == nil {
				list[i] = list[i].With(attr, ir.StringAttr(names[i]))
			}
		}
	}
	label(fn.ArgAttrs, argInfo, "arg", args)
	label(fn.ResultAttrs, resultInfo, "out", results)
}

// WithoutQuotes returns a name as a shell leaves it: p[w] for p['w'].
func WithoutQuotes(name string) string { return strings.NewReplacer(`'`, "", `"`, "").Replace(name) }

// Segments cuts a name into the steps of its path: p, ['layers'], [0], ['w'] for p['layers'][0]['w']; state, .params
// for state.params; params, /0, /w for params/0/w. Joined they are the name again. Brackets hold what stands in them,
// quotes too; a name that is no path is one segment.
func Segments(name string) []string {
	var out []string
	start := 0
	for i := 0; i < len(name); {
		if i > start && strings.IndexByte("[./", name[i]) >= 0 {
			out = append(out, name[start:i])
			start = i
		}
		i = segmentPart(name, i)
	}
	return slices.Clip(append(out, name[start:]))
}

// segmentPart returns where the character, or the bracket with all it holds, ends.
func segmentPart(name string, i int) int {
	if name[i] != '[' {
		return i + 1
	}
	quote := byte(0)
	for j := i + 1; j < len(name); j++ {
		switch c := name[j]; {
		case c == '\\' && quote != 0:
			j++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == ']':
			return j + 1
		}
	}
	return i + 1 // never closed: a character like others
}

// Scope returns where in the program's own structure an op stands: layer_0/attn/dot_general for the location
// "jit(step)/layer_0/attn/dot_general", which JAX builds from named scopes, transformations and the op. What comes from
// an inlined function stands in the scope of the call. It is "" for a location without a name.
func Scope(m *ir.Module, loc ir.LocID) string { return clean(withoutJit(scope(m, loc))) }

func scope(m *ir.Module, loc ir.LocID) string {
	l := m.LocOf(loc)
	switch l.Kind {
	case ir.LocName:
		return l.Name
	case ir.LocCallSite:
		inner, outer := scope(m, l.Children[0]), scope(m, l.Children[1])
		if root, _, _ := strings.Cut(outer, "/"); inner == "" || outer == "" || strings.HasPrefix(inner, root+"/") {
			return cmp.Or(inner, outer) // JAX up to 0.5 wrote whole paths inside functions too
		}
		return outer + "/" + inner
	case ir.LocFused:
		for _, c := range l.Children {
			if name := scope(m, c); name != "" {
				return name
			}
		}
	}
	return ""
}

// withoutJit cuts off the outermost function, which all ops of a program share: jit(step), and jit(main), which JAX
// up to 0.5 put behind it.
func withoutJit(name string) string {
	if rest, ok := strings.CutPrefix(name, "jit("); ok {
		if _, inner, ok := strings.Cut(rest, ")/"); ok {
			return strings.TrimPrefix(inner, "jit(main)/")
		}
	}
	return name
}
