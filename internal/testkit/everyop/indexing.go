package everyop

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var indexOps = family{
	ir.OpDynamicSlice: (*drawing).dynamicSlice, ir.OpDynamicUpdateSlice: (*drawing).dynamicUpdate, ir.OpGather: (*drawing).gather,
	ir.OpDynamicGather: (*drawing).gather, ir.OpScatter: (*drawing).scatter, ir.OpTorchIndexSelect: (*drawing).torchSelect,
}

// starts returns scalars of one type of indices, some of them outside.
func (d *drawing) starts(rank int) []ir.ValueID {
	e := d.drawType(isIndex)
	return lists.Of(rank, func(int) ir.ValueID { return d.indices(e, 7) })
}

// indices returns indices of up to n elements, and some beyond both ends.
func (d *drawing) indices(e dtype.Type, n int64, dims ...int64) ir.ValueID {
	list := lists.Of(int(lists.Product(dims)), func(int) int64 {
		if d.odds("outside", 5) {
			return pick(d, []int64{-1, -2, n, n + 1, 100, 127}, "index")
		}
		return d.between(0, max(0, n-1), "index")
	})
	return d.integers(e, list, dims...)
}

func (d *drawing) dynamicSlice(k ir.Kind) {
	x := d.moved(0, 4)
	dims := d.m.Shape(x)
	sizes := each(len(dims), func(i int) int64 { return d.between(0, dims[i], "slice") })
	d.emit(k, attrs("slice_sizes", ir.Ints(sizes)), append([]ir.ValueID{x}, d.starts(len(dims))...)...)
}

func (d *drawing) dynamicUpdate(k ir.Kind) {
	x := d.moved(0, 4)
	dims := d.m.Shape(x)
	part := each(len(dims), func(i int) int64 { return d.between(0, dims[i], "slice") })
	update := d.like(d.m.TensorType(d.typeOf(x), part...))
	d.emit(k, nil, append([]ir.ValueID{x, update}, d.starts(len(dims))...)...)
}

// places are dimensions of an operand, of indices, and of what is taken from or put into the operand there, in the words of gather.
type places struct {
	operand, indices, sizes                          []int64
	offset, collapsed, batching, indicesBatching, to []int64
	vector                                           int64
}

// places draws them.
func (d *drawing) places() *places {
	p := &places{operand: d.shape(1, 4)}
	rank := len(p.operand)
	batch := d.shape(0, 2)
	for _, k := range d.permutation(rank) {
		switch d.between(0, 3, "role of a dimension") {
		case 0:
			if len(p.batching) < 2 {
				p.batching = append(p.batching, k)
				continue
			}
			p.to = append(p.to, k)
		case 1, 2:
			p.to = append(p.to, k)
		}
	}
	for _, k := range p.batching { // indices have such dimensions, too, anywhere
		at := d.between(0, int64(len(batch)), "batching dimension of indices")
		batch = slices.Insert(batch, int(at), p.operand[k])
		for i := range p.indicesBatching {
			if p.indicesBatching[i] >= at {
				p.indicesBatching[i]++
			}
		}
		p.indicesBatching = append(p.indicesBatching, at)
	}
	order := lists.Range[int](len(p.batching)) // operand's in order, as they have to be
	slices.SortFunc(order, func(a, b int) int { return int(p.batching[a] - p.batching[b]) })
	p.batching, p.indicesBatching = lists.Pick(p.batching, order), lists.Pick(p.indicesBatching, order)
	d.windowSizes(p)
	p.vector = d.between(0, int64(len(batch)), "index vector")
	p.indices = slices.Insert(slices.Clone(batch), int(p.vector), int64(len(p.to)))
	if len(p.to) == 1 && d.odds("no vector", 2) {
		p.indices, p.vector = batch, int64(len(batch))
	}
	for i := range p.indicesBatching {
		if p.vector < int64(len(p.indices)) && p.indicesBatching[i] >= p.vector {
			p.indicesBatching[i]++
		}
	}
	out := len(batch) + rank - len(p.collapsed) - len(p.batching)
	p.offset = d.permutation(out)[:rank-len(p.collapsed)-len(p.batching)]
	slices.Sort(p.offset)
	return p
}

