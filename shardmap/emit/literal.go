package emit

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// dtypeNames are the element types by their names in jax.numpy.
var dtypeNames = map[dtype.Type]string{
	dtype.I1: "bool_", dtype.I2: "int2", dtype.I4: "int4", dtype.I8: "int8", dtype.I16: "int16", dtype.I32: "int32", dtype.I64: "int64",
	dtype.UI2: "uint2", dtype.UI4: "uint4", dtype.UI8: "uint8", dtype.UI16: "uint16", dtype.UI32: "uint32", dtype.UI64: "uint64",
	dtype.F4E2M1FN: "float4_e2m1fn", dtype.F8E3M4: "float8_e3m4", dtype.F8E4M3: "float8_e4m3", dtype.F8E4M3B11FNUZ: "float8_e4m3b11fnuz",
	dtype.F8E4M3FN: "float8_e4m3fn", dtype.F8E4M3FNUZ: "float8_e4m3fnuz", dtype.F8E5M2: "float8_e5m2", dtype.F8E5M2FNUZ: "float8_e5m2fnuz",
	dtype.F8E8M0FNU: "float8_e8m0fnu", dtype.BF16: "bfloat16", dtype.F16: "float16", dtype.F32: "float32", dtype.F64: "float64",
	dtype.C64: "complex64", dtype.C128: "complex128",
}

// dtypeOf returns jnp.NAME for an element type, and turns 64-bit types on where needed.
func (e *emitter) dtypeOf(t dtype.Type) *expr {
	if t == dtype.I64 || t == dtype.UI64 || t == dtype.F64 || t == dtype.C128 {
		e.file.wide = true
	}
	return atom("jnp." + dtypeNames[t])
}

// bitsAt returns the bits of element k of raw elements.
func bitsAt(data []byte, t dtype.Type, k int) uint64 {
	var raw [8]byte
	w := t.Bytes()
	copy(raw[:], data[k*w:min(len(data), (k+1)*w)])
	return binary.LittleEndian.Uint64(raw[:])
}

// literal returns element k of raw elements as a Python number. It returns false for NaN with bits of its own.
func literal(t dtype.Type, data []byte, k int) (string, bool) {
	switch t.Kind() {
	case dtype.Bool:
		return truth(data[k] != 0).head, true
	case dtype.Signed:
		return strconv.FormatInt(dtype.Wrap(t, int64(bitsAt(data, t, k))), 10), true
	case dtype.Unsigned:
		return strconv.FormatUint(uint64(dtype.Wrap(t, int64(bitsAt(data, t, k)))), 10), true
	case dtype.Complex:
		part := dtype.F32
		if t == dtype.C128 {
			part = dtype.F64
		}
		re, ok1 := floatLiteral(part, bitsAt(data, part, 2*k))
		im, ok2 := floatLiteral(part, bitsAt(data, part, 2*k+1))
		return "complex(" + re + ", " + im + ")", ok1 && ok2
	}
	return floatLiteral(t, bitsAt(data, t, k))
}

