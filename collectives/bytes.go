package collectives

import (
	"math"
	"math/bits"
)

// GroupBytes returns V, the bytes that the formulas take, of a communication over groups of n devices with the given
// bytes of one device's operand (specification: cost.md section 0.3).
func GroupBytes(kind Kind, n, operand int64) int64 {
	if kind == AllGather || kind == AllToAll {
		return Times(n, operand)
	}
	return operand
}

// SentBytes returns what the devices of one group of n send together in the ring algorithms, for V bytes: n(n-1)
// blocks for a gather, n-1 operands for a reduce-scatter, an all-to-all, a broadcast or a reduction for one device, twice
// that for an all-reduce, and one block a device, none of which stays, for a permute. The count is exact where n divides V;
// results beyond the range become the largest int64.
func SentBytes(kind Kind, n, v int64) int64 {
	switch kind {
	case AllGather, ReduceScatter, Broadcast, Reduce:
		return Times(n-1, v)
	case AllReduce:
		return Times(2*(n-1), v)
	case AllToAll:
		return Times(n-1, v/n)
	case Permute:
		if n > 1 {
			return Times(n, v)
		}
	}
	return 0
}

// SentAmong returns what the devices of groups send together where each has an operand of so many bytes. Results beyond the range become
// the largest int64.
func SentAmong(kind Kind, groups [][]int64, operand int64) int64 {
	sent := int64(0)
	for _, members := range groups {
		n := int64(len(members))
		if sent += SentBytes(kind, n, GroupBytes(kind, n, operand)); sent < 0 {
			return math.MaxInt64
		}
	}
	return sent
}

// Times multiplies counts that are not negative; products beyond the range become the largest int64.
func Times(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
