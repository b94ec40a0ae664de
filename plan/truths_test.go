package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// training is a step of momentum on two layers with a square loss, forward and backward. Parameters and momenta are given up for their
// successors.
func training(rows, width int) string {
	batch, weight := fmt.Sprintf("tensor<%dx%dxf32>", rows, width), fmt.Sprintf("tensor<%dx%[1]dxf32>", width)
	return strings.NewReplacer("BATCH", batch, "WEIGHT", weight).Replace(`
func.func @main(%w0: WEIGHT {tf.aliasing_output = 0 : i32} loc("params[0]"), %w1: WEIGHT {tf.aliasing_output = 1 : i32} loc("params[1]"),
    %m0: WEIGHT {tf.aliasing_output = 2 : i32} loc("opt[0]"), %m1: WEIGHT {tf.aliasing_output = 3 : i32} loc("opt[1]"),
    %x: BATCH loc("batch['x']"), %y: BATCH loc("batch['y']")) -> (WEIGHT, WEIGHT, WEIGHT, WEIGHT) {
  %0 = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : (BATCH, WEIGHT) -> BATCH
  %1 = stablehlo.tanh %0 : BATCH
  %2 = stablehlo.dot_general %1, %w1, contracting_dims = [1] x [0] : (BATCH, WEIGHT) -> BATCH
  %3 = stablehlo.subtract %2, %y : BATCH
  %4 = stablehlo.dot_general %1, %3, contracting_dims = [0] x [0] : (BATCH, BATCH) -> WEIGHT
  %5 = stablehlo.dot_general %3, %w1, contracting_dims = [1] x [1] : (BATCH, WEIGHT) -> BATCH
  %6 = stablehlo.multiply %5, %1 : BATCH
  %7 = stablehlo.dot_general %x, %6, contracting_dims = [0] x [0] : (BATCH, BATCH) -> WEIGHT
  %decay = stablehlo.constant dense<0.9> : WEIGHT
  %rate = stablehlo.constant dense<0.001> : WEIGHT
  %8 = stablehlo.multiply %m0, %decay : WEIGHT
  %9 = stablehlo.add %8, %7 : WEIGHT
  %10 = stablehlo.multiply %9, %rate : WEIGHT
  %11 = stablehlo.subtract %w0, %10 : WEIGHT
  %12 = stablehlo.multiply %m1, %decay : WEIGHT
  %13 = stablehlo.add %12, %4 : WEIGHT
  %14 = stablehlo.multiply %13, %rate : WEIGHT
  %15 = stablehlo.subtract %w1, %14 : WEIGHT
  return %11, %15, %9, %13 : WEIGHT, WEIGHT, WEIGHT, WEIGHT
}
`)
}

// What experts write by hand is what the planner finds without a hint, on eight chips of a ring: each plan is said by how its inputs are
// cut and by its collectives, and one strategy takes over from another where memory or the number of rows says so.
func TestKnownTruths(t *testing.T) {
	for _, c := range []struct {
		name    string
		program string // text, or a file of testdata/truths
		memory  int64  // 0: what the chip has
		want    []string
	}{
		// Small weights: every device has them all and a part of the batch; the gradients are summed up at once.
		{"data parallel", training(65536, 128), 0, []string{`params.* P\(None, None\)`, `opt.* P\(None, None\)`, `batch.* P\('x', None\)`,
			`1 all_reduce`}},
		// Larger ones: what the optimizer keeps is in blocks, gradients are scattered, and new parameters gathered.
		{"ZeRO-1 and 2", training(16384, 1024), 0, []string{`params.* P\(None, None\)`, `opt.* (P\('x', None\)|P\(None, 'x'\))`,
			`batch.* P\('x', None\)`, `1 all_gather`, `1 reduce_scatter`}},
		// Less memory: parameters are in blocks, too, and gathered for each product.
		{"ZeRO-3", training(16384, 1024), 50e6, []string{`params.* (P\('x', None\)|P\(None, 'x'\))`, `opt.* (P\('x', None\)|P\(None, 'x'\))`,
			`batch.* P\('x', None\)`, `2 all_gather`, `2 reduce_scatter`}},
		// 8,192 rows a device are more than a chip multiplies while a row of f32 weights arrives, 5,100: weights are gathered.
		{"FSDP above the threshold", training(65536, 4096), 0, []string{`params.* (P\('x', None\)|P\(None, 'x'\))`,
			`opt.* (P\('x', None\)|P\(None, 'x'\))`, `batch.* P\('x', None\)`, `2 all_gather`, `2 reduce_scatter`}},
		// 128 rows a device, far below: weights stay in blocks, and rows are gathered and scattered.
		{"tensor parallel below it", training(1024, 4096), 0, []string{`params.* P\(None, 'x'\)`, `opt.* P\(None, 'x'\)`,
			`batch\['x'\] P\(None, None\)`, `batch\['y'\] P\(None, 'x'\)`, `1 all_gather`, `1 reduce_scatter`}},
		{"Megatron's pair", "pair.mlir", 0, []string{`x P\(None, None\)`, `up P\(None, 'x'\)`, `down P\('x', None\)`, `1 reduce_scatter`}},
		// Between products behind a norm the rows are in blocks, and gathered for the next product.
		{"sequence parallel", "norms.mlir", 120 << 20, []string{`x P\(None, None\)`, `up P\(None, 'x'\)`, `down P\('x', None\)`,
			`up2 P\(None, 'x'\)`, `down2 P\('x', None\)`, `1 all_gather`, `2 reduce_scatter`}},
		{"context parallel", "attention.mlir", 0, []string{`q P\('x', None\)`, `[kv] P\(None, None\)`}},
		{"cache by heads", "decode.mlir", 0, []string{`q P\(None, 'x', None\)`, `cache.* P\(None, None, 'x', None\)`}},
		{"expert parallel", "experts.mlir", 180 << 20, []string{`x P\('x', None, None\)`, `mask P\('x', None, None, None\)`,
			`(up|down) P\('x', None, None\)`, `2 all_to_all`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := map[string]bool{}
			for _, line := range summary(t, c.program, c.memory) {
				at := slices.IndexFunc(c.want, func(want string) bool { return regexp.MustCompile("^" + want + "$").MatchString(line) })
				if at < 0 {
					t.Errorf("not expected: %s", line)
					continue
				}
				found[c.want[at]] = true
			}
			if len(found) < len(c.want) {
				t.Errorf("of %q only %v", c.want, found)
			}
		})
	}
}

// summary plans a program on eight chips of a ring, and says how each input is cut and how many collectives of each kind a step has.
func summary(t *testing.T, program string, memory int64) (lines []string) {
	t.Helper()
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	source := &answer.Source{Name: "training"}
	if strings.HasSuffix(program, ".mlir") {
		source = parse(t, "testdata/truths/"+program)
	} else if source.Module, err = mlir.Parse(t.Context(), []byte(program), mlir.Options{}); err != nil {
		t.Fatal(err)
	}
	p, err := Make(t.Context(), source, Options{Mesh: []subaxis.Axis{{Name: "x", Size: 8}}, Hardware: hw, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Inputs {
		lines = append(lines, x.Name+" "+x.Spec)
	}
	counts := map[string]int64{}
	for _, x := range p.Collectives {
		counts[x.Kind] += x.Count
	}
	for kind, n := range counts {
		lines = append(lines, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(lines)
	return lines
}
