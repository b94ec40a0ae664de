package explain

import (
	"context"
	"slices"
	"strconv"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
	"autoshard/propagate"
	"autoshard/subaxis"
	"autoshard/trace"
)

// Options says how to propagate.
type Options struct {
	Mesh        []subaxis.Axis // empty: the mesh that the model declares
	MaxPriority *int           // stop after the round of this user priority; nil: all rounds
	Filter      Filter         // what the trace has
}

// rounds returns the options of the propagation.
func (o *Options) rounds() propagate.Options {
	out := propagate.Options{CompleteRules: true}
	if o.MaxPriority != nil {
		out.MaxPriority, out.Limited = *o.MaxPriority, true
	}
	return out
}

// Propagation is a model with the shardings that follow from the user's, and how they came about.
type Propagation struct {
	Model    string            `json:"model"`
	Mesh     []answer.MeshAxis `json:"mesh"`
	Inputs   []answer.Tensor   `json:"inputs"`
	Outputs  []answer.Tensor   `json:"outputs"`
	Findings []answer.Finding  `json:"findings"`
	Program  string            `json:"program"` // annotated, as MLIR text
	Trace    trace.Document    `json:"trace"`
}

// inlined returns the program that propagation is about, its mesh, and what is to be said of a mesh without names.
func inlined(ctx context.Context, source *answer.Source, o Options) (m *ir.Module, mesh ir.MeshID, unnamed string, err error) {
	if m, unnamed, err = source.Inlined(ctx, o.Mesh); err != nil {
		return nil, 0, "", err
	}
	mesh, err = answer.PropagationMesh(m, o.Mesh)
	return m, mesh, unnamed, err
}

// Propagate gives every value of a model the sharding that follows from the user's by Shardy's rules. Rounds of user
// priorities above MaxPriority do not run: their dimensions stay without axes. Work ends with the context, whose error is
// the answer then.
func Propagate(ctx context.Context, source *answer.Source, o Options) (result *Propagation, err error) {
	defer diag.Recover("propagate", &err)
	m, mesh, unnamed, err := inlined(ctx, source, o)
	if err != nil {
		return nil, err
	}
	written := writtenValues(m)
	if err := propagate.Import(ctx, m); err != nil {
		return nil, err
	}
	origin := newOrigins(m, written)
	before := m.Clone()
	events, err := propagate.Run(ctx, m, o.rounds())
	if err != nil {
		return nil, err
	}
	found := findings{answer.Findings{Module: m}}
	found.Platform(source)
	found.Unnamed(unnamed)
	found.boundary(before)
	if err := propagate.Close(ctx, m); err != nil {
		return nil, err
	}
	program, err := mlir.Write(ctx, m, mlir.PrintOptions{})
	if err != nil {
		return nil, err
	}
	result = &Propagation{Model: source.Name, Mesh: m.Mesh(mesh).Axes, Program: string(program)}
	result.Inputs, result.Outputs = answer.Tensors(m, answer.Written(before, m))
	result.Findings = found.Sorted()
	called := newNaming(m, source.Dropped)
	only, err := o.Filter.events(called, events)
	if err != nil {
		return nil, err
	}
	only.Given = origin.list()
	if result.Trace, err = events.Describe(ctx, called, only); err != nil {
		return nil, err
	}
	return result, nil
}

// traceNames gives the trace the words of the printed program, and the names that the program gives its arguments and
// results.
type traceNames struct {
	m           *ir.Module
	values      []string              // by value: as the program is printed; "" for those of erased ops
	argNames    map[ir.ValueID]string // of main's arguments, where the program gives them
	resultNames []string              // of main
}

func newTraceNames(m *ir.Module) traceNames {
	n := traceNames{m: m, values: mlir.ValueNames(m), argNames: map[ir.ValueID]string{}}
	main, _ := m.Main()
	args, results := names.Args(m, main), names.Results(m, main)
	for i, v := range m.BlockArgs(m.Func(main).Body) {
		if args.Given[i] {
			n.argNames[v] = args.Names[i]
		}
	}
	for i, name := range results.Names {
		if !results.Given[i] || slices.Contains(args.Names, name) {
			name = answer.NumberedResult(i)
		}
		n.resultNames = append(n.resultNames, name)
	}
	return n
}

// name returns the name of a value, "" for those of erased ops.
func (n *traceNames) name(v ir.ValueID) string {
	if name := n.argNames[v]; name != "" {
		return name
	}
	return n.values[v]
}

// Op implements trace.Names.
func (n *traceNames) Op(op, _ int32) string {
	if op == 0 {
		return "the function's result"
	}
	id := ir.OpID(op)
	name := n.m.OpName(id)
	switch {
	case n.m.Kind(id) == ir.OpSdyDataFlowEdge:
		name = n.dataFlow(n.m.Operand(id, 0))
	case n.m.NumResults(id) > 0:
		name = n.name(n.m.Result(id, 0)) + " = " + name
	}
	if at := answer.Line(n.m, n.m.OpLoc(id)); at != "" {
		name += " (" + at + ")"
	}
	return name
}

// Kind implements trace.Names.
func (n *traceNames) Kind(op int32) string {
	if op == 0 {
		return "the function's result"
	}
	return n.m.OpName(ir.OpID(op))
}

// Source implements trace.Names.
func (n *traceNames) Source(op int32, p trace.Place) string {
	switch {
	case op != 0:
		return answer.Line(n.m, n.m.OpLoc(ir.OpID(op)))
	case p.Value < 0:
		return ""
	}
	v := ir.ValueID(p.Value)
	if of := n.m.DefiningOp(v); of != 0 {
		return answer.Line(n.m, n.m.OpLoc(of))
	}
	return answer.Line(n.m, n.m.ArgLoc(v))
}

// dataFlow names the way into a value that owns an edge. The edge is no op of the printed program; its row still
// knows the operand.
func (n *traceNames) dataFlow(owner ir.ValueID) string {
	op := n.m.OpOf(owner)
	return "the data flow into " + n.name(owner) + " of " + n.m.OpName(op)
}

// Place implements trace.Names.
func (n *traceNames) Place(p trace.Place) string {
	name := "a value that is no longer used"
	if p.Value < 0 {
		name = n.resultNames[^p.Value]
	} else if known := n.name(ir.ValueID(p.Value)); known != "" {
		name = known
	}
	if p.Dim >= 0 {
		name += "[" + strconv.Itoa(int(p.Dim)) + "]"
	}
	return name
}

// Axes implements trace.Names.
func (n *traceNames) Axes(mesh int32, axes []subaxis.Ref) string {
	return n.m.Mesh(ir.MeshID(mesh)).FormatList(axes)
}
