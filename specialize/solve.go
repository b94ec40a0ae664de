package specialize

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// solve gives the dimensions of the arguments the sizes that follow from the given ones.
func (p *program) solve(given []Size) error {
	unknown := p.unknown()
	s := &solver{program: p, folder: newFolder(p.m), free: map[place]bool{}, given: map[string]bool{}}
	for _, d := range unknown {
		s.free[d] = true
	}
	if err := s.give(given); err != nil {
		return err
	}
	s.equate()
	for s.step() {
	}
	if len(s.free) > 0 {
		return s.question(unknown)
	}
	for _, v := range p.args {
		if dims := slices.Clone(p.m.Shape(v)); slices.Contains(dims, ir.Dynamic) {
			for d, n := range dims {
				if n == ir.Dynamic {
					dims[d] = s.sizes[place{v, d}]
				}
			}
			p.m.SetType(v, p.m.WithDims(p.m.Type(v), dims))
			if t := p.m.ValueType(v); t.TooLarge() {
				return diag.Invalid(diag.MissingSize, diag.Position{}, "%s of shape %v is larger than any memory",
					p.names.Describe(slices.Index(p.args, v)), dims)
			}
		}
	}
	return nil
}

// solver finds sizes. Those that it has are in sizes of the folder.
type solver struct {
	*program
	*folder
	free      map[place]bool
	given     map[string]bool // variables
	equations []equation
}

// equation says that two scalars are equal, the second of which may be a number.
type equation struct {
	x, y  ir.ValueID
	value int64 // where y is 0
	ops   []ir.OpID
	on    []place // the unknown dimensions that it depends on
	void  bool    // it has no solution
}

// give takes what the user gives.
func (s *solver) give(given []Size) error {
	for i, g := range given {
		switch {
		case slices.ContainsFunc(given[:i], func(o Size) bool { return o.Name == g.Name && o.Value != g.Value }):
			return diag.Invalid(diag.MissingSize, diag.Position{}, "%q is given two sizes", g.Name)
		case g.Value < 0 || g.Value > math.MaxInt32:
			return diag.Invalid(diag.MissingSize, diag.Position{}, "%q cannot have size %d", g.Name, g.Value)
		}
		if at := slices.IndexFunc(s.symbols, func(o symbol) bool { return o.name == g.Name }); at >= 0 {
			s.given[g.Name] = true
			s.add(equation{x: s.symbols[at].value, value: g.Value})
			continue
		}
		d, ok := s.place(g.Name)
		if !ok {
			return s.unknownName(g.Name)
		}
		if !s.free[d] {
			if n := s.program.m.Shape(d.arg)[d.dim]; n != ir.Dynamic && n != g.Value {
				return diag.Invalid(diag.MissingSize, diag.Position{}, "%s has size %d, not %d", g.Name, n, g.Value)
			}
			continue
		}
		s.sizes[d] = g.Value
		delete(s.free, d)
	}
	return nil
}

// place finds a dimension of an argument by name: arg0[1], or the argument's own name with the dimension.
func (s *solver) place(name string) (place, bool) {
	for i, v := range s.args {
		for d := range s.program.m.Shape(v) {
			if dim := fmt.Sprintf("[%d]", d); name == s.names.Names[i]+dim || name == fmt.Sprintf("arg%d", i)+dim {
				return place{v, d}, true
			}
		}
	}
	return place{}, false
}

func (s *solver) unknownName(name string) error {
	have := lists.Map(s.symbols, func(o symbol) string { return o.name })
	have = append(have, lists.Map(s.unknown(), s.text)...)
	if len(have) == 0 {
		return diag.Invalid(diag.MissingSize, diag.Position{}, "the model has no dimension %q: all its sizes are known", name)
	}
	hint := "it has " + list(have)
	if near := diag.Nearest(name, have); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return diag.Invalid(diag.MissingSize, diag.Position{}, "the model has no dimension %q; %s", name, hint)
}

