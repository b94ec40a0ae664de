package emit

import (
	"testing"

	"pgregory.net/rapid"

	"autoshard/subaxis"
)

// drawRefs draws a mesh and parts of its axes, in any order, that do not overlap.
func drawRefs(t *rapid.T) (*mesh, []subaxis.Ref) {
	x := &mesh{}
	var refs []subaxis.Ref
	for i, size := range rapid.SliceOfN(rapid.SampledFrom([]int64{1, 2, 3, 4, 6, 8, 12}), 1, 3).Draw(t, "sizes") {
		x.Axes = append(x.Axes, subaxis.Axis{Name: string(rune('x' + i)), Size: size})
		x.cuts = append(x.cuts, []int64{1, size})
		for pre := int64(1); pre < size; {
			k := rapid.SampledFrom(divisors(size/pre)).Draw(t, "size of a part")
			if k > 1 && rapid.Bool().Draw(t, "use it") {
				refs = append(refs, subaxis.Ref{Axis: int32(i), Pre: int32(pre), Size: int32(k)})
			}
			pre *= k
			if k == 1 {
				break
			}
		}
	}
	return x, rapid.Permutation(refs).Draw(t, "order")
}

func divisors(n int64) []int64 {
	var out []int64
	for d := int64(1); d <= n; d++ {
		if n%d == 0 {
			out = append(out, d)
		}
	}
	return out
}

// What devices compute as their index along axes is recognised, whatever the parts and their order.
func TestRefsOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, refs := drawRefs(t)
		table := make([]int64, x.Devices())
		for d := range table {
			table[d] = x.ShardIndex(int64(d), refs)
		}
		got, ok := x.refsOf(table)
		if !ok {
			t.Fatalf("the index along %s is not recognised: %v", x.FormatList(refs), table)
		}
		for d, want := range table {
			if index := x.ShardIndex(int64(d), got); index != want {
				t.Fatalf("%s for %s: device %d has index %d, not %d", x.FormatList(got), x.FormatList(refs), d, index, want)
			}
		}
		if table[0] = 1; x.Devices() > 1 {
			if got, ok := x.refsOf(table); ok {
				t.Fatalf("%v is taken for the index along %s", table, x.FormatList(got))
			}
		}
	})
}

// The pieces that stand for parts of axes give every device the index that it has along the parts.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, refs := drawRefs(t)
		if !x.cut(refs) {
			t.Fatalf("%s of one axis have no common refinement", x.FormatList(refs))
		}
		x.name()
		refined := subaxis.Mesh{Axes: x.pieces}
		if refined.Devices() != x.Devices() {
			t.Fatalf("%v has %d devices", x.pieces, refined.Devices())
		}
		var along []subaxis.Ref
		for _, i := range x.numbersOf(refs) {
			along = append(along, refined.Full(i))
		}
		for d := range x.Devices() {
			if got, want := refined.ShardIndex(d, along), x.ShardIndex(d, refs); got != want {
				t.Fatalf("%s as %s: device %d has index %d, not %d", x.FormatList(refs), refined.FormatList(along), d, got, want)
			}
		}
	})
}

// Any name becomes an identifier that Python takes.
func TestIdentifier(t *testing.T) {
	for text, want := range map[string]string{
		"params['w1']": "params_w1", "result[0][1]['bias']": "result_0_1_bias", "lambda": "lambda", "0": "arg_0", "": "arg", "ä": "arg",
		"x y": "x_y", "__x__": "x", "opt_state/mu/0": "opt_state_mu_0",
	} {
		if got := identifier(text, "arg"); got != want {
			t.Errorf("identifier(%q) is %q, not %q", text, got, want)
		}
	}
	s := newScope()
	for _, want := range []string{"lambda_1", "lambda_2"} {
		if got := s.take("lambda"); got != want {
			t.Errorf("the name is %q, not %q", got, want)
		}
	}
}
