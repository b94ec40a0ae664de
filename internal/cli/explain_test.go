package cli_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/internal/cli"
	"autoshard/internal/diag"
	"autoshard/internal/testkit"
)

//go:generate go test -run TestErrorsDocument -rewrite .

// Each code's example fails with that code, and only in its last command.
func TestExplanations(t *testing.T) {
	for _, e := range diag.Explanations() {
		t.Run(string(e.Code), func(t *testing.T) {
			t.Chdir(t.TempDir())
			if e.File != "" {
				if err := os.WriteFile(e.File, []byte(e.Content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for i, command := range e.Commands {
				var stderr strings.Builder
				exit := cli.Main(strings.Fields(command), strings.NewReader(""), io.Discard, &stderr)
				last := i == len(e.Commands)-1
				if last != (exit != 0) || last && !strings.Contains(stderr.String(), "["+string(e.Code)+"]") {
					t.Errorf("autoshard %s: exit code %d\n%s", command, exit, stderr.String())
				}
				if last {
					t.Log(stderr.String())
				}
			}
		})
	}
}

// Codes that no short example shows.
var withoutExample = map[diag.Code]bool{diag.Bug: true, diag.NestingTooDeep: true, diag.NoPlan: true, diag.BadVariance: true}

func TestExplanationsComplete(t *testing.T) {
	for _, e := range diag.Explanations() {
		if e.Name == "" || e.Text == "" || (len(e.Commands) == 0) != withoutExample[e.Code] {
			t.Errorf("explanation of %s is not complete", e.Code)
		}
	}
	source, err := os.ReadFile(filepath.Join("..", "diag", "codes.go"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[diag.Code]bool{}
	for _, e := range diag.Explanations() {
		if seen[e.Code] {
			t.Errorf("%s is explained twice", e.Code)
		}
		seen[e.Code] = true
	}
	if declared := strings.Count(string(source), "Code = \"AS"); declared != len(seen) {
		t.Errorf("codes.go declares %d codes, %d are explained", declared, len(seen))
	}
}

// docs/errors.md is made from the explanations.
func TestErrorsDocument(t *testing.T) {
	testkit.File(t, filepath.Join("..", "..", "docs", "errors.md"), errorsDocument())
}

const errorsHead = `# Errors

Generated from internal/diag/explain.go by ` + "`go generate ./internal/cli`" + `. A test runs the examples.

An error prints as ` + "`FILE:LINE:COL: error: message [CODE]`" + ` with its source line. Codes never change meaning. Exit codes are in
[cli.md](cli.md), Connect codes in [api.md](api.md).
`

func errorsDocument() string {
	var b strings.Builder
	b.WriteString(errorsHead)
	for _, e := range diag.Explanations() {
		fmt.Fprintf(&b, "\n## %s: %s\n\n%s\n", e.Code, e.Name, e.Text)
		if e.File != "" {
			content := e.Content
			if strings.ContainsFunc(content, func(r rune) bool { return r < ' ' && r != '\n' || r == '\uFFFD' }) {
				content = fmt.Sprintf("the bytes %q\n", content)
			}
			if content == "" {
				content = "(empty)\n"
			}
			fmt.Fprintf(&b, "\n`%s`:\n\n```\n%s```\n", e.File, content)
		}
		if len(e.Commands) > 0 {
			fmt.Fprintf(&b, "\n```\nautoshard %s\n```\n", strings.Join(e.Commands, "\nautoshard "))
		}
	}
	return b.String()
}
