package rewrites_test

import (
	"os"
	"strings"
	"testing"

	"autoshard/rewrites"
)

// The documentation has a row for every rewrite.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/rewrites.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range rewrites.Names() {
		if !strings.Contains(string(text), "\n| `"+name+"` | ") {
			t.Errorf("docs/rewrites.md has no row for %s", name)
		}
	}
}

// Parse reads names of rewrites, and finds what is none.
func TestParse(t *testing.T) {
	s, unknown := rewrites.Parse([]string{"merge-collectives", "share-reshards"})
	if want := rewrites.Of(rewrites.ShareReshards, rewrites.MergeCollectives); s != want || unknown != "" {
		t.Errorf("%v, %q", s.List(), unknown)
	}
	if _, unknown := rewrites.Parse([]string{"share-reshards", "share"}); unknown != "share" {
		t.Errorf("%q is unknown, want share", unknown)
	}
}
