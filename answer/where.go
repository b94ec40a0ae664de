package answer

import (
	"fmt"
	"strconv"
	"strings"

	"autoshard/ir"
	"autoshard/ir/names"
)

// Scoped names the place in the user's program that a location stands for, and the scope that it is in there:
// layer_0/attn/dot_general (model.py:12).
func Scoped(m *ir.Module, loc ir.LocID) string {
	scope, at := names.Scope(m, loc), Line(m, loc)
	switch {
	case scope == "":
		return at
	case at == "":
		return scope
	}
	return scope + " (" + at + ")"
}

// Line names the place in the user's program that a location stands for, "" where none is known.
func Line(m *ir.Module, loc ir.LocID) string {
	if l := m.FileLoc(loc); l.Kind == ir.LocFile {
		return fmt.Sprintf("%s:%d", l.File, l.Line)
	}
	return ""
}

// CutLine returns the file and the line that a text of Scoped or Line ends in, false where it has none.
func CutLine(text string) (file string, line int, ok bool) {
	if inner, found := strings.CutSuffix(text, ")"); found {
		text = inner[strings.LastIndexByte(inner, '(')+1:]
	}
	i := strings.LastIndexByte(text, ':')
	if i <= 0 {
		return "", 0, false
	}
	line, err := strconv.Atoi(text[i+1:])
	return text[:i], line, err == nil && line > 0
}
