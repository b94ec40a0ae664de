package mesh

import (
	"slices"
	"unsafe"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
)

// separate returns the blocks of each device.
func separate(values []interp.Blocks, devices int) [][]*tensor.Tensor {
	n := len(values)
	blocks, list, out := make([]tensor.Tensor, n*devices), make([]*tensor.Tensor, n*devices), make([][]*tensor.Tensor, devices)
	for d := range devices {
		for k := range values {
			at := d*n + k
			blocks[at] = values[k].Of(d)
			list[at] = &blocks[at]
		}
		out[d] = list[d*n:][:n:n]
	}
	return out
}

// alike says whether two tensors are of one type.
func alike(x, y *tensor.Tensor) bool {
	return x.DType == y.DType && slices.Equal(x.Shape, y.Shape) && len(x.Data) == len(y.Data)
}

// together returns the arguments of all devices as blocks that lie one behind the other, where they are of the same types. What several
// devices share is one block.
func together(args [][]*tensor.Tensor) ([]interp.Blocks, bool) {
	blocks := make([]interp.Blocks, len(args[0]))
	for k := range blocks {
		sources := make([]*byte, len(args))
		for d, of := range args {
			if len(of) != len(blocks) || of[k] == nil || !alike(of[k], args[0][k]) {
				return nil, false
			}
			sources[d] = unsafe.SliceData(of[k].Data)
		}
		blocks[k] = interp.Blocks{Block: *args[0][k], Spread: interp.NewSpread(sources)}
		if blocks[k].Spread == nil {
			continue
		}
		size := len(args[0][k].Data)
		blocks[k].Block.Data = memory.Take(int64(size) * blocks[k].Spread.Blocks())
		for d, block := range blocks[k].Spread {
			copy(blocks[k].Block.Data[int(block)*size:], args[d][k].Data)
		}
	}
	return blocks, true
}
