// Package passes is the table of all passes: one row a pass, one file a group, in the order in which pipelines run
// them. Passes carry Shardy's names where they do what Shardy's do (specification: shardy.md sections 4.5, 4.9 to
// 4.11 and 5.1); their meaning lives in the packages that the rows call.
//
//	pipeline, err := passes.Table().Parse("sdy-add-data-flow-edges,sdy-basic-propagate", "--pass-pipeline")
//
// docs/passes.md is made from the table.
package passes

import (
	"sync"

	"autoshard/ir/pass"
)

// Table returns the table of all passes.
func Table() *pass.Table { return table() }

var table = sync.OnceValue(func() *pass.Table {
	return pass.NewTable(importGroup(), callGroup(), propagationGroup(), exportGroup(), dialectGroup(), pipelineGroup())
})
