package report_test

import (
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/pricing"
	"autoshard/report"
	"autoshard/subaxis"
)

func v5e(t *testing.T, sizes string) pricing.Setting {
	t.Helper()
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	mesh := []subaxis.Axis{{Name: "X", Size: 4}, {Name: "Y", Size: 4}}
	return pricing.Setting{Mesh: mesh, Hardware: hw, Sizes: sizes, Book: true}
}

// A page has the fastest strategies, what each sends, and how many there are beside them.
func TestMatmul(t *testing.T) {
	s := v5e(t, "I=8192,J=8192,K=8192")
	a, err := pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: "A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]"})
	if err != nil {
		t.Fatal(err)
	}
	text := report.Matmul(a, false)
	for _, want := range []string{
		"on X=4,Y=4 (16 devices), tpu-v5e, slice 4 x 4, the book's conventions\n1.1 TFLOP in all; a star marks the fastest\n",
		"*  X 1; Y 3a  all_reduce C over Y: 33.55 MB, 1.12 ms  C[I_X, K]  68.72 GFLOP   349 us  93.2 us  1.12 ms  805.3 MB  1.12 ms  network",
		"\nwith other results\n", "nothing is sent", "3 more strategies: --all\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report is\n%s\nand has no\n%s", text, want)
		}
	}
	if all := report.Matmul(a, true); strings.Contains(all, "--all") || strings.Count(all, "\n") <= strings.Count(text, "\n") {
		t.Errorf("all strategies are\n%s", all)
	}
}

// A collective says what bounds it.
func TestCollective(t *testing.T) {
	a, err := pricing.Collective(&pricing.CollectiveRequest{Setting: v5e(t, ""), Kind: "all_gather", Array: "bf16[2048_Y, 8192]", Over: "Y"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `all_gather over Y of bf16[2048_Y, 8192] on X=4,Y=4 (16 devices), tpu-v5e, slice 4 x 4, the book's conventions
groups            of 4 devices
array in a group  33554432 B (33.55 MB)
block before      8388608 B (8.389 MB)
sent              25165824 B (25.17 MB) by a device, 402653184 B (402.7 MB) by all
bandwidth         559 us
latency           3 us, 3 hops
time              559 us, bandwidth bound; ours 690 us
`
	if got := report.Collective(a); got != want {
		t.Errorf("the report is\n%s", got)
	}
}

// An array says what a device and all of them hold.
func TestArray(t *testing.T) {
	a, err := pricing.Array(&pricing.ArrayRequest{Setting: v5e(t, ""), Array: "bf16[65536_X, 65536]"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `bf16[65536_X, 65536] on X=4,Y=4 (16 devices), tpu-v5e, slice 4 x 4, the book's conventions
whole            bf16[65536,65536]                  8589934592 B (8.59 GB)
block            bf16[16384,65536]                  2147483648 B (2.147 GB) on each device
all devices      4 copies                           34359738368 B (34.36 GB)
loading a block  2.65 ms from memory, ours 2.95 ms
fits on          1 device, slice 1 x 1
`
	if got := report.Array(a); got != want {
		t.Errorf("the report is\n%s", got)
	}
}

// A sweep says from where to where a strategy is the fastest.
func TestSweep(t *testing.T) {
	a, err := pricing.Sweep(&pricing.SweepRequest{Sweep: "X=1:4", MatmulRequest: pricing.MatmulRequest{
		Setting: v5e(t, "I=4096,J=4096,K=4096"), Product: "A[I_X, J] · B[J, K] -> C[I_X, K]"}})
	if err != nil {
		t.Fatal(err)
	}
	text := report.Sweep(a)
	want := "     1   4  X 1; Y 1 slice A, gather C: C[I_X, K]  network"
	if !strings.Contains(text, "X from  to  fastest") || !strings.Contains(text, want) {
		t.Errorf("the report is\n%s", text)
	}
}
