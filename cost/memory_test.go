package cost_test

import (
	"math"
	"testing"

	"autoshard/collectives"
	"autoshard/cost"
)

func TestZeRO(t *testing.T) {
	for stage, want := range []float64{
		12. / 2, // everything over the inner axes alone
		4./2 + 8./16,
		2./2 + 10./16,
		12. / 16,
	} {
		if got := MixedState.Static(1, ZeRO(stage, 8, 2)); got != want {
			t.Errorf("stage %d keeps %v bytes a parameter, want %v", stage, got, want)
		}
	}
}

func TestActivations(t *testing.T) {
	m := Transformer{Layers: 2, D: 64, F: 256, Heads: 8, KVHeads: 2, HeadDim: 16, Gated: true}
	a := Activations{Tokens: 100, Wide: 4, Model: 2}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"MLP outputs", a.MLPOutputs(&m), 2 * 100 * (64./2 + 512./4)},
		{"matrix outputs", a.MatrixOutputs(&m), 2 * 100 * (128./2 + (128+64+512)/4.)},
		{"everything", Activations{Tokens: 100}.Everything(64), 40 * 100 * 64},
		{"scores", a.Scores(&m, 10), 2 * 8 * 10 * 10 / 4},
		{"logits", a.Logits(1000), 2 * 4 * 100 * 1000 / 4},
		{"train FLOPs", m.TrainFLOPs(3, 10), 6*float64(m.Params().Total())*30 + 12*3*100*128*2},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestKVCache(t *testing.T) {
	c := KVCache{TokenBytes: 10, LocalTokenBytes: 1, Window: 100, Page: 64}
	if got := c.Bytes(130); got != 192*10+100 {
		t.Errorf("130 tokens take %v bytes", got)
	}
	if got := (KVCache{TokenBytes: 3}).Bytes(7); got != 21 {
		t.Errorf("7 tokens take %v bytes", got)
	}
	for _, q := range []struct{ chips, heads, batch, tokens, want int64 }{
		{4, 8, 1, 1, 4}, {16, 8, 1, 1, 8}, {16, 8, 2, 1, 16}, {64, 8, 2, 4096, 64}, {16, 1, 1, 1, 1},
	} {
		if got := KVShards(q.chips, q.heads, q.batch, q.tokens); got != q.want {
			t.Errorf("%+v: %d", q, got)
		}
	}
}

func TestCollectiveScratch(t *testing.T) {
	for kind, want := range map[collectives.Kind]int64{
		collectives.AllSlice: 0, collectives.AllGather: 1250, collectives.ReduceScatter: 1250, collectives.AllReduce: 1000,
		collectives.AllToAll: 500, collectives.Permute: 2000,
	} {
		if got := cost.CollectiveScratch(kind, 4, 1000); got != want {
			t.Errorf("%v: %d, want %d", kind, got, want)
		}
	}
}

func TestPaddedBytes(t *testing.T) {
	for _, c := range []struct {
		shape []int64
		want  int64
	}{
		{nil, 4}, {[]int64{1}, 4 * 128}, {[]int64{3, 9, 130}, 4 * 3 * 16 * 256}, {[]int64{8, 128}, 4 * 8 * 128}, {[]int64{0, 5}, 0},
		{[]int64{1 << 40, 1 << 40}, math.MaxInt64},
	} {
		if got := cost.PaddedBytes(c.shape, 4, 8, 128); got != c.want {
			t.Errorf("%v: %d, want %d", c.shape, got, c.want)
		}
	}
}

func TestPaddedMatmul(t *testing.T) {
	hw := profile("tpu-v6e")
	nominal, padded := cost.Book(), cost.Book()
	padded.Padded = true
	if got, want := hw.LocalMatmul(bf16(1, 257, 256), padded).Math, hw.LocalMatmul(bf16(256, 512, 256), nominal).Math; got != want {
		t.Errorf("padded to %v, want %v", got, want)
	}
	if got := hw.Op(cost.Work{}, cost.Planning()); got != (cost.Roofline{}) {
		t.Errorf("no work takes %+v", got)
	}
}
