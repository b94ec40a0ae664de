package typed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// Spec is a partition spec: for each leading dimension the names of the axes that cut it, major to minor. Dimensions
// behind the last one are not cut. Axes of the mesh that it does not name hold copies, apart from the unreduced ones,
// which hold terms.
type Spec struct {
	Dims      [][]string
	Unreduced []string
	Reduced   []string
}

// P returns the spec that cuts dimension k by the axis in place k; "" cuts nothing and "i,j" stands for two axes.
//
//	P("i", "", "j,k") // P('i', None, ('j', 'k'))
func P(dims ...string) Spec {
	s := Spec{}
	for _, d := range dims {
		var axes []string
		if d != "" {
			axes = strings.Split(d, ",")
		}
		s.Dims = append(s.Dims, axes)
	}
	return s
}

// Cut returns the spec that cuts a dimension along more axes, minor to those that cut it already.
func (s Spec) Cut(dim int, axes []string) Spec {
	out := s
	out.Dims = slices.Clone(s.Dims)
	for len(out.Dims) <= dim {
		out.Dims = append(out.Dims, nil)
	}
	out.Dims[dim] = slices.Concat(out.Dims[dim], axes)
	return out
}

// String returns the spec as Python writes it: P('i', None, ('j', 'k')).
func (s Spec) String() string {
	var parts []string
	for _, axes := range s.Dims {
		switch len(axes) {
		case 0:
			parts = append(parts, "None")
		case 1:
			parts = append(parts, quoteName(axes[0]))
		default:
			parts = append(parts, "("+lists.Joined(axes, quoteName)+")")
		}
	}
	if len(s.Unreduced) > 0 {
		parts = append(parts, "unreduced={"+lists.Joined(s.Unreduced, quoteName)+"}")
	}
	if len(s.Reduced) > 0 {
		parts = append(parts, "reduced={"+lists.Joined(s.Reduced, quoteName)+"}")
	}
	return "P(" + strings.Join(parts, ", ") + ")"
}

func quoteName(s string) string { return "'" + s + "'" }

// Equal compares two specs; dimensions at the end that are not cut do not matter.
func (s Spec) Equal(o Spec) bool {
	a, b := s.trimmed(), o.trimmed()
	return slices.EqualFunc(a.Dims, b.Dims, func(x, y []string) bool { return slices.Equal(x, y) }) &&
		slices.Equal(s.Unreduced, o.Unreduced) && slices.Equal(s.Reduced, o.Reduced)
}

func (s Spec) trimmed() Spec {
	for len(s.Dims) > 0 && len(s.Dims[len(s.Dims)-1]) == 0 {
		s.Dims = s.Dims[:len(s.Dims)-1]
	}
	return s
}

// Cotangent returns the spec of the cotangent: the same parts, unreduced and reduced swapped
// (specification: shardmap.md section 4.2).
func (s Spec) Cotangent() Spec {
	return Spec{Dims: s.Dims, Unreduced: s.Reduced, Reduced: s.Unreduced}
}

// checkSpec checks a spec for a value of that global or block shape: names, rank, and each axis once. E_* in messages
// are the names of the table in shardmap.md section 1.4.
func (p *Program) checkSpec(what string, s Spec, dims []int64, out bool) error {
	if len(s.Dims) > len(dims) {
		if out {
			return p.bad(diag.BadShardingRank, "E_SPEC_RANK_OUT",
				"%s has spec %s, which is too long for its rank %d; drop entries, or give the result a dimension of size 1 to be joined along", what,
				s, len(dims))
		}
		return p.bad(diag.BadShardingRank,
			"E_SPEC_RANK_IN", "%s has spec %s, which is too long for its rank %d; scalars take P()", what, s, len(dims))
	}
	var seen, cut AxisSet
	for _, axes := range s.Dims {
		for _, name := range axes {
			a, err := p.specAxis(what, s, name)
			if err != nil {
				return err
			}
			if cut.Has(a) {
				return p.bad(diag.DuplicateAxis, "E_SPEC_DUP", "%s has spec %s, which has duplicate entries for axis `%s`", what, s, name)
			}
			cut |= 1 << a
		}
	}
	for i, names := range [][]string{s.Unreduced, s.Reduced} {
		for _, name := range names {
			a, err := p.specAxis(what, s, name)
			if err != nil {
				return err
			}
			switch {
			case (cut | seen).Has(a):
				return p.bad(diag.DuplicateAxis,
					"E_UR_OVERLAP", "%s has spec %s, where axis `%s` stands in two roles, which cannot overlap", what, s, name)
			case p.Manual != p.allAxes() || !p.Check:
				return p.bad(diag.BadSharding, "E_UR_SPEC", "%s has spec %s: %s axes need a program over all axes of the mesh with the check on",
					what, s, [...]string{"unreduced", "reduced"}[i])
			}
			seen |= 1 << a
		}
	}
	return nil
}

