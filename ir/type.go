package ir

import (
	"encoding/binary"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// TypeKind is the shape of a type.
type TypeKind uint8

// The kinds of types. Scalar is an element type on its own, as in attributes.
const (
	TensorKind TypeKind = iota
	ScalarKind
	IndexKind
	NoneKind
	TokenKind
	TupleKind
	FunctionKind
	QuantizedKind // a quantized element type
	OpaqueKind    // kept as text
)

// Dynamic is the size of a dimension that is written "?".
const Dynamic = int64(-1 << 63)

// Type is the content of an interned type.
type Type struct {
	Kind     TypeKind
	DType    dtype.Type // element type of a tensor, the scalar itself, or the storage type of a quantized type
	Dims     []int64    // of a ranked tensor; Dynamic for "?"
	Unranked bool
	Quant    TypeID   // quantized element type of a tensor, 0 for plain elements
	Elems    []TypeID // of a tuple; operands then results of a function type
	Inputs   int      // number of operands of a function type
	Encoding string   // text after the element type of a tensor, such as #stablehlo.bounds<7>
	Text     string   // of an opaque or quantized type
}

type typeTable struct {
	rows  []Type
	index map[string]TypeID
}

func (t *typeTable) init() {
	t.rows = make([]Type, 1)
	t.index = map[string]TypeID{}
}

// InternType returns the id of a type. The Type's slices must not be changed afterwards.
func (m *Module) InternType(t Type) TypeID {
	key := typeKey(&t)
	if id, ok := m.types.index[key]; ok {
		return id
	}
	m.types.rows = append(m.types.rows, t)
	id := TypeID(len(m.types.rows) - 1)
	m.types.index[key] = id
	return id
}

func typeKey(t *Type) string {
	b := []byte{byte(t.Kind), byte(t.DType), 0}
	if t.Unranked {
		b[2] = 1
	}
	b = binary.AppendVarint(b, int64(len(t.Dims)))
	for _, d := range t.Dims {
		b = binary.AppendVarint(b, d)
	}
	b = binary.AppendVarint(b, int64(t.Quant))
	b = binary.AppendVarint(b, int64(t.Inputs))
	b = binary.AppendVarint(b, int64(len(t.Elems)))
	for _, e := range t.Elems {
		b = binary.AppendVarint(b, int64(e))
	}
	b = binary.AppendVarint(b, int64(len(t.Encoding)))
	b = append(b, t.Encoding...)
	return string(append(b, t.Text...))
}

// TypeOf returns the content of a type. It must not be changed.
func (m *Module) TypeOf(id TypeID) *Type { return &m.types.rows[id] }

// ValueType returns the content of a value's type.
func (m *Module) ValueType(v ValueID) *Type { return &m.types.rows[m.values[v].typ] }

// TensorType returns the type of a ranked tensor.
func (m *Module) TensorType(e dtype.Type, dims ...int64) TypeID {
	return m.InternType(Type{Kind: TensorKind, DType: e, Dims: dims})
}

// Shape returns the dimensions of a value's type, nil for scalars and for what is not a ranked tensor.
func (m *Module) Shape(v ValueID) []int64 { return m.ValueType(v).Dims }

// WithDims returns the tensor type with the same elements and other dimensions.
func (m *Module) WithDims(id TypeID, dims []int64) TypeID {
	t := *m.TypeOf(id)
	t.Dims = dims
	return m.InternType(t)
}

// IsStatic says whether the type is a ranked tensor without dynamic dimensions.
func (t *Type) IsStatic() bool {
	return t.Kind == TensorKind && !t.Unranked && !slices.Contains(t.Dims, Dynamic)
}

// ScalarType returns the type of an element on its own, as attributes have it.
func (m *Module) ScalarType(e dtype.Type) TypeID {
	return m.InternType(Type{Kind: ScalarKind, DType: e})
}

// Rank returns the number of dimensions.
func (t *Type) Rank() int { return len(t.Dims) }

// Elements returns the number of elements of a static tensor.
func (t *Type) Elements() int64 { return lists.Product(t.Dims) }

// Bytes returns the bytes of a static tensor in memory.
func (t *Type) Bytes() int64 { return t.Elements() * int64(t.DType.Bytes()) }

// maxElements bounds the number of elements of a type, so that sizes in bytes fit 63 bits.
const maxElements = int64(1) << 56

// IsAddressable says whether a tensor has at most 2^56 elements, dynamic dimensions aside.
func (t *Type) IsAddressable() bool { return t.atMost(maxElements) }

// TooLarge says whether a tensor has more than 2^56 bytes, dynamic dimensions aside.
func (t *Type) TooLarge() bool { return !t.atMost(maxElements / max(int64(t.DType.Bytes()), 1)) }

// atMost says whether a tensor has at most n elements, dynamic dimensions aside.
func (t *Type) atMost(n int64) bool {
	for _, d := range t.Dims {
		if d == Dynamic || d == 0 {
			continue
		}
		if n /= d; n == 0 {
			return false
		}
	}
	return true
}

// SetElement makes elem the element type of a tensor type, and says whether tensors can have it.
func (m *Module) SetElement(t *Type, elem TypeID) bool {
	switch e := m.TypeOf(elem); e.Kind {
	case ScalarKind:
		t.DType = e.DType
		return true
	case IndexKind:
		t.DType = dtype.I64
	case QuantizedKind:
		t.DType = e.DType
	case OpaqueKind:
	default:
		return false
	}
	t.Quant = elem
	return true
}
