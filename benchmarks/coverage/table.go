package main

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/benchmarks/site"
	"autoshard/internal/diag"
)

// forms are the columns of the table.
var forms = []struct{ name, title string }{
	{"text.mlir", "text"}, {"debug.mlir", "with locations"}, {"export.mlir", "`jax.export`"}, {"artifact", "artifact"},
	{"cuda.mlir", "for CUDA"}, {"tpu.mlir", "for TPU"},
}

// table writes what works, and beneath it the reason of everything that does not, each once.
func table(programs []program, results map[string]*result) string {
	var b strings.Builder
	b.WriteString(`# What works on programs from JAX

Written by ` + "`go run ./benchmarks/coverage`" + `, see benchmarks/README.md. Every form of every program is checked, propagated, planned and
verified against the results of JAX on ` + strings.Join(meshes, " and ") + ` with ` + "`--hardware cpu`" + `, and its plans are emitted in all formats, of which
` + "`shardmap` and `sdy`" + ` are run again. A number is a note below; a dash is a form that JAX does not write.

`)
	fmt.Fprintf(&b, "Commit %s, %s.\n\n", site.Commit(), site.Machine())
	b.WriteString("| program |")
	for _, f := range forms {
		b.WriteString(" " + f.title + " |")
	}
	b.WriteString(" what it is |\n|---|" + strings.Repeat("---|", len(forms)+1) + "\n")
	var notes []string
	green, total := 0, 0
	for _, p := range programs {
		fmt.Fprintf(&b, "| %s |", p.Name)
		for _, f := range forms {
			r := results[p.Name+"/"+f.name]
			if r == nil {
				b.WriteString(" - |")
				continue
			}
			total++
			if len(r.failures) == 0 {
				green++
			}
			notes = r.cell(&b, notes)
		}
		b.WriteString(" " + p.About + " |\n")
	}
	fmt.Fprintf(&b, "\n%d of %d forms pass every step.\n", green, total)
	if len(notes) > 0 {
		b.WriteString("\n## Notes\n\n")
	}
	for i, n := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, n)
	}
	return b.String()
}

// cell writes one form's result, and adds what is new to the notes.
func (r *result) cell(b *strings.Builder, notes []string) []string {
	if len(r.failures) == 0 {
		b.WriteString(" yes |")
		return notes
	}
	var numbers []string
	for _, f := range r.failures {
		kind := "fails"
		switch f.code {
		case diag.ExitUnsupported:
			kind = "not supported"
		case diag.ExitInternal:
			kind = "BUG"
		}
		note := fmt.Sprintf("`%s` %s: %s", f.step, kind, f.message)
		at := slices.Index(notes, note)
		if at < 0 {
			at = len(notes)
			notes = append(notes, note)
		}
		numbers = append(numbers, fmt.Sprint(at+1))
	}
	b.WriteString(" " + strings.Join(numbers, ",") + " |")
	return notes
}
