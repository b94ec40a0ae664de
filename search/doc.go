// Package search chooses one strategy for every node of a graph so that the total cost is least.
//
// A [Problem] has nodes with a live interval and strategies, each with a cost and a memory usage; edges with a cost for every pair of
// strategies of their two ends; and, optionally, a limit on the memory in use at any time. The problem is NP-hard. [Solve] is anytime: it
// returns the best solution found together with a lower bound that is proven, and stops as soon as the two meet. The package knows nothing
// of modules, meshes or shardings: search/space builds problems from those.
//
// Two nodes that are cheap apart and dear together:
//
//	b := search.NewBuilder()
//	x := b.AddNode([]int64{0, 3}, []int64{0, 0}, 0, 1)
//	y := b.AddNode([]int64{0, 3}, []int64{0, 0}, 0, 1)
//	b.AddEdge(x, y, b.AddMatrix(2, 2, []int64{10, 0, 0, 10}))
//	p, err := b.Build()
//	r, err := search.Solve(ctx, p, search.Options{})
//	// r.Solution is [0 1] or [1 0], r.Cost and r.Bound are 3, r.Status is Optimal
//
// Where strategies select the same row of a matrix, as ops that read a value in one layout do, [Builder.AddEdgeThrough] says so: messages,
// reductions and exact searches then work on rows instead of strategies (link.go, product.go).
//
// The stages of Solve are: exact reductions, each of which keeps an optimal solution and is undone by a log (reduce.go, memory.go,
// dominate.go, eliminate.go); a lower bound by message passing with prices on the scarce time steps (messages.go, dual.go), evaluated in
// integers so that no rounding can make it wrong, which also rules out values and pairs of values (certify.go, stage.go); solutions by
// rounding, recombination, exact search of neighbourhoods, and challengers that begin elsewhere (walk.go, primal.go, recombine.go,
// neighbourhood.go, tables.go, challenge.go); and branching on what is left (tree.go, split.go). Rough searches solve nodes that are alike
// as one first (alike.go, fold.go). Two lanes work at the same time and meet between epochs of fixed work (lanes.go), so that results do
// not depend on the number of cores. The specification is solver.md.
package search
