package mesh

import (
	"slices"
	"unsafe"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
)

// allGather sends the tensor to all others.
func (x *exchange) allGather(t tensor.Tensor) (tensor.Tensor, error) {
	if len(x.members) == 1 {
		return t, nil
	}
	if err := x.share(t, newParcel(copied(t.Data), len(x.members)), 0); err != nil {
		return t, err
	}
	out := tensor.Concatenate(x.d.blocks, x.c.Dim)
	x.doneAll()
	return out, nil
}

// copied returns memory of this device with the same bytes.
func copied(data []byte) []byte {
	own := memory.Take(int64(len(data)))
	copy(own, data)
	return own
}

// share sends a parcel that holds one block to all others, and receives theirs. The parcel is for all members. Blocks are like one
// another, but for the number of elements of flat ones.
func (x *exchange) share(like tensor.Tensor, own *parcel, step int) error {
	for s := 1; s < len(x.members); s++ {
		x.send((x.mine+s)%len(x.members), step, own.data, own)
	}
	return x.collect(func(int) tensor.Tensor { return like }, own.data, own, step)
}

// collect receives the blocks of all others in this step, and puts them beside this device's own.
func (x *exchange) collect(like func(member int) tensor.Tensor, own []byte, in *parcel, step int) error {
	d, n := x.d, len(x.members)
	if cap(d.blocks) < n {
		d.blocks, d.parcels = make([]tensor.Tensor, n), make([]*parcel, n)
	}
	d.blocks, d.parcels = d.blocks[:n], d.parcels[:n]
	for s := range n {
		from := (x.mine - s + n) % n
		block := like(from)
		m := message{data: own, parcel: in}
		if from != x.mine {
			var err error
			if m, err = x.expect(x.members[from], step, len(block.Data)); err != nil {
				return err
			}
		}
		block.Data = m.data
		d.blocks[from], d.parcels[from] = block, m.parcel
	}
	return nil
}

// doneAll says that the blocks that were collected are needed no longer.
func (x *exchange) doneAll() {
	for k, p := range x.d.parcels {
		p.done()
		x.d.parcels[k], x.d.blocks[k] = nil, tensor.Tensor{}
	}
}

// swap sends part k of the tensor along a dimension to member k, and collects what the others have for this one.
func (x *exchange) swap(t tensor.Tensor, dim int64) error {
	n := int64(len(x.members))
	part := tensor.Tensor{DType: t.DType, Shape: slices.Clone(t.Shape)}
	part.Shape[dim] /= n
	parts, moved := partsFirst(t, t.Shape, dim, part.Shape[dim])
	data := parts.Data
	if !moved {
		data = copied(data)
	}
	p := newParcel(data, int(n))
	size := len(data) / int(n)
	for s := 1; s < int(n); s++ {
		to := (x.mine + s) % int(n)
		x.send(to, 0, data[to*size:][:size], p)
	}
	own := data[x.mine*size:][:size]
	part.Data = own
	return x.collect(func(int) tensor.Tensor { return part }, own, p, 0)
}

// reduceScatter gives each member its part of all members' tensors, to fold in group order.
func (x *exchange) reduceScatter(t tensor.Tensor, body tensor.Combiner) (tensor.Tensor, error) {
	if len(x.members) == 1 {
		return t, nil
	}
	if err := x.swap(t, x.c.Dim); err != nil {
		return t, err
	}
	return x.fold(body)
}

// fold folds the blocks that were collected.
func (x *exchange) fold(body tensor.Combiner) (tensor.Tensor, error) {
	out, err := tensor.Fold(x.d.blocks, body)
	if err != nil {
		return out, err
	}
	for _, b := range x.d.blocks {
		if unsafe.SliceData(b.Data) == unsafe.SliceData(out.Data) { // a fold may return a block itself
			out = out.Clone()
		}
	}
	x.doneAll()
	return out, nil
}

