package tensor

import (
	"testing"
	"unsafe"

	"autoshard/ir/dtype"
)

// Dot products are added up in an order that depends on where arrays begin, so equal blocks on different devices have
// to begin alike.
func TestAlignment(t *testing.T) {
	var kept []Tensor
	for n := range int64(200) {
		fresh := New(dtype.F32, []int64{n + 1})
		shifted, err := FromBytes(dtype.F32, []int64{n}, fresh.Data[4:])
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, fresh, shifted)
	}
	for _, x := range kept {
		if data := x.Data; len(data) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%16 != 0 {
			t.Errorf("%v begins at %p", x.Shape, unsafe.SliceData(data))
		}
	}
}

// Unravel is the inverse of the row-major offset: element k of Iota along a dimension is its index there.
func TestUnravel(t *testing.T) {
	shape := []int64{2, 3, 4}
	for d := range shape {
		for k, want := range Iota(dtype.I64, shape, int64(d)).Ints() {
			if got := Unravel(int64(k), shape); got[d] != want {
				t.Errorf("element %d has index %v, want %d at dimension %d", k, got, want, d)
			}
		}
	}
}
