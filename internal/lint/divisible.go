package lint

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/subaxis"
)

// onlyMesh returns the axes of the mesh that a module declares, nil where it declares none or different ones.
func onlyMesh(m *ir.Module) []subaxis.Axis {
	var axes []subaxis.Axis
	for id := ir.MeshID(1); int(id) < m.NumMeshes(); id++ {
		d := m.Mesh(id)
		if len(d.Axes) == 0 {
			continue
		}
		if axes != nil && !slices.Equal(axes, d.Axes) {
			return nil
		}
		axes = d.Axes
	}
	return axes
}

// undivided are the dimensions of one size that some axes do not divide.
type undivided struct {
	size  int64
	axes  []subaxis.Axis
	arg   int // the first
	dim   int
	args  int // how many arguments have such a dimension
	bytes int64
}

// smallShare is the part of the bytes of all arguments that counts for nothing: one in so many.
const smallShare = 50

// leastSize is the size from which on a dimension is worth cutting: windows of convolutions are smaller.
const leastSize = 8

// LeftWhole returns the findings of the rule indivisible-dimension about dimensions that no axis of a mesh divides: every
// plan leaves them whole, or cuts them along a part of an axis.
func LeftWhole(m *ir.Module, axes []subaxis.Axis) []diag.Diagnostic {
	l := &linter{m: m, axes: axes, rule: &Rule{Name: string(IndivisibleDimension)}}
	l.undivided(func(u *undivided) bool {
		return u.size >= leastSize && !slices.ContainsFunc(axes, func(a subaxis.Axis) bool { return a.Size > 1 && u.size%a.Size == 0 })
	})
	return l.found
}

// indivisibleDimensions reports dimensions of arguments without a sharding.
func (l *linter) indivisibleDimensions() { l.undivided(func(*undivided) bool { return true }) }

// undivided reports dimensions that axes do not divide, by their size, as far as they matter.
func (l *linter) undivided(matters func(*undivided) bool) {
	main, ok := l.m.Main()
	if !ok || len(l.axes) == 0 {
		return
	}
	f := l.m.Func(main)
	total := int64(0)
	var found []*undivided
	for i, v := range l.m.BlockArgs(f.Body) {
		t := l.m.ValueType(v)
		if t.Kind != ir.TensorKind || !t.IsStatic() {
			continue
		}
		total += t.Bytes()
		if l.m.Sharding(v) == 0 {
			found = l.divide(found, i, t)
		}
	}
	for _, u := range found {
		if u.bytes >= total/smallShare && matters(u) {
			l.report(f.Op, "%s", l.describe(main, u))
		}
	}
}

// divide adds the dimensions of an argument that an axis shorter than them does not divide.
func (l *linter) divide(found []*undivided, arg int, t *ir.Type) []*undivided {
	counted := map[int64]bool{} // sizes of this argument
	for d, size := range t.Dims {
		axes := lists.Filter(l.axes, func(a subaxis.Axis) bool { return a.Size < size && size%a.Size != 0 })
		if len(axes) == 0 || counted[size] {
			continue
		}
		counted[size] = true
		at := slices.IndexFunc(found, func(u *undivided) bool { return u.size == size })
		if at < 0 {
			at = len(found)
			found = append(found, &undivided{size: size, axes: axes, arg: arg, dim: d})
		}
		found[at].args++
		found[at].bytes += t.Bytes()
	}
	return found
}

func (l *linter) describe(f ir.FuncID, u *undivided) string {
	var divisors []string
	multiple := int64(1)
	for _, a := range u.axes {
		divisors = append(divisors, fmt.Sprintf("%q (%d)", a.Name, a.Size))
		multiple *= a.Size / subaxis.GCD(multiple, a.Size)
	}
	more := ""
	if u.args > 1 {
		more = fmt.Sprintf(", and of %d more arguments,", u.args-1)
	}
	args := names.Args(l.m, f)
	return fmt.Sprintf("dimension %d of %s%s has size %d, no multiple of %s: it cannot be cut along all of that; %d could be", u.dim,
		args.Describe(u.arg), more, u.size, strings.Join(divisors, " or "), (u.size+multiple-1)/multiple*multiple)
}
