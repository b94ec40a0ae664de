package report_test

import (
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/program"
	"autoshard/report"
)

// A sum among four devices, as the documents of shard_map show it.
func TestWatched(t *testing.T) {
	p, err := program.ReadShardMap(t.Context(), "sum.shardmap", []byte(`shard_map @f mesh=(i=2, j=2)
  in_specs=(P(('i', 'j')),)
  out_specs=(P('i'),)
lambda x:i32[2]
  y:i32[2] = psum[axes=(j,)] x
  return y
`))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.FromInts(dtype.I32, []int64{8}, 3, 1, 4, 1, 5, 9, 2, 6)
	w, err := p.Watch(t.Context(), []*tensor.Tensor{&x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := report.Watched(w, p.Outputs, true)
	if sights := report.Sights(w); len(sights) != len(w.Sights) || !strings.HasPrefix(got, strings.Join(sights, "")) {
		t.Errorf("sights are %q", sights)
	}
	for _, want := range []string{`BEFORE psum[axes=(j,)] of x
On device 0 at mesh coordinates (i, j) = (0, 0):
[3 1]

On device 1 at mesh coordinates (i, j) = (0, 1):
[4 1]
`, `AFTER psum[axes=(j,)]: y
On device 0 at mesh coordinates (i, j) = (0, 0):
[7 2]
`, `
FINAL RESULT y
[ 7  2  7 15]
`} {
		if !strings.Contains(got, want) {
			t.Errorf("the report is\n%s\nand has no\n%s", got, want)
		}
	}
	if w, err = p.Watch(t.Context(), []*tensor.Tensor{&x}, []string{"y"}); err != nil {
		t.Fatal(err)
	}
	if got := report.Watched(w, p.Outputs, false); !strings.HasPrefix(got, "y\nOn device 0 ") || strings.Contains(got, "FINAL") {
		t.Errorf("of a name the report is\n%s", got)
	}
}