// allReduce cuts the elements into one chunk per member, which folds it and sends it to all others. Chunks differ by at most one element.
func (x *exchange) allReduce(t tensor.Tensor, body tensor.Combiner) (tensor.Tensor, error) {
	n := len(x.members)
	if n == 1 {
		return t, nil
	}
	p := newParcel(copied(t.Data), n)
	x.d.sizes = slices.Grow(x.d.sizes[:0], n)[:n]
	flat := tensor.Tensor{DType: t.DType, Data: p.data}
	for s := 1; s < n; s++ {
		to := (x.mine + s) % n
		x.send(to, 0, x.chunk(flat, to).Data, p)
	}
	mine := x.chunk(flat, x.mine)
	if err := x.collect(func(int) tensor.Tensor { return mine }, mine.Data, p, 0); err != nil {
		return t, err
	}
	sum, err := x.fold(body)
	if err != nil {
		return t, err
	}
	flat.Data = t.Data // of which only the sizes count
	p = newParcel(sum.Data, n)
	for s := 1; s < n; s++ {
		x.send((x.mine+s)%n, 1, p.data, p)
	}
	if err := x.collect(func(k int) tensor.Tensor { return x.chunk(flat, k) }, p.data, p, 1); err != nil {
		return t, err
	}
	out := tensor.Reshape(tensor.Concatenate(x.d.blocks, 0), t.Shape)
	x.doneAll()
	return out, nil
}

// chunk returns member k's chunk of the elements of a tensor, as a list.
func (x *exchange) chunk(t tensor.Tensor, k int) tensor.Tensor {
	width := t.DType.Bytes()
	from, to := chunk(k, len(x.members), t.Len())
	x.d.sizes[k] = int64(to - from)
	return tensor.Tensor{DType: t.DType, Shape: x.d.sizes[k : k+1], Data: t.Data[from*width : to*width]}
}

// chunk returns where chunk k of n begins and ends in so many elements.
func chunk(k, n, elements int) (from, to int) { return k * elements / n, (k + 1) * elements / n }

// allToAll exchanges parts along one dimension and joins them along another.
func (x *exchange) allToAll(t tensor.Tensor) (tensor.Tensor, error) {
	if len(x.members) == 1 {
		return t, nil
	}
	if err := x.swap(t, x.c.Dim); err != nil {
		return t, err
	}
	out := tensor.Concatenate(x.d.blocks, x.c.Concat)
	x.doneAll()
	return out, nil
}

// permute sends the tensor to the target of this device and returns that of its source, zeros where it has none.
func (x *exchange) permute(t tensor.Tensor) (tensor.Tensor, error) {
	source := -1
	for _, p := range x.c.Pairs {
		if p[0] == x.d.id && p[1] != x.d.id {
			x.sendTo(p[1], 0, copied(t.Data), nil)
		}
		if p[1] == x.d.id {
			source = p[0]
		}
	}
	switch source {
	case -1:
		return tensor.New(t.DType, t.Shape), nil
	case x.d.id:
		return t, nil
	}
	return x.receiveFrom(source, 0, t)
}

// broadcast passes the root's tensor from member to member. A device in no group gets zeros.
func (x *exchange) broadcast(t tensor.Tensor, root int) (tensor.Tensor, error) {
	n := len(x.members)
	if n == 0 {
		return tensor.New(t.DType, t.Shape), nil
	}
	hop := (x.mine - root + n) % n
	block := t
	if hop > 0 {
		var err error
		if block, err = x.receive((x.mine-1+n)%n, hop-1, t); err != nil {
			return t, err
		}
	} else if n > 1 {
		block = t.Clone()
	}
	if hop < n-1 {
		x.send((x.mine+1)%n, hop, block.Data, nil)
	}
	if hop > 0 {
		return block.Clone(), nil
	}
	return t, nil
}

// reduce folds the tensors of the group on the root; the others get zeros.
func (x *exchange) reduce(t tensor.Tensor, root int, body tensor.Combiner) (tensor.Tensor, error) {
	if x.mine != root {
		x.send(root, 0, copied(t.Data), nil)
		return tensor.New(t.DType, t.Shape), nil
	}
	all := make([]tensor.Tensor, len(x.members))
	for k := range all {
		if k == root {
			all[k] = t
			continue
		}
		var err error
		if all[k], err = x.receive(k, 0, t); err != nil {
			return t, err
		}
	}
	return tensor.Fold(all, body)
}
