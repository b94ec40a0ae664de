package typed_test

import (
	"testing"

	"autoshard/shardmap/typed"
)

// TestImportOneGatherOfTwoOutputs imports a manual computation of which two outputs are one gather: the types are
// found anew when the first output has made it invariant.
func TestImportOneGatherOfTwoOutputs(t *testing.T) {
	p, err := typed.Parse(`shard_map @twice mesh=(i=4,)
  in_specs=(P('i'),)
  out_specs=(P(), P())
lambda x:f32[2]
  y:f32[8] = all_gather_invariant[axes=(i,), dim=0] x
  return y y
`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Elaborate(typed.Options{}); err != nil {
		t.Fatal(err)
	}
	back, err := typed.Import(p.Export(), typed.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := back.Elaborate(typed.Options{}); err != nil {
		t.Fatal(err)
	}
}
