package tensor

import (
	"math/bits"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// RngAlgorithm is an rng_algorithm.
type RngAlgorithm uint8

// The algorithms; RngDefault is Philox.
const (
	RngDefault RngAlgorithm = iota
	RngThreeFry
	RngPhilox
)

var rngNames = [...]string{"DEFAULT", "THREE_FRY", "PHILOX"}

// String returns the algorithm's MLIR spelling.
func (a RngAlgorithm) String() string { return rngNames[a] }

// RngBitGenerator returns random bits of integer type out and the next state, equal to those of XLA for CPU
// (stablehlo.md section 2.11). The state is ui64[2], key and counter, or for Philox also ui64[3], whose last entry
// is the upper half of the counter.
func RngBitGenerator(state Tensor, algorithm RngAlgorithm, out dtype.Type, shape []int64) (next, output Tensor) {
	words := slices.Clone(Elems[uint64](state))
	output = New(out, shape)
	if algorithm == RngThreeFry {
		words[1] += threeFryFill(output, words[0], words[1])
	} else {
		philoxFill(output, words)
	}
	return Of(state.DType, state.Shape, words...), output
}

// setWords writes 32-bit words as the elements of out: two, low first, for 64 bits, the low bits for 16 and less.
func setWords(out Tensor, words []uint32) {
	switch out.DType.Bytes() {
	case 1:
		mask := uint32(1)<<out.DType.Bits() - 1
		for i := range out.Data {
			out.Data[i] = uint8(signed(out.DType, byte(words[i]&mask)))
		}
	case 2:
		for i := range Elems[uint16](out) {
			Elems[uint16](out)[i] = uint16(words[i])
		}
	case 4:
		copy(Elems[uint32](out), words)
	default:
		for i := range Elems[uint64](out) {
			Elems[uint64](out)[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
		}
	}
}

// wordsPerElement is how many 32-bit words an element takes.
func wordsPerElement(t dtype.Type) int { return max(1, t.Bytes()/4) }

func philoxFill(out Tensor, state []uint64) {
	n := out.Len() * wordsPerElement(out.DType)
	blocks := (n + 3) / 4
	words := make([]uint32, 0, 4*blocks)
	key := state[0]
	high := key
	if len(state) == 3 {
		high = state[2]
	}
	counter := state[1]
	for range blocks {
		block := philox([4]uint32{uint32(counter), uint32(counter >> 32), uint32(high), uint32(high >> 32)}, key)
		words = append(words, block[:]...)
		counter++
		if counter == 0 { // the words are one counter of 128 bits
			high++
		}
	}
	setWords(out, words)
	state[1] = counter
	if len(state) == 3 {
		state[2] = high
	}
}

// philox is Philox4x32-10.
func philox(c [4]uint32, key uint64) [4]uint32 {
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		hi0, lo0 := bits.Mul32(0xD2511F53, c[0])
		hi1, lo1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ k0, lo1, hi0 ^ c[3] ^ k1, lo0}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c
}

// threeFryFill returns how many counts it used.
func threeFryFill(out Tensor, key, counter uint64) uint64 {
	if wordsPerElement(out.DType) == 2 {
		words := make([]uint32, 0, 2*out.Len())
		for j := range uint64(out.Len()) {
			block := threeFry(key, counter+j)
			words = append(words, block[:]...)
		}
		setWords(out, words)
		return uint64(out.Len())
	}
	dim := halvedDim(out.Shape)
	outer, n, inner := int64(1), int64(1), int64(1)
	if dim >= 0 {
		outer, n, inner = lists.Product(out.Shape[:dim]), out.Shape[dim], lists.Product(out.Shape[dim+1:])
	}
	half := (n + 1) / 2
	words := make([]uint32, out.Len())
	for j := range outer * half * inner {
		block := threeFry(key, counter+uint64(j))
		o, h, i := j/(half*inner), j/inner%half, j%inner
		for k := range min(2, n-2*h) {
			words[(o*n+2*h+k)*inner+i] = block[k]
		}
	}
	setWords(out, words)
	return uint64(outer * half * inner)
}

// halvedDim returns the first even dimension, otherwise the largest; -1 for a scalar.
func halvedDim(shape []int64) int {
	largest := -1
	for d, n := range shape {
		if n%2 == 0 {
			return d
		}
		if largest < 0 || n > shape[largest] {
			largest = d
		}
	}
	return largest
}

var threeFryRotations = [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}

// threeFry is Threefry-2x32-20 of a counter.
func threeFry(key, counter uint64) [2]uint32 {
	k := [3]uint32{uint32(key), uint32(key >> 32)}
	k[2] = k[0] ^ k[1] ^ 0x1BD11BDA
	x0, x1 := uint32(counter)+k[0], uint32(counter>>32)+k[1]
	for group := range 5 {
		for _, r := range threeFryRotations[group%2] {
			x0 += x1
			x1 = bits.RotateLeft32(x1, r) ^ x0
		}
		x0 += k[(group+1)%3]
		x1 += k[(group+2)%3] + uint32(group) + 1
	}
	return [2]uint32{x0, x1}
}
