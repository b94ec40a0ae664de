package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/internal/diag"
)

// BenchSchema identifies the JSON form of a Bench.
const BenchSchema = "autoshard.bench/v1"

// Bench is what primitives of communication took on some devices. Times are in seconds, sizes in bytes.
type Bench struct {
	Schema   string       `json:"schema"`
	Devices  int64        `json:"devices"`
	Hardware string       `json:"hardware"` // whose profile the predictions are of
	Rounds   []BenchRound `json:"rounds"`   // by size
	Ratios   []BenchRatio `json:"ratios"`   // the first of all_gather itself
}

// BenchRound is what they took for arrays of one size.
type BenchRound struct {
	Bytes int64       `json:"bytes"` // of the whole array
	Times []BenchTime `json:"times"`
}

// BenchTime is what one of them took.
type BenchTime struct {
	Kind      string  `json:"kind"`
	Seconds   float64 `json:"seconds"`   // the median; 0 where it was lost in noise
	Spread    float64 `json:"spread"`    // between the quartiles
	Predicted float64 `json:"predicted"` // by the profile
}

// BenchRatio says how many times as long as an all-gather a primitive takes where bandwidth counts.
type BenchRatio struct {
	Kind     string  `json:"kind"`
	Measured float64 `json:"measured"` // the median over sizes; 0 where it is not known
}

// BenchText shows measured times beside those that a profile says, and how the primitives compare.
func BenchText(b *Bench) string {
	t := newTable(1, 2, 3, 4, 5, 6, 7, 8, 9)
	head := table.Row{"array"}
	for _, r := range b.Ratios {
		head = append(head, r.Kind, "said")
	}
	t.AppendHeader(head)
	for _, r := range b.Rounds {
		row := table.Row{diag.Bytes(r.Bytes)}
		for _, x := range r.Times {
			measured := "-"
			if x.Seconds > 0 {
				measured = duration(x.Seconds) + " ± " + duration(x.Spread/2)
			}
			row = append(row, measured, duration(x.Predicted))
		}
		t.AppendRow(row)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d devices at once, beside the profile %s\n%s\n", b.Devices, b.Hardware, t.Render())
	for _, r := range b.Ratios[1:] {
		if r.Measured > 0 {
			fmt.Fprintf(&out, "%s takes %.2f times as long as %s\n", r.Kind, r.Measured, b.Ratios[0].Kind)
		}
	}
	return out.String()
}
