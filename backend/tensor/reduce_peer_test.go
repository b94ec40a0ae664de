package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"autoshard/ir/dtype"
)

// region returns a region of one op on its two scalar arguments.
func region(op string, dt dtype.Type) string {
	return fmt.Sprintf("({\n^bb0(%%x: tensor<%[2]s>, %%y: tensor<%[2]s>):\n%%z = stablehlo.%[1]s %%x, %%y : "+
		"tensor<%[2]s>\nstablehlo.return %%z : tensor<%[2]s>\n})", op, dt)
}

// secondRegion returns the region that returns its second argument.
func secondRegion(dt dtype.Type) string {
	return fmt.Sprintf("({\n^bb0(%%x: tensor<%[1]s>, %%y: tensor<%[1]s>):\nstablehlo.return %%y : tensor<%[1]s>\n})", dt)
}

// general returns the combiner with the monoid hidden in a body.
func general(m Monoid, elementwise bool) Combiner {
	return Combiner{Elementwise: elementwise, Body: func(args []Tensor) ([]Tensor, error) {
		if !elementwise && args[0].Rank() != 0 {
			panic("not a scalar")
		}
		return []Tensor{m.kernel()(args[0], args[1])}, nil
	}}
}

func neutral(m Monoid, dt dtype.Type) Tensor {
	if m == MonoidMultiply {
		return FromInts(dt, nil, 1)
	}
	return FromInts(dt, nil, 0)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Reductions by all monoids and by bodies are those of XLA.
func TestReduceAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	var cases []peerCase
	for _, dt := range []dtype.Type{dtype.F32, dtype.F64, dtype.I32, dtype.UI8, dtype.C64} {
		for m := MonoidAdd; m <= MonoidXor; m++ {
			if dt.Kind() == dtype.Complex && m > MonoidMultiply || dt.Kind() == dtype.Float && m > MonoidMinimum {
				continue
			}
			for _, dims := range [][]int64{{0}, {1}, {2}, {0, 2}, {2, 1}, {0, 1, 2}, {}} {
				if len(dims) == 0 && m > MonoidMultiply {
					continue // XLA leaves the init out, and 0 is not neutral
				}
				x, init := random(r, dt, 1, false, 3, 20, 5), neutral(m, dt)
				got := must(Reduce([]Tensor{x}, []Tensor{init}, dims, Combiner{Monoid: m}))
				cases = append(cases, peerCase{
					name: fmt.Sprint("reduce ", m, dims, dt), args: []Tensor{x, init}, got: got, tolerance: 64 * epsilon(dt), scale: 8,
					text: program("stablehlo.reduce", "<{dimensions = "+array(dims)+"}> "+region(m.String(), dt), []Tensor{x, init}, got),
				})
			}
		}
	}
	runPeer(t, cases)
}

// Reductions over windows are those of XLA.
func TestReduceWindowAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	var cases []peerCase
	for i := range 60 {
		dt := []dtype.Type{dtype.F32, dtype.I32, dtype.F64}[i%3]
		m := []Monoid{MonoidAdd, MonoidMaximum, MonoidMinimum, MonoidMultiply}[r.IntN(4)]
		x, init := random(r, dt, 1, false, 2+r.Int64N(12), 2+r.Int64N(12)), neutral(m, dt)
		w := Window{}
		for range 2 {
			w.Size = append(w.Size, 1+r.Int64N(7))
			w.Stride = append(w.Stride, 1+r.Int64N(3))
			w.BaseDilation = append(w.BaseDilation, 1+r.Int64N(2))
			w.WindowDilation = append(w.WindowDilation, 1+r.Int64N(2))
			w.Padding = append(w.Padding, [2]int64{r.Int64N(5), r.Int64N(5)})
		}
		got := must(ReduceWindow([]Tensor{x}, []Tensor{init}, w, Combiner{Monoid: m}))
		for _, elementwise := range []bool{true, false} {
			if other := must(ReduceWindow([]Tensor{x}, []Tensor{init}, w, general(m, elementwise))); difference(other[0], got[0], 1e-4, 8) != "" {
				t.Errorf("%v %v: body gives %v, kernel %v", m, w, other[0], got[0])
			}
		}
		attrs := fmt.Sprintf("<{window_dimensions = %s, window_strides = %s, base_dilations = %s, window_dilations = %s, padding = %s}> %s",
			array(w.Size), array(w.Stride), array(w.BaseDilation), array(w.WindowDilation), pairs(w.Padding), region(m.String(), dt))
		cases = append(cases, peerCase{
			name: fmt.Sprint("reduce_window ", m, dt), text: program("stablehlo.reduce_window", attrs, []Tensor{x, init}, got),
			args: []Tensor{x, init}, got: got, tolerance: 256 * epsilon(dt), scale: 8,
		})
	}
	runPeer(t, cases)
}

