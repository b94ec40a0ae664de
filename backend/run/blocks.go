package run

import (
	"slices"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Cut is how a tensor lies in blocks on devices.
type Cut struct {
	places        []place // of all devices, in the order of the mesh
	spread        interp.Spread
	starts        [][]int64 // of the blocks of the spread
	reduction     ir.Reduction
	terms         bool    // blocks are terms, which are combined
	inOrder       bool    // the blocks of the spread lie in the whole one behind the other
	stored, local []int64 // shapes of what is cut, and of a block
}

// place is where the block of a device lies.
type place struct {
	device int64   // partition id
	start  []int64 // in the whole
	index  int64   // equal for devices that hold the same block, below the number of devices
	again  bool    // a device before has it, too, or the same term of it
}

// NewCut returns how a shape is cut by a layout. It may be larger than that of the tensor whose blocks are stored.
func NewCut(mesh *subaxis.Mesh, l *collectives.Layout, stored []int64) *Cut {
	type term struct{ block, number int64 }
	seen := map[term]bool{}
	c := &Cut{places: make([]place, mesh.Devices()), reduction: l.Reduction, stored: stored, local: l.LocalDims(stored)}
	c.terms = len(l.Unreduced) > 0
	for logical := range mesh.Devices() {
		p := &c.places[logical]
		p.start, p.index = Start(mesh, l, logical, stored)
		p.device = mesh.DeviceID(logical)
		at := term{p.index, mesh.ShardIndex(logical, l.Unreduced)}
		p.again = seen[at]
		seen[at] = true
	}
	c.number()
	return c
}

// number numbers the blocks that devices hold.
func (c *Cut) number() {
	indices := make([]int64, len(c.places)) // by partition id
	for i := range c.places {
		indices[c.places[i].device] = c.places[i].index
	}
	c.spread = interp.NewSpread(indices)
	c.starts = make([][]int64, c.spread.Blocks())
	for i := range c.places {
		p := &c.places[i]
		c.starts[c.spread.Of(int(p.device))] = p.start
	}
	size := lists.Product(c.local)
	c.inOrder = true
	for k, start := range c.starts { // where a block is not all in one piece, one begins in the midst of another
		at := int64(0)
		for d, i := range start {
			at = at*c.stored[d] + i
		}
		c.inOrder = c.inOrder && at == int64(k)*size
	}
}

// Split returns every device's block of a whole tensor, by partition id. Devices that hold the same block share it, with the tensor where
// the blocks lie in it one behind the other. What is beyond the tensor stays as fill makes blocks, nil for zeros.
func (c *Cut) Split(whole *tensor.Tensor, fill Fill) interp.Blocks {
	padded := !slices.Equal(c.stored, whole.Shape)
	if c.inOrder && !padded {
		return interp.Blocks{Block: tensor.Tensor{DType: whole.DType, Shape: c.local, Data: whole.Data}, Spread: c.spread}
	}
	size := lists.Product(c.local) * int64(whole.DType.Bytes())
	all := tensor.Tensor{DType: whole.DType, Shape: c.local, Data: memory.Take(size * int64(len(c.starts)))}
	if padded {
		clear(all.Data)
	}
	for k, start := range c.starts {
		block := tensor.Tensor{DType: whole.DType, Shape: c.local, Data: all.Data[int64(k)*size:][:size:size]}
		if fill != nil && padded {
			filled := block // which does not stay on the stack
			fill(&filled)
		}
		copyBlock(&block, whole, start, false)
	}
	return interp.Blocks{Block: all, Spread: c.spread}
}

// Fill fills a block with what its padding is to be.
type Fill func(block *tensor.Tensor)

// Join puts blocks, given by partition id, together to a tensor of that shape, without what pads them. Where several devices hold the
// same block, the first one's counts; where blocks are terms along unreduced axes, they are combined in the order of their places.
func (c *Cut) Join(dims []int64, blocks []*tensor.Tensor) *tensor.Tensor {
	out := tensor.New(blocks[0].DType, dims)
	var values []*tensor.Tensor // by index
	if c.terms {
		values = make([]*tensor.Tensor, len(c.places))
	}
	for i := range c.places {
		p := &c.places[i]
		if p.again {
			continue
		}
		block := blocks[p.device]
		if c.terms {
			if before := values[p.index]; before != nil {
				block = combine(c.reduction, before, block)
			}
			values[p.index] = block
		}
		Put(&out, block, p.start)
	}
	return &out
}

// whole is Join of blocks that lie one behind the other in memory and in the whole, which shares their data; nil for others.
func (c *Cut) whole(dims []int64, blocks *interp.Blocks) *tensor.Tensor {
	if !c.inOrder || c.terms || !slices.Equal(c.stored, dims) || !slices.Equal(blocks.Spread, c.spread) {
		return nil
	}
	return &tensor.Tensor{DType: blocks.Block.DType, Shape: slices.Clone(dims), Data: blocks.Block.Data}
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

// copyBlock copies between a block and its place in a whole tensor, as far as it lies there; into the whole where put is set, out of it
// otherwise.
func copyBlock(block, whole *tensor.Tensor, start []int64, put bool) {
	var sizes, zeros [8]int64 // enough for most ranks
	size := append(sizes[:0], block.Shape...)
	for d := range size {
		if size[d] = min(size[d], whole.Shape[d]-start[d]); size[d] <= 0 {
			return
		}
	}
	first := append(zeros[:0], start...)
	clear(first)
	if put {
		tensor.CopyBox(*whole, start, *block, first, size)
	} else {
		tensor.CopyBox(*block, first, *whole, start, size)
	}
}
