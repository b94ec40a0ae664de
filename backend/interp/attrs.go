package interp

import (
	"encoding/binary"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// attrReader reads the attributes of one op and remembers the first problem.
type attrReader struct {
	*compiler
	op    ir.OpID
	batch Spread // of the blocks that the op takes as its first dimension, if any
	err   error
}

func (c *compiler) attrs(op ir.OpID) *attrReader {
	return &attrReader{compiler: c, op: op, batch: c.batch}
}

// shift returns dimension numbers behind that of the blocks.
func (r *attrReader) shift(dims []int64) []int64 {
	if r.batch == nil {
		return dims
	}
	return lists.Map(dims, r.behind)
}

// behind returns a dimension number behind that of the blocks.
func (r *attrReader) behind(d int64) int64 {
	if r.batch == nil {
		return d
	}
	return d + 1
}

// before puts in front of a list by dimensions what holds for that of the blocks.
func (r *attrReader) before(first int64, list []int64) []int64 {
	if r.batch == nil {
		return list
	}
	return slices.Concat([]int64{first}, list)
}

func (r *attrReader) missing(name string) {
	if r.err == nil {
		r.err = diag.Invalid(diag.BadAttribute, diag.Position{}, "attribute %q is missing or of the wrong kind", name)
	}
}

// ints returns a list, which may be written as a constant; nil where it is absent.
func (r *attrReader) ints(name string) []int64 {
	switch v := r.m.Attr(r.op, name).(type) {
	case nil:
		return nil
	case ir.Ints:
		return v
	case *ir.Dense:
		return r.matrix(v)
	}
	r.missing(name)
	return nil
}

// list returns a list that has to be there, with n elements.
func (r *attrReader) list(name string, n int) []int64 {
	v := r.ints(name)
	if len(v) != n {
		r.missing(name)
		return make([]int64, n)
	}
	return v
}

// matrix returns the elements of an integer constant, splats repeated.
func (r *attrReader) matrix(d *ir.Dense) []int64 {
	t := r.m.TypeOf(d.Type)
	width := t.DType.Bytes()
	if t.DType.Kind() == dtype.Float || t.DType.Kind() == dtype.Complex || width == 0 || !t.IsStatic() {
		r.missing("elements")
		return nil
	}
	out := make([]int64, 0, len(d.Data)/width)
	for at := 0; at+width <= len(d.Data); at += width {
		raw := make([]byte, 8)
		copy(raw, d.Data[at:at+width])
		out = append(out, dtype.Wrap(t.DType, int64(binary.LittleEndian.Uint64(raw))))
	}
	if n := t.Elements(); d.Splat && len(out) == 1 && n <= 1<<20 {
		for value := out[0]; int64(len(out)) < n; {
			out = append(out, value)
		}
	}
	if int64(len(out)) != t.Elements() {
		r.missing("elements")
	}
	return out
}

// pairs returns the rows of a matrix of two columns, nil where it is absent.
func (r *attrReader) pairs(name string) [][2]int64 {
	flat := r.ints(name)
	if flat == nil {
		return nil
	}
	return lists.Of(len(flat)/2, func(k int) [2]int64 { return [2]int64{flat[2*k], flat[2*k+1]} })
}

func (r *attrReader) int(name string, missing int64) int64 {
	return r.m.OpAttrs(r.op).Int(name, missing)
}

// dimension returns a dimension number below rank.
func (r *attrReader) dimension(name string, rank int) int64 {
	d := r.int(name, -1)
	if d < 0 || d >= int64(rank) {
		r.missing(name)
		return 0
	}
	return d
}

func (r *attrReader) bool(name string) bool { return r.m.OpAttrs(r.op).Bool(name) }

func (r *attrReader) bools(name string) []bool {
	switch v := r.m.Attr(r.op, name).(type) {
	case nil:
	case ir.Bools:
		return v
	case *ir.Dense:
		return lists.Map(r.matrix(v), func(x int64) bool { return x != 0 })
	default:
		r.missing(name)
	}
	return nil
}

func (r *attrReader) str(name string) string { return r.m.OpAttrs(r.op).Str(name) }

// float returns a number, the default where it is absent.
func (r *attrReader) float(name string, missing float64) float64 {
	if v, ok := r.m.Attr(r.op, name).(ir.FloatAttr); ok {
		if t := r.m.TypeOf(v.Type).DType; t.Kind() == dtype.Float {
			return dtype.Decode(t, v.Bits)
		}
	}
	return missing
}

// function returns the function that an attribute names.
func (r *attrReader) function(name string) ir.FuncID {
	fn, err := r.named(r.m.Attr(r.op, name), "attribute %q is missing or of the wrong kind", name)
	if r.err == nil {
		r.err = err
	}
	return fn
}

// named returns the function that a symbol names, or an error that says how something else is wrong.
func (c *compiler) named(a ir.Attr, wrong string, args ...any) (ir.FuncID, error) {
	symbol, ok := a.(ir.SymbolAttr)
	if !ok || len(symbol) != 1 {
		return 0, diag.Invalid(diag.BadAttribute, diag.Position{}, wrong, args...)
	}
	fn, ok := c.m.LookupFunc(symbol[0])
	if !ok {
		return 0, diag.Invalid(diag.Undefined, diag.Position{}, "function @%s is not defined", symbol[0])
	}
	return fn, nil
}

// enumOf returns the value of an enum attribute by its spelling; the zero value where it is absent.
func enumOf[T interface {
	~uint8
	String() string
}](r *attrReader, name string, values ...T) T {
	s := r.str(name)
	for _, v := range values {
		if v.String() == s {
			return v
		}
	}
	if s != "" {
		r.missing(name)
	}
	return values[0]
}

// static returns the dimensions of a value's type, which must be known.
func (r *attrReader) static(v ir.ValueID) []int64 {
	t := r.m.ValueType(v)
	if !t.IsStatic() && r.err == nil {
		r.err = diag.Unsupported(diag.NotSupported, diag.Position{}, "a result with dimensions that are not known cannot be run here")
	}
	return t.Dims
}

// result returns the type of the op's first result, whose dimensions must be known, with that of the blocks.
func (r *attrReader) result() paramType {
	v := r.m.Result(r.op, 0)
	return paramType{DType: r.m.ValueType(v).DType, Dims: stacked(r.batch, r.static(v))}
}

// rank returns the rank of an operand.
func (r *attrReader) rank(k int) int { return len(r.m.Shape(r.m.Operand(r.op, k))) }
