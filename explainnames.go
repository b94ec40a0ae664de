package autoshard

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/modeljson"
)

// explainNaming gives values names, and finds values by them.
type explainNaming struct {
	names
	byName map[string][]ir.ValueID
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

func newExplainNaming(m *ir.Module) *explainNaming {
	n := &explainNaming{names: names{m, valueNames(m)}, byName: map[string][]ir.ValueID{}}
	main, _ := m.Main()
	f := m.Func(main)
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if n.values[v] == "" {
			continue
		}
		n.add(n.values[v], v)
		if op := m.DefiningOp(v); op != 0 {
			n.addLoc(m.OpLoc(op), v)
			continue
		}
		n.addLoc(m.ArgLoc(v), v)
		if m.ArgBlock(v) == f.Body {
			attrs := f.ArgAttrs[m.Index(v)]
			n.add(attrs.Str("jax.arg_info"), v)
			n.add(attrs.Str(modeljson.NameAttr), v)
		}
	}
	return n
}

func (n *explainNaming) add(name string, v ir.ValueID) {
	if name != "" && !slices.Contains(n.byName[name], v) {
		n.byName[name] = append(n.byName[name], v)
	}
}

// addLoc makes the name of a location a name of its value.
func (n *explainNaming) addLoc(id ir.LocID, v ir.ValueID) {
	if l := n.m.LocOf(id); l.Kind == ir.LocName {
		n.add(l.Name, v)
	}
}

// unique returns a name that stands for this value alone where the printed one does not.
func (n *explainNaming) unique(v ir.ValueID) string {
	name := n.values[v]
	if line := n.line(v); len(n.byName[name]) > 1 && line > 0 {
		name += "@" + strconv.Itoa(line)
	}
	return name
}

// line returns the line of a value in the text that the model was read from, 0 if it is not known.
func (n *explainNaming) line(v ir.ValueID) int {
	op := n.m.DefiningOp(v)
	if op == 0 {
		op = n.m.BlockOp(n.m.ArgBlock(v))
	}
	return n.m.FileLoc(n.m.OpLoc(op)).Line
}

var (
	dimPattern    = regexp.MustCompile(`^(.*?)\s*\[(-?\d+)\]$`)
	linePattern   = regexp.MustCompile(`^(.*)@(\d+)$`)
	resultPattern = regexp.MustCompile(`^result[ #]?(\d+)$`)
	partPattern   = regexp.MustCompile(`^(.*):\((\d{1,9})\)(\d{1,9})$`)
)

// lookup finds the value of a text such as %5[0], result 1, or a name.
func (n *explainNaming) lookup(text string) (explained, error) {
	name, dim := strings.TrimSpace(text), -1
	if g := dimPattern.FindStringSubmatch(name); g != nil && len(n.byName[name]) == 0 {
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

func (n *explainNaming) value(name string) (explained, error) {
	if g := resultPattern.FindStringSubmatch(name); g != nil {
		return n.result(g[1])
	}
	line := 0
	values := n.byName[name]
	if g := linePattern.FindStringSubmatch(name); g != nil && len(values) == 0 {
		name = g[1]
		line, _ = strconv.Atoi(g[2])
		values = n.byName[name]
	}
	if len(values) == 0 {
		values = n.byName["%"+name]
	}
	if line > 0 {
		values = slices.DeleteFunc(slices.Clone(values), func(v ir.ValueID) bool { return n.line(v) != line })
	}
	switch len(values) {
	case 0:
		return explained{}, n.unknown(name, line)
	case 1:
		return n.describe(values[0]), nil
	}
	err := diag.Invalid(diag.BadOption, diag.Position{}, "`%s` names %d values; add @LINE for the one of a line", name, len(values))
	const shown = 5
	for _, v := range values[:min(shown, len(values))] {
		err = err.WithNote(diag.Position{}, "%s", n.describe(v).op)
	}
	return explained{}, err
}

func (n *explainNaming) describe(v ir.ValueID) explained {
	out := explained{name: n.unique(v), value: v, typ: n.m.ValueType(v)}
	if op := n.m.DefiningOp(v); op != 0 {
		out.op = n.Op(int32(op), 0)
	} else {
		parent := n.m.BlockOp(n.m.ArgBlock(v))
		out.op = fmt.Sprintf("argument %d of %s", n.m.Index(v), n.m.OpName(parent))
		if at := source(n.m, n.m.ArgLoc(v)); at != "" {
			out.op += " (" + at + ")"
		} else if at := source(n.m, n.m.OpLoc(parent)); at != "" {
			out.op += " (" + at + ")"
		}
	}
	return out
}

func (n *explainNaming) result(number string) (explained, error) {
	main, _ := n.m.Main()
	f := n.m.Func(main)
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(f.ResultTypes) {
		return explained{}, diag.Invalid(diag.BadOption, diag.Position{}, "there is no result %s: the program has %d", number, len(f.ResultTypes))
	}
	return explained{name: "result " + number, result: i, typ: n.m.TypeOf(f.ResultTypes[i]), op: "result of func.func"}, nil
}

func (n *explainNaming) unknown(name string, line int) error {
	var known []string
	for k := range n.byName {
		known = append(known, k)
	}
	slices.Sort(known)
	where := ""
	if line > 0 {
		where = fmt.Sprintf(" in line %d", line)
	}
	return diag.Invalid(diag.BadOption, diag.Position{}, "no value is called `%s`%s%s", name, where, hint(name, known)).
		WithNote(diag.Position{}, "names are those that `autoshard propagate --format mlir` prints, result N, and names of locations and arguments")
}

func hint(name string, known []string) string {
	if near := diag.Nearest(name, known); near != "" && near != name {
		return fmt.Sprintf(", did you mean `%s`?", near)
	}
	return ""
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
