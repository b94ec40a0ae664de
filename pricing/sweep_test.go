package pricing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/pricing"
)

// The fourth problem of the chapter: gathering takes over at D / 2, and is bound by computing from 2550 on.
func TestSweep(t *testing.T) {
	s := setting(t, "tpu-v5p", "D=4096,F=16384", axis("X", 8))
	var err error
	if s.Hardware, err = s.Hardware.On("8:ring"); err != nil {
		t.Fatal(err)
	}
	a, err := pricing.Sweep(&pricing.SweepRequest{Sweep: "B=64:65536",
		MatmulRequest: pricing.MatmulRequest{Setting: s, Product: "X[B, D] · Y[D_X, F] -> Z[B, F]"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Segments) != 3 || a.Segments[1].From != 2048 || a.Segments[2].From != 2550 || a.Segments[2].To != 65536 {
		t.Errorf("segments %+v", a.Segments)
	}
	if len(a.Strategies) != 2 || len(a.Points) != 81 || a.Points[80].Size != 65536 || a.Points[0].Seconds[1] != a.Segments[0].Seconds[0] {
		t.Errorf("strategies %v, %d points", a.Strategies, len(a.Points))
	}
}

// An axis doubles, and segments cover all its sizes.
func TestSweepOverAxis(t *testing.T) {
	s := setting(t, "tpu-v5e", "B=65536,D=8192,F=32768", axis("X", 4))
	a, err := pricing.Sweep(&pricing.SweepRequest{Sweep: "X=1:256",
		MatmulRequest: pricing.MatmulRequest{Setting: s, Product: "X[B_X, D] · Y[D_X, F] -> Z[B_X, F]"}})
	if err != nil || len(a.Points) != 9 || a.Segments[0].From != 1 || a.Segments[len(a.Segments)-1].To != 256 {
		t.Errorf("%+v %v", a, err)
	}
}

// Segments follow each other without gaps, and at both ends of each its strategy is the fastest.
func TestSegmentsAreTheFastest(t *testing.T) {
	base := setting(t, "tpu-v5e", "D=1024,F=4096", axis("X", 4))
	rapid.Check(t, func(t *rapid.T) {
		r := pricing.MatmulRequest{Setting: base, Product: rapid.SampledFrom([]string{"X[B, D] · Y[D_X, F]", "X[B_X, D] · Y[D_X, F]",
			"X[B, D_X] · Y[D, F] -> Z[B, F]"}).Draw(t, "product")}
		r.Book = rapid.Bool().Draw(t, "book")
		a, err := pricing.Sweep(&pricing.SweepRequest{Sweep: "B=16:9000", MatmulRequest: r})
		if err != nil {
			t.Fatal(err)
		}
		next := int64(16)
		for _, s := range a.Segments {
			if s.From != next || s.To < s.From {
				t.Fatalf("a segment goes from %d to %d, behind %d", s.From, s.To, next-1)
			}
			for i, size := range []int64{s.From, s.To} {
				r.Sizes = fmt.Sprintf("D=1024,F=4096,B=%d", size)
				one, err := pricing.Matmul(&r)
				if err != nil || one.Strategies[0].Seconds != s.Seconds[i] || one.Strategies[0].Bound != s.Bound {
					t.Errorf("at %d the fastest is %+v, %v, in the segment %+v", size, one.Strategies[0], err, s)
				}
			}
			next = s.To + 1
		}
		if next != 9001 {
			t.Errorf("segments end at %d", next-1)
		}
	})
}

// What is no sweep, and what no product has, is refused.
func TestSweepErrors(t *testing.T) {
	s := setting(t, "tpu-v5e", "I=8,J=8,K=8", axis("X", 4))
	for sweep, want := range map[string]string{
		"":          "a sweep goes from one size to a larger one",
		"I=8":       "a sweep goes from one size to a larger one",
		"I=8:4":     "a sweep goes from one size to a larger one",
		"L=8:16":    "\"L\" is neither a dimension of the product nor an axis",
		"I=1:1<<60": "a sweep goes from one size to a larger one",
	} {
		r := pricing.MatmulRequest{Setting: s, Product: "A[I, J] * B[J, K]"}
		_, err := pricing.Sweep(&pricing.SweepRequest{Sweep: sweep, MatmulRequest: r})
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", sweep, err, want)
		}
	}
}
