package ir

import (
	"iter"
	"slices"

	"autoshard/internal/lists"
)

// InnerBlocks yields the blocks of all regions of an op.
func (m *Module) InnerBlocks(op OpID) iter.Seq[BlockID] {
	return func(yield func(BlockID) bool) {
		for _, r := range m.Regions(op) {
			for _, b := range m.Blocks(r) {
				if !yield(b) {
					return
				}
			}
		}
	}
}

// FuncValues yields the values of the functions of a module: arguments and results, also of inner blocks. Values that were taken out of the
// module, which keep their numbers, are none of them.
func (m *Module) FuncValues() iter.Seq[ValueID] {
	return func(yield func(ValueID) bool) {
		for f := range m.Funcs() {
			for v := range m.ValuesWithin(m.Func(f).Op) {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// ValuesWithin yields the values that an op makes: its own, and those of all ops inside it.
func (m *Module) ValuesWithin(op OpID) iter.Seq[ValueID] {
	return func(yield func(ValueID) bool) {
		for at := range m.OpsWithin(op) {
			if !m.own(at, yield) {
				return
			}
		}
	}
}

// OpsWithin yields an op, and all ops inside it.
func (m *Module) OpsWithin(op OpID) iter.Seq[OpID] {
	return func(yield func(OpID) bool) {
		if !yield(op) {
			return
		}
		for b := range m.InnerBlocks(op) {
			if !m.within(b, yield) {
				return
			}
		}
	}
}

// OwnValues yields the results of an op and the arguments of its blocks.
func (m *Module) OwnValues(op OpID) iter.Seq[ValueID] {
	return func(yield func(ValueID) bool) { m.own(op, yield) }
}

func (m *Module) own(op OpID, yield func(ValueID) bool) bool {
	for i := range m.NumResults(op) {
		if !yield(m.Result(op, i)) {
			return false
		}
	}
	for b := range m.InnerBlocks(op) {
		for _, v := range m.BlockArgs(b) {
			if !yield(v) {
				return false
			}
		}
	}
	return true
}

// Funcs yields the functions of the module in the order of the program. The one at hand may be erased.
func (m *Module) Funcs() iter.Seq[FuncID] {
	return func(yield func(FuncID) bool) {
		for op := range m.Ops(m.Body()) {
			if f := m.FuncOf(op); f != 0 && !yield(f) {
				return
			}
		}
	}
}

// EraseFuncs removes the functions that pass a test.
func (m *Module) EraseFuncs(test func(FuncID) bool) {
	for f := range m.Funcs() {
		if test(f) {
			m.Erase(m.Func(f).Op)
		}
	}
}

// Definitions yields the functions of the module that have bodies.
func (m *Module) Definitions() iter.Seq[FuncID] {
	return func(yield func(FuncID) bool) {
		for f := range m.Funcs() {
			if !m.IsDeclaration(f) && !yield(f) {
				return
			}
		}
	}
}

// NamedMeshes yields the meshes that ops of the module declare. The one at hand may be erased.
func (m *Module) NamedMeshes() iter.Seq[MeshID] {
	return func(yield func(MeshID) bool) {
		for op := range m.Ops(m.Body()) {
			if m.Kind(op) == OpMesh && !yield(m.MeshOf(op)) {
				return
			}
		}
	}
}

// OpsWhere returns the ops of a block, and inside it, whose kinds pass a test, in the order of the program. They may be changed and
// erased then, which a walk does not allow.
func (m *Module) OpsWhere(b BlockID, test func(Kind) bool) []OpID {
	var ops []OpID
	m.Walk(b, func(op OpID) {
		if test(m.Kind(op)) {
			ops = append(ops, op)
		}
	})
	return ops
}

// OpsOf is OpsWhere for one kind.
func (m *Module) OpsOf(b BlockID, kind Kind) []OpID {
	if !m.MayHave(kind) {
		return nil
	}
	return m.OpsWhere(b, func(k Kind) bool { return k == kind })
}

// TypesOf returns the types of values.
func (m *Module) TypesOf(values []ValueID) []TypeID {
	return lists.Map(values, m.Type)
}

// IsSharded says whether a result of an op has a sharding.
func (m *Module) IsSharded(op OpID) bool {
	for _, v := range m.Results(op) {
		if m.Sharding(v) != 0 {
			return true
		}
	}
	return false
}

// TurnUses makes the uses of one value that pass the test, all where it is nil, uses of another. The order of the moved uses is
// turned around, as it is in MLIR: the order in which propagation and canonicalization meet the users of a value depends on it.
func (m *Module) TurnUses(from, to ValueID, test func(Use) bool) {
	var moved []Use
	for use := range m.Uses(from) {
		if test == nil || test(use) {
			moved = append(moved, use)
		}
	}
	for _, use := range moved {
		m.SetOperand(use.Op, use.Index, to)
	}
}

// AttrDicts yields the attributes of an op and, for a function, those of its arguments and results.
func (m *Module) AttrDicts(op OpID) iter.Seq[Attrs] {
	return func(yield func(Attrs) bool) {
		f := m.FuncOf(op)
		if !yield(m.OpAttrs(op)) || f == 0 {
			return
		}
		for _, a := range slices.Concat(m.Func(f).ArgAttrs, m.Func(f).ResultAttrs) {
			if !yield(a) {
				return
			}
		}
	}
}

// Visit visits the values of a dictionary and what lies inside lists and dictionaries among them.
func (a Attrs) Visit(visit func(Attr)) {
	for i := range a {
		VisitAttr(a[i].Value, visit)
	}
}

// VisitAttr visits an attribute and, of a list or a dictionary, what lies inside.
func VisitAttr(a Attr, visit func(Attr)) {
	visit(a)
	switch a := a.(type) {
	case ArrayAttr:
		for _, e := range a {
			VisitAttr(e, visit)
		}
	case DictAttr:
		Attrs(a).Visit(visit)
	}
}
