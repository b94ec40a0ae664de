package mlir

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/internal/diag"
)

// TestGolden reads programs, verifies them and prints them again; those that are wrong print their diagnostics.
//
//	print [locations]   the program as MLIR prints it
//	errors [only-here]  the diagnostics, each with its source line and a caret; only-here where MLIR accepts the program
func TestGolden(t *testing.T) {
	for _, dir := range []string{"testdata/print", "testdata/errors"} {
		datadriven.Walk(t, dir, func(t *testing.T, path string) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				m, err := readAndVerify(d.Input)
				switch {
				case d.Cmd == "errors" && err == nil:
					return "accepted\n"
				case err != nil:
					return diagnostics(t, err)
				}
				printed := Print(m, PrintOptions{DebugInfo: d.HasArg("locations")})
				again, err := readAndVerify(string(printed))
				if err != nil {
					t.Fatalf("printed text is wrong: %v\n%s", err, printed)
				}
				diffLines(t, string(printed), string(Print(again, PrintOptions{DebugInfo: d.HasArg("locations")})))
				return string(printed)
			})
		})
	}
}

// diagnostics formats an error as a terminal shows it.
func diagnostics(t *testing.T, err error) string {
	var e *diag.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is not located: %v", err, err)
	}
	var b strings.Builder
	for _, d := range e.Diagnostics {
		if d.Pos.Line == 0 || d.Pos.File == "" || d.Code == "" {
			t.Errorf("diagnostic without a place or code: %+v", d)
		}
		fmt.Fprintf(&b, "%s: error: %s [%s]\n", d.Pos, d.Message, d.Code)
		if d.Source != "" {
			fmt.Fprintf(&b, "  %s\n  %s^\n", d.Source, strings.Repeat(" ", max(0, d.Pos.Col-1)))
		}
		for _, n := range d.Notes {
			fmt.Fprintf(&b, "%s: note: %s\n", n.Pos, n.Message)
		}
	}
	return b.String()
}
