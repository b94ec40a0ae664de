package tensor

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"autoshard/ir/dtype"
)

// array returns the attribute of a list of integers.
func array(list []int64) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
	if text == "" {
		return "array<i64>"
	}
	return "array<i64: " + text + ">"
}

// list returns the text of a list inside a dialect attribute.
func list(values []int64) string { return strings.ReplaceAll(fmt.Sprint(values), " ", ", ") }

func upTo(r *rand.Rand, limit ...int64) []int64 {
	out := make([]int64, len(limit))
	for i, n := range limit {
		out[i] = r.Int64N(n + 1)
	}
	return out
}

// Ops that move elements do as XLA does.
func TestShapeOpsAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	var cases []peerCase
	add := func(op, attrs string, args []Tensor, got Tensor) {
		cases = append(cases, peerCase{name: op, text: program("stablehlo."+op, attrs, args, []Tensor{got}), args: args, got: []Tensor{got}})
	}
	for _, dt := range []dtype.Type{dtype.F32, dtype.I8, dtype.C128, dtype.BF16, dtype.I1} {
		for range 4 {
			shape := []int64{1 + r.Int64N(5), 1 + r.Int64N(40), 1 + r.Int64N(37)}
			x := random(r, dt, 3, true, shape...)
			perm := []int64{0, 1, 2}
			r.Shuffle(3, func(i, j int) { perm[i], perm[j] = perm[j], perm[i] })
			add("transpose", "<{permutation = "+array(perm)+"}>", []Tensor{x}, Transpose(x, perm))
			add("reverse", "<{dimensions = "+array(perm[:2])+"}>", []Tensor{x}, NewReverse(x.Shape, perm[:2]).Of(x))

			start := upTo(r, shape[0], shape[1], shape[2])
			limit, stride := make([]int64, 3), make([]int64, 3)
			for d := range limit {
				limit[d] = start[d] + r.Int64N(shape[d]-start[d]+1)
				stride[d] = 1 + r.Int64N(3)
			}
			add("slice", "<{start_indices = "+array(start)+", limit_indices = "+array(limit)+", strides = "+array(stride)+"}>", []Tensor{x},
				Slice(x, start, limit, stride))

			small := random(r, dt, 3, true, shape[2], 1)
			dims := []int64{2, 0}
			add("broadcast_in_dim", "<{broadcast_dimensions = "+array(dims)+"}>", []Tensor{small}, BroadcastInDim(small, dims, shape))

			value := random(r, dt, 1, false)
			low, high := make([]int64, 3), make([]int64, 3)
			interior := upTo(r, 2, 2, 2)
			for d := range low {
				low[d], high[d] = r.Int64N(6)-2, r.Int64N(6)-2
				if total := shape[d] + (shape[d]-1)*interior[d]; low[d]+high[d] < -total {
					low[d] = 0
				}
			}
			if out, ok := padded(x, value, low, high, interior); ok {
				add("pad", "<{edge_padding_low = "+array(low)+", edge_padding_high = "+array(high)+", interior_padding = "+array(interior)+"}>",
					[]Tensor{x, value}, out)
			}
			y := random(r, dt, 3, true, shape[0], 3, shape[2])
			add("concatenate", "<{dimension = 1 : i64}>", []Tensor{x, y, x}, Concatenate([]Tensor{x, y, x}, 1))

			sizes := upTo(r, shape[0], shape[1], shape[2])
			starts := []Tensor{random(r, dtype.I32, 0, true), FromInts(dtype.I32, nil, 1), FromInts(dtype.I32, nil, r.Int64N(40))}
			add("dynamic_slice", "<{slice_sizes = "+array(sizes)+"}>", append([]Tensor{x}, starts...), DynamicSlice(x, starts, sizes))
			u := random(r, dt, 3, true, sizes...)
			add("dynamic_update_slice", "", append([]Tensor{x, u}, starts...), DynamicUpdateSlice(x, u, starts))
			if dt != dtype.I1 {
				add("iota", "<{iota_dimension = 1 : i64}>", nil, Iota(dt, []int64{2, 300, 2}, 1))
			}
		}
	}
	starts := []Tensor{Of(dtype.UI64, nil, uint64(1)<<63)}
	x := random(r, dtype.F32, 1, false, 9)
	add("dynamic_slice", "<{slice_sizes = array<i64: 4>}>", append([]Tensor{x}, starts...), DynamicSlice(x, starts, []int64{4}))
	runPeer(t, cases)
}

