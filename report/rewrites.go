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
var shownElsewhere = []string{rewrites.Microbatches.String(), rewrites.MergeCollectives.String(), rewrites.RecomputeActivations.String()}

// rewritten says what each rewrite of a plan's program saves, and which were switched off.
func rewritten(p *plan.Plan) string {
	var b strings.Builder
	if m := p.Merged; m != nil {
		all := m.Collectives + len(p.Collectives) - m.Into
		gain := diag.Seconds(m.SavedSeconds)
		fmt.Fprintf(&b, "%d of %d collectives are sent as %d, which saves %s of a step\n", m.Collectives, all, m.Into, gain)
	}
	if p.Microbatches > 0 {
		fmt.Fprintf(&b, "the batch is computed in %d microbatches, one after the other%s\n", p.Microbatches, inParts(p))
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

// inParts says what microbatches save beside the best program of the whole batch or, where none fits, the one that needs least memory.
func inParts(p *plan.Plan) string {
	i := slices.IndexFunc(p.Rewrites, func(g plan.Gain) bool { return g.Rewrite == rewrites.Microbatches.String() })
	if i < 0 {
		return ""
	}
	g, beside := &p.Rewrites[i], "the best plan of the whole batch"
	if whole := p.Estimate.PeakBytes + g.SavedPeak; whole > p.Memory {
		beside = fmt.Sprintf("the program of the whole batch that needs least memory, %s", diag.Bytes(whole))
	}
	return fmt.Sprintf(", which saves %s beside %s", strings.Join(saved(g), " and "), beside)
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
