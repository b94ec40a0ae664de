package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/internal/lint"
	"autoshard/plan"
)

// products writes a program whose results are sums of what four devices have, of which each keeps a block: of small ones, and of a large
// one.
func products() string {
	var inputs, types, pinned, lines, results []string
	for i, size := range []int{64, 48, 80, 4096} {
		x, y := fmt.Sprintf("tensor<%dx64xf32>", size), fmt.Sprintf("tensor<%dx%dxf32>", size, size)
		cut := []string{`[{"x"}, {}]`, `[{}, {"x"}]`}[i%2]
		inputs = append(inputs, fmt.Sprintf(`%%a%d: %s {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}`, i, x))
		types, results = append(types, y), append(results, fmt.Sprintf("%%y%d", i))
		pinned = append(pinned, fmt.Sprintf("%s {sdy.sharding = #sdy.sharding<@mesh, %s>}", y, cut))
		lines = append(lines, fmt.Sprintf("%%y%[1]d = stablehlo.dot_general %%a%[1]d, %%a%[1]d, contracting_dims = [1] x [1] : "+
			"(%[2]s, %[2]s) -> %[3]s", i, x, y))
	}
	return fmt.Sprintf("sdy.mesh @mesh = <[\"x\"=4]>\nfunc.func @main(%s) -> (%s) {\n%s\nreturn %s : %s\n}", strings.Join(inputs, ", "),
		strings.Join(pinned, ", "), strings.Join(lines, "\n"), strings.Join(results, ", "), strings.Join(types, ", "))
}

// Small reduce-scatters of different dimensions are sent as one, a large one is not copied. The plan's program says so to who lowers it
// again.
func TestScattersAreMerged(t *testing.T) {
	p := planOn(t, products(), "tpu-v5p", 0)
	if p.Merged == nil || p.Merged.Collectives != 3 || p.Merged.Into != 1 || p.Merged.SavedSeconds <= 0 {
		t.Errorf("merged are %+v in\n%s", p.Merged, p.Program)
	}
	checkPriced(t, p, "tpu-v5p")
}

// Small gathers along different dimensions are sent as one, too, and the plan's program says so.
func TestGathersAreMerged(t *testing.T) {
	p := planOn(t, `sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x8xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}`, "tpu-v5p", 0)
	if p.Merged == nil || p.Merged.Collectives != 2 || p.Merged.Into != 1 || p.Merged.SavedSeconds <= 0 {
		t.Errorf("merged are %+v in\n%s", p.Merged, p.Program)
	}
	checkPriced(t, p, "tpu-v5p")
}

// Where each array of a collective takes as long to begin as the first, none are merged, and the plan says so once.
func TestCollectivesAreSentAlone(t *testing.T) {
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	for _, arrays := range []float64{0, 1} {
		hw.Arrays = arrays
		p, err := plan.Make(t.Context(), source(t, products()), plan.Options{Hardware: hw})
		if err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, f := range p.Findings {
			if f.Code == string(lint.SeparateCollectives) {
				said++
			}
		}
		if alone := arrays == 1; alone != (said == 1) || alone != (p.Merged == nil) {
			t.Errorf("arrays %g: said %d times, merged are %+v", arrays, said, p.Merged)
		}
	}
}
