package ir

import (
	"slices"
	"strings"
)

// Attr is an attribute value: one of the types of this file. Attributes are immutable.
type Attr interface{ attr() }

// NamedAttr is an entry of an attribute dictionary.
type NamedAttr struct {
	Name  string
	Value Attr
}

// Attrs is an attribute dictionary, sorted by name. It is immutable: With and Without return new ones.
type Attrs []NamedAttr

// Get returns the attribute of that name, nil if there is none.
func (a Attrs) Get(name string) Attr {
	for i := range a {
		if a[i].Name == name {
			return a[i].Value
		}
	}
	return nil
}

// With returns the dictionary with one entry added or replaced.
func (a Attrs) With(name string, value Attr) Attrs {
	i, found := slices.BinarySearchFunc(a, name, func(e NamedAttr, n string) int { return strings.Compare(e.Name, n) })
	if found {
		out := slices.Clone(a)
		out[i].Value = value
		return out
	}
	return slices.Concat(a[:i], Attrs{{name, value}}, a[i:])
}

// Without returns the dictionary without some entries.
func (a Attrs) Without(names ...string) Attrs {
	for _, name := range names {
		a = a.without(name)
	}
	return a
}

func (a Attrs) without(name string) Attrs {
	for i := range a {
		if a[i].Name == name {
			if i == len(a)-1 {
				return a[:i:i] // what stays is shared, as dictionaries do not change
			}
			return slices.Delete(slices.Clone(a), i, i+1)
		}
	}
	return a
}

// Named returns an entry of a dictionary.
func Named(name string, value Attr) NamedAttr { return NamedAttr{Name: name, Value: value} }

// MakeAttrs returns a dictionary of name, value pairs in any order.
func MakeAttrs(entries ...NamedAttr) Attrs {
	a := slices.Clone(Attrs(entries))
	slices.SortFunc(a, func(x, y NamedAttr) int { return strings.Compare(x.Name, y.Name) })
	return a
}

// The attribute values.
type (
	// UnitAttr is present or absent.
	UnitAttr struct{}
	// BoolAttr is true or false.
	BoolAttr bool
	// IntAttr is an integer with its type, such as 5 : i64. Values above 63 bits keep their low 64.
	IntAttr struct {
		Value int64
		Type  TypeID
	}
	// FloatAttr is a float with its type. Bits holds the pattern in that type.
	FloatAttr struct {
		Bits uint64
		Type TypeID
	}
	// StringAttr is a string, unescaped.
	StringAttr string
	// ArrayAttr is a list of attributes.
	ArrayAttr []Attr
	// DictAttr is a nested dictionary.
	DictAttr Attrs
	// TypeAttr is a type.
	TypeAttr TypeID
	// SymbolAttr is a reference such as @f or @a::@b: the names from outer to inner.
	SymbolAttr []string
	// LocAttr is a location.
	LocAttr LocID
	// EnumAttr is #dialect<kind value>, such as #stablehlo<comparison_direction LT>.
	EnumAttr struct{ Dialect, Enum, Value string }
	// OpaqueAttr is text that nothing here reads.
	OpaqueAttr string

	// Ints is array<i64: ...> and also every list of integers in an op's own syntax.
	Ints []int64
	// Bools is array<i1: ...>.
	Bools []bool
	// DenseArray is array<...> of another element type: raw little-endian elements.
	DenseArray struct {
		Elem TypeID
		Data []byte
	}
	// Dense is dense<...>: elements of a tensor type, row-major and little-endian, one whole number of bytes each.
	// A splat holds one element.
	Dense struct {
		Type     TypeID
		Data     []byte
		Splat    bool
		Resource string // name of a dense_resource, "" for plain constants
	}

	// DotDims is #stablehlo.dot.
	DotDims struct{ LhsBatch, RhsBatch, LhsContract, RhsContract []int64 }
	// RaggedDims is #chlo.ragged_dot: the dimension of lhs that is cut into groups, and that of rhs with an entry for each group.
	RaggedDims struct {
		Dot           DotDims
		Ragged, Group []int64
	}
	// GatherDims is #stablehlo.gather.
	GatherDims struct {
		Offset, Collapsed, OperandBatch, IndicesBatch, StartIndexMap []int64
		IndexVectorDim                                               int64
	}
	// ScatterDims is #stablehlo.scatter.
	ScatterDims struct {
		UpdateWindow, InsertedWindow, InputBatch, IndicesBatch, ToOperand []int64
		IndexVectorDim                                                    int64
	}
	// ConvDims is #stablehlo.conv: positions of batch, feature and spatial dimensions.
	ConvDims struct {
		InBatch, InFeature, KernelIn, KernelOut, OutBatch, OutFeature int64
		InSpatial, KernelSpatial, OutSpatial                          []int64
	}
	// ChannelHandle is #stablehlo.channel_handle.
	ChannelHandle struct{ Handle, Type int64 }
	// OutputAlias is #stablehlo.output_operand_alias.
	OutputAlias struct {
		OutputIndices  []int64
		OperandIndex   int64
		OperandIndices []int64
	}
	// MeshAxesGroups is #stablehlo.replica_group_mesh_axes: groups along axes of a mesh.
	MeshAxesGroups struct {
		Mesh MeshID
		Axes ShardAxes
	}
	// ResultAccuracy is #stablehlo.result_accuracy; Atol and Rtol are f64.
	ResultAccuracy struct {
		Atol, Rtol float64
		Ulps       int64
		Mode       string
	}
	// DotAlgorithm is #stablehlo.dot_algorithm.
	DotAlgorithm struct {
		LhsType, RhsType, AccumulationType TypeID
		LhsCount, RhsCount, Operations     int64
		AllowImprecise                     bool
	}

	// ShardingAttr is #sdy.sharding where it does not belong to one value, or as a plain attribute.
	ShardingAttr ShardingID
	// ShardingsAttr is #sdy.sharding_per_value where it does not belong to the results.
	ShardingsAttr []ShardingID
	// AxesAttr is a list of axis refs such as {"x", "y":(1)2}, of the mesh at hand.
	AxesAttr struct {
		Mesh MeshID
		Axes ShardAxes
	}
	// AxesPerDimAttr is a list of axis lists such as [{"x"}, {}].
	AxesPerDimAttr struct {
		Mesh MeshID
		Dims []ShardAxes
	}
	// AllToAllAttr lists the moves of an sdy.all_to_all.
	AllToAllAttr struct {
		Mesh  MeshID
		Moves []AllToAllMove
	}
	// RuleAttr is #sdy.op_sharding_rule.
	RuleAttr struct{ Rule *Rule }
)