// padded pads unless a size would be negative.
func padded(x, value Tensor, low, high, interior []int64) (Tensor, bool) {
	for d, n := range x.Shape {
		if low[d]+high[d]+n+(n-1)*interior[d] < 0 {
			return Tensor{}, false
		}
	}
	return Pad(x, value, low, high, interior), true
}

// Products are those of XLA for all mixes of types, within the rounding of their sums.
func TestDotGeneralAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	var cases []peerCase
	for _, types := range [][3]dtype.Type{
		{dtype.F32, dtype.F32, dtype.F32}, {dtype.F64, dtype.F64, dtype.F64}, {dtype.BF16, dtype.BF16, dtype.F32},
		{dtype.BF16, dtype.BF16, dtype.BF16},
		{dtype.I8, dtype.I8, dtype.I32}, {dtype.I32, dtype.I32, dtype.I32}, {dtype.UI8, dtype.UI8, dtype.UI8}, {dtype.C64, dtype.C64, dtype.C64},
		{dtype.F16, dtype.F16, dtype.F32}, {dtype.I1, dtype.I1, dtype.I1},
	} {
		for _, c := range []struct {
			lhs, rhs []int64
			dims     DotDims
		}{
			{[]int64{5, 7}, []int64{7, 9}, DotDims{nil, nil, []int64{1}, []int64{0}}},
			{[]int64{7, 5}, []int64{9, 7}, DotDims{nil, nil, []int64{0}, []int64{1}}},
			{[]int64{7, 5}, []int64{7, 9}, DotDims{nil, nil, []int64{0}, []int64{0}}},
			{[]int64{65, 130}, []int64{3, 130}, DotDims{nil, nil, []int64{1}, []int64{1}}},
			{[]int64{2, 5, 3, 7}, []int64{3, 7, 2, 4}, DotDims{[]int64{0, 2}, []int64{2, 0}, []int64{3}, []int64{1}}},
			{[]int64{4, 2, 5, 3}, []int64{5, 6, 4}, DotDims{nil, nil, []int64{2, 0}, []int64{0, 2}}},
			{[]int64{3, 4}, []int64{2}, DotDims{}},
			{[]int64{6}, []int64{6}, DotDims{nil, nil, []int64{0}, []int64{0}}},
			{[]int64{3, 0}, []int64{0, 2}, DotDims{nil, nil, []int64{1}, []int64{0}}},
			{[]int64{4, 3, 5}, []int64{4, 5, 6}, DotDims{[]int64{0}, []int64{0}, []int64{2}, []int64{1}}},
		} {
			x, y := random(r, types[0], 1, false, c.lhs...), random(r, types[1], 1, false, c.rhs...)
			got := DotGeneral(x, y, c.dims, types[2])
			attrs := fmt.Sprintf("<{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, "+
				"lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s>}>",
				list(c.dims.LHSBatch), list(c.dims.RHSBatch), list(c.dims.LHSContract), list(c.dims.RHSContract))
			cases = append(cases, peerCase{
				name: fmt.Sprint("dot_general ", types), text: program("stablehlo.dot_general", attrs, []Tensor{x, y}, []Tensor{got}),
				args: []Tensor{x, y}, got: []Tensor{got}, tolerance: 16 * epsilon(types[2]), scale: 16,
			})
		}
	}
	runPeer(t, cases)
}

