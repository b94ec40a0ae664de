package tensor

import (
	"testing"
	"unsafe"

	"autoshard/ir/dtype"
)

// Sizes hold what they are for, are aligned, waste less than half, and are those of what they hold.
func TestSizes(t *testing.T) {
	for n := int64(1); n < 100_000; n += 7 {
		number, bytes := sizeOf(n)
		again, same := sizeOf(bytes)
		if bytes < n || bytes%alignment != 0 || bytes > max(smallestSize, 2*n) || again != number || same != bytes {
			t.Fatalf("%d bytes are of size %d, %d bytes, which is of size %d, %d bytes", n, number, bytes, again, same)
		}
	}
}

// What is given back is handed out again: zero where zeros are asked for, as large as it was, and never what somebody else allocated.
func TestRecycle(t *testing.T) {
	x := New(dtype.F32, []int64{100})
	for range 1000 { // a pool may lose what it holds
		for i := range x.Data {
			x.Data[i] = 1
		}
		at := unsafe.SliceData(x.Data)
		Recycle(x.Data)
		x = New(dtype.F32, []int64{90})
		for i, b := range x.Data {
			if b != 0 {
				t.Fatalf("byte %d of a new tensor is %d", i, b)
			}
		}
		if len(x.Data) != 360 {
			t.Fatalf("a tensor of 90 elements has %d bytes", len(x.Data))
		}
		if unsafe.SliceData(x.Data) == at {
			foreign := make([]byte, 1000)
			Recycle(foreign[:0:0])
			Recycle(foreign[8:])
			return
		}
	}
	t.Error("memory that was given back was never handed out again")
}
