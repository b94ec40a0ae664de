package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/plan"
	"autoshard/rewrites"
)

// shownElsewhere are the rewrites of which reports say more.
var shownElsewhere = []string{rewrites.MergeCollectives.String(), rewrites.RecomputeActivations.String()}

// rewritten says what each rewrite of a plan's program saves, and which were switched off.
func rewritten(p *plan.Plan) string {
	var b strings.Builder
	if m := p.Merged; m != nil {
		fmt.Fprintf(&b, "%d collectives are sent as %d, which saves %s of a step\n", m.Collectives, m.Into, diag.Seconds(m.SavedSeconds))
	}
	for i := range p.Rewrites {
		g := &p.Rewrites[i]
		if saved := saved(g); len(saved) > 0 && !slices.Contains(shownElsewhere, g.Rewrite) {
			fmt.Fprintf(&b, "%s saves %s\n", g.Rewrite, strings.Join(saved, " and "))
		}
	}
	if len(p.Options.Without) > 0 {
		fmt.Fprintf(&b, "switched off: %s\n", strings.Join(p.Options.Without, ", "))
	}
	return b.String()
}

// saved lists what a rewrite saves; what it takes more is behind a minus.
func saved(g *plan.Gain) []string {
	var out []string
	if g.SavedSeconds != 0 {
		out = append(out, minus(g.SavedSeconds)+diag.Seconds(math.Abs(g.SavedSeconds))+" of a step")
	}
	if g.SavedBytes != 0 {
		out = append(out, minus(float64(g.SavedBytes))+diag.Bytes(max(g.SavedBytes, -g.SavedBytes))+" sent")
	}
	return out
}

func minus(x float64) string {
	if x < 0 {
		return "-"
	}
	return ""
}
