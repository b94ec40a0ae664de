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
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares the flag -rewrite
	"github.com/google/go-cmp/cmp"

	"autoshard/backend/tensor/memory"
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

// Seed returns the seed of random programs and says it: the one that AUTOSHARD_TEST_SEED names, or another one each time. It is from 1 to
// 1<<30, so that some thousands more, of the programs that follow the first, are seeds, too.
func Seed(t testing.TB) int64 {
	t.Helper()
	seed := 1 + rand.Int64N(1<<30)
	if text := os.Getenv("AUTOSHARD_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseInt(text, 10, 64); err != nil || seed < 1 || seed > 1<<30 {
			t.Fatalf("AUTOSHARD_TEST_SEED must be a number from 1 to %d, it is %q", 1<<30, text)
		}
	}
	t.Logf("to repeat: AUTOSHARD_TEST_SEED=%d", seed)
	return seed
}

// SeedOr returns the seed that a flag of a test gives or, where that is 0, that of Seed, and says with which flag the run is repeated.
func SeedOr(t testing.TB, name string, given int) int {
	t.Helper()
	if given == 0 {
		given = int(Seed(t))
	}
	t.Logf("-%s=%d", name, given)
	return given
}

// InGarbage runs the tests of a package, for its TestMain, in memory of tensors that is full of garbage before it is set and after it is
// given back: what reads it there computes something wrong. It returns the exit code, which is not 0 where somebody gives back or writes
// what is not theirs.
func InGarbage(m *testing.M) int {
	w := memory.Watch(255)
	code := m.Run()
	if err := w.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}
