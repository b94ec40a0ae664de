package propagate_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// program is a text and what to run on it.
type program struct{ name, text, pipeline string }

// reductions make a program smaller, each in its own way: the i-th attempt, false after the last. Attempts may be
// no valid programs.
var reductions = []func(p program, i int) (program, bool){
	fewerPasses, withoutFunction, withoutOp, withoutResult, withoutArgument, withoutSharding, simplerText, smallerNumbers,
}

// shrink makes a program as small as it gets while keep holds of it.
func shrink(p program, keep func(program) bool) program {
	for attempts, changed := 4000, true; changed && attempts > 0; {
		changed = false
		for _, reduce := range reductions {
			for i := 0; attempts > 0; attempts-- {
				q, more := reduce(p, i)
				if !more {
					break
				}
				if q != p && keep(q) {
					p, changed = q, true
				} else {
					i++
				}
			}
		}
	}
	return p
}

// fewerPasses leaves out a pass.
func fewerPasses(p program, i int) (program, bool) {
	steps := expand(p.pipeline)
	if i >= len(steps) || len(steps) == 1 {
		return p, false
	}
	p.pipeline = strings.Join(slices.Delete(steps, i, i+1), ",")
	return p, true
}

// edited returns a program after an edit of its module, the program itself where the edit fails.
func (p program) edited(edit func(m *ir.Module)) program {
	m, err := mlir.Parse(context.Background(), []byte(p.text), mlir.Options{})
	if err != nil {
		return p
	}
	edit(m)
	p.text = string(mlir.Print(m, mlir.PrintOptions{}))
	return p
}

// ops returns the operations that may go.
func ops(m *ir.Module) []ir.OpID {
	var list []ir.OpID
	m.Walk(m.Body(), func(op ir.OpID) {
		inFunction := m.OpBlock(op) != m.Body() && m.ParentOp(op) != 0
		if inFunction && m.LastOp(m.OpBlock(op)) != op && m.Kind(op) != ir.OpReturn {
			list = append(list, op)
		}
	})
	slices.Reverse(list)
	return list
}

// withoutOp removes an operation; its users get another value, first one that is there, then a new argument.
func withoutOp(p program, i int) (program, bool) {
	m, err := mlir.Parse(context.Background(), []byte(p.text), mlir.Options{})
	if err != nil {
		return p, false
	}
	all := ops(m)
	if i >= 2*len(all) {
		return p, false
	}
	op := all[i/2]
	for _, r := range m.Results(op) {
		if !m.HasUses(r) {
			continue
		}
		v := standIn(m, op, m.Type(r))
		if main, ok := m.Main(); i%2 == 1 && ok && inFunction(m, op, main) {
			f := m.Func(main)
			v = m.AddBlockArg(f.Body, m.Type(r))
			f.ArgAttrs = append(slices.Clone(f.ArgAttrs), nil)
		}
		if v == 0 {
			return p, true
		}
		m.ReplaceUses(r, v)
	}
	m.Erase(op)
	p.text = string(mlir.Print(m, mlir.PrintOptions{}))
	return p, true
}

// standIn finds another value of a type that an operation's users may use.
func standIn(m *ir.Module, op ir.OpID, t ir.TypeID) ir.ValueID {
	for b := m.OpBlock(op); ; b = m.OpBlock(m.BlockOp(b)) {
		for before := m.PrevOp(op); before != 0; before = m.PrevOp(before) {
			for _, v := range m.Results(before) {
				if m.Type(v) == t {
					return v
				}
			}
		}
		for _, v := range m.BlockArgs(b) {
			if m.Type(v) == t {
				return v
			}
		}
		if op = m.BlockOp(b); isolated(m, op) {
			return 0
		}
	}
}

func isolated(m *ir.Module, op ir.OpID) bool {
	kind := m.Kind(op)
	return kind == ir.OpFunc || kind == ir.OpSdyManualComputation || kind == ir.OpSdyNamedComputation
}

// inFunction says whether an operation sees the arguments of a function.
func inFunction(m *ir.Module, op ir.OpID, f ir.FuncID) bool {
	for op = m.ParentOp(op); !isolated(m, op); op = m.ParentOp(op) {
	}
	return m.FuncOf(op) == f
}

// withoutResult removes a result of the main function.
func withoutResult(p program, i int) (program, bool) {
	more := false
	q := p.edited(func(m *ir.Module) {
		main, ok := m.Main()
		if !ok || i >= len(m.Func(main).ResultTypes) {
			return
		}
		more = true
		f := m.Func(main)
		last := m.LastOp(f.Body)
		operands := slices.Delete(slices.Clone(m.Operands(last)), i, i+1)
		m.BuilderBefore(last).Op(ir.OpReturn, nil, m.OpAttrs(last), operands...)
		m.Erase(last)
		f.ResultTypes = slices.Delete(slices.Clone(f.ResultTypes), i, i+1)
		f.ResultAttrs = slices.Delete(slices.Clone(f.ResultAttrs), i, i+1)
		f.ResultShardings = slices.Delete(slices.Clone(f.ResultShardings), i, i+1)
	})
	return q, more
}

