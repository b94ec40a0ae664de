package propagate_test

import (
	"testing"

	"autoshard/ir/mlir"
	"autoshard/propagate"
)

// What a loop carries round unchanged is, as XLA has it, what entered the loop: a closed input stays as it is inside, where Shardy lets
// the edge of the loop take an axis, and a sharded one shards what it meets there.
func TestUnchangedValuesOfLoops(t *testing.T) {
	for _, c := range []struct {
		w, q             string // shardings of the inputs
		complete         bool
		carried, changed string // of the loop
	}{
		{`[{}]`, `[{"x"}]`, false, `<@mesh, [{"x", ?}]>`, `<@mesh, [{"x", ?}]>`},
		{`[{}]`, `[{"x"}]`, true, `<@mesh, [{}]>`, `<@mesh, [{"x", ?}]>`},
		{`[{"x"}]`, `[{?}]`, true, `<@mesh, [{"x"}]>`, `<@mesh, [{"x", ?}]>`},
	} {
		m, err := mlir.Parse(t.Context(), []byte(`sdy.mesh @mesh = <["x"=4]>
func.func @main(%w: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, `+c.w+`>}, %q: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, `+
			c.q+`>}, %n: tensor<i1>) -> tensor<8xf32> {
  %r:3 = stablehlo.while(%a = %w, %b = %q, %p = %n) : tensor<8xf32>, tensor<8xf32>, tensor<i1>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    stablehlo.return %a, %0, %p : tensor<8xf32>, tensor<8xf32>, tensor<i1>
  }
  %1 = stablehlo.add %r#0, %r#1 : tensor<8xf32>
  return %1 : tensor<8xf32>
}`), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := propagate.Connect(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if _, err := propagate.Run(t.Context(), m, propagate.Options{CompleteRules: c.complete}); err != nil {
			t.Fatal(err)
		}
		propagate.Disconnect(m)
		loop := m.FirstOp(m.MainFunc().Body)
		for i, want := range []string{c.carried, c.changed} {
			if got := m.FormatSharding(m.Sharding(m.Result(loop, i))); got != want {
				t.Errorf("inputs %s and %s, complete rules %v: value %d of the loop is %s, want %s", c.w, c.q, c.complete, i, got, want)
			}
		}
	}
}
