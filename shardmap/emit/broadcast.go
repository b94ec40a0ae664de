package emit

import (
	"slices"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// spread returns an expression that NumPy's broadcasting repeats to the value, for broadcasts that are not written
// as lines of their own: m[:, None] for a vector along the rows.
func (e *emitter) spread(v ir.ValueID) (*expr, bool) {
	v = e.root(v)
	if _, ok := e.names[v]; ok || !e.isLazy(v) {
		return nil, false
	}
	op := e.m.DefiningOp(v)
	operand, dims := e.m.Operand(op, 0), e.m.OpAttrs(op).Ints("broadcast_dimensions")
	if x, ok := e.spread(operand); ok {
		return x, true // its dimensions are the last ones, as isLazy says
	}
	if text, ok := e.splat(operand); ok {
		return e.full(&ir.Type{Kind: ir.TensorKind, DType: e.m.ValueType(v).DType}, text), true
	}
	x := e.ref(operand)
	if index := newAxes(dims, len(e.m.Shape(v))); index != "" {
		return atom(x.String() + index), true
	}
	return x, true
}

// newAxes returns the index that gives an array new axes of size 1, so that its dimensions lie where dims say,
// counted from the last; "" where they do already.
func newAxes(dims []int64, rank int) string {
	if len(dims) == 0 {
		return ""
	}
	var parts []string
	gaps, next := false, 0
	for d := dims[0]; d < int64(rank); d++ {
		if next < len(dims) && dims[next] == d {
			parts = append(parts, ":")
			next++
		} else {
			parts = append(parts, "None")
			gaps = true
		}
	}
	if !gaps {
		return ""
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// isLazy says whether a broadcast is left to NumPy's rules in the ops that use it.
func (e *emitter) isLazy(v ir.ValueID) bool {
	known, ok := e.lazy[v]
	if !ok {
		known = e.canBeLazy(v)
		e.lazy[v] = known
	}
	return known
}

func (e *emitter) canBeLazy(v ir.ValueID) bool {
	op := e.m.DefiningOp(v)
	if op == 0 || e.m.Kind(op) != ir.OpBroadcastInDim || !e.m.HasUses(v) {
		return false
	}
	dims := e.m.OpAttrs(op).Ints("broadcast_dimensions")
	for i := 1; i < len(dims); i++ {
		if dims[i] <= dims[i-1] {
			return false
		}
	}
	for use := range e.m.Uses(v) {
		switch kind := e.m.Kind(use.Op); {
		case kind == ir.OpBroadcastInDim:
			if w := e.m.Result(use.Op, 0); !e.isLazy(w) || newAxes(e.m.OpAttrs(use.Op).Ints("broadcast_dimensions"), len(e.m.Shape(w))) != "" {
				return false
			}
		case !broadcasts[kind]:
			return false
		}
	}
	return true
}

// loose returns operands of an elementwise op for Python's operators and the functions of jax.numpy: numbers and
// smaller arrays may stand for what NumPy's broadcasting makes of them, as long as one operand has the full type.
func (e *emitter) loose(operands ...ir.ValueID) []*expr {
	out := lists.Map(operands, e.ref)
	if e.unequal {
		return out
	}
	whole := e.wholeOperand(operands)
	for i, v := range operands {
		if i == whole {
			continue
		}
		if x, ok := e.scalar(v, whole >= 0); ok {
			out[i] = x
		} else if x, ok := e.spread(v); ok {
			out[i] = x
		}
	}
	return out
}

// scalar returns a value of equal elements as a number, of exactly its type where the number alone would change that. An
// integer of Python beside an array varies as this does, whatever JAX inserts; a float has a gradient and does not.
func (e *emitter) scalar(v ir.ValueID, beside bool) (*expr, bool) {
	text, known := e.splat(v)
	var axes []int
	if !known {
		text, axes, known = e.varied(v)
	}
	if !known {
		return nil, false
	}
	t := e.m.ValueType(v).DType
	switch weak := isWeak(t, text); {
	case weak && beside && t.Kind() != dtype.Float && t.Kind() != dtype.Complex:
		return atom(text), true
	case weak:
		return e.vary(atom(text), axes), true
	}
	return e.vary(e.full(&ir.Type{Kind: ir.TensorKind, DType: t}, text), axes), true
}

// wholeOperand returns the number of an operand that has to be written in its full type, -1 where the small arrays of
// the others repeat each other to it.
func (e *emitter) wholeOperand(operands []ir.ValueID) int {
	full := -1
	var shape []int64
	for i, v := range operands {
		if e.isNumber(v) {
			continue
		}
		small := e.spreadShape(v)
		if small == nil {
			return i
		}
		full = i
		shape = broadcastShapes(shape, small)
	}
	if full >= 0 && slices.Equal(shape, e.m.Shape(operands[full])) {
		return -1
	}
	return max(full, 0)
}

// spreadShape returns the shape of what spread returns, nil where there is none.
func (e *emitter) spreadShape(v ir.ValueID) []int64 {
	v = e.root(v)
	if _, ok := e.names[v]; ok || !e.isLazy(v) {
		return nil
	}
	op := e.m.DefiningOp(v)
	operand, dims := e.m.Operand(op, 0), e.m.OpAttrs(op).Ints("broadcast_dimensions")
	if inner := e.spreadShape(operand); inner != nil {
		return inner
	}
	shape := []int64{}
	for d, rank := int64(0), int64(len(e.m.Shape(v))); d < rank; d++ {
		if k := slices.Index(dims, d); k >= 0 {
			shape = append(shape, e.m.Shape(operand)[k])
		} else if len(shape) > 0 {
			shape = append(shape, 1)
		}
	}
	return shape
}

// broadcastShapes returns the shape that NumPy repeats two arrays to.
func broadcastShapes(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		if at := &out[len(a)-len(b)+i]; *at == 1 {
			*at = n
		}
	}
	return out
}
