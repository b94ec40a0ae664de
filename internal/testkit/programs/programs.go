// Package programs draws random programs for tests: functions of a few ops on tensors of few sizes.
//
//	m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 6, Rank: 3, Sizes: []int64{2, 4, 8}})
//	inputs := programs.Inputs(t, m)
//
// The programs have no mesh and no shardings; [Annotate] draws those.
package programs

import (
	"slices"

	"pgregory.net/rapid"

	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// Spec says what programs may have.
type Spec struct {
	Inputs, Ops, Rank int     // the most inputs, ops, and dimensions of an input
	Sizes             []int64 // of dimensions of inputs; of reshaped values where they divide
	Indices           bool    // the last input is of indices, and rows are taken by them and added to
	Windows           bool    // along some dimensions elements move: in windows, halves, paddings and reversals
	Loops             bool    // some ops are in loops of three rounds
	Identities        bool    // reductions begin with the identity of their op, which XLA takes for granted
	AllResults        bool    // the results are all values that no op reads, not the last one
}

// generator writes the ops of one block.
type generator struct {
	*Spec
	t       *rapid.T
	m       *ir.Module
	b       *ir.Builder
	values  []ir.ValueID // that ops may read
	indices ir.ValueID   // 0 for none
	inLoop  bool
}

// Draw returns a module with a function main.
func Draw(t *rapid.T, s Spec) *ir.Module {
	m := ir.NewModule()
	size := rapid.SampledFrom(s.Sizes)
	var args []ir.TypeID
	for range rapid.IntRange(1, s.Inputs).Draw(t, "inputs") {
		args = append(args, m.TensorType(dtype.F32, rapid.SliceOfN(size, 1, s.Rank).Draw(t, "shape")...))
	}
	floats := len(args)
	if s.Indices {
		args = append(args, m.TensorType(dtype.I32, size.Draw(t, "rows"), 1))
	}
	main := m.AddFunc(ir.FuncSpec{Name: "main", Args: args})
	body := m.Func(main).Body
	inputs := m.BlockArgs(body)
	g := &generator{Spec: &s, t: t, m: m, b: m.BuilderAtEnd(body), values: slices.Clone(inputs[:floats])}
	if s.Indices {
		g.indices = inputs[floats]
	}
	for range rapid.IntRange(1, s.Ops).Draw(t, "ops") {
		g.op()
	}
	results := g.results(floats)
	g.b.Op(ir.OpReturn, nil, nil, results...)
	f := m.Func(main)
	for _, v := range results {
		f.ResultTypes = append(f.ResultTypes, m.Type(v))
	}
	f.ResultAttrs, f.ResultShardings = make([]ir.Attrs, len(results)), make([]ir.ShardingID, len(results))
	return m
}

// results returns the values that the function returns.
func (g *generator) results(inputs int) []ir.ValueID {
	last := len(g.values) - 1
	if !g.AllResults {
		return g.values[last:]
	}
	return append(slices.DeleteFunc(slices.Clone(g.values[min(inputs, last):last]), g.m.HasUses), g.values[last])
}

// Layout draws a layout of a tensor: every part of a mesh on a random dimension that it divides, or on none.
func Layout(t *rapid.T, dims []int64, parts []subaxis.Ref) collectives.Layout {
	l := collectives.Layout{Dims: make([][]subaxis.Ref, len(dims))}
	for _, r := range rapid.Permutation(parts).Draw(t, "axes") {
		d := rapid.IntRange(-1, len(dims)-1).Draw(t, "dimension")
		if d < 0 {
			continue
		}
		if axes := subaxis.AppendMerge(slices.Clone(l.Dims[d]), r); dims[d]%subaxis.Product(axes) == 0 {
			l.Dims[d] = axes
		}
	}
	return l
}

// Anywhere draws a layout of a tensor: every part of a mesh on a random dimension, whether it divides that or not, or on none.
func Anywhere(t *rapid.T, dims []int64, parts []subaxis.Ref) collectives.Layout {
	l := collectives.Layout{Dims: make([][]subaxis.Ref, len(dims))}
	for _, r := range rapid.Permutation(parts).Draw(t, "axes") {
		if d := rapid.IntRange(-1, len(dims)-1).Draw(t, "dimension"); d >= 0 {
			l.Dims[d] = subaxis.AppendMerge(slices.Clone(l.Dims[d]), r)
		}
	}
	return l
}

// Annotate gives some inputs and results of a program shardings of parts of a mesh, with open and closed dimensions. [Layout] or
// [Anywhere] draws them.
func Annotate(t *rapid.T, m *ir.Module, mesh ir.MeshID, parts []subaxis.Ref,
	draw func(t *rapid.T, dims []int64, parts []subaxis.Ref) collectives.Layout) {
	sharding := func(v ir.ValueID) ir.ShardingID {
		if rapid.IntRange(0, 3).Draw(t, "annotated") > 0 {
			return 0
		}
		l := draw(t, m.Shape(v), parts)
		s := l.Sharding(mesh)
		for d := range s.Dims {
			s.Dims[d].Closed = rapid.Bool().Draw(t, "closed")
		}
		return m.InternSharding(s)
	}
	f := m.MainFunc()
	for _, arg := range m.BlockArgs(f.Body) {
		m.SetSharding(arg, sharding(arg))
	}
	for i, v := range m.Operands(m.LastOp(f.Body)) {
		f.ResultShardings[i] = sharding(v)
	}
}

// Inputs draws inputs of a program: small whole numbers, and indices beyond both ends. They are so small that sums of products are exact in
// all element types, bf16 among them, which has whole numbers up to 256.
func Inputs(t *rapid.T, m *ir.Module) (inputs []*tensor.Tensor) {
	for _, arg := range m.BlockArgs(m.MainFunc().Body) {
		typ := m.ValueType(arg)
		x := tensor.New(typ.DType, typ.Dims)
		n := int(typ.Elements())
		if typ.DType == dtype.I32 {
			x = tensor.FromInts(typ.DType, typ.Dims, rapid.SliceOfN(rapid.Int64Range(-2, 18), n, n).Draw(t, "indices")...)
		} else {
			values, most := make([]float64, n), 3
			if typ.DType == dtype.BF16 {
				most = 1
			}
			for i, v := range rapid.SliceOfN(rapid.IntRange(-most, most), n, n).Draw(t, "values") {
				values[i] = float64(v)
			}
			x = tensor.FromFloats(typ.DType, typ.Dims, values...)
		}
		inputs = append(inputs, &x)
	}
	return inputs
}
