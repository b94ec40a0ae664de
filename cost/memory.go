package cost

import "autoshard/collectives"

// PaddedBytes returns the bytes of a tensor whose minor dimensions are padded to multiples of a tile's, such as 8x128.
// Results beyond the range become the largest int64.
func PaddedBytes(shape []int64, size int64, tile ...int64) int64 {
	bytes := size
	for i, n := range shape {
		if j := i - len(shape) + len(tile); j >= 0 {
			n = pad(n, tile[j])
		}
		bytes = collectives.Times(bytes, n)
	}
	return bytes
}

// CollectiveScratch returns the bytes of input and output together while a collective of V bytes over n devices runs
// (specification: cost.md section 5.4).
func CollectiveScratch(kind collectives.Kind, n, v int64) int64 {
	switch kind {
	case collectives.AllGather, collectives.ReduceScatter:
		return v + v/n
	case collectives.AllReduce:
		return v
	case collectives.AllToAll:
		return 2 * (v / n)
	case collectives.Permute, collectives.Broadcast, collectives.Reduce:
		return 2 * v
	}
	return 0
}
