package propagate

import (
	"bytes"
	"reflect"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// sameAttrs compares two attribute dictionaries by content.
func sameAttrs(a, b ir.Attrs) bool {
	return slices.EqualFunc(a, b, func(x, y ir.NamedAttr) bool {
		if x.Name != y.Name {
			return false
		}
		switch a := x.Value.(type) {
		case *ir.Dense:
			if b, ok := y.Value.(*ir.Dense); ok {
				return a == b || a.Type == b.Type && a.Splat == b.Splat && a.Resource == b.Resource && bytes.Equal(a.Data, b.Data)
			}
		case ir.Ints:
			if b, ok := y.Value.(ir.Ints); ok {
				return slices.Equal(a, b)
			}
		case *ir.RuleAttr:
			if b, ok := y.Value.(*ir.RuleAttr); ok && a == b {
				return true
			}
		}
		return reflect.DeepEqual(x.Value, y.Value)
	})
}

// CloseShardings closes all dimensions and forgets explicitly replicated axes, which mean nothing any more.
// Shardy: -sdy-close-shardings.
func CloseShardings(m *ir.Module) {
	rewriteShardings(m, func(s *ir.Sharding) ir.Sharding {
		for d := range s.Dims {
			s.Dims[d].Closed = true
		}
		s.Replicated = nil
		return *s
	})
}

// UpdateNonDivisible cuts the shardings of arguments and results of functions, of results of calls, and of values
// that enter or leave manual computations, down to axes that divide the dimensions.
// Shardy: -sdy-update-non-divisible-input-output-shardings.
func UpdateNonDivisible(m *ir.Module) {
	m.Walk(m.Body(), func(op ir.OpID) {
		switch m.Kind(op) {
		case ir.OpFunc:
			f := m.FuncOf(op)
			if f != 0 && !m.IsDeclaration(f) {
				for _, v := range m.BlockArgs(m.Func(f).Body) {
					m.SetSharding(v, evenly(m, m.Sharding(v), m.Shape(v)))
				}
			}
			results := m.Func(f).ResultShardings
			for i, id := range results {
				results[i] = evenly(m, id, m.TypeOf(m.Func(f).ResultTypes[i]).Dims)
			}
		case ir.OpCall:
			for _, v := range m.Results(op) {
				m.SetSharding(v, evenly(m, m.Sharding(v), m.Shape(v)))
			}
		case ir.OpSdyManualComputation:
			for _, v := range dataflow.Owners(m, op) {
				dataflow.SetOwnerSharding(m, v, evenly(m, dataflow.OwnerSharding(m, v), m.Shape(v)))
			}
		}
	})
}

// Exported returns what Close leaves of the axes of an input or output of the main function: those that divide its
// dimensions, and in open dimensions whole ones.
func Exported(m *ir.Module, id ir.ShardingID, shape []int64) ir.ShardingID {
	return wholeAxes(m, evenly(m, id, shape))
}

// evenly returns the sharding of a shape in which every dimension is divisible by its shards.
func evenly(m *ir.Module, id ir.ShardingID, shape []int64) ir.ShardingID {
	if id == 0 || slices.Contains(shape, ir.Dynamic) {
		return id
	}
	given := m.ShardingOf(id)
	var s ir.Sharding
	for d := range min(len(given.Dims), len(shape)) {
		if shape[d]%max(given.Shards(d), 1) == 0 {
			continue
		}
		if s.Dims == nil {
			s = given.Clone()
		}
		s.Dims[d].Axes = subaxis.Dividing(s.Dims[d].Axes, shape[d])
		s.Dims[d].Priority = ir.NoPriority
	}
	if s.Dims == nil {
		return id
	}
	return m.InternSharding(s)
}

// RemoveSubAxes cuts open dimensions of arguments and results of the main function at the first sub-axis: callers
// rather give and take whole axes. Shardy: -sdy-remove-sub-axes-in-input-output-shardings.
func RemoveSubAxes(m *ir.Module) {
	main, ok := m.Main()
	if !ok || m.IsDeclaration(main) {
		return
	}
	for _, v := range m.BlockArgs(m.Func(main).Body) {
		m.SetSharding(v, wholeAxes(m, m.Sharding(v)))
	}
	results := m.Func(main).ResultShardings
	for i, id := range results {
		results[i] = wholeAxes(m, id)
	}
}

func wholeAxes(m *ir.Module, id ir.ShardingID) ir.ShardingID {
	if id == 0 {
		return 0
	}
	given := m.ShardingOf(id)
	mesh := m.Mesh(given.Mesh)
	var s ir.Sharding
	for d, dim := range given.Dims {
		part := slices.IndexFunc(dim.Axes, func(r subaxis.Ref) bool { return !mesh.IsFull(r) })
		if dim.Closed || part < 0 {
			continue
		}
		if s.Dims == nil {
			s = given.Clone()
		}
		s.Dims[d].Axes = dim.Axes[:part]
	}
	if s.Dims == nil {
		return id
	}
	return m.InternSharding(s)
}
