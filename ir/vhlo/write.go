package vhlo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Writer makes ops of an artifact for one target version.
type Writer struct {
	m      *ir.Module
	target Version
}

// NewWriter returns a writer for a module.
func NewWriter(m *ir.Module, target Version) *Writer { return &Writer{m, target} }

// APIVersion is the version of the API of a custom call, which is an enum here and a number in StableHLO.
type APIVersion struct{ ir.IntAttr }

// IsForeign says whether an op stays as it is in an artifact: it is of a dialect other than StableHLO.
func IsForeign(m *ir.Module, op ir.OpID) bool {
	switch k := m.Kind(op); k {
	case ir.OpFunc, ir.OpCall, ir.OpReturn:
		return false
	default:
		return !strings.HasPrefix(m.OpName(op), "stablehlo.")
	}
}

// FromStableHLO returns the op of VHLO that an op of StableHLO or func becomes: its name with its version, and all its
// fields, which are values of the representation. Errors say of the op what the target cannot express.
func (w *Writer) FromStableHLO(op ir.OpID, properties ir.Attrs) (string, ir.Attrs, error) {
	_, name, _ := strings.Cut(w.m.OpName(op), ".")
	o := &fieldWriter{Writer: w, op: op, name: name, attrs: properties}
	o.split()
	o.fill()
	version := o.version()
	if o.err != nil {
		return "", nil, o.err
	}
	return version, o.attrs, nil
}

// fieldWriter makes fields of the attributes of one op.
type fieldWriter struct {
	*Writer
	op    ir.OpID
	name  string // without dialect and version
	attrs ir.Attrs
	err   error
}

func (o *fieldWriter) set(field string, v ir.Attr) { o.attrs = o.attrs.With(field, v) }

func (o *fieldWriter) take(field string) ir.Attr {
	v := o.attrs.Get(field)
	o.attrs = o.attrs.Without(field)
	return v
}

func (o *fieldWriter) i64(v int64) ir.Attr { return ir.IntAttr{Value: v, Type: o.m.ScalarType(i64)} }

// split makes several fields of attributes that are one in StableHLO (specification: bytecode.md section B.7.3).
func (o *fieldWriter) split() {
	if c, ok := o.take("channel_handle").(ir.ChannelHandle); ok {
		o.set("channel_id", o.i64(c.Handle))
		if o.name == "send" || o.name == "recv" {
			o.set("channel_type", o.i64(c.Type))
		}
	}
	for _, d := range o.m.Kind(o.op).Declared() {
		if d.Form.NewDims() != nil {
			o.splitFields(o.take(d.Name))
		}
	}
	if o.name == "dot_general" {
		o.splitAlgorithm()
	}
	for _, e := range o.attrs {
		if d, _ := o.m.Kind(o.op).DeclaredAttr(e.Name); d.Form == ir.UnitForm && e.Value == ir.Attr(ir.UnitAttr{}) {
			o.set(e.Name, ir.BoolAttr(true))
		}
	}
	if v, ok := o.attrs.Get("api_version").(ir.IntAttr); ok && o.name == "custom_call" {
		o.set("api_version", APIVersion{v})
	}
}

// splitFields makes fields of the parts of an attribute.
func (o *fieldWriter) splitFields(a ir.Attr) {
	for _, f := range ir.Fields(a) {
		switch at := f.At.(type) {
		case *int64:
			o.set(f.Name, o.i64(*at))
		case *[]int64:
			o.set(f.Name, ir.Ints(*at))
		case *ir.TypeID:
			o.set(f.Name, ir.TypeAttr(*at))
		case *bool:
			o.set(f.Name, ir.BoolAttr(*at))
		}
	}
}

func (o *fieldWriter) splitAlgorithm() {
	if a := o.take("algorithm"); a != nil {
		o.splitFields(a)
		return
	}
	for _, f := range ir.Fields(&ir.DotAlgorithm{}) {
		o.set(f.Name, ir.TypeAttr(o.m.InternType(ir.Type{Kind: ir.NoneKind})))
	}
}

// fill writes out what absent attributes mean.
func (o *fieldWriter) fill() {
	newest, ok := o.newest()
	if !ok {
		o.fail("has no form in portable artifacts")
		return
	}
	for _, field := range newest.Fields {
		if o.attrs.Get(field) != nil {
			continue
		}
		v := o.missing(field)
		if v == nil {
			o.fail("lacks the attribute %s", field)
			return
		}
		o.set(field, v)
	}
}

func (o *fieldWriter) fail(format string, args ...any) {
	o.err = cmp.Or(o.err, fmt.Errorf(format, args...))
}

// newest returns the newest version of the op.
func (o *fieldWriter) newest() (Op, bool) {
	if op, ok := Lookup(o.name + "_v2"); ok {
		return op, true
	}
	return Lookup(o.name + "_v1")
}

