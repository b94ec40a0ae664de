package typed_test

import (
	"os"
	"path/filepath"
	"testing"

	"autoshard/collectives"
	"autoshard/shardmap/typed"
)

// The collectives of a program over axes are noted with what they send: bytes of the ring algorithms, permutes with their pairs.
func TestLowerOverAxes(t *testing.T) {
	for _, c := range []struct {
		file  string
		kind  collectives.Kind
		count int
		bytes int64 // that all devices send in all runs of all of them
	}{
		{"gather_matmul", collectives.AllGather, 1, 1792},
		{"matmul_scatter", collectives.ReduceScatter, 1, 1792},
		{"gather_matmul_ring", collectives.Permute, 7, 1792},
		{"ring_psum", collectives.Permute, 14, 896},
	} {
		src, err := os.ReadFile(filepath.Join("..", "..", "examples", "shardmap", c.file+".shardmap"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := typed.Parse(string(src), c.file)
		if err != nil {
			t.Fatal(err)
		}
		lowered, bytes := p.LowerOverAxes(), int64(0)
		for i := range lowered.Collectives {
			one := &lowered.Collectives[i]
			bytes += one.TotalBytes()
			if one.Kind != c.kind || len(one.Axes) != 1 || (one.Fetch != nil) != (c.kind == collectives.Permute) {
				t.Errorf("%s has %+v", c.file, one)
			}
		}
		if len(lowered.Collectives) != c.count || bytes != c.bytes {
			t.Errorf("%s has %d collectives that send %d bytes, want %d and %d", c.file, len(lowered.Collectives), bytes, c.count, c.bytes)
		}
	}
}
