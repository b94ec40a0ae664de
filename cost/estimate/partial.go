package estimate

import (
	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// exchange prices what devices send each other of the partial results of a reduction of several operands, and the reduction of those.
func (md *Model) exchange(m *ir.Module, op ir.OpID, from *collectives.Layout, results []int64, f *Fetching) {
	var axes []subaxis.Ref
	for _, d := range m.OpAttrs(op).Ints("dimensions") {
		axes = subaxis.AppendMerge(axes, from.Dims[d]...)
	}
	if m.NumResults(op) == 1 || len(axes) == 0 {
		return
	}
	f.Any = true
	for _, v := range m.ResultValues(op) {
		bytes := product(results) * int64(m.ValueType(v).DType.Bytes())
		md.gather(axes, bytes, f)
		f.Copied += md.copied((subaxis.Product(axes) + 1) * bytes)
	}
}

// gather adds the price of an all-gather, which may be sent with others.
func (md *Model) gather(axes []subaxis.Ref, bytes int64, f *Fetching) {
	price := md.Price(collectives.AllGather, axes, bytes)
	f.Sent += price
	f.Merged += min(price, md.Price(collectives.AllGather, axes, 0)+1)
}
