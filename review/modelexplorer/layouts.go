package modelexplorer

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/names"
	"autoshard/ir/specfmt"
)

// layout is how a value of the model lies, in all programs' values that come from it.
type layout struct {
	specs []string // different ones, as they were met
	cut   bool     // whether any has axes
	bytes int64    // of a device's largest block
}

// add adds another layout.
func (l *layout) add(o *layout) {
	for _, s := range o.specs {
		if !slices.Contains(l.specs, s) {
			l.specs = append(l.specs, s)
		}
	}
	l.cut, l.bytes = l.cut || o.cut, max(l.bytes, o.bytes)
}

// layouts are those of the values of a model in a program that was made of it.
type layouts struct {
	model *ir.Module
	m     *ir.Module
	mesh  ir.MeshID
	ops   map[ir.OpID][]ir.OpID // of the program, by the operation of the model that they still are
	of    map[ir.ValueID]*layout
	read  map[ir.ValueID]*layout // of arguments of functions, as what they are given to reads them
	calls map[ir.FuncID][]ir.OpID
	asked map[ir.ValueID]bool
}

// layoutsIn returns how the values of a model lie in a program that was made of it, in which they have shardings over a mesh. The program
// is changed.
func layoutsIn(m *ir.Module, mesh ir.MeshID, model *ir.Module, from origins) *layouts {
	l := &layouts{model, m, mesh, map[ir.OpID][]ir.OpID{}, map[ir.ValueID]*layout{}, map[ir.ValueID]*layout{}, map[ir.FuncID][]ir.OpID{},
		map[ir.ValueID]bool{}}
	l.arguments()
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		for _, at := range from[op] {
			if isOf(model, at, m, op) && !ofElements(model, at) {
				l.ops[at] = append(l.ops[at], op)
				l.together(model.ResultValues(at), m.ResultValues(op))
				l.bodies(at, op)
			}
		}
	})
	eachOp(model, func(op ir.OpID) {
		if f := callee(model, op); f != 0 {
			l.calls[f] = append(l.calls[f], op)
		}
	})
	done := map[ir.FuncID]bool{}
	for f := range model.Definitions() {
		l.missing(f, done)
	}
	return l
}

// put says of a value of the model that it lies as a value of the program.
func (l *layouts) put(all map[ir.ValueID]*layout, at, v ir.ValueID) {
	if one := layoutOf(l.m, l.mesh, v); one != nil {
		l.same(all, at, one)
	}
}

func (l *layouts) same(all map[ir.ValueID]*layout, at ir.ValueID, one *layout) {
	if all[at] == nil {
		all[at] = &layout{}
	}
	all[at].add(one)
}

// together pairs lists of one length.
func (l *layouts) together(at, list []ir.ValueID) {
	if len(at) == len(list) {
		for i, v := range list {
			l.put(l.of, at[i], v)
		}
	}
}

// missing finds values of a function, and of those that it calls before, that the program has not: constants, and what is made of them,
// which are there once for all that are equal, and constraints that a plan has kept. They lie as what reads them has them.
func (l *layouts) missing(f ir.FuncID, done map[ir.FuncID]bool) {
	if done[f] {
		return
	}
	done[f] = true
	var ops []ir.OpID
	l.model.Walk(l.model.Func(f).Body, func(op ir.OpID) {
		ops = append(ops, op)
		if called := callee(l.model, op); called != 0 {
			l.missing(called, done)
		}
	})
	for _, op := range slices.Backward(ops) {
		if callee(l.model, op) != 0 || ofElements(l.model, op) {
			continue
		}
		for _, v := range l.model.ResultValues(op) {
			if l.of[v] == nil {
				l.asRead(l.of, op, v)
			}
		}
	}
	if l.calls[f] != nil {
		for _, v := range l.model.BlockArgs(l.model.Func(f).Body) {
			l.asRead(l.read, 0, v)
		}
	}
}

// asRead says of a value of the model, the result of an operation or an argument, that it lies as what reads it has it. What makes that in
// the program is the operation, if it is of its kind.
func (l *layouts) asRead(all map[ir.ValueID]*layout, op ir.OpID, v ir.ValueID) {
	model, m := l.model, l.m
	for use := range model.Uses(v) {
		if f := callee(model, use.Op); f != 0 {
			if one := l.read[model.BlockArgs(model.Func(f).Body)[use.Index]]; one != nil {
				l.same(all, v, one)
			}
			continue
		}
		for _, reader := range l.ops[use.Op] {
			if m.NumOperands(reader) != model.NumOperands(use.Op) {
				continue
			}
			w := m.Operand(reader, use.Index)
			if !slices.Equal(m.Shape(w), model.Shape(v)) {
				continue
			}
			l.put(all, v, w)
			if by := m.DefiningOp(w); op != 0 && by != 0 && isOf(model, op, m, by) && !slices.Contains(l.ops[op], by) {
				l.ops[op] = append(l.ops[op], by)
			}
		}
	}
}