// Selections in windows and their scatters are those of XLA.
func TestSelectAndScatterAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	var cases []peerCase
	for range 20 {
		x := Floor(random(r, dtype.F32, 2, false, 2+r.Int64N(8), 3+r.Int64N(8)))
		w := Window{}
		for range 2 {
			size := 1 + r.Int64N(3)
			w.Size = append(w.Size, size)
			w.Stride = append(w.Stride, 1+r.Int64N(3))
			w.Padding = append(w.Padding, [2]int64{r.Int64N(size), r.Int64N(size)})
		}
		shape := w.withDefaults(2).resultShape(x.Shape)
		source, init := random(r, dtype.F32, 1, false, shape...), FromInts(dtype.F32, nil, 0)
		got := must(SelectAndScatter(x, source, init, w, Selector{Known: true, Direction: GE}, Combiner{Monoid: MonoidAdd}))
		body := Selector{Body: func(args []Tensor) ([]Tensor, error) { return []Tensor{Compare(args[0], args[1], GE, false)}, nil }}
		if other := must(SelectAndScatter(x, source, init, w, body, general(MonoidAdd, false))); difference(other, got, 1e-6, 1) != "" {
			t.Errorf("%v: body gives %v, kernel %v", w, other, got)
		}
		attrs := fmt.Sprintf("<{window_dimensions = %s, window_strides = %s, padding = %s}> ({\n^bb0(%%x: tensor<f32>, %%y: tensor<f32>):\n"+
			"%%z = stablehlo.compare GE, %%x, %%y : (tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %%z : tensor<i1>\n}, %s",
			array(w.Size), array(w.Stride), pairs(w.Padding), region("add", dtype.F32)[1:])
		args := []Tensor{x, source, init}
		cases = append(cases, peerCase{
			name: "select_and_scatter", text: program("stablehlo.select_and_scatter", attrs, args, []Tensor{got}),
			args: args, got: []Tensor{got}, tolerance: 1e-6, scale: 1,
		})
	}
	runPeer(t, cases)
}

