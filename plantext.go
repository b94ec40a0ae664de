package autoshard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// newTable returns a table without frame whose columns from right on are numbers.
func newTable(right int, header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(header)
	configs := make([]table.ColumnConfig, len(header))
	for i := range header {
		configs[i] = table.ColumnConfig{Number: i + 1}
		if i >= right {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	t.SetColumnConfigs(configs)
	return t
}

// atLeast returns a size of at most two decimals and a unit that is not less than n, as --memory reads it.
func atLeast(n int64) string {
	unit, name := int64(1), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n < 1024*unit {
			break
		}
		unit, name = unit*1024, next
	}
	hundredths := n / unit * 100
	rest := n % unit * 100
	hundredths += (rest + unit - 1) / unit
	whole := strconv.FormatInt(hundredths/100, 10)
	if cents := hundredths % 100; cents > 0 {
		whole += strings.TrimRight(fmt.Sprintf(".%02d", cents), "0")
	}
	return whole + name
}
