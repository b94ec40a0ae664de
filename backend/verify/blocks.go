package verify

import (
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// cut returns every device's block of a tensor. Devices are in the order of their partition ids.
func cut(mesh *subaxis.Mesh, l *collectives.Layout, t *tensor.Tensor) []*tensor.Tensor {
	out := make([]*tensor.Tensor, mesh.Devices())
	made := map[int64]*tensor.Tensor{}
	for logical := range mesh.Devices() {
		start, index := blockStart(mesh, l, logical, t.Shape)
		if _, ok := made[index]; !ok {
			block := tensor.New(t.DType, l.LocalDims(t.Shape))
			copyBlock(block.Data, t.Data, t.Shape, start, block.Shape, t.DType.Bytes(), false)
			made[index] = &block
		}
		out[mesh.DeviceID(logical)] = made[index]
	}
	return out
}

// join puts the blocks of devices together, one for each device. Where several devices hold the same block, the first
// one's counts.
func join(mesh *subaxis.Mesh, port *shardmap.Port, blocks []*tensor.Tensor) *tensor.Tensor {
	out := tensor.New(blocks[0].DType, port.Dims)
	for logical := mesh.Devices() - 1; logical >= 0; logical-- {
		start, _ := blockStart(mesh, &port.Layout, logical, port.Dims)
		block := blocks[mesh.DeviceID(logical)]
		copyBlock(block.Data, out.Data, port.Dims, start, block.Shape, out.DType.Bytes(), true)
	}
	return &out
}

// blockStart returns the position of a device's block in the whole tensor, and a number that equals another device's
// where both hold the same block.
func blockStart(mesh *subaxis.Mesh, l *collectives.Layout, device int64, dims []int64) (start []int64, index int64) {
	start = make([]int64, len(dims))
	for d := range l.Dims {
		shards := subaxis.Product(l.Dims[d])
		shard := mesh.ShardIndex(device, l.Dims[d])
		start[d] = shard * (dims[d] / shards)
		index = index*shards + shard
	}
	return start, index
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