// Random gathers are those of XLA.
func TestGatherAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	var cases []peerCase
	for _, c := range []struct {
		operand, indices, sizes []int64
		dims                    GatherDims
	}{
		{[]int64{10, 6}, []int64{3, 1}, []int64{1, 6}, GatherDims{OffsetDims: []int64{1}, CollapsedSliceDims: []int64{0},
			StartIndexMap: []int64{0}, IndexVectorDim: 1}},
		{[]int64{10, 6}, []int64{3}, []int64{1, 6}, GatherDims{OffsetDims: []int64{0}, CollapsedSliceDims: []int64{0}, StartIndexMap: []int64{0},
			IndexVectorDim: 1}},
		{[]int64{10, 6, 4}, []int64{2, 5, 3}, []int64{3, 1, 2}, GatherDims{OffsetDims: []int64{0, 2}, CollapsedSliceDims: []int64{1},
			StartIndexMap: []int64{1, 0}, IndexVectorDim: 0}},
		{[]int64{10, 6}, []int64{2, 2}, []int64{1, 1}, GatherDims{CollapsedSliceDims: []int64{0, 1}, StartIndexMap: []int64{0, 1},
			IndexVectorDim: 1}},
		{[]int64{4, 7, 3}, []int64{4, 5, 1}, []int64{1, 1, 3}, GatherDims{
			OffsetDims: []int64{2}, CollapsedSliceDims: []int64{1}, OperandBatchingDims: []int64{0}, StartIndicesBatchingDims: []int64{0},
			StartIndexMap: []int64{1}, IndexVectorDim: 2,
		}},
		{[]int64{4, 7, 5}, []int64{5, 1, 4}, []int64{1, 2, 1}, GatherDims{
			OffsetDims: []int64{1}, OperandBatchingDims: []int64{0, 2}, StartIndicesBatchingDims: []int64{2, 0},
			StartIndexMap: []int64{1}, IndexVectorDim: 1,
		}},
	} {
		for _, index := range []dtype.Type{dtype.I32, dtype.UI8, dtype.I64} {
			x := random(r, dtype.F32, 1, false, c.operand...)
			at := OpRemainder.Of(random(r, index, 1, true, c.indices...), FromInts(index, nil, 13))
			got := Gather(x, at, c.dims, c.sizes)
			d := c.dims
			attrs := fmt.Sprintf("<{dimension_numbers = #stablehlo.gather<offset_dims = %s, collapsed_slice_dims = %s, operand_batching_dims = "+
				"%s, start_indices_batching_dims = %s, start_index_map = %s, index_vector_dim = %d>, slice_sizes = %s, indices_are_sorted = false}>",
				list(d.OffsetDims), list(d.CollapsedSliceDims), list(d.OperandBatchingDims), list(d.StartIndicesBatchingDims), list(d.StartIndexMap),
				d.IndexVectorDim, array(c.sizes))
			cases = append(cases, peerCase{
				name: "gather", text: program("stablehlo.gather", attrs, []Tensor{x, at}, []Tensor{got}), args: []Tensor{x, at}, got: []Tensor{got},
			})
		}
	}
	runPeer(t, cases)
}

// Random scatters are those of XLA.
func TestScatterAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	var cases []peerCase
	for _, c := range []struct {
		operand, indices, updates []int64
		dims                      ScatterDims
	}{
		{[]int64{10, 6}, []int64{9, 1}, []int64{9, 6}, ScatterDims{UpdateWindowDims: []int64{1}, InsertedWindowDims: []int64{0},
			ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1}},
		{[]int64{10}, []int64{9}, []int64{9}, ScatterDims{InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0},
			IndexVectorDim: 1}},
		{[]int64{10}, []int64{9, 1}, []int64{9, 3}, ScatterDims{UpdateWindowDims: []int64{1}, ScatterDimsToOperandDims: []int64{0},
			IndexVectorDim: 1}},
		{[]int64{10, 6, 4}, []int64{2, 5, 3}, []int64{3, 5, 2, 3}, ScatterDims{UpdateWindowDims: []int64{0, 2}, InsertedWindowDims: []int64{1},
			ScatterDimsToOperandDims: []int64{1, 0}, IndexVectorDim: 0}},
		{[]int64{4, 7, 3}, []int64{4, 5, 1}, []int64{4, 5, 3}, ScatterDims{
			UpdateWindowDims: []int64{2}, InsertedWindowDims: []int64{1}, InputBatchingDims: []int64{0}, ScatterIndicesBatchDims: []int64{0},
			ScatterDimsToOperandDims: []int64{1}, IndexVectorDim: 2,
		}},
	} {
		for _, dt := range []dtype.Type{dtype.F32, dtype.I32, dtype.UI8} {
			for m := MonoidAdd; m <= MonoidSecond; m++ {
				if m >= MonoidAnd && m <= MonoidXor && dt == dtype.F32 {
					continue
				}
				dims := c.dims
				dims.WholeWindows = true
				x, u := random(r, dt, 1, false, c.operand...), random(r, dt, 1, false, c.updates...)
				at := OpRemainder.Of(random(r, dtype.I32, 1, true, c.indices...), FromInts(dtype.I32, nil, 12))
				got := must(Scatter([]Tensor{x}, at, []Tensor{u}, dims, Combiner{Monoid: m}))
				if other := must(Scatter([]Tensor{x}, at, []Tensor{u}, dims, general(m, false))); difference(other[0], got[0], 1e-5, 4) != "" {
					t.Errorf("%v %v: body gives %v, kernel %v", m, dims, other[0], got[0])
				}
				body := secondRegion(dt)
				if m != MonoidSecond {
					body = region(m.String(), dt)
				}
				attrs := fmt.Sprintf("<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = %s, inserted_window_dims = %s, "+
					"input_batching_dims = %s, scatter_indices_batching_dims = %s, scatter_dims_to_operand_dims = %s, index_vector_dim = %d>, "+
					"indices_are_sorted = false, unique_indices = false}> %s",
					list(dims.UpdateWindowDims), list(dims.InsertedWindowDims), list(dims.InputBatchingDims), list(dims.ScatterIndicesBatchDims),
					list(dims.ScatterDimsToOperandDims), dims.IndexVectorDim, body)
				args := []Tensor{x, at, u}
				cases = append(cases, peerCase{
					name: fmt.Sprint("scatter ", m, dt), text: program("stablehlo.scatter", attrs, args, got), args: args, got: got, tolerance: 1e-5,
					scale: 4,
				})
			}
		}
	}
	runPeer(t, cases)
}

