package estimate

import (
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
	"autoshard/subaxis"
)

// exchange prices what devices send each other of the partial results of a reduction that no collective combines, and the
// reduction of those.
func (md *Model) exchange(m *ir.Module, op ir.OpID, from *collectives.Layout, results []int64, f *Fetching) {
	var axes []subaxis.Ref
	for _, d := range m.OpAttrs(op).Ints("dimensions") {
		axes = subaxis.AppendMerge(axes, from.Dims[d]...)
	}
	if len(axes) == 0 || !localform.Exchanged(m, op) {
		return
	}
	f.Any = true
	for _, v := range m.ResultValues(op) {
		bytes := product(results) * int64(m.ValueType(v).DType.Bytes())
		md.gather(axes, m.ValueType(v).DType, bytes, f)
		f.Copied += md.copied((subaxis.Product(axes) + 1) * bytes)
	}
}

// search prices what devices send each other of what they found along the last dimension, and the search of that.
func (md *Model) search(m *ir.Module, op ir.OpID, from *collectives.Layout, f *Fetching) {
	dims := slices.Clone(f.Operands[0])
	last := len(dims) - 1
	if len(from.Dims[last]) == 0 {
		return
	}
	f.Any = true
	k := min(m.OpAttrs(op).Int("k", 0), dims[last])
	for _, v := range m.ResultValues(op) {
		bytes := product(dims) / dims[last] * k * int64(m.ValueType(v).DType.Bytes())
		md.gather(from.Dims[last], m.ValueType(v).DType, bytes, f)
		f.Copied += md.copied((subaxis.Product(from.Dims[last]) + 2) * bytes)
	}
}

// sort prices the network by which devices sort along a dimension that is cut: in every round those that meet send each other what they
// have, sort it and keep a half each. Where that says in which order equal elements come, they have the numbers of elements beside them.
func (md *Model) sort(m *ir.Module, op ir.OpID, from *collectives.Layout, f *Fetching) {
	s := localform.Sorted(m, op, localform.Counts(m))
	axes := from.Dims[s.Dim]
	if len(axes) == 0 {
		return
	}
	widths := lists.Map(m.Operands(op), func(v ir.ValueID) int64 { return int64(m.ValueType(v).DType.Bytes()) })
	if !s.Total && s.Index < 0 {
		widths = append(widths, int64(localform.NumberType(m.Shape(m.Operand(op, 0))[s.Dim]).Bytes()))
	}
	f.Any = true
	block, k := product(f.Operands[0]), subaxis.Product(axes)
	for _, r := range localform.Network(k) {
		pairs := r.Pairs()
		for _, w := range widths {
			f.Sent += md.permute(axes, pairs, block*w)
			f.Copied += md.copied(4*block*w) + md.copied(4*block*w) + md.copied(2*block*w) // joined, sorted, and a half of that
			if int64(len(pairs)) < k {
				f.Copied += md.copied(3 * block * w)
			}
		}
	}
}

// surround prices the rows behind its block that a device fetches for the slices of a gather that end there.
func (md *Model) surround(m *ir.Module, op ir.OpID, from *collectives.Layout, f *Fetching) {
	dims := slices.Clone(f.Operands[0])
	for d, size := range m.OpAttrs(op).Ints("slice_sizes") {
		n, axes := m.Shape(m.Operand(op, 0))[d], from.Dims[d]
		if len(axes) == 0 || size == n || size == 1 {
			continue
		}
		row := product(dims) / dims[d] * int64(m.ValueType(m.Operand(op, 0)).DType.Bytes())
		x := localform.Behind(n, subaxis.Product(axes), size-1).Exchange()
		for r := range x.Rounds {
			f.Sent += md.permute(axes, x.Rounds[r].Pairs, x.Rounds[r].Rows*row)
		}
		for _, rows := range x.Copies() {
			f.Copied += md.copied(rows * row)
		}
		dims[d] += size - 1
		f.Any = true
	}
	if f.Any {
		f.Operands = slices.Clone(f.Operands)
		f.Operands[0] = dims
	}
}

// run prices what devices send each other of what they folded, and how an op goes on from that along the dimension that it runs along.
func (md *Model) run(m *ir.Module, op ir.OpID, to *collectives.Layout, f *Fetching) {
	run, ok := localform.Running(m, op, m.Shape)
	if !ok || len(to.Dims[run.Dim]) == 0 {
		return
	}
	axes, dims := to.Dims[run.Dim], slices.Clone(f.Operands[0])
	rows, k := dims[run.Dim], subaxis.Product(to.Dims[run.Dim])
	dims[run.Dim]++
	f.Any, f.Operands = true, slices.Clone(f.Operands)
	for i, v := range m.ResultValues(op) {
		row := product(dims) / dims[run.Dim] * int64(m.ValueType(v).DType.Bytes())
		md.gather(axes, m.ValueType(v).DType, row, f)
		f.Copied += md.copied((rows+1)*row) + md.copied((k+1)*row) // folded: the block, and what others have
		f.Copied += md.copied((2*rows+2)*row) + md.copied(2*rows*row)
		f.Operands[i] = dims
	}
}

// gather adds the price of an all-gather, which may be sent with those of elements of the same type before it: what reads it comes next.
func (md *Model) gather(axes []subaxis.Ref, element dtype.Type, bytes int64, f *Fetching) {
	price := md.Price(collectives.AllGather, axes, bytes)
	f.Sent += price
	if slices.Contains(f.elements, element) {
		f.Merged += min(price, md.Start(collectives.AllGather, axes)+1)
	}
	f.elements = append(f.elements, element)
}
