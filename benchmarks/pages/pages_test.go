package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/benchmarks/experts"
)

// The pages of small models say what the planner chooses now.
func TestPagesAreCurrent(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "plans.md"))
	if err != nil {
		t.Fatal(err)
	}
	known, err := experts.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for i := range subjects {
		s := &subjects[i]
		if !strings.Contains(string(text), "\n## "+s.title+"\n") {
			t.Errorf("there is no page %s", s.title)
		}
		if s.model != "moe_train" && s.model != "lstm_train" {
			continue
		}
		page, err := s.page(t.Context(), known)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), page) {
			t.Errorf("docs/plans.md is not current: `go run ./benchmarks/pages -o docs/plans.md` writes it\n%s", page)
		}
	}
}