func pairs(padding [][2]int64) string {
	return fmt.Sprintf("dense<%s> : tensor<%dx2xi64>", strings.ReplaceAll(fmt.Sprint(padding), " ", ", "), len(padding))
}

// Random convolutions are those of XLA.
func TestConvolutionAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	var cases []peerCase
	for range 40 {
		p := ConvParams{FeatureGroupCount: 1, BatchGroupCount: 1, Dims: ConvDims{
			InputBatch: 0, InputFeature: 3, InputSpatial: []int64{1, 2}, KernelInput: 2, KernelOutput: 3, KernelSpatial: []int64{0, 1},
			OutputBatch: 0, OutputFeature: 3, OutputSpatial: []int64{1, 2},
		}}
		inputs, outputs, batch := 1+r.Int64N(3), 1+r.Int64N(3), 1+r.Int64N(3)
		switch r.IntN(3) {
		case 0:
			p.FeatureGroupCount = 2
			outputs *= 2
		case 1:
			p.BatchGroupCount = 2
			outputs *= 2
			batch *= 2
		}
		reverse := make([]string, 2)
		for d := range 2 {
			p.Stride = append(p.Stride, 1+r.Int64N(3))
			p.LHSDilation = append(p.LHSDilation, 1+r.Int64N(2))
			p.RHSDilation = append(p.RHSDilation, 1+r.Int64N(2))
			p.Padding = append(p.Padding, [2]int64{r.Int64N(4) - 1, r.Int64N(4) - 1})
			p.Reverse = append(p.Reverse, r.IntN(2) == 0)
			reverse[d] = fmt.Sprint(p.Reverse[d])
		}
		x := random(r, dtype.F32, 1, false, batch, 4+r.Int64N(5), 4+r.Int64N(5), inputs*p.FeatureGroupCount)
		w := random(r, dtype.F32, 1, false, 1+r.Int64N(3), 1+r.Int64N(3), inputs, outputs)
		got := Convolution(x, w, p, dtype.F32)
		attrs := fmt.Sprintf("<{batch_group_count = %d : i64, feature_group_count = %d : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, "+
			"f]x[0, 1, i, o]->[b, 0, 1, f]>, "+
			"window_strides = %s, lhs_dilation = %s, rhs_dilation = %s, padding = %s, window_reversal = array<i1: %s>}>",
			p.BatchGroupCount, p.FeatureGroupCount, array(p.Stride), array(p.LHSDilation), array(p.RHSDilation), pairs(p.Padding),
			strings.Join(reverse, ", "))
		cases = append(cases, peerCase{
			name: "convolution", text: program("stablehlo.convolution", attrs, []Tensor{x, w}, []Tensor{got}),
			args: []Tensor{x, w}, got: []Tensor{got}, tolerance: 1e-5, scale: 4,
		})
	}
	// The gradient with respect to the kernel: batch and feature change roles.
	p := ConvParams{Dims: ConvDims{
		InputBatch: 3, InputFeature: 0, InputSpatial: []int64{1, 2}, KernelInput: 0, KernelOutput: 3, KernelSpatial: []int64{1, 2},
		OutputBatch: 2, OutputFeature: 3, OutputSpatial: []int64{0, 1},
	}, Padding: [][2]int64{{1, 1}, {1, 1}}}
	x, dy := random(r, dtype.F32, 1, false, 2, 6, 6, 3), random(r, dtype.F32, 1, false, 2, 6, 6, 5)
	got := Convolution(x, dy, p, dtype.F32)
	cases = append(cases, peerCase{
		name: "convolution gradient", args: []Tensor{x, dy}, got: []Tensor{got}, tolerance: 1e-5, scale: 4,
		text: program("stablehlo.convolution", "<{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = "+
			"#stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, padding = "+pairs(p.Padding)+"}>", []Tensor{x, dy}, []Tensor{got}),
	})
	runPeer(t, cases)
}
