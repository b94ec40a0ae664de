package modelexplorer

import (
	"strconv"

	"autoshard/ir"
)

// graph is a function as Model Explorer shows it.
type graph struct {
	name  string
	nodes []node
}

// node is an operation, or an argument of a function or of a region.
type node struct {
	id     string
	op     ir.OpID // 0 for an argument
	values []ir.ValueID
}

// graphsOf returns the graphs that Model Explorer's MLIR adapter makes of a module, with the nodes that stand for values.
func graphsOf(m *ir.Module) (out []graph) {
	for f := range m.Definitions() {
		g := graph{name: m.Func(f).Name}
		for i, v := range m.BlockArgs(m.Func(f).Body) {
			g.nodes = append(g.nodes, node{id: argument("", i), values: []ir.ValueID{v}})
		}
		g.block(m, m.Func(f).Body, 0)
		out = append(out, g)
	}
	return out
}

// block adds the nodes of a block whose first operation is number n of its function, and returns the number that follows.
func (g *graph) block(m *ir.Module, b ir.BlockID, n int) int {
	for op := range m.Ops(b) {
		id := strconv.Itoa(n)
		n++
		if entered(m, op) {
			g.inputs(m, op, id)
			for inner := range m.InnerBlocks(op) {
				n = g.block(m, inner, n)
			}
		}
		g.op(m, op, id)
	}
	return n
}

// entered says whether the regions of an operation are shown: those of a function's own operations and, inside them, those of computations
// of Shardy alone.
func entered(m *ir.Module, op ir.OpID) bool {
	return m.FuncOf(m.BlockOp(m.OpBlock(op))) != 0 || computes(m.Kind(op))
}

// inputs adds the nodes of what an operation with regions takes. The adapter has one for every operand, called as if it were the argument
// of a region: that is what it is where regions run on whole tensors and take what the operation takes.
func (g *graph) inputs(m *ir.Module, op ir.OpID, id string) {
	if !runs(m.Kind(op)) {
		return
	}
	if args := m.BlockArgs(m.RegionBlock(op, m.NumRegions(op)-1)); len(args) == m.NumOperands(op) {
		for i, v := range args {
			g.nodes = append(g.nodes, node{id: argument("pid"+id+"_", i), values: []ir.ValueID{v}})
		}
	}
}

// op adds the node of an operation, unless it only ends a block: that is shown as the outputs of it.
func (g *graph) op(m *ir.Module, op ir.OpID, id string) {
	if !m.Kind(op).IsTerminator() {
		g.nodes = append(g.nodes, node{id: id, op: op, values: m.ResultValues(op)})
	}
}

// shown returns the operation whose node stands for one: itself, or what it is in whose regions are not shown.
func shown(m *ir.Module, op ir.OpID) ir.OpID {
	out := op
	for at := op; m.FuncOf(at) == 0; at = m.BlockOp(m.OpBlock(at)) {
		if !entered(m, at) {
			out = at
		}
	}
	return out
}

func argument(of string, i int) string { return of + "arg" + strconv.Itoa(i) }

// computes says whether an operation is a computation of Shardy.
func computes(k ir.Kind) bool { return k == ir.OpSdyManualComputation || k == ir.OpSdyNamedComputation }

// runs says whether regions of an operation are code of their own, on whole tensors or on blocks of them.
func runs(k ir.Kind) bool { return k.HasBodies() || computes(k) }

// ofElements says whether an operation is in the body of a reduction, in a comparator or the like: it makes no values that lie anywhere.
func ofElements(m *ir.Module, op ir.OpID) bool {
	around := m.BlockOp(m.OpBlock(op))
	return m.FuncOf(around) == 0 && !runs(m.Kind(around))
}
