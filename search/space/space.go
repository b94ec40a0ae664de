// Package space builds the selection problem of a module: which way to cut every op, so that one step takes least
// time and every device's memory suffices.
//
// A node of the problem is a decision: the layout of an input, or the factors by which an op is cut together with
// the layout in which its result is kept. Its cost is the time of the op on one device and of the reduction of its
// result; edges price the reshards between a value's layout and the layouts in which its users read it. For a
// matrix product the strategies are the four cases of cost.md section 3.1: nothing contracted is cut; one side is
// cut along the contracted dimension and gathered first; both are, and partial products are all-reduced or
// reduce-scattered; both want the same axis, and one is gathered first.
//
//	s := space.New(m, mesh, model)
//	s.Pin(v, sharding)                  // what the user wrote
//	s.Suggest(annotated, assignment)    // baselines, as warm starts
//	problem, err := s.Build(ctx, limit, &space.Effort{})
//	result, err := search.Solve(ctx, problem, search.Options{Initial: s.WarmStarts()})
//	assignment := s.Apply(m, result.Solution)
//
// Ops that are cut alike, as those of equal layers are, share a class: their strategies are enumerated and priced once. Edges
// go through layouts: strategies that read a value in the same layout share a column of the edge's matrix.
//
// Where the mesh has many axes, problems grow beyond what memory and time allow. A space has coarser levels for that
// ([Space.Levels]): axes are cut only where the user cut them, and adjacent axes are placed together. What is
// suggested is in the problem at every level. [Space.Relaxed] is the same problem with costs that no program of its
// solutions goes below.
package space

import (
	"autoshard/collectives"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/fusion"
	"autoshard/ir/rule"
	"autoshard/search"
	"autoshard/subaxis"
)

// Space is the selection problem of one module on one mesh while it is being built, and afterwards the key to read
// its solutions.
type Space struct {
	m       *ir.Module
	mesh    ir.MeshID
	model   *estimate.Model
	planner *collectives.Planner
	level   Level
	rings   bool      // products may overlap with the gathers and scatters beside them
	merges  bool      // collectives of one kind may be sent as one
	likely  bool      // the problem that is built is that of [Space.Likely]
	alone   bool      // and products are alone in their rings there
	pairing bool      // the problem that is built is that of [Space.Paired]
	shares  *together // what collectives pay where they are sent with those of a solution; nil if each pays for itself
	effort  *Effort
	err     error   // why building had to stop
	groups  []group // the parts of the mesh that are placed, each at once
	pins    map[ir.ValueID]ir.ShardingID
	outPins []ir.ShardingID // per result of the main function
	tied    []int           // per result: the input whose place it takes, -1 for none

	layouts     []collectives.Layout
	known       []collectives.LayoutID     // the planner's ids of the layouts
	layoutIDs   []int32                    // by the planner's id: one more than that of the space, 0 for none
	adopted     map[ir.ShardingID]layoutID // layouts of suggestions
	tensors     []*collectives.Tensor      // by type
	rules       []*ir.Rule                 // per op of the main function, nil for none
	classes     classes
	nodes       []node
	nodeOf      []int32         // per value: its node, -1 for none
	slotOf      []int32         // per value: its place among the node's values
	dearests    map[ir.OpID]int // of ops with branches
	count       int             // strategies of all nodes
	kinds       int             // strategies of all classes
	entries     int             // of all matrices that differ
	filled      int             // those of the matrices that were made last
	suggested   []suggestion
	goals       map[ir.ValueID]ir.ShardingID // of returned values: what the user wrote for the result
	crosses     []bool                       // per value: it is an input, or returned as it lies
	fused       []bool                       // per value: it never reaches memory if constraints move nothing
	unheld      []bool                       // per value: it may take no memory of its own
	own         fusion.Values                // what is fused if nothing is sent
	bare        fusion.Values                // what may be fused at most
	later       later
	same        []ir.ValueID // per value: the value that it may be, once constraints are gone
	fed         []bool       // per value: products read it
	links       []link
	lists       lists
	copies      copies
	partners    partners
	overlaps    *overlaps
	latencies   *latencies
	spans       [][]span // by block and type, in program order
	comesOf     []int32  // per node: a reduction that its own comes of, -1 for none
	paying      payments
	priced      map[pairsKey][]price
	watched     []bool          // per op of the main function: what is held for moments counts; nil for none
	holders     []holder        // of the last problem that was built with what is held for moments
	pairs       []pair          // of gathers
	paired      *search.Problem // the last one that was built with nodes for pairs
	pairHolders []holder        // its nodes for them
	time        *moments
}

