package passes

import (
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
				Order:   "first",
				Options: []pass.Option{dedupFully},
				Expand:  func(s pass.Settings) string { return join(importPipeline(s.Bool(dedupFully.Name))) },
			},
			{
				Name:    "sdy-propagation-pipeline",
				Summary: "import, propagate by priorities, and export",
				Order:   "the whole of it",
				Options: []pass.Option{dedupFully},
				Expand:  func(s pass.Settings) string { return join(propagationPipeline(s.Bool(dedupFully.Name))) },
			},
		},
	}
}

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
	return append(list, "sdy-unflatten-call-graph", "symbol-dce", "sdy-insert-func-call-reshards",
		"sdy-constant-or-scalar-merger",
		"sdy-sink-data-flow-edges",
		"sdy-remove-sharding-groups",
		"sdy-sharding-constraint-to-reshard",
		"sdy-update-non-divisible-input-output-shardings",
		"sdy-remove-sub-axes-in-input-output-shardings",
		"sdy-close-shardings",
		"canonicalize{enable-patterns=sdy-collective top-down=false}",
		"sdy-drop-sharding-rules")
}
