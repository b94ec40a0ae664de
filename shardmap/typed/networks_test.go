package typed_test

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// layers says how a reference network of two layers is cut: along which axis its batch and its features.
type layers struct {
	batch, feats string // axes, "" for none
	gather       bool   // parameters are cut along the batch axis and gathered before use
	rows         int64  // of a block of the batch
	mean         bool   // over the batch axis
}

// network returns the loss: the mean over rows of the sum over features of (predicted - target)².
func (l layers) network(b *ops, in []ir.ValueID) ir.ValueID {
	x, t := in[4], in[5]
	for k := range 2 {
		w, bias := l.whole(b, in[2*k]), l.whole(b, in[2*k+1])
		x = b.dot(x, w)
		columns := int64(4)
		if l.feats != "" {
			x = b.PsumScatter(x, 1, true, nil, l.feats)
			columns = 4 / l.features(b)
		}
		x = b.add(x, b.Broadcast(bias, []int64{l.rows, columns}, 1))
		if k == 0 {
			x = b.Binary(ir.OpMaximum, x, b.Constant(dtype.F32, nil, 0))
		}
	}
	d := b.Binary(ir.OpSubtract, x, t)
	sums := b.Reduce(ir.OpAdd, b.Binary(ir.OpMultiply, d, d), 1)
	if l.feats != "" {
		sums = b.Psum(sums, l.feats)
	}
	loss := b.Binary(ir.OpDivide, b.Reduce(ir.OpAdd, sums, 0), b.Constant(dtype.F32, nil, float64(l.rows)))
	if l.mean {
		loss = b.Pmean(loss, l.batch)
	}
	return loss
}

// features returns the size of the features' axis: the second one of two, or the only one.
func (l layers) features(b *ops) int64 {
	if l.batch == "" {
		return b.n
	}
	return 2
}

func (l layers) whole(b *ops, x ir.ValueID) ir.ValueID {
	if !l.gather {
		return x
	}
	return b.AllGather(x, 0, true, typed.ToVarying, nil, l.batch)
}

// networkInputs returns the arguments of the reference network with specs for weights, biases, batch and targets.
func networkInputs(w, bias, x typed.Spec) []array {
	return []array{{"W0", []int64{8, 4}, w, "mod:7:3:5:2"}, {"b0", []int64{4}, bias, "mod:3:1:4:1"}, {"W1", []int64{4, 4}, w, "mod:5:2:7:3"},
		{"b1", []int64{4}, bias, "mod:2:1:3:1"}, {"x", []int64{8, 8}, x, "mod:11:5:7:3"}, {"t", []int64{8, 4}, x, "mod:13:4:9:4"}}
}

// A network with its data, weights or features cut has one loss, whatever is cut, and the collectives of the specification.
func TestParallelNetworks(t *testing.T) {
	batch := func(n int64) []subaxis.Axis { return []subaxis.Axis{{Name: "batch", Size: n}} }
	both := []subaxis.Axis{{Name: "batch", Size: 2}, {Name: "feats", Size: 2}}
	feats := []subaxis.Axis{{Name: "feats", Size: 4}}
	P := typed.P
	data := networkInputs(P(), P(), P("batch"))
	fsdp := networkInputs(P("batch"), P("batch"), P("batch"))
	right, wrong := networkInputs(P("feats,batch"), P("feats,batch"), P("batch", "feats")),
		networkInputs(P("batch,feats"), P("batch,feats"), P("batch", "feats"))
	fsdpTP := layers{batch: "batch", feats: "feats", gather: true, rows: 4, mean: true}
	const twoAxes = "all_gather(batch):4 psum(batch):1 psum(feats):1 psum_scatter(feats):2"
	tests := map[string]example{
		"G14-dp-8": {batch(8), false, data, P(), layers{batch: "batch", rows: 1, mean: true}.network, number(4892.75),
			"psum(batch):1", ""},
		"G14-dp-4": {batch(4), false, data, P(), layers{batch: "batch", rows: 2, mean: true}.network, number(4892.75),
			"psum(batch):1", ""},
		"G14-dp-4-unchecked": {batch(4), true, data, P(), layers{batch: "batch", rows: 2, mean: true}.network, number(4892.75),
			"psum(batch):1", ""},
		"G14-loss-no-collective": {batch(4), false, data, P(), layers{batch: "batch", rows: 2}.network, figure{}, "", "E_REP"},
		"G15-fsdp": {batch(4), false, fsdp, P(), layers{batch: "batch", gather: true, rows: 2, mean: true}.network, number(4892.75),
			"all_gather(batch):4 psum(batch):1", ""},
		"G16-tp-whole": {feats, false, networkInputs(P("feats", ""), P("feats"), P("", "feats")), P(), layers{feats: "feats", rows: 8}.network,
			number(4892.75),
			"psum(feats):1 psum_scatter(feats):2", ""},
		"G17-fsdp-tp":     {both, false, right, P(), fsdpTP.network, number(4892.75), twoAxes, ""},
		"G17-wrong-order": {both, false, wrong, P(), fsdpTP.network, number(2558.375), twoAxes, ""},
	}
	for name, e := range tests {
		t.Run(name, e.run)
	}
}

