package tensor

import (
	"slices"
	"testing"

	"autoshard/ir/dtype"

	"pgregory.net/rapid"
)

// Updates in place write what the others return, which leave their operands as they were.
func TestUpdatesInPlace(t *testing.T) {
	add := Combiner{Monoid: MonoidAdd}
	rapid.Check(t, func(t *rapid.T) {
		x, update := drawTensor(t, []int64{5, 3}), drawTensor(t, []int64{2, 3})
		kept, changed := x.Clone(), x.Clone()
		start := rapid.Int64Range(-2, 7)
		starts := []Tensor{FromInts(dtype.I32, nil, start.Draw(t, "row")), FromInts(dtype.I32, nil, start.Draw(t, "column"))}
		want := DynamicUpdateSlice(x, update, starts)
		DynamicUpdateSliceInPlace(changed, update, starts)
		if !x.Equal(kept) || !changed.Equal(want) {
			t.Fatalf("%v became %v; in place %v, want %v", kept, x, changed, want)
		}
		rows := FromInts(dtype.I32, []int64{2, 1}, start.Draw(t, "first"), start.Draw(t, "second"))
		dims := ScatterDims{UpdateWindowDims: []int64{1}, InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1}
		pure, err := Scatter([]Tensor{x}, rows, []Tensor{update}, dims, add)
		if err != nil {
			t.Fatal(err)
		}
		inPlace, err := ScatterInPlace([]Tensor{x.Clone()}, rows, []Tensor{update}, dims, add)
		if err != nil || !x.Equal(kept) || !inPlace[0].Equal(pure[0]) {
			t.Fatalf("%v became %v; in place %v, want %v, %v", kept, x, inPlace[0], pure[0], err)
		}
	})
}

// The cipher is the one behind the generator: a state of key and counter yields the ciphers of the counters from there on.
func TestThreeFryIsTheGenerator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, counter := rapid.Uint64().Draw(t, "key"), rapid.Uint64().Draw(t, "counter")
		state := Of(dtype.UI64, []int64{2}, key, counter)
		next, output := RngBitGenerator(state, RngThreeFry, dtype.UI64, []int64{4})
		var k0, k1, x0, x1 []uint32
		for j := range uint64(4) {
			k0, k1 = append(k0, uint32(key)), append(k1, uint32(key>>32))
			x0, x1 = append(x0, uint32(counter+j)), append(x1, uint32((counter+j)>>32))
		}
		words := func(list []uint32) Tensor { return Of(dtype.UI32, []int64{4}, list...) }
		y0, y1 := ThreeFry2x32(words(k0), words(k1), words(x0), words(x1))
		for j, want := range Elems[uint64](output) {
			if got := uint64(Elems[uint32](y0)[j]) | uint64(Elems[uint32](y1)[j])<<32; got != want {
				t.Fatalf("number %d is %x, the generator says %x", j, got, want)
			}
		}
		if want := []uint64{key, counter + 4}; !slices.Equal(Elems[uint64](next), want) {
			t.Fatalf("the next state is %v, want %v", next, want)
		}
	})
}

// A scalar of any integer type is its number; what is too large for an int64 is the largest.
func TestScalar(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.I1, dtype.I8, dtype.UI16, dtype.I32, dtype.UI32, dtype.I64} {
		if got := Scalar(FromInts(dt, nil, 1)); got != 1 {
			t.Errorf("1 as %s is %d", dt, got)
		}
	}
	if got := Scalar(Of(dtype.UI64, nil, uint64(1)<<63)); got != 1<<63-1 {
		t.Errorf("2^63 is %d", got)
	}
}
