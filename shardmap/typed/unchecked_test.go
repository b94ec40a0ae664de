package typed_test

import (
	"strings"
	"testing"

	"autoshard/shardmap/typed"
)

// Without the check there are no casts, also in loops, and what differs in its type alone is one op.
func TestUnchecked(t *testing.T) {
	p, err := typed.Parse(`shard_map @f mesh=(i=2,) in_specs=(P(), P('i')) out_specs=(P(),)
lambda w:f32[2] x:f32[3,2]
  total:f32[2] = scan[carries=1, length=3, reverse=false] w x {
  lambda carry:f32[2] row:f32[2]
    sum:f32[2] = add carry row
    return sum
  }
  whole:f32[4] = all_gather_invariant[axes=(i,), dim=0] total
  return whole
`, "")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	before := p.String()
	q, err := p.Unchecked()
	if err != nil {
		t.Fatal(err)
	}
	text := q.String()
	if !strings.Contains(before, "pvary") || strings.Contains(text, "pvary") || !strings.Contains(text, "check=false") ||
		!strings.Contains(text, "= all_gather[axes=(i,), dim=0] total") {
		t.Errorf("without the check\n%s\nis\n%s", before, text)
	}
	if p.String() != before {
		t.Error("the program itself has changed")
	}
	p, err = typed.Parse(`shard_map @f mesh=(i=2,) in_specs=(P(unreduced={'i'}),) out_specs=(P(unreduced={'i'}),)
lambda x:f32[2]
  return x
`, "")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Unchecked(); err == nil || !strings.Contains(err.Error(), "E_UR_SPEC") {
		t.Errorf("unreduced axes of a spec need the check: %v", err)
	}
}
