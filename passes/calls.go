package passes

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/ir/pass"
	"autoshard/propagate"
)

// callGroup takes programs of several functions apart for propagation and puts them together after it.
func callGroup() pass.Group {
	return pass.Group{
		Title: "Calls",
		Text: "A function is shared by its calls, and shardings are decided for each use. Either every call gets a body of its own and " +
			"bodies that ended up alike become one function again, or edges let all calls of a function agree.",
		Passes: []pass.Pass{
			{
				Name:    "symbol-dce",
				Summary: "remove functions that are not public and that nothing refers to",
				Order:   "after passes that leave functions without calls",
				Run:     pass.Infallible(calls.EraseUnused),
			},
			{
				Name:    "sdy-propagate-sharding-from-func-to-call",
				Summary: "give calls without shardings those of their function's results",
				Order:   "before calls lose their functions, whose results nobody asks after that",
				Run:     pass.Infallible(calls.PropagateToCalls),
			},
			{
				Name:    "sdy-flatten-call-graph",
				Summary: "give every call a function of its own",
				Order:   "before calls become computations, so that no two share a body",
				Options: []pass.Option{maxOps},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					return calls.Flatten(m, int(s.Int(maxOps.Name)))
				},
			},
			{
				Name:    "sdy-add-func-data-flow-edges",
				Summary: "insert an edge op for every argument of a called function and every result of a call",
				Order:   "after everything that changes calls; the edges let all calls of a function agree",
				Run:     pass.Infallible(propagate.AddFuncDataFlowEdges),
			},
			{
				Name:    "sdy-import-func-calls",
				Summary: "replace calls by named computations with the bodies of their functions",
				Order:   "after flattening; propagation sees a region where a call was",
				Options: []pass.Option{computationEdges, maxOps},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					return propagate.ImportCalls(m, s.Bool(computationEdges.Name), int(s.Int(maxOps.Name)))
				},
			},
			{
				Name:    "sdy-pre-order-funcs",
				Summary: "move functions to the end of the module, callers before callees",
				Order:   "right before propagation, which visits operations in the order of the module",
				Run:     pass.Infallible(calls.PreOrder),
			},
			{
				Name:    "sdy-export-named-computations",
				Summary: "turn named computations into calls of private functions",
				Order:   "after propagation: undoes the import of calls",
				Run:     pass.Infallible(propagate.ExportCalls),
			},
			{
				Name:    "sdy-propagate-to-func-results",
				Summary: "give the results of functions the shardings of what they return",
				Order:   "after propagation, which knows the results of the main function alone",
				Run:     pass.Infallible(propagate.PropagateToResults),
			},
			{
				Name:    "sdy-sink-func-data-flow-edges",
				Summary: "move the shardings of function edges to arguments and calls, and remove the edges",
				Order:   "after propagation, and after results have got the shardings of edges that they return",
				Func:    true,
				Run:     pass.Infallible(propagate.SinkFuncDataFlowEdges),
			},
			{
				Name:    "sdy-unflatten-call-graph",
				Summary: "let calls of functions that came from one and are sharded alike call the same function",
				Order:   "after functions know the shardings of their arguments and results",
				Options: []pass.Option{dedupFully},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					calls.Unflatten(m, s.Bool(dedupFully.Name))
					return nil
				},
			},
			{
				Name:    "sdy-insert-func-call-reshards",
				Summary: "give calls the result shardings of their functions, and reshard where users expect others",
				Order:   "after calls share functions, whose results may differ from what propagation gave a call",
				Run:     pass.Infallible(calls.InsertReshards),
			},
		},
	}
}

var (
	computationEdges = pass.Bool("add-data-flow-edges-on-named-computations", true, "insert data-flow edges for arguments and results")
	dedupFully       = pass.Bool("dedup-functions-fully", false, "one function for all calls of it, however they are sharded")
	maxOps           = pass.Int("max-ops", calls.MaxOps, "fail where the module would get more operations")
)