type layoutID int32

// node is one decision. The strategies of its class say in which layout each of its values is kept and each operand is read.
type node struct {
	op       ir.OpID // 0 for an input or result of the function
	result   int     // of a result, its position
	values   []ir.ValueID
	operands []ir.ValueID // read in the strategy's operand layouts
	class    *class
	runs     int64
	sure     share // of the runs, what a step surely takes
	merged   int64 // reductions that can be sent as one with those of its results, with them
	delay    delay // of the reductions of its result
	lo, hi   int32

	residence residence
	over      ir.ValueID // that it is written over, if not alone
}

// residence says when a node's value takes memory of its own.
type residence uint8

const (
	alone      residence = iota // all its life
	succeeding                  // from the op behind its own: until then what it is written over counts
	copying                     // so, too, but what it would be written over is needed later, and copied
	within                      // never, in the layout of what a loop or branch keeps, into which it is written
)

// isResult says whether the node is the sharding of a result of the function, isInput that of an input.
func (n *node) isResult() bool { return n.op == 0 && len(n.values) == 0 }
func (n *node) isInput() bool  { return n.op == 0 && len(n.values) > 0 }

// suggestion is a baseline: the layouts it keeps values and results in (ids of this space's module) and its factors.
type suggestion struct {
	values  []ir.ShardingID
	out     []ir.ShardingID
	factors collectives.Assignment
}

func (g *suggestion) kept(v ir.ValueID) ir.ShardingID {
	if int(v) < len(g.values) {
		return g.values[v]
	}
	return 0
}

// New returns the space of a module whose calls are inlined. The module must not change until the solution has been
// applied.
func New(m *ir.Module, mesh ir.MeshID, model *estimate.Model) *Space {
	bare := withoutConstraints(m)
	s := &Space{m: m, mesh: mesh, model: model, rings: true, merges: true, planner: collectives.NewPlanner(model, m.Mesh(mesh).Axes),
		latencies: &latencies{of: map[latencyKey]latency{}, over: map[string]int32{}}, overlaps: &overlaps{ids: map[step]int32{}},
		later: later{of: collectives.LateReductions(bare)},
		rules: rulesOf(m), dearests: map[ir.OpID]int{},
	}
	s.findFused(bare)
	return s.Again()
}

// Again returns a space of the same module without pins and suggestions. It shares what depends on neither: rules, and the ways between
// layouts that were found so far. Only one of them may be used at a time.
func (s *Space) Again() *Space {
	c := &Space{m: s.m, mesh: s.mesh, model: s.model, rings: s.rings, merges: s.merges, planner: s.planner, latencies: s.latencies,
		overlaps: s.overlaps, fused: s.fused, unheld: s.unheld, own: s.own, bare: s.bare, later: later{of: s.later.of},
		rules: s.rules, dearests: s.dearests, pins: map[ir.ValueID]ir.ShardingID{},
		outPins: make([]ir.ShardingID, len(s.m.MainFunc().ResultTypes))}
	for range c.outPins {
		c.tied = append(c.tied, -1)
	}
	return c
}

// rulesOf returns the rules by which ops are computed on blocks, of those of the main function.
func rulesOf(m *ir.Module) []*ir.Rule {
	rules, cache := make([]*ir.Rule, m.NumOps()), rule.NewComputingCache()
	m.Walk(m.MainFunc().Body, func(op ir.OpID) { rules[op] = cache.Of(m, op) })
	return rules
}

// Serial says that programs are lowered without collective matmuls.
func (s *Space) Serial() { s.rings = false }

// Alone says that programs are lowered without merged collectives.
func (s *Space) Alone() { s.merges = false }

