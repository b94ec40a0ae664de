// Package testkit is what tests of several packages share.
//
// A test that makes a document compares it with the file in the repository:
//
//	testkit.File(t, "../docs/passes.md", document())
//
// and `go test ./passes -rewrite` writes the file.
package testkit

import (
	"flag"
	"os"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares the flag -rewrite
	"github.com/google/go-cmp/cmp"
)

// File compares a text with a file that was made from it. With -rewrite, which golden tests have too, it writes the file first.
func File(t testing.TB, file, want string) {
	t.Helper()
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("%s is not current, run `go test -run %s -rewrite` in this package (-want +got):\n%s", file, t.Name(), d)
	}
}
