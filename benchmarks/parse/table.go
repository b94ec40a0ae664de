package main

import (
	"fmt"
	"strings"

	"autoshard/benchmarks/site"
)

// table returns the report as Markdown.
func table(rows []row, rounds int) string {
	var b strings.Builder
	b.WriteString("# Reading and printing, beside MLIR\n\n")
	fmt.Fprintf(&b, "`go run ./benchmarks/parse`, fastest of %d rounds; %s; commit %s; peer: MLIR inside %s.\n", rounds, site.Machine(),
		site.Commit(), rows[0].mlir.Peer)
	b.WriteString("A ratio is MLIR's time over the time here: above 1 this repository is faster. Reading verifies too, on both sides.\n")
	b.WriteString("Peak: what the first reading of a process added to its resident memory, for each byte of the text; live: what the " +
		"finished module holds.\n\n")
	b.WriteString("| file | bytes | read | MLIR | ratio | print | MLIR | ratio | peak/byte | MLIR | live/byte |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %.2f | %s | %s | %.2f | %.1f | %.1f | %.1f |\n", r.name, r.bytes,
			site.Milliseconds(r.here.Parse), site.Milliseconds(r.mlir.Parse), r.mlir.Parse/r.here.Parse,
			site.Milliseconds(r.here.Print), site.Milliseconds(r.mlir.Print), r.mlir.Print/r.here.Print,
			perByte(r.here.Peak, r), perByte(r.mlir.Peak, r), perByte(r.here.Live, r))
	}
	for _, r := range rows {
		if r.here.Text != r.mlir.Text {
			fmt.Fprintf(&b, "\n%s: %d bytes printed here, %d by MLIR.\n", r.name, r.here.Text, r.mlir.Text)
		}
	}
	return b.String()
}

func perByte(n int64, r row) float64 { return float64(n) / float64(r.bytes) }