// missing returns the value of a field whose attribute is absent (specification: bytecode.md section B.7.1), nil where
// it must not be.
func (o *fieldWriter) missing(field string) ir.Attr {
	k := o.m.Kind(o.op)
	switch v := defaultOf(k, field).(type) {
	case ir.IntAttr:
		if field == "api_version" {
			return APIVersion{ir.IntAttr{Value: v.Value, Type: o.m.ScalarType(dtype.I32)}}
		}
		return o.i64(v.Value)
	case ir.Ints:
		switch {
		case field == "padding":
			return o.noPadding(o.windowRank())
		case len(v) == 0:
			return v
		}
		return ir.Ints(slices.Repeat(v, o.windowRank()))
	case ir.Bools:
		return make(ir.Bools, o.windowRank())
	case nil:
		if field == "window_dimensions" { // of select_and_scatter, which has no value for an absent one to be read again
			return ir.Ints(slices.Repeat([]int64{1}, o.windowRank()))
		}
		return nil
	default:
		if call, ok := o.attrs.Get("api_version").(APIVersion); ok && field == "backend_config" && call.Value == MaxAPIVersion {
			return ir.DictAttr{}
		}
		return v
	}
}

// windowRank returns the number of dimensions of the op's window.
func (o *fieldWriter) windowRank() int {
	switch {
	case o.name == "convolution" || o.name == "dynamic_conv":
		return len(o.attrs.Ints("input_spatial_dimensions"))
	case o.m.NumOperands(o.op) > 0:
		return o.m.ValueType(o.m.Operand(o.op, 0)).Rank()
	}
	return 0
}

func (o *fieldWriter) noPadding(rank int) ir.Attr {
	v := &ir.Dense{Type: o.m.TensorType(i64, int64(rank), 2)}
	if rank > 0 {
		v.Data, v.Splat = make([]byte, 8), true
	}
	return v
}

// version returns the name of the op in the target, and leaves only the fields that it has there.
func (o *fieldWriter) version() string {
	if o.err != nil {
		return ""
	}
	for _, suffix := range []string{"_v2", "_v1"} {
		op, ok := Lookup(o.name + suffix)
		if !ok || o.target.Before(op.Since) || op.Until != (Version{}) && op.Until.Before(o.target) {
			continue
		}
		if o.name == "dynamic_conv" && suffix == "_v1" {
			o.set("padding", o.noPadding(len(o.attrs.Ints("input_spatial_dimensions"))))
		}
		o.downgrade(op)
		o.checkTarget(suffix)
		return o.name + suffix
	}
	oldest, ok := Lookup(o.name + "_v1")
	if !ok {
		oldest, _ = Lookup(o.name + "_v2")
	}
	o.need(oldest.Since)
	return ""
}

// need refuses what is part of StableHLO only from a version on.
func (o *fieldWriter) need(since Version) {
	if o.target.Before(since) {
		o.fail("needs StableHLO %s or newer here; the target is %s", since, o.target)
	}
}

// downgrade drops the fields that the op does not have in the target, which must say nothing there (specification:
// bytecode.md section B.6.2).
func (o *fieldWriter) downgrade(op Op) {
	newest, _ := o.newest()
	for _, field := range newest.Fields {
		if slices.Contains(op.Fields, field) {
			continue
		}
		switch v := o.take(field).(type) {
		case ir.Ints:
			if len(v) > 0 {
				o.need(newest.Since)
			}
		case ir.TypeAttr:
			if o.m.TypeOf(ir.TypeID(v)).Kind != ir.NoneKind {
				o.need(newest.Since)
			}
		default:
			if !isDefault(kindOf(o.name), field, v) {
				o.need(newest.Since)
			}
		}
	}
}

// checkTarget refuses what older versions of an op cannot say otherwise (specification: bytecode.md section B.6.2).
func (o *fieldWriter) checkTarget(suffix string) {
	m := o.m
	switch o.name {
	case "all_gather", "all_reduce", "all_to_all":
		if suffix == "_v1" && m.NumOperands(o.op) != 1 {
			o.need(Version{1, 5})
		}
	case "composite":
		if suffix == "_v1" && m.NumRegions(o.op) > 0 {
			o.need(Version{1, 14})
		}
	case "collective_broadcast":
		if suffix == "_v1" && m.NumOperands(o.op) != 1 {
			o.need(Version{1, 20})
		}
	case "custom_call":
		if _, dict := o.attrs.Get("backend_config").(ir.DictAttr); dict {
			o.need(Version{1, 3})
		}
		if v, ok := o.attrs.Get("api_version").(APIVersion); ok && v.Value == MaxAPIVersion {
			o.need(Version{1, 3})
		}
		for _, v := range m.Operands(o.op) {
			if strings.HasPrefix(m.ValueType(v).Text, "!stablehlo.future") {
				o.need(Version{1, 17})
			}
		}
	}
	if m.Kind(o.op).Reduces() {
		o.checkReducer()
	}
}

// checkReducer refuses reductions that widen their elements, which older versions do not know.
func (o *fieldWriter) checkReducer() {
	m := o.m
	for i, v := range m.BlockArgs(m.RegionBlock(o.op, m.NumRegions(o.op)-1)) {
		if i > 0 && o.name != "reduce" && o.name != "reduce_window" {
			break // the others have the first operand's type throughout
		}
		if i < m.NumOperands(o.op) && m.ValueType(v).DType != m.ValueType(m.Operand(o.op, i)).DType {
			o.need(Version{0, 17})
		}
	}
}
