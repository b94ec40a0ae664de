package cmdline

import (
	"strconv"
	"strings"

	"autoshard/internal/diag"
)

// Numbers reads the whole numbers between commas that a flag gives; an empty text has none.
func Numbers(flag, text string) (out []int64, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || n < 0 {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "`--%s` must be whole numbers between commas, not %q", flag, text)
		}
		out = append(out, n)
	}
	return out, nil
}

// Quote gives the diagnostics about a text of the command line, which has that name in them, their source line.
func Quote(err error, name, text string) error {
	list := diag.Diagnostics(err)
	for i := range list {
		if list[i].Pos.File == name {
			list[i].Source = diag.SourceLine([]byte(text), list[i].Pos.Line)
		}
	}
	return err
}
