package propagate_test

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/propagate"
	"autoshard/subaxis"
)

// chain returns an MLP of n layers, each a product with its own weight, a tanh and an addition of the layer before:
// about 3n ops. Some inputs are sharded over four axes, with three user priorities.
func chain(n int) *ir.Module {
	m := ir.NewModule()
	mesh := m.AddMesh("mesh", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "a", Size: 2}, {Name: "b", Size: 4}, {Name: "c", Size: 2},
		{Name: "d", Size: 2}}}, nil, 0)
	x, w := m.TensorType(dtype.F32, 64, 128), m.TensorType(dtype.F32, 128, 128)
	args := []ir.TypeID{x}
	for range n {
		args = append(args, w)
	}
	f := m.AddFunc(ir.FuncSpec{Name: "main", Args: args, Results: []ir.TypeID{x}})
	body := m.Func(f).Body
	b := m.BuilderAtEnd(body)
	dot := ir.MakeAttrs(ir.NamedAttr{Name: "dot_dimension_numbers", Value: &ir.DotDims{LhsContract: []int64{1}, RhsContract: []int64{0}}})
	v := m.BlockArgs(body)[0]
	for i := range n {
		y := b.Op1(ir.OpDotGeneral, x, dot, v, m.BlockArgs(body)[i+1])
		y = b.Op1(ir.OpTanh, x, nil, y)
		v = b.Op1(ir.OpAdd, x, nil, y, v)
	}
	b.Op(ir.OpReturn, nil, nil, v)
	set := func(arg int, axes [2]int, priorities [2]int32) {
		s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, 2)}
		for d, a := range axes {
			s.Dims[d].Priority = priorities[d]
			if a >= 0 {
				s.Dims[d].Axes = ir.ShardAxes{m.Mesh(mesh).Full(a)}
			}
		}
		m.SetSharding(m.BlockArgs(body)[arg], m.InternSharding(s))
	}
	set(0, [2]int{0, -1}, [2]int32{0, ir.NoPriority})
	set(1, [2]int{-1, 1}, [2]int32{ir.NoPriority, 1})
	set(n/2, [2]int{2, 3}, [2]int32{1, 2})
	return m
}

func benchmarkRun(b *testing.B, m *ir.Module) {
	b.ReportAllocs()
	ops := 0
	for range b.N {
		b.StopTimer()
		c := m.Clone()
		if err := propagate.Import(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		ops = c.NumOps()
		b.StartTimer()
		if _, err := propagate.Run(b.Context(), c, propagate.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ops), "ns/ir-op")
}

func BenchmarkChain1000(b *testing.B)   { benchmarkRun(b, chain(333)) }
func BenchmarkChain10000(b *testing.B)  { benchmarkRun(b, chain(3333)) }
func BenchmarkChain100000(b *testing.B) { benchmarkRun(b, chain(33333)) }