// list joins at most a few names.
func list(names []string) string {
	const most = 12
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

func (s *solver) text(d place) string {
	return fmt.Sprintf("%s[%d]", s.names.Names[slices.Index(s.args, d.arg)], d.dim)
}

// equate finds what the program asserts to be equal.
func (s *solver) equate() {
	m := s.program.m
	for op := range m.Ops(m.Func(s.main).Body) {
		if !isAssertion(m, op) {
			continue
		}
		test := m.DefiningOp(m.Operand(op, 0))
		if test != 0 && m.Kind(test) == ir.OpCompare && m.OpAttrs(test).Str("comparison_direction") == "EQ" {
			s.add(equation{x: m.Operand(test, 0), y: m.Operand(test, 1)})
		}
	}
}

func (s *solver) add(e equation) {
	e.ops = s.slice(e.x, e.y)
	for _, op := range e.ops {
		if d, ok := s.asks(op); ok && !slices.Contains(e.on, d) {
			e.on = append(e.on, d)
		}
	}
	s.equations = append(s.equations, e)
}

// asks returns the unknown dimension whose size an op asks for.
func (s *solver) asks(op ir.OpID) (place, bool) {
	m := s.program.m
	if m.Kind(op) != ir.OpGetDimensionSize {
		return place{}, false
	}
	d := place{m.Operand(op, 0), int(m.OpAttrs(op).Int("dimension", 0))}
	return d, slices.Contains(s.args, d.arg) && m.Shape(d.arg)[d.dim] == ir.Dynamic
}

// slice returns the ops of the entry that scalars are computed from, in order.
func (s *solver) slice(values ...ir.ValueID) []ir.OpID {
	m := s.program.m
	needed := map[ir.OpID]bool{}
	for queue := values; len(queue) > 0; queue = queue[1:] {
		if queue[0] == 0 {
			continue
		}
		if op := m.DefiningOp(queue[0]); op != 0 && !needed[op] {
			needed[op] = true
			if m.Kind(op) != ir.OpGetDimensionSize {
				queue = append(queue, m.Operands(op)...)
			}
		}
	}
	var out []ir.OpID
	for op := range m.Ops(m.Func(s.main).Body) {
		if needed[op] {
			out = append(out, op)
		}
	}
	return out
}

// step finds one more size; false where no equation has a single unknown one, or a solution.
func (s *solver) step() bool {
	for i := range s.equations {
		e := &s.equations[i]
		if e.void {
			continue
		}
		open := lists.Filter(e.on, func(d place) bool { return s.free[d] })
		if len(open) != 1 {
			continue
		}
		n, ok := s.root(e, open[0])
		if !ok {
			e.void = true
			continue
		}
		s.sizes[open[0]] = n
		delete(s.free, open[0])
		return true
	}
	return false
}

// maxRoots bounds how many sizes that may solve an equation are tried: of floordiv(d, 2) = b both 2*b and 2*b + 1 do, and
// what the program asserts of the remainder decides.
const maxRoots = 4096

// root returns the size of a dimension that solves an equation and breaks no other that it decides, if there is only one.
// Expressions of sizes grow with them, so that bisection finds it; remainders, which do not, are found one by one.
func (s *solver) root(e *equation, d place) (int64, bool) {
	defer delete(s.sizes, d)
	first, ok := s.residue(e, d, 1)
	if !ok {
		return 0, false
	}
	low, high := int64(1), int64(1)
	for r := first; r != 0 && (r < 0) == (first < 0); low = high {
		if high > math.MaxInt32/2 {
			return s.try(e, d, 0)
		}
		high *= 2
		if r, ok = s.residue(e, d, high); !ok {
			return 0, false
		}
		if r == 0 || (r < 0) != (first < 0) {
			break
		}
	}
	for low < high {
		middle := low + (high-low)/2
		if r, _ := s.residue(e, d, middle); r != 0 && (r < 0) == (first < 0) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if n, ok := s.try(e, d, high); ok {
		return n, true
	}
	return s.try(e, d, 0)
}

// try looks for the root from a size on. Where all roots break an assertion, the first one is as good as any.
func (s *solver) try(e *equation, d place, from int64) (int64, bool) {
	var roots, broken []int64
	for n := from; n < from+maxRoots && len(roots) < 2; n++ {
		r, ok := s.residue(e, d, n)
		switch {
		case !ok || r != 0:
			if len(roots) > 0 && s.grows(e, d, n) {
				return roots[0], true
			}
			continue
		case s.holds(d):
			roots = append(roots, n)
		default:
			broken = append(broken, n)
		}
	}
	if len(roots) == 0 {
		roots = broken
	} else if len(roots) > 1 {
		return 0, false
	}
	return append(roots, 0)[0], len(roots) > 0
}

// grows says whether the sides of an equation only get further apart from a size on, so that there is no root beyond.
func (s *solver) grows(e *equation, d place, from int64) bool {
	last, _ := s.residue(e, d, from)
	for _, step := range []int64{1 << 8, 1 << 12, 1 << 16, 1 << 20} {
		r, ok := s.residue(e, d, from+step)
		if !ok || last > 0 && r <= last || last < 0 && r >= last {
			return false
		}
		last = r
	}
	return true
}

// residue returns the difference of the sides of an equation for a size of a dimension.
func (s *solver) residue(e *equation, d place, n int64) (int64, bool) {
	s.sizes[d] = n
	clear(s.known)
	for _, op := range e.ops {
		s.op(op)
	}
	x, ok := s.ints(e.x)
	if !ok || len(x) != 1 {
		return 0, false
	}
	if e.y == 0 {
		return x[0] - e.value, true
	}
	y, ok := s.ints(e.y)
	if !ok || len(y) != 1 {
		return 0, false
	}
	return x[0] - y[0], true
}

// holds says whether the sizes at hand break no equation that depends on one dimension and otherwise known ones.
func (s *solver) holds(d place) bool {
	for i := range s.equations {
		e := &s.equations[i]
		decided := !slices.ContainsFunc(e.on, func(o place) bool { return o != d && s.free[o] })
		if decided && slices.Contains(e.on, d) {
			if r, ok := s.residue(e, d, s.sizes[d]); ok && r != 0 {
				return false
			}
		}
	}
	return true
}

// question asks for the sizes that are missing: each variable once, with the dimensions that it decides.
func (s *solver) question(unknown []place) error {
	type wanted struct {
		name   string
		places []place
	}
	var all []wanted
	asked := map[place]bool{}
	for _, o := range s.symbols {
		e := equation{x: o.value}
		s.add(e)
		on := s.equations[len(s.equations)-1].on
		if s.given[o.name] || !slices.ContainsFunc(on, func(d place) bool { return s.free[d] && !asked[d] }) {
			continue
		}
		w := wanted{name: o.name}
		for _, d := range unknown {
			if slices.Contains(on, d) || s.follows(d, o.value) {
				w.places = append(w.places, d)
				asked[d] = true
			}
		}
		all = append(all, w)
	}
	for _, d := range unknown {
		if s.free[d] && !asked[d] && !s.decided(d, asked) {
			all = append(all, wanted{s.text(d), []place{d}})
		}
	}
	names, example := make([]string, len(all)), make([]string, len(all))
	for i, w := range all {
		names[i], example[i] = w.name, fmt.Sprintf("%s=%d", w.name, 64<<min(i, 4))
	}
	err := diag.Invalid(diag.MissingSize, diag.Position{}, "the model is for any %s: give %s, such as %s", list(names),
		map[bool]string{true: "its size", false: "their sizes"}[len(all) == 1], strings.Join(example[:min(len(example), 4)], ","))
	for _, w := range all {
		var where []string
		for _, d := range w.places {
			where = append(where, fmt.Sprintf("dimension %d of %s", d.dim, s.names.Describe(slices.Index(s.args, d.arg))))
		}
		err = err.WithNote(diag.Position{}, "%s decides %s", w.name, list(where))
	}
	return err
}

// follows says whether a dimension is asserted to be exactly a variable.
func (s *solver) follows(d place, value ir.ValueID) bool {
	return slices.ContainsFunc(s.equations, func(e equation) bool {
		return e.y != 0 && (s.isSize(e.x, d) && e.y == value || s.isSize(e.y, d) && e.x == value)
	})
}

func (s *solver) isSize(v ir.ValueID, d place) bool {
	at, ok := s.asks(s.program.m.DefiningOp(v))
	return ok && at == d
}

// decided says whether an equation leads from dimensions that are asked for to another one.
func (s *solver) decided(d place, asked map[place]bool) bool {
	return slices.ContainsFunc(s.equations, func(e equation) bool {
		return slices.Contains(e.on, d) && !slices.ContainsFunc(e.on, func(o place) bool { return o != d && s.free[o] && !asked[o] })
	})
}
