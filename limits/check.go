package limits

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/plan"
)

// Check returns what of a plan is beyond limits, in their order, as errors. The model says in which lines inputs stand; it may be nil.
func Check(p *plan.Plan, m *ir.Module, limits []Limit) []diag.Diagnostic {
	c := &checker{plan: p, inputs: inputLines(m), main: mainLine(m)}
	for _, l := range limits {
		c.rule = l.rule
		l.rule.check(c, l.most)
	}
	return c.found
}

// checker collects what a plan has beyond limits.
type checker struct {
	plan   *plan.Plan
	rule   *rule
	main   diag.Position
	inputs map[string]diag.Position // by name
	found  []diag.Diagnostic
}

func (c *checker) report(at diag.Position, format string, args ...any) *diag.Diagnostic {
	c.found = append(c.found, diag.Diagnostic{Severity: diag.SeverityError, Code: diag.Code(c.rule.name), Pos: at,
		Message: fmt.Sprintf(format, args...)})
	return &c.found[len(c.found)-1]
}

// input returns the line of an input, or that of the program's arguments.
func (c *checker) input(t *answer.Tensor) diag.Position {
	if at, ok := c.inputs[t.Name]; ok {
		return at
	}
	return c.main
}

// source returns the line that a text of a plan names, or that of the program's arguments.
func (c *checker) source(text string) diag.Position {
	if file, line, ok := answer.CutLine(text); ok {
		return diag.Position{File: file, Line: line, Col: 1}
	}
	return c.main
}

// devices returns how many devices there are along axes, sub-axes as x:(m)k.
func (c *checker) devices(axes []string) int64 {
	n := int64(1)
	for _, axis := range axes {
		if name, part, found := strings.Cut(axis, ":("); found {
			var before, size int64
			if _, err := fmt.Sscanf(part, "%d)%d", &before, &size); err == nil {
				n *= size
				continue
			}
			axis = name
		}
		if i := slices.IndexFunc(c.plan.Mesh, func(a answer.MeshAxis) bool { return a.Name == axis }); i >= 0 {
			n *= int64(c.plan.Mesh[i].Size)
		}
	}
	return n
}

func (c *checker) allDevices() int64 {
	n := int64(1)
	for _, a := range c.plan.Mesh {
		n *= int64(a.Size)
	}
	return n
}

// gathers finds all-gathers after which a device holds a value of more bytes. In a group of g devices each sends g-1 parts of g of the
// value in all, so that the bytes that a plan counts say how large it is, also where several are sent as one.
func (c *checker) gathers(most float64) {
	for i := range c.plan.Collectives {
		x := &c.plan.Collectives[i]
		group := c.devices(x.Axes)
		if x.Kind != "all_gather" || group < 2 || x.Count == 0 {
			continue
		}
		value := x.Bytes / x.Count * group / (group - 1) / c.allDevices()
		if float64(value) <= most {
			continue
		}
		d := c.report(c.source(x.Source), "an all-gather along %s leaves %s on every device%s", strings.Join(x.Axes, ","), diag.Bytes(value),
			beyond(most, diag.Bytes(int64(most))))
		d.Notes = append(d.Notes, diag.Note{Message: "it is for " + x.Source})
	}
}

func beyond(most float64, text string) string {
	if most == 0 {
		return ""
	}
	return ", more than " + text
}

// whole finds inputs of more bytes that every device holds all of.
func (c *checker) whole(most float64) {
	for i := range c.plan.Inputs {
		if t := &c.plan.Inputs[i]; c.isWhole(t, most) {
			c.report(c.input(t), "input %s, %s, is whole on every device, %s", t.Name, t.Type, diag.Bytes(t.WholeBytes))
		}
	}
}

// replicated finds those of them that the user has not written so.
func (c *checker) replicated(most float64) {
	for i := range c.plan.Inputs {
		if t := &c.plan.Inputs[i]; c.isWhole(t, most) && !t.User {
			c.report(c.input(t), "input %s, %s, is whole on every device, %s, and nobody asked for it", t.Name, t.Type, diag.Bytes(t.WholeBytes))
		}
	}
}

func (c *checker) isWhole(t *answer.Tensor, most float64) bool {
	return len(t.Axes) == 0 && float64(t.WholeBytes) > most && c.allDevices() > 1
}

