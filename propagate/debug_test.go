package propagate_test

import (
	"math/rand"
	"strings"
	"testing"
)

// debugging is a pipeline with all debug information, PROPAGATE standing for the pass.
const debugging = "sdy-lift-inlined-meshes,sdy-remove-size-one-axes,sdy-constant-or-scalar-splitter,sdy-manual-axes-cleanup," +
	"sdy-add-data-flow-edges,sdy-apply-sharding-constraints{OPTIONS},PROPAGATE{OPTIONS},sdy-sink-data-flow-edges{SINK}"

func debugPipeline(r *rand.Rand) string {
	options, sink := "debug-propagation-edge-sharding=true debug-sharding-origins=true",
		"sink-debug-propagation-edge-sharding=true sink-debug-sharding-origins=true"
	switch r.Intn(3) {
	case 1:
		options, sink = "debug-sharding-origins=true", "sink-debug-sharding-origins=true"
	case 2:
		options, sink = "debug-propagation-edge-sharding=true", "sink-debug-propagation-edge-sharding=true"
	}
	pass := []string{"sdy-user-priority-propagate", "sdy-aggressive-propagate", "sdy-basic-propagate", "sdy-op-priority-propagate"}[r.Intn(4)]
	if r.Intn(5) == 0 { // the second pass goes on with the steps of the first
		pass = "sdy-basic-propagate{OPTIONS}," + pass
	}
	return strings.NewReplacer("OPTIONS", options, "SINK", sink).Replace(strings.Replace(debugging, "PROPAGATE", pass, 1))
}

// TestDebugInfoAgainstShardy compares who asked for what, and which way it went, on random programs with real Shardy.
func TestDebugInfoAgainstShardy(t *testing.T) {
	compareSeeds(t, 150, debugPipeline)
}
