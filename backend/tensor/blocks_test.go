package tensor_test

import (
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"

	"pgregory.net/rapid"
)

// drawBlocks returns blocks of a shape and the tensor in which they lie one behind the other; one block lies as it is.
func drawBlocks(t *rapid.T, n int, shape ...int64) ([]tensor.Tensor, tensor.Tensor) {
	blocks := make([]tensor.Tensor, n)
	for k := range blocks {
		x := tensor.New(dtype.F32, shape)
		for i := range tensor.Elems[float32](x) {
			tensor.Elems[float32](x)[i] = rapid.Float32Range(-4, 4).Draw(t, "element")
		}
		blocks[k] = x
	}
	if n == 1 {
		return blocks, blocks[0]
	}
	all := tensor.New(dtype.F32, append([]int64{int64(n)}, shape...))
	for k, b := range blocks {
		copy(all.Data[k*len(b.Data):], b.Data)
	}
	return blocks, all
}

// Products of blocks that are made at once have the bits of those that are made one by one, whatever the dimensions stand for.
func TestNewDots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs, x := drawBlocks(t, rapid.IntRange(1, 3).Draw(t, "lhs"), 2, 3, 4)
		ys, y := drawBlocks(t, rapid.IntRange(1, 3).Draw(t, "rhs"), 4, 3, 2)
		count := rapid.IntRange(1, 5).Draw(t, "products")
		lhsOf, rhsOf := make([]int32, count), make([]int32, count)
		for i := range count {
			lhsOf[i], rhsOf[i] = int32(rapid.IntRange(0, len(xs)-1).Draw(t, "l")), int32(rapid.IntRange(0, len(ys)-1).Draw(t, "r"))
		}
		lhsOf[0], rhsOf[0] = int32(len(xs)-1), int32(len(ys)-1)
		if len(ys) == 1 && rapid.Bool().Draw(t, "each once") { // by one matrix
			count = len(xs)
			lhsOf, rhsOf = []int32{0, 1, 2}[:count], make([]int32, count)
		}
		dims := rapid.SampledFrom([]tensor.DotDims{
			{LHSContract: []int64{2}, RHSContract: []int64{0}},
			{LHSContract: []int64{0, 1}, RHSContract: []int64{2, 1}},
			{LHSBatch: []int64{1}, RHSBatch: []int64{1}, LHSContract: []int64{2}, RHSContract: []int64{0}},
			{LHSBatch: []int64{2, 0}, RHSBatch: []int64{0, 2}, LHSContract: []int64{1}, RHSContract: []int64{1}},
		}).Draw(t, "dims")
		got := tensor.NewDots(xs[0].Shape, ys[0].Shape, dims, dtype.F32, lhsOf, rhsOf).Of(x, y)
		for i := range count {
			want := tensor.DotGeneral(xs[lhsOf[i]], ys[rhsOf[i]], dims, dtype.F32)
			have := want
			have.Data = got.Data[i*len(want.Data):][:len(want.Data)]
			if !have.Equal(want) {
				t.Fatalf("product %d of blocks %d and %d is %v, want %v", i, lhsOf[i], rhsOf[i], have, want)
			}
		}
	})
}

// Windows on tensors that lie one behind the other are those on each of them.
func TestEachWindow(t *testing.T) {
	add := tensor.Combiner{Monoid: tensor.MonoidAdd}
	zero := []tensor.Tensor{tensor.New(dtype.F32, nil)}
	rapid.Check(t, func(t *rapid.T) {
		xs, x := drawBlocks(t, rapid.IntRange(2, 3).Draw(t, "tensors"), 3, 7)
		pair := func(least, most int64, name string) []int64 {
			if rapid.Bool().Draw(t, "default "+name) {
				return nil
			}
			return rapid.SliceOfN(rapid.Int64Range(least, most), 2, 2).Draw(t, name)
		}
		w := tensor.Window{Size: rapid.SliceOfN(rapid.Int64Range(1, 6), 2, 2).Draw(t, "size"), Stride: pair(1, 3, "stride"),
			BaseDilation: pair(1, 2, "base dilation"), WindowDilation: pair(1, 2, "window dilation")}
		if low := pair(0, 5, "padding"); low != nil {
			w.Padding = [][2]int64{{low[0], 1}, {low[1], 0}}
		}
		all, err := tensor.ReduceWindow([]tensor.Tensor{x}, zero, w.Each(), add)
		if err != nil {
			t.Fatal(err)
		}
		for k := range xs {
			want, err := tensor.ReduceWindow(xs[k:k+1], zero, w, add)
			if err != nil {
				t.Fatal(err)
			}
			have, size := want[0], len(want[0].Data)
			have.Data = all[0].Data[k*size:][:size]
			if !have.Equal(want[0]) {
				t.Fatalf("tensor %d has %v, want %v", k, have, want[0])
			}
		}
	})
}

// What is made in memory that is there is what is made in new memory.
func TestInto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs, _ := drawBlocks(t, rapid.IntRange(1, 3).Draw(t, "tensors"), 2, 3)
		dim := rapid.Int64Range(0, 1).Draw(t, "dim")
		want := tensor.Concatenate(xs, dim)
		got := tensor.New(dtype.F32, want.Shape)
		tensor.ConcatenateInto(got, xs, dim)
		if !got.Equal(want) {
			t.Fatalf("joined to %v, want %v", got, want)
		}
		body := tensor.Combiner{Monoid: rapid.SampledFrom([]tensor.Monoid{tensor.MonoidAdd, tensor.MonoidMaximum}).Draw(t, "body")}
		element := rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.BF16, dtype.F16, dtype.F64}).Draw(t, "type")
		sum := tensor.Convert(xs[0], dtype.F64) // the definition: made in f64, and rounded once
		for k, x := range xs {
			xs[k] = tensor.Convert(x, element)
			if wide := tensor.Convert(xs[k], dtype.F64); k == 0 {
				sum = wide
			} else {
				sum = tensor.Add(sum, wide)
			}
		}
		want, err := tensor.Fold(xs, body)
		if body.Monoid == tensor.MonoidAdd && !want.Equal(tensor.Convert(sum, element)) {
			t.Fatalf("summed to %v, want %v", want, sum)
		}
		got = tensor.New(element, want.Shape)
		if err := tensor.FoldInto(got, xs, body); err != nil {
			t.Fatal(err)
		}
		if err != nil || !got.Equal(want) {
			t.Fatalf("folded to %v, want %v, %v", got, want, err)
		}
	})
}

// A part of one dimension goes to a place along another.
func TestCopyPart(t *testing.T) {
	x := tensor.FromInts(dtype.I32, []int64{2, 4}, 0, 1, 2, 3, 4, 5, 6, 7)
	out := tensor.New(dtype.I32, []int64{6, 2})
	tensor.CopyPart(out, 1, 0, x, 2, 1, 2)
	if want := tensor.FromInts(dtype.I32, []int64{6, 2}, 0, 0, 2, 3, 6, 7, 0, 0, 0, 0, 0, 0); !out.Equal(want) {
		t.Errorf("got %v, want %v", out, want)
	}
}
