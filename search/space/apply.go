package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
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
		n := &s.nodes[i]
		if n.isResult() {
			solution[i] = s.match(n, nil, []ir.ShardingID{g.out[n.result]})
		} else {
			ids := make([]ir.ShardingID, len(n.values))
			for j, v := range n.values {
				ids[j] = g.kept(v)
			}
			var factors collectives.Factors
			if n.op != 0 && int(n.op) < len(g.factors) {
				factors = g.factors[n.op]
			}
			solution[i] = s.match(n, factors, ids)
		}
		if solution[i] < 0 {
			return nil, false
		}
	}
	return solution, true
}

// match returns the strategy that keeps a node's values in the given shardings and cuts the op by the given factors;
// where none cuts it so, the cheapest that keeps them; -1 if there is none.
func (s *Space) match(n *node, factors collectives.Factors, ids []ir.ShardingID) int32 {
	want := make([]layoutID, len(ids))
	for i, id := range ids {
		if id != 0 {
			want[i] = s.intern(collectives.LayoutOf(s.m.ShardingOf(id)))
		} else {
			want[i] = s.intern(collectives.Layout{})
		}
	}
	best := int32(-1)
	for i, st := range n.strategies {
		switch {
		case !slices.Equal(st.kept, want):
		case equalFactors(st.factors, factors):
			return int32(i)
		case best < 0 || st.cost < n.strategies[best].cost:
			best = int32(i)
		}
	}
	return best
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
		st := &n.strategies[solution[i]]
		for slot, v := range n.values {
			if s.isTensor(v) {
				to.SetSharding(v, to.InternSharding(s.layouts[st.kept[slot]].Sharding(s.mesh)))
			}
		}
		switch {
		case n.isResult():
			f.ResultShardings[n.result] = to.InternSharding(s.layouts[st.kept[0]].Sharding(s.mesh))
		case n.op != 0:
			assignment[n.op] = st.factors
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
