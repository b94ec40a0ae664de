package propagate_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// seeds returns the first seed and the number of random programs of a test: AUTOSHARD_PROGRAMS asks for more of them.
func seeds(t *testing.T, first, n int64) (int64, int64) {
	t.Helper()
	if text := os.Getenv("AUTOSHARD_PROGRAMS"); text != "" {
		more, err := strconv.ParseInt(text, 10, 64)
		if err != nil || more < 1 {
			t.Fatalf("AUTOSHARD_PROGRAMS must be a number of programs, it is %q", text)
		}
		n = more
	}
	return first, n
}

// compareSeeds compares random programs with real Shardy, each with the pipeline of its seed.
func compareSeeds(t *testing.T, first, n int64, pipeline func(seed int64) string) {
	t.Helper()
	var names []string
	var programs [][2]string
	for seed := first; seed < first+n; seed++ {
		names = append(names, fmt.Sprint("seed ", seed))
		programs = append(programs, [2]string{randomProgram(seed), pipeline(seed)})
	}
	compare(t, names, programs)
}
