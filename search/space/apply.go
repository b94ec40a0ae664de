package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search"
)

// WarmStarts returns the solutions that the suggestions stand for; of each node the strategy that keeps its values
// and cuts its op as suggested. Suggestions that a pin rules out are left out.
func (s *Space) WarmStarts() [][]int32 {
	var out [][]int32
	for _, g := range s.suggested {
		if solution, ok := s.warmStart(&g); ok {
			out = append(out, solution)
		}
	}
	return out
}

func (s *Space) warmStart(g *suggestion) ([]int32, bool) {
	solution := make([]int32, len(s.nodes))
	for i := range s.nodes {
		if solution[i] = s.suggests(g, &s.nodes[i]); solution[i] < 0 {
			return nil, false
		}
	}
	return solution, true
}

// suggests returns the strategy of a node that a suggestion stands for, -1 for none.
func (s *Space) suggests(g *suggestion, n *node) int32 {
	if n.isResult() {
		return s.match(n, nil, []ir.ShardingID{g.out[n.result]})
	}
	ids := make([]ir.ShardingID, len(n.values))
	for j, v := range n.values {
		ids[j] = g.kept(v)
	}
	var factors collectives.Factors
	if n.op != 0 && int(n.op) < len(g.factors) {
		factors = g.factors[n.op]
	}
	return s.match(n, factors, ids)
}

// Nearest returns a solution of the space's problem that follows the latest suggestion where pins allow it, and the nodes where they do
// not: those take what is cheapest beside the others.
func (s *Space) Nearest(p *search.Problem) (solution, apart []int32) {
	solution = make([]int32, len(s.nodes))
	for i := range s.nodes {
		if solution[i] = s.suggests(&s.suggested[len(s.suggested)-1], &s.nodes[i]); solution[i] < 0 {
			apart = append(apart, int32(i))
		}
	}
	return p.Filled(solution), apart
}

// match returns the strategy that keeps a node's values in the given shardings and cuts the op by the given factors;
// where none cuts it so, the cheapest that keeps them; -1 if there is none.
func (s *Space) match(n *node, factors collectives.Factors, ids []ir.ShardingID) int32 {
	var at [2]int32
	rows := at[:0]
	for j, id := range ids {
		row, ok := slices.BinarySearch(s.lists.all[n.class.kept[j]].unique, s.layoutOf(id))
		if !ok {
			return -1
		}
		rows = append(rows, int32(row))
	}
	best := int32(-1)
	for i := range n.class.strategies {
		st := &n.class.strategies[i]
		switch {
		case !s.keepsAt(n, i, rows):
		case equalFactors(st.factors, factors):
			return int32(i)
		case best < 0 || st.cost < n.class.strategies[best].cost:
			best = int32(i)
		}
	}
	return best
}

// keepsAt says whether a strategy keeps every value of its node in the given one of the port's layouts.
func (s *Space) keepsAt(n *node, strategy int, rows []int32) bool {
	for j, row := range rows {
		if s.lists.all[n.class.kept[j]].at[strategy] != row {
			return false
		}
	}
	return true
}

func equalFactors(a, b collectives.Factors) bool {
	return slices.EqualFunc(a, b, slices.Equal)
}

// Apply gives a copy of the module, with the same ids, the shardings of a solution and returns how its ops are cut.
func (s *Space) Apply(to *ir.Module, solution []int32) collectives.Assignment {
	assignment := make(collectives.Assignment, to.NumOps())
	f := to.MainFunc()
	for i := range s.nodes {
		n := &s.nodes[i]
		sharding := func(slot int) ir.ShardingID {
			l := s.lists.all[n.class.kept[slot]].of(solution[i])
			return to.InternSharding(s.layouts[l].Sharding(s.mesh))
		}
		for slot, v := range n.values {
			if s.isTensor(v) {
				to.SetSharding(v, sharding(slot))
			}
		}
		switch {
		case n.isResult():
			f.ResultShardings[n.result] = sharding(0)
		case n.op != 0:
			assignment[n.op] = n.class.strategies[solution[i]].factors
		}
	}
	ret := to.LastOp(f.Body)
	for i := range f.ResultShardings {
		switch {
		case s.tied[i] >= 0:
			f.ResultShardings[i] = to.Sharding(to.BlockArgs(f.Body)[s.tied[i]])
		case s.outPins[i] == 0:
			f.ResultShardings[i] = to.Sharding(to.Operand(ret, i))
		}
	}
	return assignment
}

// Keep keeps what the op of a value makes in another layout than that of an applied solution, and results of the function that follow it.
func (s *Space) Keep(to *ir.Module, v ir.ValueID, l *collectives.Layout) {
	id := to.InternSharding(l.Sharding(s.mesh))
	to.SetSharding(v, id)
	f := to.MainFunc()
	for i, returned := range to.Operands(to.LastOp(f.Body)) {
		if returned == v && s.tied[i] < 0 && s.outPins[i] == 0 {
			f.ResultShardings[i] = id
		}
	}
}

// Sent is a value that an op makes, and that may be sent on to where it is kept.
type Sent struct {
	Node    int // of solutions
	Value   ir.ValueID
	Layouts []collectives.Layout // all in which it may be kept
}

// Sent returns those values of the problem that was built last.
func (s *Space) Sent() []Sent {
	var out []Sent
	for i := range s.nodes {
		if n := &s.nodes[i]; len(n.values) == 1 && s.isTensor(n.values[0]) && s.sends(n) {
			out = append(out, Sent{i, n.values[0], s.candidates(n.values[0])})
		}
	}
	return out
}
