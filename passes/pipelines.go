package passes

import (
	"fmt"
	"strings"

	"autoshard/ir/pass"
)

// pipelineGroup holds the names that stand for several passes.
func pipelineGroup() pass.Group {
	return pass.Group{
		Title: "Pipelines",
		Text:  "Names that stand for several passes.",
		Passes: []pass.Pass{
			{
				Name:    "sdy-import-pipeline",
				Summary: "make a program ready for propagation",
				Options: []pass.Option{dedupFully},
				Expand:  func(s pass.Settings) string { return join(importPipeline(s.Bool(dedupFully.Name))) },
			},
			{
				Name:    "sdy-export-pipeline",
				Summary: "turn a propagated program into one with explicit communication",
				Options: []pass.Option{avoidExport, explicitCollectives, forCMV1, keepExportedRules, updateNonDivisible, inlineMeshes,
					dumpOrigins, dumpEdges},
				Expand: func(s pass.Settings) string {
					return join(exportPipeline(export{
						avoid:       s.Bool(avoidExport.Name),
						collectives: s.Bool(explicitCollectives.Name),
						cmv1:        s.Bool(forCMV1.Name),
						keepRules:   s.Bool(keepExportedRules.Name),
						divisible:   s.Bool(updateNonDivisible.Name),
						inline:      s.Bool(inlineMeshes.Name),
						origins:     s.Bool(dumpOrigins.Name),
						edges:       s.Bool(dumpEdges.Name),
					}))
				},
			},
			{
				Name:    "sdy-propagation-pipeline",
				Summary: "import, propagate by priorities, and export",
				Options: []pass.Option{dedupFully},
				Expand:  func(s pass.Settings) string { return join(propagationPipeline(s.Bool(dedupFully.Name))) },
			},
		},
	}
}

// The options of the export pipeline.
var (
	avoidExport         = pass.Bool("avoid-export-for-partitioning", false, "leave what only a partitioner has no use for")
	explicitCollectives = pass.Bool("enable-insert-explicit-collectives", false, "turn everything that shardings imply into collectives")
	forCMV1             = pass.Bool("remove-all-gather-reduce-scatter-for-cmv1", false,
		"leave gathers before and scatters after matrix products to a partitioner")
	keepExportedRules  = pass.Bool("keep-sharding-rules", false, "leave the rules of operations attached")
	updateNonDivisible = pass.Bool("update-non-divisible-input-output-shardings", true,
		"cut shardings of inputs and outputs down to axes that divide")
	inlineMeshes = pass.Bool("inline-meshes", true, "write meshes inside shardings")
	dumpOrigins  = pass.Bool("dump-sharding-origins", false, "keep who asked for each axis until the end")
	dumpEdges    = pass.Bool("dump-propagation-edges", false, "keep the ways that axes went until the end")
)

func join(passes []string) string { return strings.Join(passes, ",") }

// importPipeline lists the passes of -sdy-import-pipeline (source: shardy.md section 4.11).
func importPipeline(dedup bool) []string {
	list := []string{
		"symbol-dce",
		"sdy-lift-inlined-meshes",
		"sdy-remove-size-one-axes",
		"sdy-propagate-sharding-from-func-to-call",
		"sdy-constant-or-scalar-splitter",
		"symbol-dce",
		"sdy-manual-axes-cleanup",
		"sdy-add-data-flow-edges",
	}
	if dedup {
		list = append(list, "sdy-apply-sharding-constraints", "sdy-sharding-group-import")
	}
	return list
}

// propagationPipeline lists the passes of -sdy-propagation-pipeline. Where every call gets a body of its own,
// constraints are applied while calls still have functions, through their edges.
func propagationPipeline(dedup bool) []string {
	const propagation = "sdy-user-priority-propagate{keep-sharding-rules=true}"
	list := importPipeline(dedup)
	if dedup {
		list = append(list, "sdy-add-func-data-flow-edges", "sdy-pre-order-funcs", propagation,
			"sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges")
	} else {
		list = append(list, "sdy-flatten-call-graph", "symbol-dce", "sdy-add-func-data-flow-edges", "sdy-apply-sharding-constraints",
			"sdy-sink-func-data-flow-edges", "sdy-sharding-group-import", "sdy-import-func-calls", "symbol-dce",
			"sdy-pre-order-funcs", propagation, "sdy-export-named-computations", "sdy-propagate-to-func-results")
	}
	list = append(list, "sdy-unflatten-call-graph", "symbol-dce", "sdy-insert-func-call-reshards")
	return append(list, exportPipeline(export{divisible: true})...)
}

// export says what the export pipeline leaves out or adds.
type export struct {
	avoid, collectives, cmv1, keepRules, divisible, inline bool

	origins, edges bool // keep what debugging options left on edges, until the end
}

// exportPipeline lists the passes of -sdy-export-pipeline. Programs that are to be propagated again, rather than
// partitioned, keep their groups, constraints and names of meshes.
func exportPipeline(e export) []string {
	sink := "sdy-sink-data-flow-edges"
	if e.origins || e.edges {
		sink += fmt.Sprintf("{%s=%v %s=%v}", sinkOrigins.Name, e.origins, sinkEdges.Name, e.edges)
	}
	list := []string{"sdy-constant-or-scalar-merger", sink}
	add := func(wanted bool, passes ...string) {
		if wanted {
			list = append(list, passes...)
		}
	}
	add(!e.avoid, "sdy-remove-sharding-groups", "sdy-sharding-constraint-to-reshard")
	add(e.divisible, "sdy-update-non-divisible-input-output-shardings", "sdy-remove-sub-axes-in-input-output-shardings")
	add(true, "sdy-close-shardings")
	add(!e.avoid, "sdy-verify-unreduced-axes")
	add(!e.avoid && !e.collectives, "sdy-insert-explicit-reshards")
	add(!e.avoid && e.collectives, "sdy-insert-explicit-reshards{enable-full-version=true}",
		"canonicalize{enable-patterns=sdy-reshard top-down=false}", "sdy-reshard-to-collectives", "sdy-optimize-collectives")
	add(!e.avoid, "canonicalize{enable-patterns=sdy-collective top-down=false}")
	add(!e.avoid && e.collectives && e.cmv1, "sdy-remove-all-gather-reduce-scatter-for-cmv1")
	add(e.origins || e.edges, "sdy-remove-propagation-debug-info")
	add(!e.keepRules, "sdy-drop-sharding-rules")
	add(!e.avoid && e.inline, "sdy-inline-meshes")
	return list
}
