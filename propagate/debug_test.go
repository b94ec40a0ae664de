package propagate_test

import (
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/propagate"
)

// debugPasses are the passes with debug options, by the options that both kinds of debug information have.
func init() {
	for _, d := range []struct {
		options, sink string
		debug         propagate.Debug
	}{
		{"debug-sharding-origins=true", "sink-debug-sharding-origins=true", propagate.Debug{Origins: true}},
		{"debug-propagation-edge-sharding=true", "sink-debug-propagation-edge-sharding=true", propagate.Debug{Edges: true}},
		{"debug-propagation-edge-sharding=true debug-sharding-origins=true",
			"sink-debug-propagation-edge-sharding=true sink-debug-sharding-origins=true", propagate.Debug{Origins: true, Edges: true}},
	} {
		passes["sdy-apply-sharding-constraints{"+d.options+"}"] = infallible(func(m *ir.Module) { propagate.ApplyConstraintsWith(m, d.debug) })
		passes["sdy-sink-data-flow-edges{"+d.sink+"}"] = infallible(func(m *ir.Module) { propagate.SinkDataFlowEdgesWith(m, d.debug) })
		passes["sdy-basic-propagate{"+d.options+"}"] = run(propagate.Options{Strategy: propagate.Basic, NoOpPriority: true, NoUserPriority: true, Debug: d.debug})
		passes["sdy-aggressive-propagate{"+d.options+"}"] = run(propagate.Options{NoOpPriority: true, NoUserPriority: true, Debug: d.debug})
		passes["sdy-op-priority-propagate{"+d.options+"}"] = run(propagate.Options{NoUserPriority: true, Debug: d.debug})
		passes["sdy-user-priority-propagate{"+d.options+"}"] = run(propagate.Options{Debug: d.debug})
	}
	passes["sdy-remove-propagation-debug-info"] = infallible(propagate.RemoveDebugInfo)
}

// debugging is a pipeline with all debug information, PROPAGATE standing for the pass.
const debugging = "sdy-lift-inlined-meshes,sdy-remove-size-one-axes,sdy-constant-or-scalar-splitter,sdy-manual-axes-cleanup," +
	"sdy-add-data-flow-edges,sdy-apply-sharding-constraints{OPTIONS},PROPAGATE{OPTIONS},sdy-sink-data-flow-edges{SINK}"

func debugPipeline(seed int64) string {
	options, sink := "debug-propagation-edge-sharding=true debug-sharding-origins=true",
		"sink-debug-propagation-edge-sharding=true sink-debug-sharding-origins=true"
	switch seed % 3 {
	case 1:
		options, sink = "debug-sharding-origins=true", "sink-debug-sharding-origins=true"
	case 2:
		options, sink = "debug-propagation-edge-sharding=true", "sink-debug-propagation-edge-sharding=true"
	}
	pass := []string{"sdy-user-priority-propagate", "sdy-aggressive-propagate", "sdy-basic-propagate", "sdy-op-priority-propagate"}[seed%4]
	if seed%5 == 0 { // the second pass goes on with the steps of the first
		pass = "sdy-basic-propagate{OPTIONS}," + pass
	}
	return strings.NewReplacer("OPTIONS", options, "SINK", sink).Replace(strings.Replace(debugging, "PROPAGATE", pass, 1))
}

// TestDebugInfoAgainstShardy compares who asked for what, and which way it went, on random programs with real Shardy.
func TestDebugInfoAgainstShardy(t *testing.T) {
	first, n := seeds(t, 5000, 150)
	compareSeeds(t, first, n, debugPipeline)
}
