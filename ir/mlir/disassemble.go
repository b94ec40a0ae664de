package mlir

import (
	"encoding/binary"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Disassembler returns the ops of a module as the generic form shows them, for writers of forms that are not text. It is
// the counterpart of Assembler: shardings stand among the attributes, enums of Shardy are numbers.
type Disassembler struct{ pr *printer }

// NewDisassembler returns a disassembler for a module.
func NewDisassembler(m *ir.Module) *Disassembler { return &Disassembler{newPrinter(m, nil)} }

// Op returns name, properties, attributes and location of an op.
func (d *Disassembler) Op(op ir.OpID) GenericOp {
	m := d.pr.m
	g := GenericOp{Name: m.OpName(op), Loc: m.OpLoc(op)}
	switch m.Kind(op) {
	case ir.OpFunc:
		g.Properties, g.Attrs = d.function(op)
	case ir.OpMesh:
		mesh := m.Mesh(d.pr.meshOf[op])
		g.Properties = ir.MakeAttrs(ir.NamedAttr{Name: symbolNameAttr, Value: ir.StringAttr(mesh.Name)},
			ir.NamedAttr{Name: "mesh", Value: ir.OpaqueAttr("#sdy.mesh" + mesh.FormatContent())})
		g.Attrs = m.OpAttrs(op)
	case ir.OpModule:
		g.Properties, g.Attrs = moduleAttrs(m.OpAttrs(op))
	case ir.OpCondBranch:
		g.Properties, g.Attrs = d.condBranch(op)
	default:
		properties, rest := d.pr.splitAttrs(op)
		g.Properties, g.Attrs = d.plainEnums(properties), rest
	}
	return g
}

// Module returns the module around everything.
func (d *Disassembler) Module() GenericOp {
	m := d.pr.m
	g := GenericOp{Name: ir.OpModule.String(), Loc: m.Loc}
	g.Properties, g.Attrs = moduleAttrs(m.Attrs)
	if m.Name != "" {
		g.Properties = ir.Attrs(g.Properties).With(symbolNameAttr, ir.StringAttr(m.Name))
	}
	return g
}

func moduleAttrs(attrs ir.Attrs) (own, others ir.Attrs) {
	for _, e := range attrs {
		if e.Name == symbolNameAttr || e.Name == visibilityAttr {
			own = append(own, e)
		} else {
			others = append(others, e)
		}
	}
	return own, others
}

const (
	visibilityAttr = "sym_visibility"
	noInlineAttr   = "no_inline"
	weightsAttr    = "branch_weights"
)

func (d *Disassembler) function(op ir.OpID) (own, others ir.Attrs) {
	m := d.pr.m
	f := m.Func(m.FuncOf(op))
	others = m.OpAttrs(op)
	args := m.BlockArgs(f.Body)
	t := ir.Type{Kind: ir.FunctionKind, Inputs: len(args)}
	argShardings := make([]ir.ShardingID, len(args))
	for i, v := range args {
		t.Elems = append(t.Elems, m.Type(v))
		argShardings[i] = m.Sharding(v)
	}
	t.Elems = append(t.Elems, f.ResultTypes...)
	own = ir.MakeAttrs(ir.NamedAttr{Name: symbolNameAttr, Value: ir.StringAttr(f.Name)},
		ir.NamedAttr{Name: "function_type", Value: ir.TypeAttr(m.InternType(t))})
	if f.Visibility != "" {
		own = own.With(visibilityAttr, ir.StringAttr(f.Visibility))
	}
	if list := signatureList(f.ArgAttrs, argShardings); list != nil {
		own = own.With("arg_attrs", list)
	}
	if list := signatureList(f.ResultAttrs, f.ResultShardings); list != nil {
		own = own.With("res_attrs", list)
	}
	if v := others.Get(noInlineAttr); v != nil {
		own, others = own.With(noInlineAttr, v), others.Without(noInlineAttr)
	}
	return own, others
}

// condBranch returns the properties of a branch, with the groups of its operands: the condition and what each successor
// gets.
func (d *Disassembler) condBranch(op ir.OpID) (own, others ir.Attrs) {
	m := d.pr.m
	sizes := []byte{1, 0, 0, 0}
	for _, to := range m.Successors(op) {
		sizes = binary.LittleEndian.AppendUint32(sizes, uint32(len(m.BlockArgs(to))))
	}
	others = m.OpAttrs(op).Without(segmentsAttr)
	own = ir.MakeAttrs(ir.NamedAttr{Name: segmentsAttr, Value: &ir.DenseArray{Elem: d.i32(), Data: sizes}})
	if v := others.Get(weightsAttr); v != nil {
		own, others = own.With(weightsAttr, v), others.Without(weightsAttr)
	}
	return own, others
}

func (d *Disassembler) i32() ir.TypeID {
	return d.pr.m.ScalarType(dtype.I32)
}

// signatureList returns the dictionaries of arguments or results, nil if all are empty.
func signatureList(attrs []ir.Attrs, shardings []ir.ShardingID) ir.Attr {
	list := make(ir.ArrayAttr, len(attrs))
	used := false
	for i, a := range attrs {
		if shardings[i] != 0 {
			a = a.With(shardingAttr, ir.ShardingAttr(shardings[i]))
		}
		list[i] = ir.DictAttr(a)
		used = used || len(a) > 0
	}
	if !used {
		return nil
	}
	return list
}

// plainEnums returns attributes with the enums of Shardy as numbers.
func (d *Disassembler) plainEnums(attrs ir.Attrs) ir.Attrs {
	for i, e := range attrs {
		if v, ok := e.Value.(ir.EnumAttr); ok && v.Dialect == "sdy" {
			attrs = slices.Clone(attrs)
			attrs[i].Value = ir.IntAttr{Value: enumIndex(v), Type: d.i32()}
		}
	}
	return attrs
}