// Sorts by all types and directions are those of XLA.
func TestSortAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	var cases []peerCase
	for _, dt := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I32, dtype.UI64, dtype.I8} {
		for dim := range int64(2) {
			for _, d := range []Direction{LT, GT} {
				x := random(r, dt, 1, true, 13, 20)
				ids := Iota(dtype.I32, x.Shape, dim)
				kind := map[dtype.Kind]string{dtype.Float: "TOTALORDER", dtype.Signed: "SIGNED", dtype.Unsigned: "UNSIGNED"}[dt.Kind()]
				got := must(Sort([]Tensor{x, ids}, dim, Comparator{Keys: []SortKey{{Descending: d == GT, TotalOrder: true}}}))
				body := Comparator{Body: func(args []Tensor) ([]Tensor, error) { return []Tensor{Compare(args[0], args[1], d, true)}, nil }}
				if other := must(Sort([]Tensor{x, ids}, dim, body)); !other[0].Equal(got[0]) || !other[1].Equal(got[1]) {
					t.Errorf("sort %s: body and keys differ", dt)
				}
				attrs := fmt.Sprintf("<{dimension = %[1]d : i64, is_stable = true}> ({\n^bb0(%%x: tensor<%[2]s>, %%y: tensor<%[2]s>, %%i: "+
					"tensor<i32>, %%j: tensor<i32>):\n"+
					"%%z = stablehlo.compare %[3]s, %%x, %%y, %[4]s : (tensor<%[2]s>, tensor<%[2]s>) -> tensor<i1>\nstablehlo.return %%z : "+
					"tensor<i1>\n})", dim, dt, d, kind)
				cases = append(cases, peerCase{
					name: fmt.Sprint("sort ", dt, d), text: program("stablehlo.sort", attrs, []Tensor{x, ids}, got), args: []Tensor{x, ids}, got: got,
				})
			}
		}
		x := random(r, dt, 1, true, 3, 20)
		values, index := TopK(x, 7)
		text := fmt.Sprintf("module @m { func.func public @main(%%a: %[1]s) -> (%[2]s, %[3]s) {\n%%v, %%i = chlo.top_k(%%a, k = 7) : %[1]s -> "+
			"(%[2]s, %[3]s)\nreturn %%v, %%i : %[2]s, %[3]s\n} }",
			typeText(x), typeText(values), typeText(index))
		cases = append(cases, peerCase{name: "top_k " + dt.String(), text: text, args: []Tensor{x}, got: []Tensor{values, index}})
	}
	runPeer(t, cases)
}

