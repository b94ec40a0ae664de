package explain

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// Filter says which steps a trace has: those for which all that is given here holds.
type Filter struct {
	Value    string // touches this value, as Question.Value
	Op       string // through operations of this kind, dot_general or stablehlo.dot_general, of this result, %5, or of this line, 12
	Axis     string // of an axis, or a part of one, as Question.WhyNot
	Refusals bool   // only what was kept away
}

// events returns what selects the steps of a trace.
func (f *Filter) events(n *naming, t *trace.Trace) (trace.Options, error) {
	out := trace.Options{Round: -1, Refusals: true}
	if f.Value != "" {
		target, err := n.lookup(f.Value)
		if err != nil {
			return out, err
		}
		out.Of = target.place()
	}
	wanted, err := f.ops(n)
	if err != nil {
		return out, err
	}
	axis, err := f.axis(n.m, t)
	if err != nil {
		return out, err
	}
	out.Only = func(e *trace.Event) bool {
		return (!f.Refusals || e.Kind == trace.Refusal) && (wanted == nil || wanted(ir.OpID(e.Op))) && (axis == nil || axis(e))
	}
	return out, nil
}

// ops returns a test for the operations that are asked for, nil for all.
func (f *Filter) ops(n *naming) (func(ir.OpID) bool, error) {
	if f.Op == "" {
		return nil, nil
	}
	m := n.m
	if line, err := strconv.Atoi(f.Op); err == nil {
		return func(op ir.OpID) bool { return op != 0 && m.FileLoc(m.OpLoc(op)).Line == line }, nil
	}
	if list := n.printed[f.Op]; len(list) > 0 {
		return func(op ir.OpID) bool {
			return op != 0 && m.NumResults(op) > 0 && n.values[m.Result(op, 0)] == f.Op
		}, nil
	}
	matches := func(kind string) bool { return kind == f.Op || strings.HasSuffix(kind, "."+f.Op) }
	kinds := kindsOf(m)
	if slices.ContainsFunc(kinds, matches) {
		return func(op ir.OpID) bool { return op != 0 && matches(m.OpName(op)) }, nil
	}
	for _, kind := range slices.Clone(kinds) {
		kinds = append(kinds, kind[strings.LastIndexByte(kind, '.')+1:])
	}
	return nil, diag.Invalid(diag.BadOption, diag.Position{}, "no operation is of kind, result or line `%s`%s", f.Op,
		diag.DidYouMean(f.Op, kinds))
}

// kindsOf returns the names of all kinds of operations of a program that have results, sorted.
func kindsOf(m *ir.Module) []string {
	seen := map[string]bool{}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if op := m.DefiningOp(v); op != 0 {
			seen[m.OpName(op)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// axis returns a test for events of the axis that is asked for, nil for all.
func (f *Filter) axis(m *ir.Module, t *trace.Trace) (func(*trace.Event) bool, error) {
	if f.Axis == "" {
		return nil, nil
	}
	var wanted []subaxis.Ref // by mesh; Size 0 where the mesh lacks the axis
	var first error
	found := false
	for id := range m.NumMeshes() {
		ref, err := axisOf(m, ir.MeshID(id), f.Axis)
		if err != nil && first == nil && len(m.Mesh(ir.MeshID(id)).Axes) > 0 {
			first = err
		}
		found = found || err == nil
		wanted = append(wanted, ref)
	}
	if !found {
		return nil, first
	}
	return func(e *trace.Event) bool {
		ref := wanted[e.Mesh]
		return ref.Size > 0 && len(trace.Common(t.Axes(e.Axes), []subaxis.Ref{ref})) > 0
	}, nil
}
