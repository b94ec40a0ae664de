package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/ir/dtype"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const flags = `channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>`

// matrix is the text of a constant of rows.
func matrix(rows [][]int) string {
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = strings.ReplaceAll(fmt.Sprint(r), " ", ", ")
	}
	return fmt.Sprintf("dense<[%s]> : tensor<%dx%dxi64>", strings.Join(parts, ", "), len(rows), len(rows[0]))
}

// oneOp is a program of one collective from a type to another one; region is the kind of its reducer.
func oneOp(op, attrs, region, from, to string) string {
	body := ""
	if region != "" {
		body = fmt.Sprintf(" ({\n^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n %%s = stablehlo.%s %%a, %%b : tensor<f32>\n stablehlo.return %%s "+
			": tensor<f32>\n})", region)
	}
	return fmt.Sprintf("func.func @main(%%x: %s) -> %s {\n %%0 = \"stablehlo.%s\"(%%x) <{%s}>%s : (%s) -> %s\n return %%0 : %s\n}",
		from, to, op, attrs, body, from, to, to)
}

// drawGroups cuts 0…devices-1, shuffled, into groups of equal size.
func drawGroups(t *rapid.T) [][]int {
	size := rapid.IntRange(1, 5).Draw(t, "size")
	count := rapid.IntRange(1, 3).Draw(t, "count")
	ids := make([]int, size*count)
	for i := range ids {
		ids[i] = i
	}
	return slices.Collect(slices.Chunk(rapid.Permutation(ids).Draw(t, "ids"), size))
}

func drawTensors(t *rapid.T, n int, shape []int64) []tensor.Tensor {
	out := make([]tensor.Tensor, n)
	for i := range out {
		x := tensor.New(dtype.F32, shape)
		for k := range tensor.Elems[float32](x) {
			tensor.Elems[float32](x)[k] = float32(rapid.IntRange(-8, 8).Draw(t, "v"))
		}
		out[i] = x
	}
	return out
}

func run(t rapid.TB, src string, inputs []tensor.Tensor) ([]tensor.Tensor, mesh.Traffic) {
	m, fn := parse(t, src)
	args := make([][]*tensor.Tensor, len(inputs))
	for d := range inputs {
		args[d] = []*tensor.Tensor{&inputs[d]}
	}
	w := memory.Watch(255) // no device reads what another one has given back
	results, traffic, err := mesh.Run(context.Background(), m, fn, len(inputs), args, mesh.Options{})
	if err := errors.Join(err, w.Stop()); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	out := make([]tensor.Tensor, len(results))
	for d := range results {
		out[d] = *results[d][0]
	}
	return out, traffic
}

// sum adds tensors.
func sum(xs []tensor.Tensor) tensor.Tensor {
	acc := xs[0]
	for _, x := range xs[1:] {
		acc = tensor.Add(acc, x)
	}
	return acc
}

// members returns the tensors of a group in order.
func members(inputs []tensor.Tensor, group []int) []tensor.Tensor {
	out := make([]tensor.Tensor, len(group))
	for k, id := range group {
		out[k] = inputs[id]
	}
	return out
}

// piece returns part k of n of a tensor along dimension 0.
func piece(x tensor.Tensor, k, n int64) tensor.Tensor {
	size := x.Shape[0] / n
	return tensor.Slice(x, []int64{k * size, 0}, []int64{(k + 1) * size, x.Shape[1]}, []int64{1, 1})
}

