package explain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/trace"
)

// naming gives values names, and finds values and results of main by them. A name means what the first kind of
// names that knows it says, so that an argument is found by its name whatever the locations inside the program are
// called.
type naming struct {
	traceNames
	printed   index    // %5, %3#1, %arg0
	arguments index    // p['w'], or arg0 where the program gives no name
	results   index    // result[0]['k'], or out0; result 0 always
	locations index    // names and scopes of locations
	unquoted  index    // names of arguments and results as a shell leaves them: p[w]
	dropped   []string // what the exported function takes and the program does not
}

// index finds values by name; results are ^i as in a trace.
type index map[string][]int32

func (x index) add(name string, v int32) {
	if name != "" && !slices.Contains(x[name], v) {
		x[name] = append(x[name], v)
	}
}

// explained is what a question is about: a value, or result i of the main function.
type explained struct {
	name   string
	value  ir.ValueID // 0 for a result
	result int
	dim    int // -1 for all
	typ    *ir.Type
	op     string
}

// place returns what a question is about as a trace calls it.
func (x *explained) place() trace.Place {
	p := trace.Place{Value: int32(x.value), Dim: int32(x.dim)}
	if x.value == 0 {
		p.Value = ^int32(x.result)
	}
	return p
}

func newNaming(m *ir.Module, dropped []string) *naming {
	n := &naming{newTraceNames(m), index{}, index{}, index{}, index{}, index{}, dropped}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if n.values[v] == "" {
			continue
		}
		n.printed.add(n.values[v], int32(v))
		n.addLocation(v)
	}
	main, _ := m.Main()
	args, results := names.Args(m, main), names.Results(m, main)
	for i, v := range m.BlockArgs(m.Func(main).Body) {
		n.arguments.add(args.Names[i], int32(v))
		n.unquoted.add(names.WithoutQuotes(args.Names[i]), int32(v))
	}
	for i, name := range results.Names {
		n.results.add(name, ^int32(i))
		n.results.add(answer.NumberedResult(i), ^int32(i))
		n.unquoted.add(names.WithoutQuotes(name), ^int32(i))
	}
	return n
}

// addLocation makes the name of a location, and the scope in it, names of a value.
func (n *naming) addLocation(v ir.ValueID) {
	loc := n.m.ArgLoc(v)
	if op := n.m.DefiningOp(v); op != 0 {
		loc = n.m.OpLoc(op)
	}
	l := n.m.LocOf(loc)
	for l.Kind == ir.LocCallSite {
		l = n.m.LocOf(l.Children[0]) // as the function that was called has it
	}
	if l.Kind == ir.LocName {
		n.locations.add(l.Name, int32(v))
	}
	n.locations.add(names.Scope(n.m, loc), int32(v))
}

// find returns what a name stands for.
func (n *naming) find(name string) []int32 {
	for _, x := range []index{n.printed, n.arguments, n.results, n.locations} {
		if list := x[name]; len(list) > 0 {
			return list
		}
	}
	if list := n.printed["%"+name]; len(list) > 0 {
		return list
	}
	return n.unquoted[names.WithoutQuotes(name)]
}

// label returns the name of a value in answers: that of the program, or the printed one, with the line where several
// values are printed alike.
func (n *naming) label(v ir.ValueID) string {
	name := n.name(v)
	if line := n.line(v); len(n.printed[name]) > 1 && line > 0 {
		name += "@" + strconv.Itoa(line)
	}
	return name
}

// line returns the line of a value in the text that the model was read from, 0 if it is not known.
func (n *naming) line(v ir.ValueID) int {
	op := n.m.OpOf(v)
	return n.m.FileLoc(n.m.OpLoc(op)).Line
}

var (
	dimPattern    = regexp.MustCompile(`^(.*?)\s*\[(-?\d+)\]$`)
	linePattern   = regexp.MustCompile(`^(.*)@(\d+)$`)
	resultPattern = regexp.MustCompile(`^result[ #]?(\d+)$`)
	partPattern   = regexp.MustCompile(`^(.*):\((\d{1,9})\)(\d{1,9})$`)
)

// lookup finds the value of a text such as %5[0], result 1, p['w'] or p['w'][0]. What is the whole name of something is
// that, whatever number it ends in.
func (n *naming) lookup(text string) (explained, error) {
	name, dim := strings.TrimSpace(text), -1
	if g := dimPattern.FindStringSubmatch(name); g != nil && len(n.find(name)) == 0 {
		if len(n.find(g[1])) == 0 && (isDropped(n.dropped, name) || diag.Nearest(name, n.known()) != "") {
			return explained{}, n.unknown(name, 0) // more like a longer name than like a dimension
		}
		name = g[1]
		if d, err := strconv.Atoi(g[2]); err == nil && d >= 0 {
			dim = d
		} else {
			return explained{}, diag.Invalid(diag.BadOption, diag.Position{}, "`%s` names no dimension: they count from 0", text)
		}
	}
	target, err := n.value(name)
	if err != nil {
		return target, err
	}
	target.dim = dim
	if rank := len(target.typ.Dims); dim >= rank {
		return target, diag.Invalid(diag.BadOption, diag.Position{}, "`%s` has %d dimensions, there is no dimension %d", target.name, rank, dim)
	}
	return target, nil
}