// AllToAllMove moves axes from one dimension to another.
type AllToAllMove struct {
	Axes     ShardAxes
	Src, Dst int64
}

// Rule is the content of an op sharding rule (specification: shardy.md sections 1.9 and 2.1): for each operand and
// result, for each dimension, the factors that it is made of, major to minor.
type Rule struct {
	Operands, Results [][][]int32
	Sizes             []int64 // of the factors
	Reduction         []int32 // factors that need an all-reduce when sharded; in no result
	NeedReplication   []int32 // factors that must not be sharded
	Permutation       []int32 // factors that need neighbour communication when sharded
	Blocked           []int32 // factors along which nothing propagates
	Custom            bool    // given by the user
}

func (UnitAttr) attr()        {}
func (BoolAttr) attr()        {}
func (IntAttr) attr()         {}
func (FloatAttr) attr()       {}
func (StringAttr) attr()      {}
func (ArrayAttr) attr()       {}
func (DictAttr) attr()        {}
func (TypeAttr) attr()        {}
func (SymbolAttr) attr()      {}
func (LocAttr) attr()         {}
func (EnumAttr) attr()        {}
func (OpaqueAttr) attr()      {}
func (Ints) attr()            {}
func (Bools) attr()           {}
func (*DenseArray) attr()     {}
func (*Dense) attr()          {}
func (*DotDims) attr()        {}
func (*RaggedDims) attr()     {}
func (*GatherDims) attr()     {}
func (*ScatterDims) attr()    {}
func (*ConvDims) attr()       {}
func (ChannelHandle) attr()   {}
func (*OutputAlias) attr()    {}
func (*MeshAxesGroups) attr() {}
func (*ResultAccuracy) attr() {}
func (*DotAlgorithm) attr()   {}
func (ShardingAttr) attr()    {}
func (ShardingsAttr) attr()   {}
func (*AxesAttr) attr()       {}
func (*AxesPerDimAttr) attr() {}
func (*AllToAllAttr) attr()   {}
func (*RuleAttr) attr()       {}

// Int returns an integer attribute, or the default where it is absent.
func (a Attrs) Int(name string, missing int64) int64 {
	switch v := a.Get(name).(type) {
	case IntAttr:
		return v.Value
	case BoolAttr:
		if v {
			return 1
		}
		return 0
	}
	return missing
}

// Ints returns a list of integers, nil where it is absent.
func (a Attrs) Ints(name string) []int64 {
	v, _ := a.Get(name).(Ints)
	return v
}

// Bool returns a boolean, false where it is absent.
func (a Attrs) Bool(name string) bool {
	switch v := a.Get(name).(type) {
	case BoolAttr:
		return bool(v)
	case UnitAttr:
		return true
	}
	return false
}

// Str returns a string or the value of an enum, "" where it is absent.
func (a Attrs) Str(name string) string {
	switch v := a.Get(name).(type) {
	case StringAttr:
		return string(v)
	case EnumAttr:
		return v.Value
	}
	return ""
}

// Donated says whether these attributes of an argument of main give up its buffer, so that a result may take it:
// tf.aliasing_output names the result, jax.buffer_donor leaves it to the compiler.
func (a Attrs) Donated() bool { return a.Get(AliasAttr) != nil || a.Bool(DonorAttr) }

// The attributes that JAX writes for donated arguments.
const (
	DonorAttr = "jax.buffer_donor"   // true
	AliasAttr = "tf.aliasing_output" // the number of the result that takes the buffer
)

// FrontendAttr is the dictionary of texts that frameworks write for compilers.
const FrontendAttr = "mhlo.frontend_attributes"
