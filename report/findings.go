package report

import (
	"cmp"
	"fmt"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
)

// findingRows bounds the findings of a page.
const findingRows = 8

// findings lists what the answer does not keep or does not know, "" where that is nothing. The line of the exported program
// is more to a person than that of the model's text.
func findings(list []answer.Finding, all bool) string {
	var b strings.Builder
	for i := range list {
		if i == findingRows && !all {
			fmt.Fprintf(&b, "and %s, which --all shows\n", diag.Count(len(list)-i, "finding more", "findings more"))
			break
		}
		f := &list[i]
		if at := cmp.Or(f.Source, f.Position().String()); at != "" {
			b.WriteString(at + ": ")
		}
		fmt.Fprintf(&b, "%s: %s [%s]\n", f.Severity, f.Message, f.Code)
	}
	return b.String()
}
