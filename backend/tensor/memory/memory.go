// Package memory hands out the memory that elements of tensors lie in, and takes back what nobody uses any more, for others.
//
//	data := memory.Take(4096)  // holds anything
//	zero := memory.Zeroed(100) // holds zeros
//	memory.Give(data)          // by its only owner
//
// Whoever takes memory owns it. The owner may hand it on, or give it back once, when nothing reads or writes it any more; what is never
// given back is left to the garbage collector. Tests hold kernels and interpreters to that by [Watch].
package memory

import (
	"math/bits"
	"sync"
	"unsafe"
)

// Alignment is that of all memory, in bytes: enough for every element type.
const Alignment = 16

// Memory is handed out in sizes of 16·2^k and 24·2^k bytes, so that what is given back fits again.
const (
	smallest = 16
	largest  = 64 << 20 // what is larger is allocated as it is, and left to the garbage collector
)

// pools hold what was given back, by the number of the size.
var pools [2 * (64 - 4)]sync.Pool

// sizeOf returns the number and the bytes of the smallest size for n bytes.
func sizeOf(n int64) (number int, bytes int64) {
	if n <= smallest {
		return 0, smallest
	}
	k := bits.Len64(uint64(n-1)) - 4 // 16·2^k is enough
	if half := int64(smallest) << k / 4 * 3; n <= half && k > 1 {
		return 2*k - 1, half
	}
	return 2 * k, smallest << k
}

// Take returns n aligned bytes, which may hold anything.
func Take(n int64) []byte {
	if n > largest {
		return allocate(n, (n+Alignment-1)/Alignment*Alignment)
	}
	number, bytes := sizeOf(n)
	if w := watching.Load(); w != nil {
		return w.take(n, bytes)
	}
	if p := pools[number].Get(); p != nil {
		return unsafe.Slice((*byte)(p.(unsafe.Pointer)), bytes)[:n]
	}
	return allocate(n, bytes)
}

// allocate returns n of so many new bytes, a multiple of the alignment. Memory of a multiple of 16 bytes begins at such a multiple.
func allocate(n, bytes int64) []byte {
	words := make([]uint64, bytes/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), bytes)[:n]
}

// Zeroed is Take of bytes that are zero.
func Zeroed(n int64) []byte {
	data := Take(n)
	clear(data)
	return data
}

// Within says whether a begins inside the memory of b.
func Within(a, b []byte) bool {
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && x >= y && x < y+uintptr(len(b))
}

// Give takes back what Take or Zeroed returned: nobody may use it, or what shares it, any more. What is not of a size that is handed out,
// as memory of others may be, is left alone, and what is empty, of which nobody knows who shares it.
func Give(data []byte) {
	bytes := int64(cap(data))
	if len(data) == 0 || bytes > largest {
		return
	}
	number, size := sizeOf(bytes)
	if size != bytes || uintptr(unsafe.Pointer(unsafe.SliceData(data)))%Alignment != 0 {
		return
	}
	if w := watching.Load(); w != nil {
		w.give(data[:bytes])
		return
	}
	pools[number].Put(unsafe.Pointer(unsafe.SliceData(data)))
}
