package vhlo

import (
	"cmp"
	"fmt"
	"strings"

	"autoshard/ir"
)

// Reader makes ops of StableHLO of those of one artifact.
type Reader struct {
	m     *ir.Module
	lists map[*ir.Dense][]int64 // that many ops may share
}

// NewReader returns a reader for an artifact that becomes a module.
func NewReader(m *ir.Module) *Reader { return &Reader{m, map[*ir.Dense][]int64{}} }

// ToStableHLO returns the op of StableHLO or func that an op of VHLO stands for: its full name and its attributes,
// without those that have the value that VHLO writes for absent ones. The fields' values stand for those of the
// representation. A vhlo.return becomes stablehlo.return, whatever it returns from. Errors say what is wrong.
func (r *Reader) ToStableHLO(name string, fields ir.Attrs) (string, ir.Attrs, error) {
	if _, ok := Lookup(name); !ok {
		return "", nil, fmt.Errorf("unknown operation 'vhlo.%s': the artifact is newer than version %s, or wrong", name, Newest)
	}
	at := strings.LastIndex(name, "_v")
	o := opFields{Reader: r, name: name[:at], attrs: fields}
	o.upgrade(name)
	o.dropDefaults()
	o.join()
	o.convert()
	if o.err != nil {
		return "", nil, o.err
	}
	if o.name == "func" || o.name == "call" {
		return "func." + o.name, o.attrs, nil
	}
	return "stablehlo." + o.name, o.attrs, nil
}

// opFields are the fields of one op on their way to attributes of StableHLO.
type opFields struct {
	*Reader
	name  string // without the version
	attrs ir.Attrs
	err   error
}

func (o *opFields) fail(field, want string) {
	o.err = cmp.Or(o.err, fmt.Errorf("field %s of 'vhlo.%s' must be %s", field, o.name, want))
}

// take removes a field and returns its value.
func take[T ir.Attr](o *opFields, field, want string) (v T) {
	v, ok := o.attrs.Get(field).(T)
	if !ok {
		o.fail(field, want)
	}
	o.attrs = o.attrs.Without(field)
	return v
}

func (o *opFields) set(field string, v ir.Attr) { o.attrs = o.attrs.With(field, v) }

// upgrades are the old ops whose newest version has fields of other names, with the fields that they do not have and
// that StableHLO would not leave out (specification: bytecode.md section B.6.1). All other new fields of upgraded ops
// have their default, which is dropped anyway.
var upgrades = map[string][]string{
	"gather_v1":         {"operand_batching_dims", "start_indices_batching_dims"},
	"dynamic_gather_v1": {"operand_batching_dims", "start_indices_batching_dims"},
	"scatter_v1":        {"input_batching_dims", "scatter_indices_batching_dims"},
}

// upgrade makes the fields those of the newest version of the op.
func (o *opFields) upgrade(name string) {
	for _, field := range upgrades[name] {
		o.set(field, &ir.Dense{Type: o.m.TensorType(i64, 0)})
	}
	if name == "dynamic_conv_v1" {
		o.attrs = o.attrs.Without("padding")
	}
}

// dropDefaults leaves out the fields that have the value of absent attributes.
func (o *opFields) dropDefaults() {
	layouts := !isEmpty(o.attrs.Get("operand_layouts")) || !isEmpty(o.attrs.Get("result_layouts"))
	for _, e := range o.attrs {
		if strings.HasSuffix(e.Name, "_layouts") && layouts {
			continue // both or none
		}
		if isDefault(kindOf(o.name), e.Name, e.Value) {
			o.attrs = o.attrs.Without(e.Name)
		}
	}
}

// join makes one attribute of the fields that VHLO keeps apart.
func (o *opFields) join() {
	if o.attrs.Get("channel_id") != nil {
		o.joinChannel()
		return
	}
	for _, d := range kindOf(o.name).Declared() {
		if a := d.Form.NewDims(); a != nil {
			o.joinFields(a)
			o.set(d.Name, a)
		}
	}
	if o.attrs.Get("lhs_precision_type") != nil { // dot_general_v1 has none
		o.joinAlgorithm()
	}
}

