package mesh

import (
	"slices"
	"unsafe"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/lists"
)

// allGather sends blocks round the ring: in step s every member passes on the block that it got in step s-1.
func (x *exchange) allGather(t tensor.Tensor) (tensor.Tensor, error) {
	n := len(x.members)
	if n == 1 {
		return t, nil
	}
	sizes := slices.Repeat([]tensor.Tensor{t}, n)
	blocks, err := x.ring(sizes, t.Clone())
	if err != nil {
		return t, err
	}
	return tensor.Concatenate(blocks, x.c.Dim), nil
}

// ring gathers one block of each member; like says how large the blocks are. The member's own block must not change
// any more.
func (x *exchange) ring(like []tensor.Tensor, own tensor.Tensor) ([]tensor.Tensor, error) {
	n, k := len(x.members), x.mine
	blocks := make([]tensor.Tensor, n)
	blocks[k] = own
	for s := range n - 1 {
		x.send((k+1)%n, s, blocks[(k-s+n)%n])
		from := (k - s - 1 + 2*n) % n
		var err error
		if blocks[from], err = x.receive((k-1+n)%n, s, like[from]); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// swap sends part k of each member to member k and returns what the others have for this one, in group order.
func (x *exchange) swap(parts []tensor.Tensor, first int) ([]tensor.Tensor, error) {
	n, k := len(x.members), x.mine
	out := make([]tensor.Tensor, n)
	out[k] = parts[k]
	for s := 1; s < n; s++ {
		to, from := (k+s)%n, (k-s+n)%n
		x.send(to, first+s, parts[to])
		var err error
		if out[from], err = x.receive(from, first+s, parts[k]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// split cuts a tensor into n equal parts along a dimension.
func split(t tensor.Tensor, dim int64, n int) []tensor.Tensor {
	size := t.Shape[dim] / int64(n)
	return lists.Of(n, func(k int) tensor.Tensor { return part(t, dim, int64(k)*size, int64(k+1)*size) })
}

func part(t tensor.Tensor, dim, from, to int64) tensor.Tensor {
	start, limit := make([]int64, t.Rank()), slices.Clone(t.Shape)
	start[dim], limit[dim] = from, to
	return tensor.Slice(t, start, limit, slices.Repeat([]int64{1}, t.Rank()))
}

// reduceScatter gives each member its part of all members' tensors, to fold in group order.
func (x *exchange) reduceScatter(t tensor.Tensor, body tensor.Combiner) (tensor.Tensor, error) {
	if len(x.members) == 1 {
		return t, nil
	}
	parts, err := x.swap(split(t, x.c.Dim, len(x.members)), 0)
	if err != nil {
		return t, err
	}
	return foldParts(parts, body)
}

// foldParts folds parts that were sent to this device alone, and gives their memory back.
func foldParts(parts []tensor.Tensor, body tensor.Combiner) (tensor.Tensor, error) {
	out, err := tensor.Fold(parts, body)
	if err == nil {
		for k := range parts {
			if unsafe.SliceData(parts[k].Data) != unsafe.SliceData(out.Data) { // a fold may return a part itself
				memory.Give(parts[k].Data)
			}
		}
	}
	return out, err
}

// allReduce cuts the elements into one chunk per member, which folds it and sends it round the ring. Chunks differ
// by at most one element.
func (x *exchange) allReduce(t tensor.Tensor, body tensor.Combiner) (tensor.Tensor, error) {
	n, size := len(x.members), int64(t.Len())
	if n == 1 {
		return t, nil
	}
	flat := tensor.Reshape(t, []int64{size})
	chunks := lists.Of(n, func(k int) tensor.Tensor { return part(flat, 0, int64(k)*size/int64(n), int64(k+1)*size/int64(n)) })
	mine, err := x.swap(chunks, 0)
	if err != nil {
		return t, err
	}
	sum, err := foldParts(mine, body)
	if err != nil {
		return t, err
	}
	sums, err := x.ring(chunks, sum)
	if err != nil {
		return t, err
	}
	return tensor.Reshape(tensor.Concatenate(sums, 0), t.Shape), nil
}

// allToAll exchanges parts along one dimension and joins them along another.
func (x *exchange) allToAll(t tensor.Tensor) (tensor.Tensor, error) {
	if len(x.members) == 1 {
		return t, nil
	}
	parts, err := x.swap(split(t, x.c.Dim, len(x.members)), 0)
	if err != nil {
		return t, err
	}
	out := tensor.Concatenate(parts, x.c.Concat)
	for k := range parts {
		memory.Give(parts[k].Data)
	}
	return out, nil
}

// permute sends the tensor to the target of this device and returns that of its source, zeros where it has none.
func (x *exchange) permute(t tensor.Tensor) (tensor.Tensor, error) {
	source := -1
	for _, p := range x.c.Pairs {
		if p[0] == x.d.id && p[1] != x.d.id {
			x.sendTo(p[1], 0, t.Clone())
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
		x.send((x.mine+1)%n, hop, block)
	}
	if hop > 0 {
		return block.Clone(), nil
	}
	return t, nil
}

// reduce folds the tensors of the group on the root; the others get zeros.
func (x *exchange) reduce(t tensor.Tensor, root int, body tensor.Combiner) (tensor.Tensor, error) {
	if x.mine != root {
		x.send(root, 0, t.Clone())
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
