package plan

import (
	"autoshard"
	"autoshard/report"
)

// earlier is the plan of --from; the zero value is none.
type earlier struct {
	plan *autoshard.Plan
	file string
}

// beside returns what is otherwise than in the earlier plan, as the end of a report.
func (e *earlier) beside(now *autoshard.Plan, all bool) string {
	if e.plan == nil {
		return ""
	}
	return "\n" + report.Diff(autoshard.DiffPlans(e.plan, now), report.DiffOptions{Before: label(e.file), After: "now", All: all})
}
