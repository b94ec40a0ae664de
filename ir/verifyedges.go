package ir

import (
	"fmt"
	"slices"
	"strconv"

	"autoshard/internal/lists"
)

// PropagationEdges is #sdy.propagation_edges: which axis went from which value of an op to which others, by step of
// the propagation. It is debug information (specification: shardy.md section 6.3).
type PropagationEdges []PropagationStep

// PropagationStep are the edges of one step.
type PropagationStep struct {
	Step  int64
	Edges []PropagationEdge
}

// PropagationEdge is the way of one axis, written as in shardings.
type PropagationEdge struct {
	Axis    string // as written, such as "x":(1)2 with the quotes
	Name    string // of the axis
	Source  ValueRef
	Targets []ValueRef
}

// ValueRef is an operand or result of an op.
type ValueRef struct {
	Result bool
	Index  int64
}

func (PropagationEdges) attr() {}

// String returns operand-0 or result-0.
func (r ValueRef) String() string {
	if r.Result {
		return "result-" + strconv.FormatInt(r.Index, 10)
	}
	return "operand-" + strconv.FormatInt(r.Index, 10)
}

// String returns the attribute as Shardy prints it.
func (p PropagationEdges) String() string {
	edge := func(e PropagationEdge) string {
		return "{" + e.Axis + " = " + e.Source.String() + " -> [" + lists.Joined(e.Targets, ValueRef.String) + "]}"
	}
	steps := lists.Joined(p, func(s PropagationStep) string {
		return "{step-" + strconv.FormatInt(s.Step, 10) + " = [" + lists.Joined(s.Edges, edge) + "]}"
	})
	return "#sdy.propagation_edges<[" + steps + "]>"
}

// Check returns what is wrong with the edges themselves, nil if nothing is.
func (p PropagationEdges) Check() error {
	steps := map[int64]bool{}
	for _, s := range p {
		if s.Step < 0 {
			return fmt.Errorf("propagation edges have negative step index: %d", s.Step)
		}
		if steps[s.Step] {
			return fmt.Errorf("propagation edges have duplicate step index: %d", s.Step)
		}
		steps[s.Step] = true
		for _, e := range s.Edges {
			if slices.Contains(e.Targets, e.Source) {
				return fmt.Errorf("propagation edges have a source that is the same as a target")
			}
			targets := map[ValueRef]bool{}
			for _, t := range e.Targets {
				if targets[t] {
					return fmt.Errorf("propagation edges have duplicate targets for step index: %d and axis: %s", s.Step, e.Name)
				}
				targets[t] = true
			}
		}
	}
	return nil
}

// The names of the attributes that hold propagation edges.
const (
	edgesAttr         = "sdy.propagation_edges"
	resultEdgesAttr   = "sdy.result_propagation_edges"
	blockArgEdgesAttr = "sdy.block_arg_propagation_edges"
)

// edges checks the attributes of propagation edges of an op.
func (v *verifier) edges(op OpID) {
	for _, e := range v.m.OpAttrs(op) {
		switch e.Name {
		case edgesAttr:
			edges, ok := e.Value.(PropagationEdges)
			if !ok {
				v.opReport(op, badAttr("should have a propagation edges attribute of type PropagationEdgesAttr for attr named '%s'", edgesAttr))
				continue
			}
			v.opReport(op, v.checkEdges(op, edges))
		case resultEdgesAttr, blockArgEdgesAttr:
			list, ok := e.Value.(ArrayAttr)
			for _, a := range list {
				if edges, isEdges := a.(PropagationEdges); !isEdges {
					ok = false
				} else if err := edges.Check(); err != nil {
					v.opReport(op, badAttr("%s", err))
				}
			}
			if !ok {
				v.opReport(op, badAttr("should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for attr named '%s' or '%s'",
					resultEdgesAttr, blockArgEdgesAttr))
			}
		}
	}
}

func (v *verifier) checkEdges(op OpID, edges PropagationEdges) error {
	if err := edges.Check(); err != nil {
		return badAttr("%s", err)
	}
	axes := v.axesAround(op)
	if len(axes) == 0 && len(edges) > 0 {
		return badAttr("expected propagation edges attr to reference a sharding")
	}
	for _, s := range edges {
		for _, e := range s.Edges {
			if !axes[e.Name] {
				return badAttr("expected axis ref to be in one of the meshes")
			}
			for _, r := range append([]ValueRef{e.Source}, e.Targets...) {
				if n := v.m.NumOperands(op); !r.Result && (r.Index < 0 || r.Index >= int64(n)) {
					return badAttr("expected a value ref to have an operand index in range [0, %d), got: %d", n, r.Index)
				}
				if n := v.m.NumResults(op); r.Result && (r.Index < 0 || r.Index >= int64(n)) {
					return badAttr("expected a value ref to have a result index in range [0, %d), got: %d", n, r.Index)
				}
			}
		}
	}
	return nil
}

// axesAround returns the names of the axes of the meshes that the operands and results of an op are sharded over.
func (v *verifier) axesAround(op OpID) map[string]bool {
	m, axes := v.m, map[string]bool{}
	add := func(value ValueID) {
		if s := m.Sharding(value); s != 0 {
			for _, a := range m.Mesh(m.ShardingOf(s).Mesh).Axes {
				axes[a.Name] = true
			}
		}
	}
	for i := range m.NumOperands(op) {
		add(m.Operand(op, i))
	}
	for _, r := range m.Results(op) {
		add(r)
	}
	return axes
}
