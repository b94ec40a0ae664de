package interp

import (
	"encoding/binary"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
)

// Spread says which block of a value each process of a grid has; nil: all have the only one. Blocks are numbered in the order of the first
// processes that have them, so that spreads that are alike are equal.
type Spread []int32

// NewSpread returns the spread in which processes have the same block where their keys are equal.
func NewSpread[K comparable](keys []K) Spread {
	s := make(Spread, len(keys))
	blocks := map[K]int32{}
	for process, key := range keys {
		block, known := blocks[key]
		if !known {
			block = int32(len(blocks))
			blocks[key] = block
		}
		s[process] = block
	}
	if len(blocks) < 2 {
		return nil
	}
	return s
}

// Blocks returns how many blocks there are.
func (s Spread) Blocks() int64 {
	if s == nil {
		return 1
	}
	return int64(slices.Max(s)) + 1
}

// Of returns the block of a process.
func (s Spread) Of(process int) int32 {
	if s == nil {
		return 0
	}
	return s[process]
}

// equal is slices.Equal, which need not look where both are the same list.
func (s Spread) equal(t Spread) bool {
	return len(s) == len(t) && (len(s) == 0 || &s[0] == &t[0] || slices.Equal(s, t))
}

// common returns the spread in which two processes have the same block where they have in both.
func (s Spread) common(t Spread) Spread {
	switch {
	case t == nil || s.equal(t):
		return s
	case s == nil:
		return t
	}
	keys := make([][2]int32, len(s))
	for process := range s {
		keys[process] = [2]int32{s[process], t[process]}
	}
	return NewSpread(keys)
}

// sources returns which block of s each block of t is, by the processes that have them.
func (s Spread) sources(t Spread) []int32 {
	from := make([]int32, t.Blocks())
	for process, block := range t {
		from[block] = s.Of(process)
	}
	return from
}

// key makes numbers a key of a map.
func key(numbers []int32) string {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return string(b)
}

// Blocks are what the processes of a grid have of one value: blocks of one type, one behind the other.
type Blocks struct {
	Block  tensor.Tensor // the type of a block; Data has all of them
	Spread Spread
}

// Of returns the block of a process.
func (b *Blocks) Of(process int) tensor.Tensor {
	return blockOf(b.Block.Data, b.Block, b.Spread.Blocks(), b.Spread.Of(process))
}

// blockOf returns one of the blocks that lie one behind the other, of the type of like.
func blockOf(data []byte, like tensor.Tensor, blocks int64, block int32) tensor.Tensor {
	size := len(data) / int(blocks)
	like.Data = data[int(block)*size:][:size:size]
	return like
}

// stacked returns the shape in which blocks of a spread lie in a slot: where there are several, the number of them is the first dimension.
func stacked(s Spread, shape []int64) []int64 {
	if s == nil {
		return shape
	}
	return slices.Concat([]int64{s.Blocks()}, shape)
}

// widening puts the blocks of a value where a finer spread has them. The zero one leaves a value as it is.
type widening struct {
	sources []int32 // the block of the value that each block of the result is
	blocks  int64   // of the value
	shape   []int64 // of the result, as it lies in its slot
}

// widen returns the widening of a value of a local shape from one spread to another. A scalar may become a block that repeats it.
func widen(from, to Spread, shape, result []int64) widening {
	if from.equal(to) && len(shape) == len(result) {
		return widening{}
	}
	return widening{from.sources(to), from.Blocks(), stacked(to, result)}
}

// of returns the widened value, in memory of its own.
func (w *widening) of(t tensor.Tensor) tensor.Tensor {
	size := len(t.Data) / int(w.blocks)
	picked := tensor.Tensor{DType: t.DType, Shape: w.shape, Data: memory.Take(int64(size * len(w.sources)))}
	for block, source := range w.sources {
		copy(picked.Data[block*size:], t.Data[int(source)*size:][:size])
	}
	if len(w.shape) == 1 || size > t.DType.Bytes() {
		return picked
	}
	picked.Shape = w.shape[:1]
	filled := tensor.BroadcastInDim(picked, leading, w.shape)
	memory.Give(picked.Data)
	return filled
}

// leading lists the first dimension.
var leading = []int64{0}