// pipeline is a network of inner layers along stages: shardmap.md section 5, G18.
type pipeline struct {
	stages, inner, batches, size, features int64 // stages, inner layers, microbatches, rows of each, inner features
}

func (p pipeline) loss(b *ops, in []ir.ValueID) ir.ValueID {
	wf, wi, wl, x, t := in[0], in[1], in[2], in[3], in[4]
	kept, slots := p.batches/p.stages, p.inner/p.stages
	stage := b.AxisIndex("stages")
	first, last := b.Compare("EQ", stage, b.i32(0)), b.Compare("EQ", stage, b.i32(p.stages-1))
	inputs := b.Reshape(b.dot(x, wf), kept, p.size, p.features)
	state := b.Constant(dtype.F32, []int64{slots, p.size, p.features}, 0)
	outputs := b.Constant(dtype.F32, []int64{kept, p.size, p.features}, 0)
	one := func(x ir.ValueID, k int64) ir.ValueID { return p.rows(b, x, k, k+1) }
	for step := range p.batches + p.inner - 1 {
		head := b.Select(first, one(inputs, step%kept), one(state, 0))
		state = p.join(b, head, p.rows(b, state, 1, slots))
		state = b.Dot(state, wi, ir.DotDims{LhsBatch: []int64{0}, RhsBatch: []int64{0}, LhsContract: []int64{2}, RhsContract: []int64{1}})
		state = b.Binary(ir.OpMaximum, state, b.Constant(dtype.F32, nil, 0))
		at := (step - p.inner + 1 + p.inner*kept) % kept
		done := b.Select(last, one(state, slots-1), one(outputs, at))
		outputs = p.join(b, p.rows(b, outputs, 0, at), done, p.rows(b, outputs, at+1, kept))
		state = p.join(b, b.shift(one(state, slots-1), 1), p.rows(b, state, 0, slots-1))
		if step%kept == kept-1 {
			inputs = b.shift(inputs, 1)
		}
		if at == kept-1 {
			outputs = b.shift(outputs, 1)
		}
	}
	outputs = b.Reshape(b.shift(outputs, 1), kept*p.size, p.features)
	d := b.Binary(ir.OpSubtract, b.dot(outputs, wl), t)
	sum := b.Reduce(ir.OpAdd, b.Binary(ir.OpMultiply, d, d), 0, 1)
	return b.Pmean(b.Binary(ir.OpDivide, sum, b.Constant(dtype.F32, nil, float64(kept*p.size))), "stages")
}

func (p pipeline) rows(b *ops, x ir.ValueID, from, to int64) ir.ValueID {
	return b.Slice(x, []int64{from, 0, 0}, []int64{to, p.size, p.features}, nil)
}