// Prompt says that programs reduce each partial value where it is made.
func (s *Space) Prompt() { s.later.of = nil }

// Planner returns the planner whose prices the space uses.
func (s *Space) Planner() *collectives.Planner { return s.planner }

// Pin fixes a value to a sharding that the user wrote: closed dimensions exactly, open ones at least to their axes;
// axes listed as replicated cut no dimension.
func (s *Space) Pin(v ir.ValueID, sharding ir.ShardingID) {
	s.pins[v] = sharding
}

// PinResult fixes result i of the main function likewise.
func (s *Space) PinResult(i int, sharding ir.ShardingID) {
	s.outPins[i] = sharding
}

// Suggest adds the way in which a settled copy of the module, with the same ids, would be cut: its strategies join
// the space, and it becomes a warm start if it respects the pins.
func (s *Space) Suggest(settled *ir.Module, assignment collectives.Assignment) {
	g := suggestion{values: make([]ir.ShardingID, s.m.NumValues()), factors: assignment}
	for v := ir.ValueID(1); int(v) < min(s.m.NumValues(), settled.NumValues()); v++ {
		g.values[v] = s.adopt(settled, settled.Sharding(v))
	}
	for _, id := range settled.MainFunc().ResultShardings {
		g.out = append(g.out, s.adopt(settled, id))
	}
	s.suggested = append(s.suggested, g)
}

// adopt takes over a sharding of another module.
func (s *Space) adopt(from *ir.Module, id ir.ShardingID) ir.ShardingID {
	if id == 0 {
		return 0
	}
	l := collectives.LayoutOf(from.ShardingOf(id))
	return s.m.InternSharding(l.Sharding(s.mesh))
}

// Tie keeps result i of the main function in the sharding of one of its inputs, whose place it takes.
func (s *Space) Tie(i, input int) { s.tied[i] = input }

// intern returns the id of a layout.
func (s *Space) intern(l collectives.Layout) layoutID {
	known := s.planner.Intern(l)
	if int(known) >= len(s.layoutIDs) {
		s.layoutIDs = append(s.layoutIDs, make([]int32, int(known)+1-len(s.layoutIDs))...)
	}
	if id := s.layoutIDs[known]; id > 0 {
		return layoutID(id - 1)
	}
	s.layouts, s.known = append(s.layouts, l), append(s.known, known)
	s.layoutIDs[known] = int32(len(s.layouts))
	return layoutID(len(s.layouts) - 1)
}

// layoutOf returns the layout of a suggested sharding; 0 is that of a token.
func (s *Space) layoutOf(id ir.ShardingID) layoutID {
	l, ok := s.adopted[id]
	if !ok {
		var layout collectives.Layout
		if id != 0 {
			layout = collectives.LayoutOf(s.m.ShardingOf(id))
		}
		l = s.intern(layout)
		s.adopted[id] = l
	}
	return l
}

// layoutsOf returns the layouts of suggested shardings of values; those without one are whole.
func (s *Space) layoutsOf(values []ir.ValueID, ids []ir.ShardingID) []collectives.Layout {
	out := make([]collectives.Layout, len(values))
	for i, v := range values {
		if out[i] = s.whole(v); ids[i] != 0 {
			out[i] = collectives.LayoutOf(s.m.ShardingOf(ids[i]))
		}
	}
	return out
}

// tensor returns what reshards of a value depend on.
func (s *Space) tensor(v ir.ValueID) *collectives.Tensor {
	t := s.m.Type(v)
	if int(t) >= len(s.tensors) {
		s.tensors = append(s.tensors, make([]*collectives.Tensor, s.m.NumTypes()-len(s.tensors))...)
	}
	if s.tensors[t] == nil {
		s.tensors[t] = s.planner.Tensor(s.m.Shape(v), s.m.ValueType(v).Bytes())
	}
	return s.tensors[t]
}

func (s *Space) isTensor(v ir.ValueID) bool { return s.m.ValueType(v).Kind == ir.TensorKind }

func (s *Space) whole(v ir.ValueID) collectives.Layout {
	return collectives.Layout{Dims: make([][]subaxis.Ref, len(s.m.Shape(v)))}
}
