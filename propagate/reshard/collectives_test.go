package reshard_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCollectivesAgainstShardy compares what becomes of random reshards.
func TestCollectivesAgainstShardy(t *testing.T) {
	pipeline := func(seed int64) string {
		list := fmt.Sprintf("sdy-reshard-to-collectives{keep-redundant-reshards=%v}", seed%5 == 0)
		if seed%2 == 0 {
			list += ",sdy-optimize-collectives"
		}
		return list
	}
	compare(t, randomReshard, pipeline, func(text string, seed int64) (string, error) { return runPipeline(text, pipeline(seed)) })
}

// TestPartitionAgainstShardy compares both steps of partitioning: explicit reshards, then collectives. Programs in which
// Shardy's second step goes wrong are left out: it forgets unreduced axes, and takes parts of one axis for independent that
// are not, as the halves of six devices, and those with even and odd numbers.
func TestPartitionAgainstShardy(t *testing.T) {
	pipeline := insertPass(true) + ",canonicalize{enable-patterns=sdy-reshard},sdy-reshard-to-collectives"
	compare(t, partitionable, func(int64) string { return pipeline }, func(text string, _ int64) (string, error) {
		return runPipeline(text, pipeline)
	})
}

// TestExportAgainstShardy compares what the whole of the export pipeline with collectives makes of the same programs, with its options, of
// half of them after propagation.
func TestExportAgainstShardy(t *testing.T) {
	pipeline := func(seed int64) string {
		list := "sdy-export-pipeline{enable-insert-explicit-collectives=true"
		for i, option := range []string{"keep-sharding-rules", "remove-all-gather-reduce-scatter-for-cmv1", "inline-meshes"} {
			list += fmt.Sprintf(" %s=%v", option, seed>>(i+1)%2 == 0)
		}
		if list += "}"; seed%2 == 0 {
			list = "sdy-import-pipeline,sdy-user-priority-propagate{keep-sharding-rules=true}," + list
		}
		return list
	}
	compare(t, partitionable, pipeline, func(text string, seed int64) (string, error) { return runPipeline(text, pipeline(seed)) })
}

// partitionable returns a random program that Shardy partitions.
func partitionable(seed int64) string {
	for text := ""; ; seed += 1 << 32 {
		text = randomProgram(seed)
		if !strings.Contains(text, "unreduced") && !strings.Contains(text, ":(1)3") && !strings.Contains(text, ":(3)") {
			return text
		}
	}
}

// randomReshard returns a program of one reshard: of one to three dimensions, on a mesh of two to four axes, some of
// whose sizes are no powers of two, now and then to devices in another order.
func randomReshard(seed int64) string {
	r := rand.New(rand.NewPCG(uint64(seed), 17))
	axes := make([]int, 2+r.IntN(3))
	devices := 1
	var names []string
	for i := range axes {
		axes[i] = []int{2, 2, 2, 4, 4, 8, 3, 6, 16}[r.IntN(9)]
		devices *= axes[i]
		names = append(names, fmt.Sprintf("%q=%d", "x"+string(rune('a'+i)), axes[i]))
	}
	reversed := make([]string, devices)
	for i := range reversed {
		reversed[i] = fmt.Sprint(devices - 1 - i)
	}
	rank := 1 + r.IntN(3)
	shape := make([]string, rank)
	for d := range shape {
		shape[d] = fmt.Sprint([]int{9216, 147456, 1, 4, 8, 24, 96, 128, 7, 4096}[r.IntN(10)])
	}
	typ := fmt.Sprintf("tensor<%sxf32>", strings.Join(shape, "x"))
	from, to := randomLayout(r, axes, rank), randomLayout(r, axes, rank)
	target := "mesh"
	if r.IntN(6) == 0 {
		target = "reversed"
	}
	list := strings.Join(names, ", ")
	return fmt.Sprintf(`sdy.mesh @mesh = <[%s]>
sdy.mesh @reversed = <[%s], device_ids=[%s]>
func.func @main(%%arg0: %s {sdy.sharding = #sdy.sharding<@mesh, %s>}) -> %s {
  %%0 = sdy.reshard %%arg0 <@%s, %s> : %s
  return %%0 : %s
}
`, list, list, strings.Join(reversed, ", "), typ, from, typ, target, to, typ, typ)
}

// randomLayout deals axes, some of them in two parts, to dimensions in random order.
func randomLayout(r *rand.Rand, axes []int, rank int) string {
	var parts []string
	for i, size := range axes {
		name := fmt.Sprintf("%q", "x"+string(rune('a'+i)))
		switch cut := 2; {
		case size > cut && size%cut == 0 && r.IntN(3) == 0:
			parts = append(parts, fmt.Sprintf("%s:(1)%d", name, cut), fmt.Sprintf("%s:(%d)%d", name, cut, size/cut))
		default:
			parts = append(parts, name)
		}
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	dims := make([][]string, rank)
	for _, p := range parts {
		d := r.IntN(rank + 1)
		if d == rank {
			continue // replicated
		}
		if n := len(dims[d]); n > 0 && continues(dims[d][n-1], p) {
			continue // one axis written as two
		}
		dims[d] = append(dims[d], p)
	}
	text := make([]string, rank)
	for d := range dims {
		text[d] = "{" + strings.Join(dims[d], ", ") + "}"
	}
	return "[" + strings.Join(text, ", ") + "]"
}

// continues says whether b is the rest of the axis that a is the major part of.
func continues(a, b string) bool {
	x, major, _ := strings.Cut(a, ":")
	y, minor, ok := strings.Cut(b, ":")
	return ok && x == y && strings.HasPrefix(major, "(1)") && !strings.HasPrefix(minor, "(1)")
}