// Transforms, factorizations, solutions, generators and normalizations are those of XLA.
func TestAlgorithmsAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	var cases []peerCase
	add := func(op, attrs string, tolerance float64, args []Tensor, got ...Tensor) {
		cases = append(cases, peerCase{name: op, text: program(op, attrs, args, got), args: args, got: got, tolerance: tolerance, scale: 10})
	}
	for _, n := range []int64{1, 2, 7, 8, 12, 17} {
		for _, length := range [][]int64{{n}, {3, n}, {4, 3, n}} {
			for kind := FFT; kind <= IRFFT; kind++ {
				shape := slices.Concat([]int64{2}, length)
				x := random(r, dtype.C64, 1, false, shape...)
				switch kind {
				case RFFT:
					x = Real(x)
				case IRFFT:
					shape[len(shape)-1] = n/2 + 1
					x = random(r, dtype.C64, 1, false, shape...)
				}
				attrs := fmt.Sprintf("<{fft_length = %s, fft_type = #stablehlo<fft_type %s>}>", array(length), kind)
				add("stablehlo.fft", attrs, 1e-5, []Tensor{x}, Fft(x, kind, length))
			}
		}
	}
	for _, dt := range []dtype.Type{dtype.F32, dtype.F64, dtype.C64} {
		m := random(r, dt, 1, false, 3, 5, 5)
		spd := DotGeneral(m, Conj(m), DotDims{[]int64{0}, []int64{0}, []int64{2}, []int64{2}}, dt)
		for _, lower := range []bool{true, false} {
			add("stablehlo.cholesky", fmt.Sprintf("<{lower = %v}>", lower), 1e-3, []Tensor{spd}, Cholesky(spd, lower))
			for _, left := range []bool{true, false} {
				for kind := NoTranspose; kind <= Adjoint; kind++ {
					for _, unit := range []bool{true, false} {
						shape := []int64{3, 5, 2}
						if !left {
							shape = []int64{3, 2, 5}
						}
						b := random(r, dt, 1, false, shape...)
						got := TriangularSolve(spd, b, TriangularParams{LeftSide: left, Lower: lower, UnitDiagonal: unit, Transpose: kind})
						attrs := fmt.Sprintf("<{left_side = %v, lower = %v, unit_diagonal = %v, transpose_a = #stablehlo<transpose %s>}>", left, lower, unit,
							kind)
						add("stablehlo.triangular_solve", attrs, 2e-2, []Tensor{spd, b}, got)
					}
				}
			}
		}
	}
	for _, algorithm := range []RngAlgorithm{RngDefault, RngThreeFry, RngPhilox} {
		for _, dt := range []dtype.Type{dtype.UI32, dtype.UI64, dtype.UI8, dtype.UI16} {
			for _, shape := range [][]int64{{7}, {3, 4}, {3, 5}, {}} {
				if algorithm == RngThreeFry && dt.Bits() < 32 {
					continue // XLA has no such
				}
				state := Of(dtype.UI64, []int64{2}, r.Uint64(), ^uint64(1))
				if algorithm == RngPhilox {
					state = Of(dtype.UI64, []int64{3}, r.Uint64(), ^uint64(1), r.Uint64())
				}
				next, bits := RngBitGenerator(state, algorithm, dt, shape)
				add("stablehlo.rng_bit_generator", "<{rng_algorithm = #stablehlo<rng_algorithm "+algorithm.String()+">}>", 0, []Tensor{state}, next,
					bits)
			}
		}
	}
	x, dy := random(r, dtype.F32, 1, false, 4, 3, 5), random(r, dtype.F32, 1, false, 4, 3, 5)
	scale, offset := random(r, dtype.F32, 1, false, 3), random(r, dtype.F32, 1, false, 3)
	y, mean, variance := BatchNormTraining(x, scale, offset, 1e-3, 1)
	add("stablehlo.batch_norm_training", "<{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>", 1e-5, []Tensor{x, scale, offset}, y, mean,
		variance)
	add("stablehlo.batch_norm_inference", "<{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>", 1e-5,
		[]Tensor{x, scale, offset, mean, variance},
		BatchNormInference(x, scale, offset, mean, variance, 1e-3, 1))
	dx, dscale, doffset := BatchNormGrad(x, scale, mean, variance, dy, 1e-3, 1)
	add("stablehlo.batch_norm_grad", "<{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>", 1e-5, []Tensor{x, scale, mean, variance, dy}, dx,
		dscale, doffset)
	runPeer(t, cases)
}