func (n *naming) value(name string) (explained, error) {
	found, line := n.find(name), 0
	if len(found) == 0 {
		if g := resultPattern.FindStringSubmatch(name); g != nil {
			return n.result(g[1])
		}
		if g := linePattern.FindStringSubmatch(name); g != nil {
			name = g[1]
			line, _ = strconv.Atoi(g[2])
			found = slices.DeleteFunc(slices.Clone(n.find(name)), func(v int32) bool { return v < 0 || n.line(ir.ValueID(v)) != line })
		}
	}
	switch len(found) {
	case 0:
		return explained{}, n.unknown(name, line)
	case 1:
		return n.describe(found[0]), nil
	}
	err := diag.Invalid(diag.BadOption, diag.Position{}, "`%s` names %d values; add @LINE for the one of a line", name, len(found))
	const shown = 5
	for _, v := range found[:min(shown, len(found))] {
		x := n.describe(v)
		err = err.WithNote(diag.Position{}, "%s: %s", x.name, x.op)
	}
	return explained{}, err
}

// describe returns a value, or a result as ^i, as what a question is about.
func (n *naming) describe(target int32) explained {
	if target < 0 {
		i := int(^target)
		op := "result of func.func"
		if n.resultNames[i] != answer.NumberedResult(i) {
			op = answer.NumberedResult(i) + " of func.func"
		}
		return explained{name: n.resultNames[i], result: i, typ: n.m.TypeOf(n.m.MainFunc().ResultTypes[i]), op: op}
	}
	v := ir.ValueID(target)
	out := explained{name: n.label(v), value: v, typ: n.m.ValueType(v)}
	if op := n.m.DefiningOp(v); op != 0 {
		out.op = n.Op(int32(op), 0)
		return out
	}
	parent := n.m.BlockOp(n.m.ArgBlock(v))
	out.op = fmt.Sprintf("argument %d of %s", n.m.Index(v), n.m.OpName(parent))
	if at := answer.Line(n.m, n.m.ArgLoc(v)); at != "" {
		out.op += " (" + at + ")"
	} else if at := answer.Line(n.m, n.m.OpLoc(parent)); at != "" {
		out.op += " (" + at + ")"
	}
	return out
}

func (n *naming) result(number string) (explained, error) {
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(n.resultNames) {
		return explained{}, diag.Invalid(diag.BadOption, diag.Position{}, "there is no result %s: the program has %d", number, len(n.resultNames))
	}
	return n.describe(^int32(i)), nil
}

// known returns all names.
func (n *naming) known() []string {
	var known []string
	for _, x := range []index{n.printed, n.arguments, n.results, n.locations} {
		known = slices.AppendSeq(known, maps.Keys(x))
	}
	slices.Sort(known)
	return slices.Compact(known)
}

func (n *naming) unknown(name string, line int) error {
	if isDropped(n.dropped, name) {
		return diag.Invalid(diag.BadOption, diag.Position{},
			"argument `%s` is not in the program: the function does not use it, and jit drops it", name)
	}
	where := ""
	if line > 0 {
		where = fmt.Sprintf(" in line %d", line)
	}
	return diag.Invalid(diag.BadOption, diag.Position{}, "no value is called `%s`%s%s", name, where, diag.DidYouMean(name, n.known())).
		WithNote(diag.Position{}, "names are those of arguments and results, result N, those that `autoshard propagate --format mlir` "+
			"prints, and those of locations")
}

// cutPart cuts the part off an axis such as x:(1)2: pre-size and size.
func cutPart(text string) (name string, part []int32) {
	text = strings.ReplaceAll(text, `"`, "")
	g := partPattern.FindStringSubmatch(text)
	if g == nil {
		return text, nil
	}
	pre, _ := strconv.Atoi(g[2])
	size, _ := strconv.Atoi(g[3])
	return g[1], []int32{int32(pre), int32(size)}
}

// isDropped says whether a text names one of the dropped leaves.
func isDropped(dropped []string, text string) bool {
	return slices.ContainsFunc(dropped, func(name string) bool { return names.WithoutQuotes(name) == names.WithoutQuotes(text) })
}