// joinFields fills the parts of an attribute.
func (o *opFields) joinFields(a ir.Attr) {
	for _, f := range ir.Fields(a) {
		switch at := f.At.(type) {
		case *int64:
			*at = o.int(f.Name)
		case *[]int64:
			*at = o.ints(f.Name)
		case *ir.TypeID:
			*at = ir.TypeID(take[ir.TypeAttr](o, f.Name, "a type"))
		case *bool:
			*at = bool(take[ir.BoolAttr](o, f.Name, "a boolean"))
		}
	}
}

func (o *opFields) joinChannel() {
	c := ir.ChannelHandle{Handle: o.int("channel_id")}
	if o.attrs.Get("channel_type") != nil {
		c.Type = o.int("channel_type")
	}
	o.set("channel_handle", c)
}

// joinAlgorithm makes the algorithm of a product. All parts of one that is absent are types.
func (o *opFields) joinAlgorithm() {
	a := &ir.DotAlgorithm{}
	if _, absent := o.attrs.Get("lhs_component_count").(ir.TypeAttr); !absent {
		o.joinFields(a)
		o.set("algorithm", a)
		return
	}
	for _, f := range ir.Fields(a) {
		take[ir.TypeAttr](o, f.Name, "none, as the other parts of the algorithm are")
	}
}

// int takes a number.
func (o *opFields) int(field string) int64 { return take[ir.IntAttr](o, field, "an integer").Value }

// ints takes a list of numbers.
func (o *opFields) ints(field string) []int64 {
	return o.intsOf(field, take[*ir.Dense](o, field, "a list of i64"))
}

// isList says whether a constant has rank 1, and all its elements at hand.
func isList(t *ir.Type, d *ir.Dense) bool {
	if !t.IsStatic() || t.Rank() != 1 {
		return false
	}
	return d.Splat && t.Dims[0] <= maxSplat || int64(len(d.Data)) == t.Bytes()
}

// intsOf returns the elements of a constant of rank 1.
func (o *opFields) intsOf(field string, d *ir.Dense) []int64 {
	if d == nil {
		return nil
	}
	if list, ok := o.lists[d]; ok {
		return list
	}
	t := o.m.TypeOf(d.Type)
	if t.DType != i64 || !isList(t, d) {
		o.fail(field, "a list of i64")
		return nil
	}
	out := d.Int64s()
	if t.Dims[0] == 0 {
		out = []int64{}
	}
	for int64(len(out)) < t.Dims[0] {
		out = append(out, out[0])
	}
	o.lists[d] = out
	return out
}

// convert changes the kinds of the fields that are of another kind in StableHLO.
func (o *opFields) convert() {
	for _, want := range kindOf(o.name).Declared() {
		d, isDense := o.attrs.Get(want.Name).(*ir.Dense)
		switch {
		case want.Form == ir.IntsForm && isDense:
			o.set(want.Name, ir.Ints(o.intsOf(want.Name, d)))
		case want.Form == ir.BoolsForm && isDense:
			o.set(want.Name, o.bools(want.Name, d))
		case want.Form == ir.UnitForm && o.attrs.Get(want.Name) == ir.Attr(ir.BoolAttr(true)):
			o.set(want.Name, ir.UnitAttr{})
		}
	}
	for _, field := range []string{"callee", "decomposition"} {
		if s, ok := o.attrs.Get(field).(ir.StringAttr); ok && (o.name == "call" || o.name == "composite") {
			o.set(field, ir.SymbolAttr{string(s)})
		}
	}
	if o.name == "custom_call" {
		o.convertCustomCall()
	}
}

func (o *opFields) bools(field string, d *ir.Dense) ir.Attr {
	t := o.m.TypeOf(d.Type)
	if t.DType != i1 || !isList(t, d) {
		o.fail(field, "a list of booleans")
		return d
	}
	out := make(ir.Bools, t.Dims[0])
	for i := range out {
		if d.Splat {
			out[i] = d.Data[0] != 0
		} else {
			out[i] = d.Data[i] != 0
		}
	}
	return out
}

func (o *opFields) convertCustomCall() {
	if list, ok := o.attrs.Get("called_computations").(ir.ArrayAttr); ok {
		symbols := make(ir.ArrayAttr, len(list))
		for i, e := range list {
			name, ok := e.(ir.StringAttr)
			if !ok {
				o.fail("called_computations", "a list of names")
			}
			symbols[i] = ir.SymbolAttr{string(name)}
		}
		o.set("called_computations", symbols)
	}
}
