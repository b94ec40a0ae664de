package run

import (
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Split returns every device's block of a whole tensor that is cut as a layout says, by partition id. Devices that hold
// the same block share it.
func Split(mesh *subaxis.Mesh, l *collectives.Layout, whole *tensor.Tensor) []*tensor.Tensor {
	out := make([]*tensor.Tensor, mesh.Devices())
	made := map[int64]*tensor.Tensor{}
	for logical := range mesh.Devices() {
		start, index := Start(mesh, l, logical, whole.Shape)
		if _, ok := made[index]; !ok {
			block := tensor.New(whole.DType, l.LocalDims(whole.Shape))
			copyBlock(block.Data, whole.Data, whole.Shape, start, block.Shape, whole.DType.Bytes(), false)
			made[index] = &block
		}
		out[mesh.DeviceID(logical)] = made[index]
	}
	return out
}

// Join puts blocks, given by partition id, together to a tensor of that shape. Where several devices hold the same block,
// the first one's counts; where blocks are terms along unreduced axes, they are combined in the order of their places.
func Join(mesh *subaxis.Mesh, l *collectives.Layout, dims []int64, blocks []*tensor.Tensor) *tensor.Tensor {
	out := tensor.New(blocks[0].DType, dims)
	type place struct{ block, term int64 }
	seen := map[place]bool{}
	values := map[int64]*tensor.Tensor{}
	for logical := range mesh.Devices() {
		start, index := Start(mesh, l, logical, dims)
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

// Start returns the position of a device's block in the whole tensor, and a number that equals another device's where
// both hold the same block. Device is the place in the mesh, before DeviceIDs is applied.
func Start(mesh *subaxis.Mesh, l *collectives.Layout, device int64, dims []int64) (start []int64, index int64) {
	start = make([]int64, len(dims))
	for d := range l.Dims {
		shards := subaxis.Product(l.Dims[d])
		shard := mesh.ShardIndex(device, l.Dims[d])
		start[d] = shard * (dims[d] / shards)
		index = index*shards + shard
	}
	return start, index
}

// Put copies a block to its place in a whole tensor.
func Put(whole, block *tensor.Tensor, start []int64) {
	copyBlock(block.Data, whole.Data, whole.Shape, start, block.Shape, whole.DType.Bytes(), true)
}

// copyBlock copies between a dense block and its place in a whole tensor of that shape, row by row; into the whole
// where put is set, out of it otherwise.
func copyBlock(block, whole []byte, dims, start, size []int64, width int, put bool) {
	rank := len(dims)
	row := int64(width)
	if rank > 0 {
		row *= size[rank-1]
	}
	if len(block) == 0 {
		return
	}
	at := make([]int64, rank)
	for offset := int64(0); offset < int64(len(block)); offset += row {
		place := int64(0)
		for d := range rank {
			place = place*dims[d] + start[d] + at[d]
		}
		place *= int64(width)
		if put {
			copy(whole[place:place+row], block[offset:offset+row])
		} else {
			copy(block[offset:offset+row], whole[place:place+row])
		}
		for d := rank - 2; d >= 0; d-- {
			if at[d]++; at[d] < size[d] {
				break
			}
			at[d] = 0
		}
	}
}
