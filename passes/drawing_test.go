package passes_test

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/ir/pass"
)

// The sizes of a drawing, in pixels.
const (
	rowHeight = 22
	nameEnd   = 470 // where names end and arcs begin
	arcWidth  = 13  // for each row that an arc crosses
	widestArc = 330
)

// groupColours are those of the groups of passes, in order.
var groupColours = []string{"#4e79a7", "#b07aa1", "#e15759", "#59a14f", "#9c755f"}

// drawing returns the order of the passes of a table as SVG: a row for each pass, in an order that all rows allow, and an arc
// to every pass that comes right after it.
func drawing(t *pass.Table) string {
	rows, colours := drawingRows(t)
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"12\">\n",
		nameEnd+widestArc*3/4, rowHeight*(len(rows)+1))
	b.WriteString("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n")
	at := map[string]int{}
	title := ""
	for i, p := range rows {
		at[p.Name] = rowHeight * (i + 1)
		colour := colours[p.Name]
		if colour.title != title {
			title = colour.title
			fmt.Fprintf(&b, "<text x=\"8\" y=\"%d\" fill=\"%s\">%s</text>\n", at[p.Name]+4, colour.fill, title)
		}
		fmt.Fprintf(&b, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
			nameEnd, at[p.Name], colour.fill, nameEnd-10, at[p.Name]+4, p.Name)
	}
	for _, p := range rows {
		for _, first := range p.After {
			from, to := at[first]+3, at[p.Name]-3
			fmt.Fprintf(&b, "<path d=\"M%[1]d %[2]d C%[3]d %[2]d %[3]d %[4]d %[1]d %[4]d\" fill=\"none\" stroke=\"%[5]s\"/>\n",
				nameEnd, from, nameEnd+min((to-from)/rowHeight*arcWidth+arcWidth, widestArc), to, colours[first].fill)
		}
	}
	return b.String() + "</svg>\n"
}

type groupColour struct{ title, fill string }

// drawingRows returns the passes of a table, not its pipelines: again and again the first of the table whose turn has come.
func drawingRows(t *pass.Table) ([]*pass.Pass, map[string]groupColour) {
	var rows, rest []*pass.Pass
	colours := map[string]groupColour{}
	for g, group := range t.Groups() {
		for i := range group.Passes {
			if p := &group.Passes[i]; !p.IsPipeline() {
				rest = append(rest, p)
				colours[p.Name] = groupColour{group.Title, groupColours[g%len(groupColours)]}
			}
		}
	}
	for len(rest) > 0 {
		next := slices.IndexFunc(rest, func(p *pass.Pass) bool {
			return !slices.ContainsFunc(p.After, func(name string) bool { return slices.Contains(rest, t.Lookup(name)) })
		})
		rows, rest = append(rows, rest[next]), slices.Delete(rest, next, next+1)
	}
	return rows, colours
}
