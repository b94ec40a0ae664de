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
				Why:     "anywhere: passes leave functions without calls behind",
				Run:     pass.Infallible(calls.EraseUnused),
			},
			{
				Name:    "sdy-propagate-sharding-from-func-to-call",
				Summary: "give calls without shardings those of their function's results",
				Why:     "nothing looks at the results of functions once their calls have bodies of their own",
				Run:     pass.Infallible(calls.PropagateToCalls),
			},
			{
				Name:    "sdy-flatten-call-graph",
				Summary: "give every call a function of its own",
				After:   []string{"sdy-propagate-sharding-from-func-to-call"},
				Why:     "no two calls share a body when calls become computations",
				Options: []pass.Option{maxOps},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					return calls.Flatten(m, int(s.Int(maxOps.Name)))
				},
			},
			{
				Name:    "sdy-add-func-data-flow-edges",
				Summary: "insert an edge op for every argument of a called function and every result of a call",
				After:   []string{"sdy-flatten-call-graph"},
				Why:     "edges let all calls of a function agree; nothing may change calls after that",
				Run:     pass.Infallible(propagate.AddFuncDataFlowEdges),
			},
			{
				Name:    "sdy-import-func-calls",
				Summary: "replace calls by named computations with the bodies of their functions",
				After:   []string{"sdy-flatten-call-graph"},
				Why:     "propagation sees a region where a call was",
				Options: []pass.Option{computationEdges, maxOps},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					return propagate.ImportCalls(m, s.Bool(computationEdges.Name), int(s.Int(maxOps.Name)))
				},
			},
			{
				Name:    "sdy-pre-order-funcs",
				Summary: "move functions to the end of the module, callers before callees",
				After:   []string{"sdy-import-func-calls", "sdy-add-func-data-flow-edges"},
				Why:     "propagation visits operations in the order of the module",
				Run:     pass.Infallible(calls.PreOrder),
			},
			{
				Name:    "sdy-export-named-computations",
				Summary: "turn named computations into calls of private functions",
				After:   []string{"sdy-user-priority-propagate"},
				Why:     "undoes the import of calls",
				Run:     pass.Infallible(propagate.ExportCalls),
			},
			{
				Name:    "sdy-propagate-to-func-results",
				Summary: "give the results of functions the shardings of what they return",
				After:   []string{"sdy-export-named-computations"},
				Why:     "propagation decides the results of the main function only",
				Run:     pass.Infallible(propagate.PropagateToResults),
			},
			{
				Name:    "sdy-sink-func-data-flow-edges",
				Summary: "move the shardings of function edges to arguments and calls, and remove the edges",
				After:   []string{"sdy-add-func-data-flow-edges", "sdy-apply-sharding-constraints"},
				Why:     "removes edges: before propagation where every call gets a body of its own, else after it",
				Func:    true,
				Run:     pass.Infallible(propagate.SinkFuncDataFlowEdges),
			},
			{
				Name:    "sdy-unflatten-call-graph",
				Summary: "let calls of functions that came from one and are sharded alike call the same function",
				After:   []string{"sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges"},
				Why:     "it compares functions by the shardings of their arguments and results",
				Options: []pass.Option{dedupFully},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					calls.Unflatten(m, s.Bool(dedupFully.Name))
					return nil
				},
			},
			{
				Name:    "sdy-insert-func-call-reshards",
				Summary: "give calls the result shardings of their functions, and reshard where users expect others",
				After:   []string{"sdy-unflatten-call-graph"},
				Why:     "the results of shared functions may differ from what propagation gave a call",
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