// windowSizes draws the sizes of windows, and which dimensions of theirs are left out.
func (d *drawing) windowSizes(p *places) {
	for k, n := range p.operand {
		size := d.between(0, n, "window")
		if !slices.Contains(p.to, int64(k)) && d.odds("whole", 2) {
			size = n
		}
		if slices.Contains(p.batching, int64(k)) {
			size = min(1, n)
		} else if n > 0 && d.odds("left out", 2) {
			size, p.collapsed = 1, append(p.collapsed, int64(k))
		}
		p.sizes = append(p.sizes, size)
	}
}

// longest is the size of the largest dimension.
func (p *places) longest() int64 { return slices.Max(p.operand) }

func (d *drawing) gather(k ir.Kind) {
	p := d.places()
	x := d.like(d.m.TensorType(d.drawType(isAny), p.operand...))
	a := attrs("dimension_numbers", &ir.GatherDims{Offset: p.offset, Collapsed: p.collapsed, OperandBatch: p.batching,
		IndicesBatch: p.indicesBatching, StartIndexMap: p.to, IndexVectorDim: p.vector})
	i := d.indices(d.drawType(isIndex), p.longest(), p.indices...)
	if d.odds("said to be sorted", 3) {
		a, i = a.With("indices_are_sorted", ir.BoolAttr(true)), d.integers(dtype.I32, make([]int64, lists.Product(p.indices)), p.indices...)
	}
	if k == ir.OpGather {
		d.emit(k, a.With("slice_sizes", ir.Ints(p.sizes)), x, i)
		return
	}
	results, err := ir.Infer(d.m, ir.OpGather, []ir.ValueID{x, i}, a.With("slice_sizes", ir.Ints(p.sizes)))
	if err != nil {
		d.t.Fatal(err)
	}
	d.typed(k, results[0], a, x, i, d.sizes(p.sizes))
}

// scatter draws one or two operands into which updates go. They are whole numbers where floats are added, so that the order means nothing.
func (d *drawing) scatter(k ir.Kind) {
	p := d.places()
	var batch []int64
	for i, n := range p.indices {
		if int64(i) != p.vector {
			batch = append(batch, n)
		}
	}
	places := lists.Product(batch)
	window := lists.Pick(p.sizes, lists.Others(len(p.sizes), p.collapsed, p.batching))
	updates := make([]int64, len(batch)+len(window))
	for i := range updates {
		if at := slices.Index(p.offset, int64(i)); at >= 0 {
			updates[i] = window[at]
		} else {
			updates[i], batch = batch[0], batch[1:]
		}
	}
	a := attrs("scatter_dimension_numbers", &ir.ScatterDims{UpdateWindow: p.offset, InsertedWindow: p.collapsed, InputBatch: p.batching,
		IndicesBatch: p.indicesBatching, ToOperand: p.to, IndexVectorDim: p.vector})
	i := d.indices(d.drawType(isIndex), p.longest(), p.indices...)
	if places == 1 && d.odds("said to be sorted and unique", 2) {
		a = a.With("indices_are_sorted", ir.BoolAttr(true)).With("unique_indices", ir.BoolAttr(true))
	}
	var inputs, news []ir.ValueID
	var with []ir.Kind
	for range d.between(1, 2, "operands") {
		e := d.drawType(reducible)
		by, of := d.reducer(e, true)
		with = append(with, by)
		inputs, news = append(inputs, d.input(e, p.operand, of)), append(news, d.input(e, updates, of))
	}
	op := d.emitOp(k, 1, a, slices.Concat(inputs, []ir.ValueID{i}, news)...)
	d.combine(op, with, inputs)
}

func (d *drawing) torchSelect(k ir.Kind) {
	x := d.moved(1, 3)
	dims := d.m.Shape(x)
	at := d.between(0, int64(len(dims))-1, "dimension")
	if dims[at] == 0 {
		return
	}
	batch := d.between(0, at, "batch dimensions")
	index := slices.Concat(dims[:batch], d.shape(0, 1))
	list := each(int(lists.Product(index)), func(int) int64 { return d.between(0, dims[at]-1, "index") })
	i := d.integers(d.drawType(isIndex), list, index...)
	out := slices.Concat(dims[:at], index[batch:], dims[at+1:])
	d.typed(k, d.m.TensorType(d.typeOf(x), out...), attrs("batch_dims", d.m.I64(batch), "dim", d.m.I64(at)), x, i)
}