// isOf says whether an operation is still what it was in the model, of two that have the same place. A composite may have become the
// operation that it stands for; constraints may stand for the borders of functions.
func isOf(model *ir.Module, at ir.OpID, m *ir.Module, op ir.OpID) bool {
	return model.Kind(at) == m.Kind(op) || model.Kind(at) == ir.OpComposite && m.Kind(op) != ir.OpSdyShardingConstraint
}

// bodies pairs the arguments of regions.
func (l *layouts) bodies(at, op ir.OpID) {
	if !runs(l.m.Kind(op)) || l.model.NumRegions(at) != l.m.NumRegions(op) {
		return
	}
	for r := range l.m.NumRegions(op) {
		l.together(l.model.BlockArgs(l.model.RegionBlock(at, r)), l.m.BlockArgs(l.m.RegionBlock(op, r)))
	}
}

// arguments pairs the arguments of the program with those of the model: by place or, where sizes or a platform were among them, by name.
func (l *layouts) arguments() {
	whole, _ := l.model.Main()
	main, _ := l.m.Main()
	all, list := l.model.BlockArgs(l.model.Func(whole).Body), l.m.BlockArgs(l.m.Func(main).Body)
	if len(all) == len(list) {
		l.together(all, list)
		return
	}
	called, left := names.Args(l.model, whole), names.Args(l.m, main)
	for i, name := range left.Names {
		if k := slices.Index(called.Names, name); k >= 0 && left.Given[i] && called.Given[k] {
			l.put(l.of, all[k], list[i])
		}
	}
}

// layoutOf returns how a value of a program lies, nil for what is no tensor. Dimensions that propagation might still cut are as they are.
func layoutOf(m *ir.Module, mesh ir.MeshID, v ir.ValueID) *layout {
	t := *m.ValueType(v)
	if t.Kind != ir.TensorKind {
		return nil
	}
	s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, len(t.Dims))}
	if id := dataflow.OwnerSharding(m, v); id != 0 {
		s = m.ShardingOf(id).Clone()
	}
	out := &layout{cut: len(s.Unreduced) > 0}
	for d := range s.Dims {
		s.Dims[d].Closed, s.Dims[d].Priority = true, ir.NoPriority
		out.cut = out.cut || len(s.Dims[d].Axes) > 0
	}
	s.Replicated = nil
	id := m.InternSharding(s)
	t.Dims = m.ShardingOf(id).LocalDims(t.Dims)
	out.specs, out.bytes = []string{specfmt.Notation(m, id)}, t.Bytes()
	return out
}

// at returns how a value lies, nil where that is not known. The result of a call lies as what its function returns, an argument of a
// function as what calls give it: neither is in the program, where calls are inlined.
func (l *layouts) at(v ir.ValueID) *layout {
	if found := l.of[v]; found != nil || l.asked[v] {
		return found
	}
	l.asked[v] = true
	m := l.model
	var sources []ir.ValueID
	if op := m.DefiningOp(v); op != 0 {
		if f := callee(m, op); f != 0 {
			sources = []ir.ValueID{m.Operand(m.LastOp(m.Func(f).Body), m.Index(v))}
		}
	} else {
		for _, call := range l.calls[m.FuncOf(m.BlockOp(m.ArgBlock(v)))] {
			sources = append(sources, m.Operand(call, m.Index(v)))
		}
	}
	var out layout
	for _, source := range sources {
		if one := l.at(source); one != nil {
			out.add(one)
		}
	}
	if len(out.specs) == 0 && l.read[v] != nil {
		out.add(l.read[v])
	}
	if len(out.specs) > 0 {
		l.of[v] = &out
	}
	return l.of[v]
}

// callee returns the function that an operation calls, 0 for others.
func callee(m *ir.Module, op ir.OpID) ir.FuncID {
	attr := "callee"
	switch m.Kind(op) {
	case ir.OpCall:
	case ir.OpComposite:
		attr = "decomposition"
	default:
		return 0
	}
	name, ok := m.Attr(op, attr).(ir.SymbolAttr)
	if !ok || len(name) != 1 {
		return 0
	}
	f, ok := m.LookupFunc(name[0])
	if !ok || m.IsDeclaration(f) {
		return 0
	}
	return f
}
