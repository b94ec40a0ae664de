package certify_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"autoshard/search"
	"autoshard/search/certify"
)

// readInstance returns the uncompressed JSON of a public instance.
func readInstance(t testing.TB, name string) []byte {
	t.Helper()
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the public instances")
	}
	raw, err := os.ReadFile(filepath.Join(shared, "iopddl", name))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".gz" {
		return raw
	}
	gz, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = io.ReadAll(gz); err != nil {
		t.Fatal(err)
	}
	return raw
}

// check verifies a certificate and compares what it proves with what the solver claims.
func check(t testing.TB, raw []byte, s *solved) certify.Result {
	t.Helper()
	got, err := certify.Verify(raw, s.certificate)
	if err != nil {
		t.Fatal(err)
	}
	if got.Bound != s.result.Bound || got.Cost != s.result.Cost {
		t.Fatalf("verified %+v, solver cost %d bound %d", got, s.result.Cost, s.result.Bound)
	}
	return got
}

// The optimum of public instances is proven.
func TestInstances(t *testing.T) {
	for name, optimum := range map[string]int64{
		"example.json":                 445,
		"asplos-2025-iopddl-G.json.gz": 217_039,
		"asplos-2025-iopddl-A.json.gz": 6_548_553_650,
	} {
		t.Run(name, func(t *testing.T) {
			raw := readInstance(t, name)
			if got := check(t, raw, solve(t, raw, search.Options{})); got.Bound != optimum || got.Cost != optimum {
				t.Errorf("verified %+v, want the optimum %d", got, optimum)
			}
		})
	}
}

// BenchmarkVerify replays the certificates of all public instances; those of M and S take minutes to make.
func BenchmarkVerify(b *testing.B) {
	for _, name := range []string{"G", "A", "M", "S"} {
		b.Run(name, func(b *testing.B) {
			raw := readInstance(b, "asplos-2025-iopddl-"+name+".json.gz")
			s := solve(b, raw, search.Options{Steps: 3_000_000_000})
			b.ReportMetric(float64(len(s.certificate)), "bytes")
			for b.Loop() {
				b.ReportMetric(float64(check(b, raw, s).Bound), "bound")
			}
		})
	}
}
