package propagate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"
)

// callChain returns a program in which each of n functions calls the next one, as often as given. The argument of the
// main function is sharded, so that the sharding goes all the way down and up.
func callChain(n, times int) string {
	var b strings.Builder
	b.WriteString("sdy.mesh @mesh = <[\"a\"=2]>\n")
	for i := range n {
		name, attr := fmt.Sprintf("private @f%d", i), ""
		if i == 0 {
			name, attr = "@main", " {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}"
		}
		fmt.Fprintf(&b, "func.func %s(%%arg0: tensor<8xf32>%s) -> tensor<8xf32> {\n  %%v0 = stablehlo.tanh %%arg0 : tensor<8xf32>\n", name, attr)
		last := 0
		for range times {
			if i+1 < n {
				fmt.Fprintf(&b, "  %%v%d = call @f%d(%%v%d) : (tensor<8xf32>) -> tensor<8xf32>\n", last+1, i+1, last)
				last++
			}
		}
		fmt.Fprintf(&b, "  return %%v%d : tensor<8xf32>\n}\n", last)
	}
	return b.String()
}

// A sharding reaches the end of a chain of thousands of calls; a chain that doubles at every call is an error.
func TestCallDepth(t *testing.T) {
	depth := 10_000
	if testing.Short() {
		depth = 1000
	}
	m, err := mlir.Parse(t.Context(), []byte(callChain(depth, 1)), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := propagate.Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := propagate.Run(t.Context(), m, propagate.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := propagate.Close(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	f, ok := m.LookupFunc(fmt.Sprint("f", depth-1))
	if !ok || m.Sharding(m.BlockArgs(m.Func(f).Body)[0]) == 0 || m.Func(f).ResultShardings[0] == 0 {
		t.Error("the sharding did not reach the last function")
	}

	m, err = mlir.Parse(t.Context(), []byte(callChain(64, 2)), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := propagate.Import(t.Context(), m); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("%v, want an error of the class too large", err)
	}
}
