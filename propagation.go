package autoshard

import (
	"context"
	"strconv"

	"autoshard/internal/trace"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"
	"autoshard/subaxis"
)

// Propagation is a model with the shardings that follow from the user's, and how they came about.
type Propagation struct {
	Model    string         `json:"model"`
	Mesh     []MeshAxis     `json:"mesh"`
	Inputs   []Tensor       `json:"inputs"`
	Outputs  []Tensor       `json:"outputs"`
	Findings []Finding      `json:"findings"`
	Program  string         `json:"program"` // annotated, as MLIR text
	Trace    trace.Document `json:"trace"`
}

// Propagate gives every value of a model the sharding that follows from the user's by Shardy's rules. Rounds of user
// priorities above MaxPriority do not run: their dimensions stay without axes.
func Propagate(_ context.Context, model *Model, o PropagateOptions) (result *Propagation, err error) {
	defer recoverBug("propagate", &err)
	m, err := model.inlined()
	if err != nil {
		return nil, err
	}
	mesh, err := propagationMesh(m, o.Mesh)
	if err != nil {
		return nil, err
	}
	if err := propagate.Import(m); err != nil {
		return nil, err
	}
	before := m.Clone()
	events, err := propagate.Run(m, propagate.Options{MaxPriority: o.MaxPriority, Limited: o.MaxPriority >= 0})
	if err != nil {
		return nil, err
	}
	found := findings{m: m}
	found.boundary(before)
	propagate.Close(m)
	result = &Propagation{Model: model.Name(), Program: string(mlir.Print(m, mlir.PrintOptions{}))}
	for _, a := range m.Mesh(mesh).Axes {
		result.Mesh = append(result.Mesh, MeshAxis{a.Name, a.Size})
	}
	result.Inputs, result.Outputs = tensors(m, written(before, m))
	result.Findings = found.sorted()
	result.Trace = events.Describe(&names{m, mlir.ValueNames(m)}, trace.Options{Round: -1, Refusals: true})
	return result, nil
}

// written returns which inputs and outputs lie as the user wrote, in a copy of the module that was propagated or planned.
func written(before, after *ir.Module) func(arg, result int) bool {
	shardings := func(m *ir.Module) (args, results []ir.ShardingID) {
		main, _ := m.Main()
		f := m.Func(main)
		for _, v := range m.BlockArgs(f.Body) {
			args = append(args, m.Sharding(v))
		}
		return args, f.ResultShardings
	}
	args, results := shardings(before)
	newArgs, newResults := shardings(after)
	return func(arg, result int) bool {
		if arg >= 0 {
			return unchanged(before, args[arg], after, newArgs[arg])
		}
		return unchanged(before, results[result], after, newResults[result])
	}
}

// names gives the trace the words of the printed program.
type names struct {
	m      *ir.Module
	values []string
}

// Op implements trace.Names.
func (n *names) Op(op, _ int32) string {
	if op == 0 {
		return "the function's result"
	}
	id := ir.OpID(op)
	name := n.m.OpName(id)
	switch {
	case n.m.Kind(id) == ir.OpSdyDataFlowEdge:
		name = n.dataFlow(n.m.Operand(id, 0))
	case n.m.NumResults(id) > 0:
		name = n.values[n.m.Result(id, 0)] + " = " + name
	}
	if at := source(n.m, n.m.OpLoc(id)); at != "" {
		name += " (" + at + ")"
	}
	return name
}

// dataFlow names the way into a value that owns an edge. The edge is no op of the printed program; its row still
// knows the operand.
func (n *names) dataFlow(owner ir.ValueID) string {
	op := n.m.DefiningOp(owner)
	if op == 0 {
		op = n.m.BlockOp(n.m.ArgBlock(owner))
	}
	return "the data flow into " + n.values[owner] + " of " + n.m.OpName(op)
}

// Place implements trace.Names.
func (n *names) Place(p trace.Place) string {
	name := "a value that is no longer used"
	if p.Value < 0 {
		name = "result " + strconv.Itoa(int(^p.Value))
	} else if n.values[p.Value] != "" {
		name = n.values[p.Value]
	}
	if p.Dim >= 0 {
		name += "[" + strconv.Itoa(int(p.Dim)) + "]"
	}
	return name
}

// Axes implements trace.Names.
func (n *names) Axes(mesh int32, axes []trace.Axis) string {
	refs := make([]subaxis.Ref, len(axes))
	for i, a := range axes {
		refs[i] = subaxis.Ref{Axis: a.Index, Pre: a.Pre, Size: a.Size}
	}
	return n.m.Mesh(ir.MeshID(mesh)).FormatList(refs)
}
