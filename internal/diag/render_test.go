package diag_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"autoshard/internal/diag"
)

func TestRender(t *testing.T) {
	long := strings.Repeat("a", 200) + "HERE" + strings.Repeat("b", 200)
	many := &diag.Error{Class: diag.ErrInvalid}
	for range 25 {
		many.Diagnostics = append(many.Diagnostics, diag.Diagnostic{Code: diag.Syntax, Message: "again"})
	}
	at := diag.Position{File: "m.mlir", Line: 2, Col: 2}
	tests := map[string]struct {
		err  error
		want string
	}{
		"plain":     {context.Canceled, "error: context canceled\n"},
		"no place":  {diag.Invalid(diag.BadMesh, diag.Position{}, "no mesh"), "error: no mesh [AS1201]\n"},
		"file only": {diag.Invalid(diag.BadFile, diag.Position{File: "f"}, "gone"), "f: error: gone [AS1402]\n"},
		"line from source": {diag.Invalid(diag.UnknownOp, at, "what").WithNote(diag.Position{}, "did you mean `this`?"),
			"m.mlir:2:2: error: what [AS1002]\n  \tünd\n  \t^\nnote: did you mean `this`?\n"},
		"wrapped": {fmt.Errorf("baseline: %w", diag.Invalid(diag.Syntax, diag.Position{}, "bad")), "error: bad [AS1001]\n"},
		"excerpt of a long line": {
			&diag.Error{Class: diag.ErrInvalid, Diagnostics: []diag.Diagnostic{{Code: diag.Syntax,
				Pos: diag.Position{Line: 1, Col: 201}, Message: "m", Source: long}}},
			"1:201: error: m [AS1001]\n  …" + strings.Repeat("a", 70) + "HERE" + strings.Repeat("b", 46) + "…\n  " + strings.Repeat(" ", 71) +
				"^\n"},
		"control characters": {diag.Invalid(diag.Syntax, diag.Position{}, "\x1b[31m"), "error: \uFFFD[31m [AS1001]\n"},
		"many":               {many, strings.Repeat("error: again [AS1001]\n", 20) + "and 5 more\n"},
	}
	source := func(file string) []byte {
		if file == "m.mlir" {
			return []byte("first\r\n\tünd\n")
		}
		return nil
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			diag.Render(&got, test.err, source)
			if got.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", got.String(), test.want)
			}
		})
	}
}

// The caret of a column far outside the line must not panic.
func TestRenderAnywhere(t *testing.T) {
	for _, line := range []string{"", "x", "日本語", "\xff\xfe"} {
		for col := -1; col < 12; col++ {
			err := diag.Invalid(diag.Syntax, diag.Position{Line: 1, Col: col}, "m")
			err.Diagnostics[0].Source = line
			diag.Render(&strings.Builder{}, err, nil)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"mesh", "memory", "hardware"}
	for name, want := range map[string]string{"mehs": "mesh", "MEMORY": "memory", "hardwear": "hardware", "zzzzzz": "",
		strings.Repeat("m", 1000): ""} {
		if got := diag.Nearest(name, known); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", name, got, want)
		}
	}
}

func TestExitCode(t *testing.T) {
	at := diag.Position{}
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{diag.Finding(diag.Mismatch, at, ""), 1},
		{diag.Invalid(diag.Syntax, at, ""), 2},
		{diag.TooLarge(diag.InputTooLarge, at, ""), 2},
		{diag.Infeasible(diag.NoPlan, at, ""), 3},
		{diag.Unsupported(diag.NotSupported, at, ""), 4},
		{fmt.Errorf("search: %w", context.DeadlineExceeded), 5},
		{diag.Internal(diag.Bug, at, ""), 70},
		{fmt.Errorf("of no class"), 70},
		{context.Canceled, 130},
	} {
		if got := diag.ExitCode(test.err); got != test.want {
			t.Errorf("ExitCode(%v) = %d, want %d", test.err, got, test.want)
		}
	}
}