func (c *checker) peak(most float64) {
	if peak := c.plan.Estimate.PeakBytes; float64(peak) > most {
		c.report(c.main, "a device holds up to %s in a step, more than %s", diag.Bytes(peak), diag.Bytes(int64(most)))
	}
}

func (c *checker) axes(float64) {
	used := map[string]bool{}
	note := func(axes []string) {
		for _, axis := range axes {
			name, _, _ := strings.Cut(axis, ":")
			used[name] = true
		}
	}
	for i := range c.plan.Inputs {
		note(c.plan.Inputs[i].Axes)
	}
	for i := range c.plan.Outputs {
		note(c.plan.Outputs[i].Axes)
	}
	for i := range c.plan.Collectives {
		note(c.plan.Collectives[i].Axes)
	}
	for _, axis := range c.plan.Mesh {
		if !used[axis.Name] && axis.Size > 1 {
			c.report(c.main, "nothing is cut along the axis %q of size %d: all devices along it do the same", axis.Name, axis.Size)
		}
	}
}

// waste finds inputs whose blocks together are larger than they are.
func (c *checker) waste(most float64) {
	for i := range c.plan.Inputs {
		t := &c.plan.Inputs[i]
		held := t.Bytes * c.devices(t.Axes)
		if held <= t.WholeBytes {
			continue
		}
		if part := 100 * float64(held-t.WholeBytes) / float64(held); part > most {
			c.report(c.input(t), "%.3g %% of the blocks of input %s are padding, %s in %s along %s%s", part, t.Name, t.Type, t.LocalType,
				strings.Join(t.Axes, ","), beyond(most, fmt.Sprintf("%g %%", most)))
		}
	}
}

// batch finds inputs of the batch whose first dimension is not cut as that of most of its bytes is.
func (c *checker) batch(float64) {
	size := map[string]int64{}
	var of []*answer.Tensor
	for i := range c.plan.Inputs {
		if t := &c.plan.Inputs[i]; t.IsBatch() && strings.Contains(t.Spec, "(") {
			of = append(of, t)
			size[first(t.Spec)] += t.WholeBytes
		}
	}
	if len(size) < 2 {
		return
	}
	common := slices.MaxFunc(of, func(a, b *answer.Tensor) int { return int(min(max(size[first(a.Spec)]-size[first(b.Spec)], -1), 1)) })
	for _, t := range of {
		if first(t.Spec) != first(common.Spec) {
			c.report(c.input(t), "batch input %s is %s, and %s is %s: their first dimensions lie on different devices", t.Name, t.Spec, common.Name,
				common.Spec)
		}
	}
}

// first returns what P(a, b) says of the first dimension.
func first(spec string) string {
	inner := strings.TrimSuffix(spec[strings.Index(spec, "(")+1:], ")")
	depth := 0
	for i, r := range inner {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				return inner[:i]
			}
		}
	}
	return inner
}

// mainLine returns where the arguments of a model stand in its text.
func mainLine(m *ir.Module) diag.Position {
	if m == nil {
		return diag.Position{}
	}
	main, ok := m.Main()
	if !ok {
		return diag.Position{}
	}
	return m.OpPos(m.Func(main).Op)
}

// inputLines returns in which line of the user's program each input stands: its own, or the first that uses it. Inputs of which only the
// text of the model is known are left to its arguments.
func inputLines(m *ir.Module) map[string]diag.Position {
	out := map[string]diag.Position{}
	if m == nil {
		return out
	}
	main, ok := m.Main()
	if !ok {
		return out
	}
	text := m.OpPos(m.Func(main).Op).File
	args := names.Args(m, main)
	for i, v := range m.BlockArgs(m.Func(main).Body) {
		at := m.FileLoc(m.ArgLoc(v))
		if at.Kind != ir.LocFile {
			uses := slices.SortedFunc(m.Uses(v), func(a, b ir.Use) int { return m.OpPos(a.Op).Line - m.OpPos(b.Op).Line })
			for _, loc := range lists.Map(uses, func(u ir.Use) *ir.Location { return m.FileLoc(m.OpLoc(u.Op)) }) {
				if loc.Kind == ir.LocFile && loc.File != text {
					at = loc
					break
				}
			}
		}
		if at.Kind == ir.LocFile {
			out[args.Names[i]] = diag.Position{File: at.File, Line: at.Line, Col: max(at.Col, 1)}
		}
	}
	return out
}
