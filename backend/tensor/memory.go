package tensor

import (
	"math/bits"
	"sync"
	"unsafe"
)

// alignment is that of elements in memory, in bytes: of every element type.
const alignment = 16

// Memory is handed out in sizes of 16·2^k and 24·2^k bytes, so that what is given back fits again.
const (
	smallestSize = 16
	largestSize  = 64 << 20 // what is larger is allocated as it is, and not given back
)

// pools hold what was given back, by the number of the size.
var pools [2 * (64 - 4)]sync.Pool

// sizeOf returns the number and the bytes of the smallest size for n bytes.
func sizeOf(n int64) (number int, bytes int64) {
	if n <= smallestSize {
		return 0, smallestSize
	}
	k := bits.Len64(uint64(n-1)) - 4 // 16·2^k is enough
	if half := int64(smallestSize) << k / 4 * 3; n <= half && k > 1 {
		return 2*k - 1, half
	}
	return 2 * k, smallestSize << k
}

// memory returns aligned bytes, which may hold anything.
func memory(n int64) []byte {
	if n > largestSize {
		return allocate(n, (n+alignment-1)/alignment*alignment)
	}
	number, bytes := sizeOf(n)
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

// zeroedMemory returns aligned bytes that are zero.
func zeroedMemory(n int64) []byte {
	data := memory(n)
	clear(data)
	return data
}

// Recycle gives the memory of a tensor back, for others to be made there: its Data, or what that began as. Nobody may use the tensor any
// more, nor one that shares its data. Data that is not as large as memory is handed out is left alone.
func Recycle(data []byte) {
	bytes := int64(cap(data))
	if len(data) == 0 || bytes > largestSize {
		return
	}
	if number, size := sizeOf(bytes); size == bytes && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%alignment == 0 {
		pools[number].Put(unsafe.Pointer(unsafe.SliceData(data)))
	}
}