// withoutSharding removes the sharding of a value or a result, or the rule of an operation.
func withoutSharding(p program, i int) (program, bool) {
	more := false
	q := p.edited(func(m *ir.Module) {
		for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
			if m.Sharding(v) == 0 {
				continue
			}
			if i--; i == -1 {
				m.SetSharding(v, 0)
				more = true
			}
		}
		m.Walk(m.Body(), func(op ir.OpID) {
			f := m.FuncOf(op)
			if f != 0 {
				for k, s := range m.Func(f).ResultShardings {
					if s == 0 {
						continue
					}
					if i--; i == -1 {
						m.Func(f).ResultShardings[k] = 0
						more = true
					}
				}
			}
			if m.Attr(op, "sdy.sharding_rule") != nil {
				if i--; i == -1 {
					m.SetAttrs(op, m.OpAttrs(op).Without("sdy.sharding_rule"))
					more = true
				}
			}
		})
	})
	return q, more
}

var function = regexp.MustCompile(`(?m)^  func\.func (private )?@(\S+?)\((?s:.*?)\n  }\n`)

// withoutFunction removes a function.
func withoutFunction(p program, i int) (program, bool) {
	all := function.FindAllStringSubmatchIndex(p.text, -1)
	if i >= len(all) {
		return p, false
	}
	p.text = p.text[:all[i][0]] + p.text[all[i][1]:]
	return p, true
}

var mainArguments = regexp.MustCompile(`func\.func @main\(([^\n]*?)\)( \{| -> )`)

// withoutArgument removes an argument of the main function.
func withoutArgument(p program, i int) (program, bool) {
	at := mainArguments.FindStringSubmatchIndex(p.text)
	if at == nil {
		return p, false
	}
	args := splitTop(p.text[at[2]:at[3]])
	if i >= len(args) {
		return p, false
	}
	p.text = p.text[:at[2]] + strings.Join(slices.Delete(args, i, i+1), ", ") + p.text[at[3]:]
	return p, true
}

// splitTop cuts a list at the commas outside of brackets.
func splitTop(text string) []string {
	var list []string
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case ',':
			if depth == 0 {
				list, start = append(list, text[start:i]), i+2
			}
		}
	}
	if start < len(text) {
		list = append(list, text[start:])
	}
	return list
}

// rewriting replaces what a pattern matches.
type rewriting struct {
	pattern *regexp.Regexp
	by      string
}

var rewritings = []rewriting{
	{regexp.MustCompile(`, (replicated|unreduced)=?(max|min)?\{[^}]*\}`), ""},
	{regexp.MustCompile(`\}p\d`), "}"},
	{regexp.MustCompile(`p[1-9]\b`), "p0"},
	{regexp.MustCompile(`\{"[^{}]*\}`), "{?}"},
	{regexp.MustCompile(`\{(("[^{}]*), )"[^",{}]*"(:\(\d+\)\d+)?((, \?)?)\}`), "{$2$4}"},
	{regexp.MustCompile(`\{\}`), "{?}"},
	{regexp.MustCompile(`\{("[^{}]*")\}`), "{$1, ?}"},
	{regexp.MustCompile(`\{("[^{}?]*:\(\d+\)\d+)\}`), "{$1, ?}"},
	{regexp.MustCompile(`"(\w+)":\(\d+\)\d+`), `"$1"`},
	{regexp.MustCompile(`"\w+"=\d+(, )`), ""},
	{regexp.MustCompile(`, "\w+"=\d+`), ""},
	{regexp.MustCompile(`(?m)^  sdy\.mesh .*\n`), ""},
	{regexp.MustCompile(` (in|out)_shardings=\[[^\n]*?>\]`), ""},
	{regexp.MustCompile(`@(other|mesh_\d)`), "@mesh"},
}

// simplerText rewrites one place of the text.
func simplerText(p program, i int) (program, bool) {
	for _, r := range rewritings {
		all := r.pattern.FindAllStringSubmatchIndex(p.text, -1)
		if i >= len(all) {
			i -= len(all)
			continue
		}
		at := all[i]
		p.text = p.text[:at[0]] + string(r.pattern.ExpandString(nil, r.by, p.text, at)) + p.text[at[1]:]
		return p, true
	}
	return p, false
}

var number = regexp.MustCompile(`([<x(\[ =])(\d+)([x>\])\], ])`)

// smallerNumbers makes a number smaller wherever it stands, be it a size, an axis or a limit.
func smallerNumbers(p program, i int) (program, bool) {
	var seen []string
	for _, at := range number.FindAllStringSubmatch(p.text, -1) {
		if n := at[2]; !slices.Contains(seen, n) && n != "0" && n != "1" {
			seen = append(seen, n)
		}
	}
	if i >= 3*len(seen) {
		return p, false
	}
	old, n := seen[i/3], 0
	if _, err := fmt.Sscan(old, &n); err != nil {
		return p, true
	}
	if now := []int{2, n / 2, n - 1}[i%3]; now < n && now > 0 {
		for range 2 { // neighbours share a separator
			p.text = number.ReplaceAllStringFunc(p.text, func(s string) string {
				if s[1:len(s)-1] != old {
					return s
				}
				return s[:1] + fmt.Sprint(now) + s[len(s)-1:]
			})
		}
	}
	return p, true
}