// floatLiteral returns the shortest text that gives these bits back when Python reads it and JAX rounds it.
func floatLiteral(t dtype.Type, bits uint64) (string, bool) {
	v := dtype.Decode(t, bits)
	switch {
	case math.IsNaN(v):
		return "jnp.nan", bits == dtype.Encode(t, math.NaN())
	case math.IsInf(v, 1):
		return "jnp.inf", true
	case math.IsInf(v, -1):
		return "-jnp.inf", true
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if t == dtype.F32 {
		short := strconv.FormatFloat(v, 'g', -1, 32)
		if back, err := strconv.ParseFloat(short, 64); err == nil && float64(float32(back)) == v {
			text = short
		}
	}
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text, true
}

// isWeak says whether a number, written as a Python scalar beside an array of its type, keeps its value: JAX reads
// Python integers as 32 bits, where the array has no more.
func isWeak(t dtype.Type, text string) bool {
	switch t.Kind() {
	case dtype.Signed, dtype.Unsigned:
		v, err := strconv.ParseInt(text, 10, 64)
		return err == nil && v >= math.MinInt32 && v <= math.MaxInt32 && t.Bits() >= 8
	case dtype.Float:
		return t.Bits() >= 16
	}
	return true
}

// splat returns the number that all elements of a value are, where it is made of constants of equal elements.
func (e *emitter) splat(v ir.ValueID) (text string, ok bool) {
	v = e.root(v)
	text, known := e.splats[v]
	if !known {
		if op := e.m.DefiningOp(v); op != 0 && e.m.ValueType(v).IsStatic() && e.m.ValueType(v).Quant == 0 {
			text, _ = e.equalElements(op)
		}
		e.splats[v] = text
	}
	return text, text != ""
}

func (e *emitter) equalElements(op ir.OpID) (text string, ok bool) {
	switch e.m.Kind(op) {
	case ir.OpConstant, ir.OpSdyConstant, ir.OpChloConstant:
		d, ok := e.m.Attr(op, "value").(*ir.Dense)
		if !ok || !d.Splat && e.m.TypeOf(d.Type).Elements() != 1 {
			return "", false
		}
		if text, ok = literal(e.m.TypeOf(d.Type).DType, d.Data, 0); !ok {
			return "", false
		}
		return text, true
	case ir.OpBroadcastInDim, ir.OpBroadcast, ir.OpReshape:
		return e.splat(e.m.Operand(op, 0))
	case ir.OpConvert:
		text, ok := e.splat(e.m.Operand(op, 0))
		from, to := e.m.ValueType(e.m.Operand(op, 0)), e.m.ValueType(e.m.Result(op, 0))
		exact := from.DType == to.DType || from.DType == dtype.F32 && to.DType == dtype.F64 || from.DType == dtype.BF16 && to.DType == dtype.F32
		if !ok || !exact {
			return "", false
		}
		return text, true
	case ir.OpCompare, ir.OpAdd, ir.OpSelect:
		return e.folded(op)
	}
	return "", false
}

// folded evaluates what JAX writes to count negative constant indices from the end.
func (e *emitter) folded(op ir.OpID) (text string, ok bool) {
	if e.m.Kind(op) == ir.OpSelect {
		switch p, _ := e.splat(e.m.Operand(op, 0)); p {
		case "True":
			return e.splat(e.m.Operand(op, 1))
		case "False":
			return e.splat(e.m.Operand(op, 2))
		}
		return "", false
	}
	t := e.m.ValueType(e.m.Operand(op, 0)).DType
	left, _ := e.splat(e.m.Operand(op, 0))
	right, _ := e.splat(e.m.Operand(op, 1))
	x, err1 := strconv.ParseInt(left, 10, 64)
	y, err2 := strconv.ParseInt(right, 10, 64)
	if err1 != nil || err2 != nil || t.Kind() != dtype.Signed {
		return "", false
	}
	if e.m.Kind(op) == ir.OpAdd {
		return intText(dtype.Wrap(t, x+y)), true
	}
	holds := map[string]bool{"EQ": x == y, "NE": x != y, "GE": x >= y, "GT": x > y, "LE": x <= y, "LT": x < y}
	result, known := holds[e.m.OpAttrs(op).Str("comparison_direction")]
	if !known {
		return "", false
	}
	return truth(result).head, true
}

// full returns an array of equal elements.
func (e *emitter) full(t *ir.Type, text string) *expr {
	if len(t.Dims) == 0 {
		if t.DType.Bits() < 16 && t.DType != dtype.I1 && t.DType != dtype.I8 && t.DType != dtype.UI8 {
			return call("jnp.array", atom(text), e.dtypeOf(t.DType))
		}
		return call(e.dtypeOf(t.DType).head, atom(text))
	}
	switch {
	case text == "0" || text == "0.0" || text == "False" || text == "complex(0.0, 0.0)":
		return call("jnp.zeros", ints(t.Dims), e.dtypeOf(t.DType))
	case text == "1" || text == "1.0" || text == "True":
		return call("jnp.ones", ints(t.Dims), e.dtypeOf(t.DType))
	}
	return call("jnp.full", ints(t.Dims), atom(text), e.dtypeOf(t.DType))
}

// maxInline is the number of elements up to which a constant is written where it is used.
const maxInline = 64

// dense returns a constant as an array.
func (e *emitter) dense(op ir.OpID, d *ir.Dense) (*expr, error) {
	t := e.m.TypeOf(d.Type)
	if err := e.checkType(op, t); err != nil {
		return nil, err
	}
	data, n := d.Data, int(t.Elements())
	if d.Splat {
		if text, ok := literal(t.DType, data, 0); ok {
			return e.full(t, text), nil
		}
		return call("jnp.full", ints(t.Dims), e.encoded(&ir.Type{Kind: ir.TensorKind, DType: t.DType}, data), e.dtypeOf(t.DType)), nil
	}
	if n > maxInline {
		return e.constant(t, data), nil
	}
	at, exact := 0, true
	var nested func(dims []int64) *expr
	nested = func(dims []int64) *expr {
		if len(dims) == 0 {
			text, ok := literal(t.DType, data, at)
			at++
			exact = exact && ok
			return atom(text)
		}
		return list(lists.Of(int(dims[0]), func(int) *expr { return nested(dims[1:]) })...)
	}
	if x := nested(t.Dims); exact && n > 0 {
		return call("jnp.array", x, e.dtypeOf(t.DType)), nil
	} else if n == 0 {
		return call("jnp.zeros", ints(t.Dims), e.dtypeOf(t.DType)), nil
	}
	return e.encoded(t, data), nil
}

// encoded returns an array by its bytes in base64.
func (e *emitter) encoded(t *ir.Type, data []byte) *expr {
	e.file.decodes = true
	return call("decode", atom(quoted(base64.StdEncoding.EncodeToString(data))), e.dtypeOf(t.DType), ints(t.Dims))
}

// constant puts a large constant at the end of the file and returns an array of it.
func (e *emitter) constant(t *ir.Type, data []byte) *expr {
	return call("jnp.asarray", atom(e.constantName(t, data)))
}

// constantName puts a large constant at the end of the file and returns its name. Equal ones are written once.
func (e *emitter) constantName(t *ir.Type, data []byte) string {
	f := e.file
	f.decodes = true
	key := t.DType.String() + ints(t.Dims).String() + string(data)
	name, known := f.constantNames[key]
	if !known {
		name = f.names.take("CONSTANT_" + strconv.Itoa(len(f.constants)))
		f.constantNames[key] = name
		f.constants = append(f.constants, constant{name, e.dtypeOf(t.DType).head, t.Dims, data})
	}
	return name
}

// constant is an array that is too large for the body of a function.
type constant struct {
	name, dtype string
	dims        []int64
	data        []byte
}

// text returns the definition: the bytes in base64, in lines.
func (c *constant) text() string {
	encoded := base64.StdEncoding.EncodeToString(c.data)
	var b strings.Builder
	b.WriteString(c.name + " = decode(\n    \"\"\"\n")
	for len(encoded) > 0 {
		n := min(lineLength, len(encoded))
		b.WriteString(encoded[:n] + "\n")
		encoded = encoded[n:]
	}
	b.WriteString("\"\"\",\n    " + c.dtype + ",\n    " + ints(c.dims).String() + ",\n)\n")
	return b.String()
}