func (p *Program) specAxis(what string, s Spec, name string) (int, error) {
	a := axisNumber(&p.Mesh, name)
	if a < 0 || !p.Manual.Has(a) {
		return 0, p.bad(diag.UnknownAxis,
			"E_AXIS_UNKNOWN", "%s has spec %s, which refers to '%s', but the manual axes are %s", what, s, name, p.FormatAxes(p.Manual))
	}
	return a, nil
}

func (p *Program) allAxes() AxisSet { return AxisSet(uint64(1)<<len(p.Mesh.Axes) - 1) }

// axesOf returns the axes that a valid spec uses for parts, and its variance.
func (p *Program) axesOf(s Spec) (dims [][]int, t Variance) {
	for _, axes := range s.Dims {
		var numbers []int
		for _, name := range axes {
			a := axisNumber(&p.Mesh, name)
			numbers = append(numbers, a)
			t.V |= 1 << a
		}
		dims = append(dims, numbers)
	}
	return dims, Variance{V: t.V, U: p.namedSet(s.Unreduced), R: p.namedSet(s.Reduced)}
}

func (p *Program) namedSet(names []string) (s AxisSet) {
	for _, name := range names {
		s |= 1 << axisNumber(&p.Mesh, name)
	}
	return s
}

// SpecVariance returns the variance of a parameter with that spec: it varies along the axes that cut it
// (specification: shardmap.md section 3.2); nothing where the check is off.
func (p *Program) SpecVariance(s Spec) Variance {
	if !p.Check {
		return Variance{}
	}
	_, t := p.axesOf(s)
	return t
}

// blockDims returns the shape of a block of a global array, and checks the spec.
func (p *Program) blockDims(what string, s Spec, dims []int64) ([]int64, error) {
	if err := p.checkSpec(what, s, dims, false); err != nil {
		return nil, err
	}
	out := slices.Clone(dims)
	axes, _ := p.axesOf(s)
	for d, list := range axes {
		n := p.GroupSize(list)
		if out[d]%n != 0 {
			return nil, p.bad(diag.BadSharding,
				"E_DIV", "%s of shape %s has spec %s: dimension %d is not evenly divisible, %d by the %d devices along %s",
				what, formatDims(dims), s, d, out[d], n, p.axisNames(list, ","))
		}
		out[d] /= n
	}
	return out, nil
}

// globalDims returns the shape of the array whose blocks have that shape.
func (p *Program) globalDims(s Spec, dims []int64) []int64 {
	out := slices.Clone(dims)
	axes, _ := p.axesOf(s)
	for d, list := range axes {
		out[d] = times(out[d], p.GroupSize(list))
	}
	return out
}

// GlobalDims returns the shape of result i as a whole.
func (p *Program) GlobalDims(i int) []int64 {
	return p.globalDims(p.Results[i].Spec, p.Module.Shape(p.Module.Operand(p.Return(), i)))
}

// bad returns an error of the input with the name of its rule.
func (p *Program) bad(code diag.Code, rule, format string, args ...any) *diag.Error {
	return diag.Invalid(code, diag.Position{}, "%s (%s)", fmt.Sprintf(format, args...), rule)
}

// badAt is bad for an op: the message begins with the equation.
func (p *Program) badAt(op ir.OpID, code diag.Code, rule, format string, args ...any) *diag.Error {
	return p.placed(op, p.bad(code, rule, "%s: %s", p.equation(op), fmt.Sprintf(format, args...)))
}

// placed gives an error the place of an op.
func (p *Program) placed(op ir.OpID, e *diag.Error) *diag.Error {
	d := &e.Diagnostics[0]
	d.Pos = p.where(op)
	d.Source = p.Module.SourceLine(d.Pos.Line)
	return e
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// formatDims returns a shape such as [2,3].
func formatDims(dims []int64) string {
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = itoa(d)
		if d == ir.Dynamic {
			parts[i] = "?"
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// formatType returns a type such as f32[2,3].
func formatType(t *ir.Type) string {
	if t.Kind != ir.TensorKind {
		return t.DType.String()
	}
	return t.DType.String() + formatDims(t.Dims)
}
