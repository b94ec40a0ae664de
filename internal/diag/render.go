package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"autoshard/internal/lists"
)

// maxShown bounds the diagnostics of one error that Render prints.
const maxShown = 20

// Render writes err for a person (specification: design.md section 5): for each diagnostic
//
//	FILE:LINE:COL: error: message [AS1234]
//	  source line
//	      ^
//	FILE:LINE:COL: note: message
//
// Source returns the text of a file that the reader knows, or nil; it serves diagnostics that do not carry their own
// source line, and may be nil itself. An error without diagnostics prints as its message.
func Render(w io.Writer, err error, source func(file string) []byte) {
	found := Diagnostics(err)
	if len(found) == 0 {
		fmt.Fprintf(w, "error: %v\n", err)
		return
	}
	for i := range found {
		if i == maxShown {
			fmt.Fprintf(w, "and %d more\n", len(found)-maxShown)
			return
		}
		renderOne(w, &found[i], source)
	}
}

func renderOne(w io.Writer, d *Diagnostic, source func(string) []byte) {
	fmt.Fprintf(w, "%s%s: %s [%s]\n", prefix(d.Pos), d.Severity, printable(d.Message), d.Code)
	line := d.Source
	if line == "" && source != nil && d.Pos.Line > 0 {
		line = SourceLine(source(d.Pos.File), d.Pos.Line)
	}
	if line != "" {
		shown, caret := excerpt(line, d.Pos.Col)
		fmt.Fprintf(w, "  %s\n  %s^\n", shown, caret)
	}
	for _, n := range d.Notes {
		fmt.Fprintf(w, "%snote: %s\n", prefix(n.Pos), printable(n.Message))
	}
}

func prefix(p Position) string {
	if s := p.String(); s != "" {
		return s + ": "
	}
	return ""
}

// SourceLine returns a line of a text, counted from 1, without its end; "" where there is none.
func SourceLine(text []byte, line int) string {
	rest := string(text)
	for range line - 1 {
		_, after, found := strings.Cut(rest, "\n")
		if !found {
			return ""
		}
		rest = after
	}
	first, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSuffix(first, "\r")
}

// Excerpts have at most this many bytes, this many of them before the place of the diagnostic.
const excerptWidth, excerptBefore = 120, 70

// excerpt returns the part of a line around a byte column, counted from 1, and what to print before the caret.
func excerpt(line string, col int) (shown, indent string) {
	at := min(max(col-1, 0), len(line))
	for at > 0 && at < len(line) && !utf8.RuneStart(line[at]) {
		at--
	}
	first := max(at-excerptBefore, 0)
	last := min(first+excerptWidth, len(line))
	for first > 0 && !utf8.RuneStart(line[first]) {
		first--
	}
	for last < len(line) && !utf8.RuneStart(line[last]) {
		last++
	}
	before, after := printable(line[first:at]), printable(line[at:last])
	if first > 0 {
		before = "…" + before
	}
	if last < len(line) {
		after += "…"
	}
	indent = strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, before)
	return before + after, indent
}

// printable replaces what a terminal would not print, or would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, s)
}

// Nearest returns the known name that is most like an unknown one, or "" if none is near. A name that starts with
// the unknown one is nearest, one that contains it is as near as one with a single mistake. Case does not matter.
func Nearest(name string, known []string) string {
	if len(name) > maxWord {
		return ""
	}
	best, distance := "", len(name)/3+2
	for _, original := range known {
		given, k := strings.ToLower(name), strings.ToLower(original)
		d := maxWord
		if max(len(given)-len(k), len(k)-len(given)) < distance {
			d = editDistance(given, k)
		}
		switch {
		case len(name) < 2:
		case strings.HasPrefix(k, given):
			d = 0
		case strings.Contains(k, given):
			d = min(d, 1)
		}
		if d < min(distance, len(name)) {
			best, distance = original, d
		}
	}
	return best
}

// DidYouMean returns a hint at the known name that is nearest to an unknown one, to end a message with; "" if none is near.
func DidYouMean(name string, known []string) string {
	if near := Nearest(name, known); near != "" && near != name {
		return ", did you mean `" + near + "`?"
	}
	return ""
}

// maxWord bounds the words that are compared; longer ones are far from all others.
const maxWord = 160

// editDistance counts the insertions, deletions and replacements of bytes between two words.
func editDistance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	row := lists.Range[int](len(b) + 1)
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
