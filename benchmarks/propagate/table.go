package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"autoshard/benchmarks/site"
)

// table returns the report as Markdown.
func table(rows []row, rounds int, limit time.Duration) string {
	var b strings.Builder
	b.WriteString("# Propagation, beside Shardy\n\n")
	fmt.Fprintf(&b, "`go run ./benchmarks/propagate`, fastest of at least %d rounds; %s; commit %s; peer: Shardy inside %s, at most %s a "+
		"text.\n\n",
		rounds, site.Machine(), site.Commit(), peerVersion(rows), limit)
	b.WriteString("Both run `sdy-propagation-pipeline` on the same text, parsed before, without verification between passes. Four mesh " +
		"axes, three user\n" +
		"priorities where the model has no shardings of its own. The ratio is Shardy's time over the time here; that\n" +
		"of processor time, in all threads, says more where the machine is busy. Propagation: the\n" +
		"part of it that moves shardings, with its trace; bytes: all that it allocates, garbage included; live: what it\n" +
		"leaves above the module, which is the trace; settled: the same\n" +
		"where nothing changes any more; allocations: those of the settled run, which are its setup: visits allocate nothing, which\n" +
		"a test of package propagate checks.\n\n")
	b.WriteString("| program | ops | here | Shardy | ratio | CPU here | CPU Shardy | ratio | same text | propagation | settled | bytes/op " +
		"| live bytes/op | allocations/op |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range rows {
		b.WriteString(rows[i].line() + "\n")
	}
	if e, ok := growth(rows); ok {
		fmt.Fprintf(&b, "\nGrowth of the processor time here with the ops of the MLPs, fitted to all of them: n to the %.2f.\n", e)
	}
	return b.String()
}

func (r *row) line() string {
	peer, ratio, same, cpu := "not run", "", "", " | "
	switch {
	case r.ran:
		peer, ratio, same = site.Milliseconds(r.peer.Seconds), fmt.Sprintf("%.1f", r.peer.Seconds/r.here), "yes"
		cpu = fmt.Sprintf("%s | %.1f", site.Milliseconds(r.peer.CPU), r.peer.CPU/r.cpu)
		if !r.same {
			same = "no"
		}
	case r.program.peer:
		peer, ratio = "over "+r.limit.String(), fmt.Sprintf("> %.0f", r.limit.Seconds()/r.here)
	}
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %.0f | %.0f | %.4f |", r.name, r.ops,
		site.Milliseconds(r.here), peer, ratio, site.Milliseconds(r.cpu), cpu, same,
		site.Milliseconds(r.run), site.Milliseconds(r.again), r.bytes, r.live, r.setup)
}

// growth returns the exponent with which the processor time grows over the MLPs: the slope of the line through their logarithms.
func growth(rows []row) (float64, bool) {
	var ops, cpu []float64
	for i := range rows {
		if r := &rows[i]; r.mlp {
			ops, cpu = append(ops, math.Log(float64(r.ops))), append(cpu, math.Log(r.cpu))
		}
	}
	if len(ops) < 2 {
		return 0, false
	}
	_, slope := stat.LinearRegression(ops, cpu, nil, false)
	return slope, true
}

func peerVersion(rows []row) string {
	for i := range rows {
		if rows[i].ran {
			return rows[i].peer.Version
		}
	}
	return "jaxlib"
}
