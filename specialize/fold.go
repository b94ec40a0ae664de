package specialize

import (
	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// maxFolded is the number of elements up to which integers are computed: sizes, shapes and paddings.
const maxFolded = 256

// folder computes what follows from constants and sizes.
type folder struct {
	m       *ir.Module
	known   map[ir.ValueID]tensor.Tensor
	derived map[ir.ValueID]bool // of known: what follows from sizes, or from the platform
	sizes   map[place]int64     // that dimensions are supposed to have
}

func newFolder(m *ir.Module) *folder {
	return &folder{m: m, known: map[ir.ValueID]tensor.Tensor{}, derived: map[ir.ValueID]bool{}, sizes: map[place]int64{}}
}

// op computes the results of an op, if they are few integers that follow from what is known.
func (f *folder) op(op ir.OpID) bool {
	m := f.m
	if m.Kind(op) == ir.OpGetDimensionSize {
		return f.dimensionSize(op)
	}
	if m.NumResults(op) > 0 {
		if _, ok := f.known[m.Result(op, 0)]; ok {
			return true
		}
	}
	if m.NumResults(op) == 0 || m.NumRegions(op) > 0 || !m.Kind(op).IsPure() {
		return false
	}
	for _, v := range m.Results(op) {
		if !isShort(m.ValueType(v)) {
			return false
		}
	}
	derived := false
	operands := make([]tensor.Tensor, m.NumOperands(op))
	for i := range operands {
		v := m.Operand(op, i)
		t, ok := f.known[v]
		if !ok {
			return false
		}
		operands[i], derived = t, derived || f.derived[v]
	}
	results, err := interp.Fold(m, op, operands)
	if err != nil || len(results) != m.NumResults(op) {
		return false
	}
	for i, v := range m.Results(op) {
		f.known[v], f.derived[v] = results[i], derived
	}
	return true
}

func (f *folder) dimensionSize(op ir.OpID) bool {
	v, d := f.m.Operand(op, 0), int(f.m.OpAttrs(op).Int("dimension", 0))
	n := f.m.Shape(v)[d]
	if n == ir.Dynamic {
		var ok bool
		if n, ok = f.sizes[place{v, d}]; !ok {
			return false
		}
	}
	f.set(f.m.Result(op, 0), n)
	return true
}

// set makes an integer scalar known.
func (f *folder) set(v ir.ValueID, n int64) {
	f.known[v], f.derived[v] = tensor.FromInts(f.m.ValueType(v).DType, nil, n), true
}

// ints returns the elements of a value that is known.
func (f *folder) ints(v ir.ValueID) ([]int64, bool) {
	t, ok := f.known[v]
	if !ok {
		return nil, false
	}
	return t.Ints(), true
}

// isShort says whether a type is that of few integers or booleans.
func isShort(t *ir.Type) bool {
	if !t.IsStatic() || t.Quant != 0 {
		return false
	}
	if k := t.DType.Kind(); k == dtype.Float || k == dtype.Complex || k != dtype.Bool && t.DType.Bits() < 8 {
		return false
	}
	n := int64(1)
	for _, d := range t.Dims {
		if n *= d; n > maxFolded {
			return false
		}
	}
	return true
}
