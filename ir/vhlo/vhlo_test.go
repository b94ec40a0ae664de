package vhlo

import (
	"slices"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Every attribute that an op declares is a field of its op here, or several.
func TestAttributesAreFields(t *testing.T) {
	fields := map[string][]string{}
	for name, op := range ops {
		mnemonic := name[:strings.LastIndex(name, "_v")]
		fields[mnemonic] = append(fields[mnemonic], op.Fields...)
		if !slices.IsSorted(op.Fields) {
			t.Errorf("fields of %s are not in the order of their names", name)
		}
	}
	split := []ir.AttrForm{ir.ChannelForm, ir.DotForm, ir.GatherForm, ir.ScatterForm, ir.ConvForm, ir.AlgorithmForm}
	for name := range fields {
		if kindOf(name) == ir.OpCall { // its other attributes have no field
			continue
		}
		for _, d := range kindOf(name).Declared() {
			if !slices.Contains(fields[name], d.Name) && !slices.Contains(split, d.Form) {
				t.Errorf("%s has no field %s", name, d.Name)
			}
		}
	}
}

// Versions follow one another without a gap: what ends has a successor, or had one before.
func TestVersionsFollowOneAnother(t *testing.T) {
	for name, op := range ops {
		if op.Until == (Version{}) {
			continue
		}
		successor := strings.TrimSuffix(name, "_v1") + "_v2"
		next, ok := ops[successor]
		if !ok || !op.Until.Before(next.Since) {
			t.Errorf("%s ends with %s, its successor %s begins with %s", name, op.Until, successor, next.Since)
		}
	}
}

func TestUnknownOp(t *testing.T) {
	if _, _, err := NewReader(ir.NewModule()).ToStableHLO("future_v3", nil); err == nil || !strings.Contains(err.Error(), "vhlo.future_v3") {
		t.Errorf("error %v", err)
	}
}

func TestOldGather(t *testing.T) {
	m := ir.NewModule()
	i64 := m.ScalarType(dtype.I64)
	list := func(elements ...byte) *ir.Dense {
		data := make([]byte, 0, 8*len(elements))
		for _, e := range elements {
			data = append(data, e, 0, 0, 0, 0, 0, 0, 0)
		}
		return &ir.Dense{Type: m.TensorType(dtype.I64, int64(len(elements))), Data: data, Splat: len(elements) == 1}
	}
	name, attrs, err := NewReader(m).ToStableHLO("gather_v1", ir.MakeAttrs(
		ir.NamedAttr{Name: "collapsed_slice_dims", Value: list(0)},
		ir.NamedAttr{Name: "index_vector_dim", Value: ir.IntAttr{Value: 1, Type: i64}},
		ir.NamedAttr{Name: "indices_are_sorted", Value: ir.BoolAttr(false)},
		ir.NamedAttr{Name: "offset_dims", Value: list(1, 2)},
		ir.NamedAttr{Name: "slice_sizes", Value: list(1, 4)},
		ir.NamedAttr{Name: "start_index_map", Value: list(0)}))
	if err != nil || name != "stablehlo.gather" || len(attrs) != 2 {
		t.Fatalf("%s with %v, %v", name, attrs, err)
	}
	d, ok := attrs.Get("dimension_numbers").(*ir.GatherDims)
	if !ok || !slices.Equal(d.Offset, []int64{1, 2}) || !slices.Equal(d.Collapsed, []int64{0}) || len(d.OperandBatch) != 0 ||
		d.IndexVectorDim != 1 {
		t.Errorf("dimension numbers %+v", d)
	}
	if sizes := attrs.Ints("slice_sizes"); !slices.Equal(sizes, []int64{1, 4}) {
		t.Errorf("slice sizes %d", sizes)
	}
	if _, _, err := NewReader(m).ToStableHLO("gather_v1", nil); err == nil {
		t.Error("accepted a gather without fields")
	}
	declared := &ir.Dense{Type: m.TensorType(dtype.I64, 2), Resource: "elsewhere"}
	if _, _, err := NewReader(m).ToStableHLO("reverse_v1", ir.MakeAttrs(ir.NamedAttr{Name: "dimensions", Value: declared})); err == nil {
		t.Error("accepted a list without elements")
	}
}
