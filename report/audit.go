package report

import (
	"fmt"
	"strings"

	"autoshard/plan"
)

// mostFaults are shown of one point.
const mostFaults = 8

// Audit returns what was found by working out again what a plan says: a line for each point, with its faults below.
func Audit(a *plan.Audit) string {
	var b strings.Builder
	for i := range a.Items {
		x := &a.Items[i]
		outcome := "right"
		switch {
		case len(x.Faults) > 0:
			outcome = "WRONG"
		case strings.HasPrefix(x.Note, "not compared"):
			outcome = "-"
		}
		fmt.Fprintf(&b, "%-12s%-7s%s\n", x.Name, outcome, x.Note)
		for _, fault := range x.Faults[:min(mostFaults, len(x.Faults))] {
			fmt.Fprintf(&b, "  %s\n", fault)
		}
		if more := len(x.Faults) - mostFaults; more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	return b.String()
}
