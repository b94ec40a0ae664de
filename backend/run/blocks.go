package run

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Split returns every device's block of a whole tensor that is cut as a layout says, by partition id. Devices that hold
// the same block share it. The shape that is cut may be larger than that of the tensor: what is beyond it stays as fill makes blocks,
// nil for zeros.
func Split(mesh *subaxis.Mesh, l *collectives.Layout, whole *tensor.Tensor, stored []int64, fill Fill) []*tensor.Tensor {
	out := make([]*tensor.Tensor, mesh.Devices())
	made := map[int64]*tensor.Tensor{}
	for logical := range mesh.Devices() {
		start, index := Start(mesh, l, logical, stored)
		if _, ok := made[index]; !ok {
			block := tensor.New(whole.DType, l.LocalDims(stored))
			if fill != nil && !slices.Equal(stored, whole.Shape) {
				fill(&block)
			}
			copyBlock(&block, whole, start, false)
			made[index] = &block
		}
		out[mesh.DeviceID(logical)] = made[index]
	}
	return out
}

// Fill fills a block with what its padding is to be.
type Fill func(block *tensor.Tensor)

// Join puts blocks, given by partition id, together to a tensor of that shape, without what pads them. Where several devices hold the
// same block, the first one's counts; where blocks are terms along unreduced axes, they are combined in the order of their places.
func Join(mesh *subaxis.Mesh, l *collectives.Layout, dims []int64, blocks []*tensor.Tensor) *tensor.Tensor {
	out := tensor.New(blocks[0].DType, dims)
	stored := slices.Clone(blocks[0].Shape)
	for d := range l.Dims {
		stored[d] *= subaxis.Product(l.Dims[d])
	}
	type place struct{ block, term int64 }
	seen := map[place]bool{}
	values := map[int64]*tensor.Tensor{}
	for logical := range mesh.Devices() {
		start, index := Start(mesh, l, logical, stored)
		at := place{index, mesh.ShardIndex(logical, l.Unreduced)}
		if seen[at] {
			continue
		}
		seen[at] = true
		block := blocks[mesh.DeviceID(logical)]
		if before := values[index]; before != nil {
			block = combine(l.Reduction, before, block)
		}
		values[index] = block
		Put(&out, block, start)
	}
	return &out
}

// combine returns two terms as one.
func combine(r ir.Reduction, x, y *tensor.Tensor) *tensor.Tensor {
	var out tensor.Tensor
	switch r {
	case ir.ReduceMax:
		out = tensor.Maximum(*x, *y)
	case ir.ReduceMin:
		out = tensor.Minimum(*x, *y)
	default:
		out = tensor.Add(*x, *y)
	}
	return &out
}

// Copies returns the first two devices that hold the same block of a tensor of that shape by its layout and have different
// ones; ok says that there are none. Blocks are given by partition id.
func Copies(mesh *subaxis.Mesh, l *collectives.Layout, dims []int64, blocks []*tensor.Tensor) (first, second int64, ok bool) {
	type place struct{ block, term int64 }
	holder := map[place]int64{}
	for logical := range mesh.Devices() {
		_, index := Start(mesh, l, logical, dims)
		at, id := place{index, mesh.ShardIndex(logical, l.Unreduced)}, mesh.DeviceID(logical)
		if _, known := holder[at]; !known {
			holder[at] = id
		} else if first = holder[at]; !blocks[id].Equal(*blocks[first]) {
			return first, id, false
		}
	}
	return 0, 0, true
}

// Start returns the position of a device's block in a tensor of a shape that is cut into equal blocks, and a number that equals another
// device's where both hold the same block. Device is the place in the mesh, before DeviceIDs is applied.
func Start(mesh *subaxis.Mesh, l *collectives.Layout, device int64, stored []int64) (start []int64, index int64) {
	start = make([]int64, len(stored))
	for d := range l.Dims {
		shards := subaxis.Product(l.Dims[d])
		shard := mesh.ShardIndex(device, l.Dims[d])
		start[d] = shard * (stored[d] / shards)
		index = index*shards + shard
	}
	return start, index
}

// Put copies a block to its place in a whole tensor, as far as it lies there.
func Put(whole, block *tensor.Tensor, start []int64) { copyBlock(block, whole, start, true) }

// copyBlock copies between a block and its place in a whole tensor, row by row, as far as it lies there; into the whole where put is
// set, out of it otherwise.
func copyBlock(block, whole *tensor.Tensor, start []int64, put bool) {
	rank, width := len(start), int64(whole.DType.Bytes())
	size := slices.Clone(block.Shape) // of what lies in the whole
	for d := range size {
		size[d] = min(size[d], whole.Shape[d]-start[d])
		if size[d] <= 0 {
			return
		}
	}
	row := width
	if rank > 0 {
		row *= size[rank-1]
	}
	at := make([]int64, rank)
	for {
		from, to := int64(0), int64(0)
		for d := range rank {
			from, to = from*block.Shape[d]+at[d], to*whole.Shape[d]+start[d]+at[d]
		}
		inBlock, inWhole := block.Data[from*width:][:row], whole.Data[to*width:][:row]
		if put {
			copy(inWhole, inBlock)
		} else {
			copy(inBlock, inWhole)
		}
		d := rank - 2
		for ; d >= 0; d-- {
			if at[d]++; at[d] < size[d] {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return
		}
	}
}
