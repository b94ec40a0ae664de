package run

import (
	"context"
	"sync"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Manual returns what runs the manual computations of a module of whole tensors for [interp.Options]: each on all devices of its mesh, with
// blocks as its shardings cut them. It is nil where there are none. The module must not change meanwhile.
func Manual(m *ir.Module, opts Options) interp.Manual {
	if !HasManual(m) {
		return nil
	}
	a := &alone{m: m, programs: map[ir.OpID]*shardmap.Program{}}
	return func(ctx context.Context, op ir.OpID, operands []tensor.Tensor) ([]tensor.Tensor, error) {
		p, err := a.program(ctx, op)
		if err != nil {
			return nil, err
		}
		inputs := lists.Of(len(operands), func(i int) *tensor.Tensor { return &operands[i] })
		result, err := Program(ctx, p, inputs, opts)
		if err != nil {
			return nil, err
		}
		if opts.Differ != nil {
			for _, d := range result.Differences(p) {
				opts.Differ(op, d)
			}
		}
		return lists.Map(result.Outputs, func(t *tensor.Tensor) tensor.Tensor { return *t }), nil
	}
}

// HasManual says whether a module has manual computations.
func HasManual(m *ir.Module) bool {
	for op := ir.OpID(1); int(op) < m.NumOps(); op++ {
		if m.Kind(op) == ir.OpSdyManualComputation && m.OpBlock(op) != 0 {
			return true
		}
	}
	return false
}

// alone lowers manual computations, each as a program of its own, when they are first run.
type alone struct {
	m        *ir.Module
	mutex    sync.Mutex
	programs map[ir.OpID]*shardmap.Program
}

func (a *alone) program(ctx context.Context, op ir.OpID) (*shardmap.Program, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if p := a.programs[op]; p != nil {
		return p, nil
	}
	m, mesh := extract(a.m, op)
	p, err := shardmap.Lower(ctx, m, mesh)
	if err == nil {
		err = shardmap.LowerAxes(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	a.programs[op] = p
	return p, nil
}

// extract returns a module whose only function is a manual computation, and its mesh.
func extract(whole *ir.Module, op ir.OpID) (*ir.Module, ir.MeshID) {
	m := whole.Clone()
	f := m.AddFunc(ir.FuncSpec{Name: "manual", Args: m.TypesOf(m.Operands(op)), Results: m.TypesOf(m.ResultValues(op))})
	b := m.BuilderAtEnd(m.Func(f).Body)
	inner := m.CloneOp(b, op, map[ir.ValueID]ir.ValueID{})
	for i, arg := range m.BlockArgs(m.Func(f).Body) {
		m.SetSharding(arg, m.Sharding(m.BlockArgs(m.RegionBlock(op, 0))[i]))
		m.SetOperand(inner, i, arg)
	}
	for i, v := range m.ResultValues(op) {
		m.Func(f).ResultShardings[i] = m.Sharding(v)
	}
	b.Op(ir.OpReturn, nil, nil, m.ResultValues(inner)...)
	m.EraseFuncs(func(other ir.FuncID) bool { return other != f })
	return m, m.Attr(inner, "manual_axes").(*ir.AxesAttr).Mesh
}
