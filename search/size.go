package search

// Size is what the memory for a problem and for solving it depends on.
type Size struct {
	Nodes, Edges, Strategies int64
	Entries                  int64 // of the matrices that differ
	// Pairs are entries, too, those of a matrix once for all edges that select the same of its rows and columns for the same strategies.
	// Reductions, and the tables of messages, make one matrix for all of these.
	Pairs int64
}

// Size returns the size of the problem.
func (p *Problem) Size() Size {
	z := Size{Nodes: int64(p.NumNodes()), Edges: int64(p.NumEdges()), Strategies: int64(len(p.Cost)), Entries: int64(len(p.MatVal))}
	type kind struct {
		matrix   int32
		row, col *int32
	}
	seen := map[kind]bool{}
	first := func(to []int32) *int32 {
		if len(to) == 0 {
			return nil
		}
		return &to[0]
	}
	for e, m := range p.EMat {
		if k := (kind{m, first(p.ERow[e]), first(p.ECol[e])}); !seen[k] {
			seen[k] = true
			z.Pairs += int64(p.MatRows[m]) * int64(p.MatCols[m])
		}
	}
	return z
}

// Bytes returns what the problem takes, but for maps of strategies to rows and columns, which belong to whoever made them: cost and usage
// of a strategy, entries, ends and maps of edges, intervals of nodes.
func (z Size) Bytes() int64 { return 16*z.Strategies + 8*z.Entries + 60*z.Edges + 20*z.Nodes }

// What [Solve] takes at its height, measured on recorded models, because reductions decide it: the working copy and its models, messages
// and matrices that eliminations make. Strategies of nodes that use no memory are gone early, those that look alike late.
const (
	pairBytes     = 25
	strategyBytes = 250
	nodeBytes     = 500 // of edges, too
)

// Solving returns about what solving the problem takes, beside the problem. Open nodes of the tree count on their own: see Options.Memory.
func (z Size) Solving() int64 {
	return pairBytes*z.Pairs + strategyBytes*z.Strategies + nodeBytes*(z.Nodes+z.Edges)
}