// join leaves out slices without rows.
func (p pipeline) join(b *ops, parts ...ir.ValueID) ir.ValueID { return b.Concatenate(0, parts...) }

func (p pipeline) example(loss float64, moves string) example {
	n := p.batches * p.size
	P := typed.P
	return example{[]subaxis.Axis{{Name: "stages", Size: p.stages}}, false, []array{{"Wf", []int64{2, p.features}, P(), "mod:5:1:4:1"},
		{"Wi", []int64{p.inner, p.features, p.features}, P("stages"), "mod:7:2:5:1"}, {"Wl", []int64{p.features, 2}, P(), "mod:4:1:3:1"},
		{"x", []int64{n, 2}, P("stages"), "mod:3:1:4:1"}, {"t", []int64{n, 2}, P("stages"), "mod:5:2:7:3"}}, P(), p.loss, number(loss), moves, ""}
}

// Stages that hand microbatches on compute the loss of the whole network, in as many steps as the specification says.
func TestPipeline(t *testing.T) {
	tests := map[string]example{
		"G18-pipeline-S2-L4": pipeline{2, 4, 4, 2, 3}.example(95939.25, "ppermute(stages):15 psum(stages):1"),
		"G18-pipeline-S4-L4": pipeline{4, 4, 8, 1, 2}.example(4286.25, "ppermute(stages):23 psum(stages):1"),
		"G18-pipeline-S1-L4": pipeline{1, 4, 4, 1, 2}.example(4377.25, "ppermute(stages):11 psum(stages):1"),
		"G18-pipeline-S2-L6": pipeline{2, 6, 6, 1, 2}.example(170023.671875, "ppermute(stages):19 psum(stages):1"),
	}
	for name, e := range tests {
		t.Run(name, e.run)
	}
}

// TestTransformerLayer chains the two manual products of the 2D weight-gathered layer of JEP 14273 (G13), without what
// lies between them: the result is that of the products on one device.
func TestTransformerLayer(t *testing.T) {
	cube := []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}
	P := typed.P
	in := []array{{"act", []int64{2, 3, 4}, P("z", "", "x,y"), "mod:7:3:5:2"}, {"q_wi", []int64{8, 4, 2}, P("y,z", "x", ""), "mod:5:1:7:3"},
		{"o_wo", []int64{8, 2, 4}, P("y,z,x", "", ""), "mod:3:2:5:2"}}
	cut := func(b *ops, in []ir.ValueID) ir.ValueID {
		act := b.AllGather(in[0], 0, true, typed.ToInvariant, nil, "z")
		act = b.AllGather(act, 2, true, typed.ToInvariant, nil, "y")
		q := b.Dot(act, in[1], ir.DotDims{LhsContract: []int64{2}, RhsContract: []int64{1}})
		q = b.PsumScatter(q, 2, true, nil, "x")
		y := b.Dot(q, in[2], ir.DotDims{LhsContract: []int64{2, 3}, RhsContract: []int64{0, 1}})
		y = b.PsumScatter(b.PsumScatter(y, 2, true, nil, "x", "y"), 0, true, nil, "z")
		return b.add(y, in[0])
	}
	whole := func(b *ops, in []ir.ValueID) ir.ValueID {
		q := b.Dot(in[0], in[1], ir.DotDims{LhsContract: []int64{2}, RhsContract: []int64{1}})
		return b.add(b.Dot(q, in[2], ir.DotDims{LhsContract: []int64{2, 3}, RhsContract: []int64{0, 1}}), in[0])
	}
	want := figure{[]int64{2, 3, 4}, -15, 34, 23, 450}
	e := example{cube, false, in, P("z", "", "x,y"), cut, want,
		"all_gather_invariant(y):1 all_gather_invariant(z):1 psum_scatter(x):1 psum_scatter(x,y):1 psum_scatter(z):1", ""}
	t.Run("cut", e.run)
	for i := range in {
		in[i].spec = P()
	}
	e = example{cube, false, in, P(), whole, want, "", ""}
	t.Run("whole", e.run)
}
