package chart

import (
	"encoding/xml"
	"fmt"
	"strings"

	"autoshard/blocks"
)

// The sizes of a picture of blocks, in pixels.
const (
	cellWidth, cellHeight = 88, 44
	marginLeft, marginTop = 64, 28
	letterWidth           = 8
)

// hues is how many devices have colours of their own, as far apart as they can be.
const hues = 12

// Blocks draws which devices hold which block: a grid of boxes for each place in the dimensions that are cut besides two. Blocks whose
// first devices are the same have the same colour, so that pictures of two shardings over a mesh can be laid side by side.
func Blocks(a *blocks.Answer) []byte {
	panels := a.Place.Panels()
	rows, columns := len(panels[0].Rows), len(panels[0].Rows[0])
	title := escaped(a.Tensor + ": " + a.Place.Spec)
	width := max(2*marginLeft+columns*cellWidth, letterWidth*len(title))
	height := marginTop + len(panels)*(2*marginTop+rows*cellHeight)
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
		width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<text x=\"4\" y=\"16\">%s</text>\n", title, title)
	for i := range panels {
		drawPanel(&b, &panels[i], marginTop+i*(2*marginTop+rows*cellHeight))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// drawPanel draws the blocks of one panel below a height.
func drawPanel(b *strings.Builder, p *blocks.Panel, top int) {
	for i, d := range p.Others {
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">dimension %d at %s</text>\n", marginLeft+i*2*cellWidth, top+16, d, p.Rows[0][0].Span(d))
	}
	top += 2 * marginTop
	for i, row := range p.Rows {
		y := top + i*cellHeight
		if p.Row >= 0 {
			fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", marginLeft-6, y+cellHeight/2+4, row[0].Span(p.Row))
		}
		for j := range row {
			x := marginLeft + j*cellWidth
			if i == 0 && p.Column >= 0 {
				fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x+cellWidth/2, top-6, row[j].Span(p.Column))
			}
			drawBlock(b, &row[j], x, y)
		}
	}
}

// drawBlock draws a box with the devices that hold it.
func drawBlock(b *strings.Builder, block *blocks.Block, x, y int) {
	fmt.Fprintf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"hsl(%d, 60%%, 80%%)\" stroke=\"black\"/>\n", x, y, cellWidth,
		cellHeight, block.Copies[0][0]%hues*(360/hues))
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x+cellWidth/2, y+cellHeight/2+4, escaped(block.Holders()))
}

// escaped returns a text as XML writes it.
func escaped(text string) string {
	var b strings.Builder
	// A strings.Builder takes all that is written to it.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
