package propagate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"autoshard/internal/testkit"
)

// documented is a program of docs/documents/shardy.md, with the passes that run on it, and what they make of it.
var documented = regexp.MustCompile("(?ms)^```mlir\n(.*?)^```\n\n`(sdy-[\\w-]+)`\n(?:\n```mlir\n.*?^```\n)?")

// The examples of Shardy's documentation become here what the page says, and what real Shardy makes of them.
func TestDocument(t *testing.T) {
	page := filepath.Join("..", "docs", "documents", "shardy.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var programs []program
	current := documented.ReplaceAllStringFunc(string(text), func(block string) string {
		parts := documented.FindStringSubmatch(block)
		programs = append(programs, program{"example " + parts[2], parts[1], parts[2]})
		got, err := runPipeline(parts[1], parts[2])
		if err != nil {
			t.Fatalf("%v in\n%s", err, parts[1])
		}
		return "```mlir\n" + parts[1] + "```\n\n`" + parts[2] + "`\n\n```mlir\n" + strings.TrimRight(got, "\n") + "\n```\n"
	})
	if sections := strings.Count(string(text), "\n## "); len(programs) != sections {
		t.Errorf("%d sections have %d programs", sections, len(programs))
	}
	testkit.File(t, page, current)
	compare(t, programs)
}
