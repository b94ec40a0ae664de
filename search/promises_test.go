package search

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"

	"autoshard/internal/diag"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Room that Grow makes changes nothing but where the problem lies.
func TestGrow(t *testing.T) {
	build := func(b *Builder) *Problem {
		x, y := b.AddNode([]int64{0, 3}, []int64{1, 2}, 0, 2), b.AddNode([]int64{1}, []int64{1}, 1, 2)
		b.AddEdge(x, y, b.AddMatrix(2, 1, []int64{5, 0}))
		p, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	grown := NewBuilder()
	grown.Grow(3, 2)
	at := &grown.p.Cost[:1][0]
	p := build(grown)
	if at != &p.Cost[0] {
		t.Error("costs were copied although there was room")
	}
	if d := cmp.Diff(build(NewBuilder()), p, cmpopts.IgnoreUnexported(Problem{})); d != "" {
		t.Errorf("(-without +with):\n%s", d)
	}
}

// A limit on a problem does not reach the one that it was made from, and is taken off again.
func TestLimits(t *testing.T) {
	b := NewBuilder()
	b.AddNode([]int64{0, 3}, []int64{9, 2}, 0, 1)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    *Problem
		want int64
	}{{p, 0}, {p.WithLimit(5), 3}, {p.WithLimit(5).WithoutLimit(), 0}} {
		if r, err := Solve(t.Context(), c.p, Options{}); err != nil || r.Cost != c.want {
			t.Errorf("cost %d, %v, want %d", r.Cost, err, c.want)
		}
	}
	_, err = Solve(t.Context(), p.WithLimit(1), Options{})
	var proof *InfeasibleError
	if !errors.Is(err, diag.ErrInfeasible) || !errors.As(err, &proof) || !proof.Proven {
		t.Errorf("error %v, want a proof that nothing fits", err)
	}
}

// A certificate is JSON that carries the hash it was given, the best solution with its cost, and a claim that is no more than its
// bound; it is appended to what there is.
func TestCertificateJSON(t *testing.T) {
	b := NewBuilder()
	x, y := b.AddNode([]int64{0, 3}, []int64{0, 0}, 0, 1), b.AddNode([]int64{0, 4}, []int64{0, 0}, 0, 1)
	b.AddEdge(x, y, b.AddMatrix(2, 2, []int64{10, 0, 0, 10}))
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(t.Context(), p, Options{Certify: true})
	if err != nil || r.Certificate == nil {
		t.Fatal(r.Certificate, err)
	}
	r.Certificate.SHA256 = [32]byte{0xab, 1}
	var c struct {
		SHA256, Claim string
		Upper         int64
		Solution      []int32
	}
	text := r.Certificate.AppendJSON([]byte(" "))
	if err := json.Unmarshal(text, &c); err != nil || text[0] != ' ' {
		t.Fatalf("%v in %s", err, text)
	}
	claim, err := strconv.ParseInt(c.Claim, 10, 64)
	if err != nil || c.SHA256 != hex.EncodeToString(r.Certificate.SHA256[:]) || c.Upper != r.Cost || !slices.Equal(c.Solution, r.Solution) ||
		claim > r.Certificate.Bound || r.Certificate.Bound > r.Cost {
		t.Errorf("cost %d, solution %v and bound %d are written as %+v, %v", r.Cost, r.Solution, r.Certificate.Bound, c, err)
	}
}