// TestCollectives compares each collective with its definition on whole tensors, and its bytes with the formula.
func TestCollectives(t *testing.T) {
	kinds := []string{"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		groups := drawGroups(t)
		n := int64(len(groups[0]))
		rows, columns := rapid.Int64Range(0, 3).Draw(t, "rows"), rapid.Int64Range(1, 3).Draw(t, "columns")
		from, to := []int64{rows, columns}, []int64{rows, columns}
		attrs, region := "replica_groups = "+matrix(groups)+", "+flags, ""
		switch kind {
		case "all_gather":
			to[0] *= n
			attrs += ", all_gather_dim = 0 : i64, use_global_device_ids"
		case "reduce_scatter":
			from[0] *= n
			attrs, region = attrs+", scatter_dimension = 0 : i64, use_global_device_ids", "add"
		case "all_reduce":
			attrs, region = attrs+", use_global_device_ids", "add"
		case "all_to_all":
			from[0] *= n
			to[1] *= n
			attrs += fmt.Sprintf(", split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = %d : i64", n)
		}
		inputs := drawTensors(t, len(groups)*int(n), from)
		typ := func(s []int64) string { return fmt.Sprintf("tensor<%dx%dxf32>", s[0], s[1]) }
		got, traffic := run(t, oneOp(kind, attrs, region, typ(from), typ(to)), inputs)
		bytes := int64(len(inputs[0].Data))
		perGroup := map[string]int64{"all_gather": n * (n - 1) * bytes, "reduce_scatter": (n - 1) * bytes,
			"all_reduce": 2 * (n - 1) * bytes, "all_to_all": (n - 1) * bytes}[kind]
		if c := traffic.Collectives[0]; c.Bytes != perGroup*int64(len(groups)) || c.Executions != 1 || c.Group != int(n) {
			t.Fatalf("%s of %d groups of %d moved %+v, want %d bytes per group", kind, len(groups), n, c, perGroup)
		}
		for _, g := range groups {
			xs := members(inputs, g)
			for k, id := range g {
				if want := definition(kind, xs, int64(k)); !got[id].Equal(want) {
					t.Fatalf("%s on device %d of %v: got %v, want %v", kind, id, groups, got[id], want)
				}
			}
		}
	})
}

// definition returns what member k of a group gets by stablehlo.md section 3.2.
func definition(kind string, xs []tensor.Tensor, k int64) tensor.Tensor {
	n := int64(len(xs))
	switch kind {
	case "all_gather":
		return tensor.Concatenate(xs, 0)
	case "all_reduce":
		return sum(xs)
	case "reduce_scatter":
		return piece(sum(xs), k, n)
	}
	parts := make([]tensor.Tensor, n)
	for q := range parts {
		parts[q] = piece(xs[q], k, n)
	}
	return tensor.Concatenate(parts, 1)
}

// TestPermute compares with the definition: zeros without a source, bytes for pairs of different devices only.
func TestPermute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "devices")
		ids := make([]int, n)
		for i := range ids {
			ids[i] = i
		}
		targets := rapid.Permutation(ids).Draw(t, "targets")
		count := rapid.IntRange(1, n).Draw(t, "pairs")
		inputs := drawTensors(t, n, []int64{2, 3})
		want := make([]tensor.Tensor, n)
		for d := range want {
			want[d] = tensor.New(dtype.F32, []int64{2, 3})
		}
		var pairs [][]int
		moved := int64(0)
		for s := range count {
			pairs = append(pairs, []int{s, targets[s]})
			want[targets[s]] = inputs[s]
			if s != targets[s] {
				moved += 24
			}
		}
		got, traffic := run(t, oneOp("collective_permute", "source_target_pairs = "+matrix(pairs)+", "+flags, "", "tensor<2x3xf32>",
			"tensor<2x3xf32>"), inputs)
		if traffic.Collectives[0].Bytes != moved {
			t.Fatalf("%v moved %d bytes, want %d", pairs, traffic.Collectives[0].Bytes, moved)
		}
		for d := range got {
			if !got[d].Equal(want[d]) {
				t.Fatalf("%v: device %d got %v, want %v", pairs, d, got[d], want[d])
			}
		}
	})
}

// TestSameBits runs a sum of floats that no order gives exactly: all members and all numbers of cores agree.
func TestSameBits(t *testing.T) {
	const devices, size = 7, 1000
	inputs := make([]tensor.Tensor, devices)
	for d := range inputs {
		inputs[d] = tensor.New(dtype.F32, []int64{size})
		for k := range tensor.Elems[float32](inputs[d]) {
			tensor.Elems[float32](inputs[d])[k] = float32(k*devices+d) / 3
		}
	}
	src := oneOp("all_reduce", "replica_groups = "+matrix([][]int{{0, 1, 2, 3, 4, 5, 6}})+", "+flags+", use_global_device_ids", "add",
		"tensor<1000xf32>", "tensor<1000xf32>")
	want, traffic := run(t, src, inputs)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(cores)
		got, again := run(t, src, inputs)
		for d := range got {
			if !got[d].Equal(want[0]) {
				t.Errorf("%d cores: device %d differs", cores, d)
			}
		}
		if diff := cmp.Diff(traffic, again); diff != "" {
			t.Errorf("%d cores: traffic differs:\n%s", cores, diff)
		}
	}
}
