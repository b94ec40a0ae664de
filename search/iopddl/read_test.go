package iopddl

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
	"autoshard/search"
)

const tiny = `{"problem": {"name": "tiny", "extra": [{"nodes": null}, -1.5e3, "a\"]"],
	"edges": {"costs": [[7, 8]], "nodes": [[0, 1]]},
	"nodes": {"costs": [[1, 2], [3]], "usages": [[5, 4], [6]], "intervals": [[0, 2], [1, 3]]},
	"usage_limit": 10}}`

// shared reads an instance from the folder that AUTOSHARD_SHARED names.
func shared(t testing.TB, name string) *Instance {
	t.Helper()
	root := os.Getenv("AUTOSHARD_SHARED")
	if root == "" {
		t.Skip("AUTOSHARD_SHARED is not set")
	}
	f, err := os.Open(filepath.Join(root, "iopddl", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inst, err := Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func compressed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An instance is read alike from text that comes byte by byte and from gzip.
func TestReadTiny(t *testing.T) {
	plain, err := Read(iotest.OneByteReader(strings.NewReader(tiny)), "tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := Read(bytes.NewReader(compressed(t, tiny)), "tiny.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, inst := range []*Instance{plain, zipped} {
		p := inst.Problem
		if inst.Name != "tiny" || inst.N != 2 || p.NumEdges() != 1 || p.Limit != 10 || !p.HasLimit {
			t.Errorf("%+v", inst)
		}
		if inst.Bytes != int64(len(tiny)) {
			t.Errorf("%d bytes, want %d", inst.Bytes, len(tiny))
		}
		cost, peak, err := p.Evaluate([]int32{1, 0})
		if d := cmp.Diff([]int64{13, 10}, []int64{cost, peak}); d != "" || err != nil {
			t.Errorf("%s %v", d, err)
		}
	}
}

// The digest is that of the unpacked file, with all that follows the object.
func TestDigest(t *testing.T) {
	text := tiny + " \n"
	for _, data := range [][]byte{[]byte(text), compressed(t, text)} {
		inst, err := Options{Digest: true}.Read(bytes.NewReader(data), "tiny.json")
		if err != nil || inst.SHA256 != sha256.Sum256([]byte(text)) {
			t.Errorf("digest %x, %v", inst.SHA256, err)
		}
	}
}

// Edges of no node, one, the same one twice, in descending order and of three nodes cost what the format says.
func TestUnusualEdges(t *testing.T) {
	inst, err := Read(strings.NewReader(`{"problem": {
		"nodes": {"intervals": [[0,1],[0,1],[3,0]], "costs": [[1,2],[3,4],[5,6]], "usages": [[1,1],[1,1],[9,9]]},
		"edges": {"nodes": [[], [0], [1,1], [1,0], [0,1,2]], "costs": [[100], [10,20], [1,50,50,2], [0,5,6,7], [1,2,3,4,5,6,7,8]]},
		"usage_limit": null}}`), "edges.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := search.Solve(context.Background(), inst.Problem, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// All at 0: constant 100, nodes 1+3+5, unary 10, diagonal 1, pair 0, triple 1.
	if d := cmp.Diff([]int32{0, 0, 0}, r.Solution[:inst.N]); d != "" || r.Cost != 121 || r.Status != search.Optimal || inst.Problem.HasLimit {
		t.Errorf("cost %d %s %s", r.Cost, r.Status, d)
	}
}

// Each malformed file of testdata/malformed.txt has a located error; so has every file cut off anywhere.
func TestMalformed(t *testing.T) {
	datadriven.RunTest(t, filepath.Join("testdata", "malformed.txt"), func(t *testing.T, d *datadriven.TestData) string {
		for _, r := range []io.Reader{strings.NewReader(d.Input), bytes.NewReader(compressed(t, d.Input))} {
			if _, err := Read(r, "f.json"); err != nil {
				checkLocated(t, err)
			}
		}
		inst, err := Read(iotest.OneByteReader(strings.NewReader(d.Input)), "f.json")
		if err != nil {
			var e *diag.Error
			if !errors.As(err, &e) {
				d.Fatalf(t, "%v is not a diagnostic", err)
			}
			return fmt.Sprintf("%v [%s] %v\n", err, e.Diagnostics[0].Code, e.Class)
		}
		p := inst.Problem
		return fmt.Sprintf("%d nodes, %d with auxiliary ones, %d edges, %d matrices, constant %d, limit %d %t\n",
			inst.N, p.NumNodes(), p.NumEdges(), len(p.MatRows), p.Constant, p.Limit, p.HasLimit)
	})
	for n := range len(tiny) {
		_, err := Read(strings.NewReader(tiny[:n]), "f.json")
		checkLocated(t, err)
	}
}

// checkLocated demands a diagnostic with a file.
func checkLocated(t testing.TB, err error) {
	t.Helper()
	found := diag.Diagnostics(err)
	if len(found) != 1 || found[0].Pos.File == "" || found[0].Message == "" {
		t.Errorf("%v is not located", err)
	}
}

// Bytes that no JSON or gzip has are refused where they stand, and deep or long values before they need much memory.
func TestMalformedBinary(t *testing.T) {
	packed := compressed(t, tiny)
	for _, test := range []struct{ name, text, want string }{
		{"zero byte", tiny + "\x00", "f.json:4:21: syntax error at byte 235"},
		{"byte order mark", "\ufeff" + tiny, "f.json:1:1: byte 0: object expected"},
		{"nested lists", `{"a":` + strings.Repeat("[", 5000), "f.json:1:1007: byte 1006: nested too deeply, more than 1000 values"},
		{"nested objects", `{"a":` + strings.Repeat(`{"":`, 5000), "f.json:1:4010: byte 4009: nested too deeply, more than 1000 values"},
		{"long number", `{"a":` + strings.Repeat("9", 5000), "f.json:1:6: byte 5: number has more than 4096 bytes"},
		{"long key", `{"` + strings.Repeat("a", 2<<20), "f.json:1:2: byte 1: string has more than 1048576 bytes"},
		{"no list of numbers", `{"problem":{"edges":{"costs":[[1,"` + strings.Repeat("a", 1<<20), "f.json:1:34: byte 33: integer expected"},
		{"gzip header cut off", string(packed[:3]), "f.json: gzip: unexpected EOF"},
		{"gzip cut off", string(packed[:len(packed)/2]), "f.json: gzip: unexpected EOF"},
		{"gzip corrupt", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", "f.json: gzip: flate: corrupt input before offset 1"},
		{"gzip checksum", string(packed[:len(packed)-8]) + "12345678", "f.json: gzip: gzip: invalid checksum"},
		{"text after gzip", string(packed) + "x", "f.json: gzip: unexpected EOF"},
		{"gzip of gzip", string(compressed(t, string(packed))), "f.json:1:1: byte 0: object expected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.text), "f.json")
			if err == nil {
				t.Fatal("no error")
			}
			if d := cmp.Diff(test.want, err.Error()); d != "" {
				t.Error(d)
			}
			checkLocated(t, err)
		})
	}
	if _, err := Read(strings.NewReader(`{"a":"`+"\x00\xff"+`",`+tiny[1:]), "f.json"); err != nil {
		t.Errorf("bytes that are no text in a skipped string: %v", err)
	}
}

// A small file that unpacks to much more than allowed is refused without unpacking it all.
func TestBomb(t *testing.T) {
	bomb := compressed(t, `{"a":"`+strings.Repeat("a", 10<<20))
	_, err := Options{MaxBytes: 1 << 20}.Read(bytes.NewReader(bomb), "f.json")
	if want := "f.json: file has more than 1 MiB, unpacked"; err == nil || err.Error() != want || !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// The error of a context that ends the stream stays what it is.
func TestReadCanceled(t *testing.T) {
	_, err := Read(io.MultiReader(strings.NewReader(tiny[:50]), iotest.ErrReader(context.DeadlineExceeded)), "f.json")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	_, err = Read(io.MultiReader(strings.NewReader(tiny[:50]), iotest.ErrReader(errors.New("gone"))), "f.json")
	if err == nil || err.Error() != "f.json: cannot read: gone" {
		t.Errorf("error is %v", err)
	}
}

// The example of the contest has the optimum that its description names.
func TestSolveExample(t *testing.T) {
	inst := shared(t, "example.json")
	for _, test := range []struct {
		p    *search.Problem
		want int64
	}{{inst.Problem, 445}, {inst.Problem.WithoutLimit(), 415}} {
		r, err := search.Solve(context.Background(), test.p, search.Options{})
		if err != nil || r.Cost != test.want || r.Bound != test.want || r.Status != search.Optimal {
			t.Errorf("cost %d, bound %d, %s, %v, want %d", r.Cost, r.Bound, r.Status, err, test.want)
		}
	}
}

// Contest instances are solved to the best costs that are known of them.
func TestSolveContest(t *testing.T) {
	for name, want := range map[string]int64{"A": 6_548_553_650, "G": 217_039} {
		t.Run(name, func(t *testing.T) {
			inst := shared(t, "asplos-2025-iopddl-"+name+".json.gz")
			r, err := search.Solve(context.Background(), inst.Problem, search.Options{})
			if err != nil || r.Cost != want || r.Status != search.Optimal {
				t.Errorf("cost %d, bound %d, %s, %v, want %d", r.Cost, r.Bound, r.Status, err, want)
			}
		})
	}
}

// Reading never panics; what it accepts can be solved, written and read again, and both evaluators agree about it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(tiny[:100]))
	f.Add(compressed(f, tiny))
	f.Add([]byte(`{"problem":{"nodes":{"intervals":[[0,0]],"costs":[[1000000000000000000]],"usages":[[0]]},"edges":{"nodes":[[0,0,0]],"costs":[[-5]]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		inst, err := Read(bytes.NewReader(data), "fuzz")
		if err != nil {
			checkLocated(t, err)
			return
		}
		p := inst.Problem
		var text bytes.Buffer
		if err := Write(&text, inst.Name, p); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&text, "again")
		if err != nil {
			t.Fatal(err)
		}
		checkEqual(t, p, again.Problem)
		r, err := search.Solve(context.Background(), p, search.Options{Steps: 100_000})
		if err != nil {
			return
		}
		if cost, _, err := p.Evaluate(r.Solution); err != nil || cost != r.Cost || r.Bound > cost || cost > math.MaxInt64/4 {
			t.Errorf("cost %d, bound %d, evaluated %d %v", r.Cost, r.Bound, cost, err)
		}
		checkEvaluation(t, data, r, p)
	})
}

// BenchmarkSolve reports the cost and the gap on the contest's instances at the default budget.
func BenchmarkSolve(b *testing.B) {
	for _, name := range []string{"A", "G", "M", "S"} {
		b.Run(name, func(b *testing.B) {
			inst := shared(b, "asplos-2025-iopddl-"+name+".json.gz")
			for b.Loop() {
				r, err := search.Solve(context.Background(), inst.Problem, search.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Cost), "cost")
				b.ReportMetric(100*r.Gap(), "%gap")
			}
		})
	}
}
