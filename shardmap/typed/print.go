package typed

import (
	"fmt"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// TextOptions says what Format writes besides the program.
type TextOptions struct {
	Sources bool // behind an equation whose place in a source file is known, that place as a comment: # model.mlir:12
}

// String returns the text form, which Parse reads: equal programs have equal texts.
func (p *Program) String() string { return p.Format(TextOptions{}) }

// Format returns the text form with comments, which Parse reads like that without.
func (p *Program) Format(opts TextOptions) string {
	pr := &printer{p: p, m: p.Module, names: p.printNames(), opts: opts}
	pr.header()
	pr.lambda(p.Body(), "")
	return pr.out.String()
}

type printer struct {
	p     *Program
	m     *ir.Module
	names map[ir.ValueID]string
	opts  TextOptions
	out   strings.Builder
}

// printNames names every value: by its own name where that is an identifier that no value before has, else by a number.
func (p *Program) printNames() map[ir.ValueID]string {
	names, taken := map[ir.ValueID]string{}, map[string]bool{}
	var order []ir.ValueID
	var visit func(b ir.BlockID)
	visit = func(b ir.BlockID) {
		order = append(order, p.Module.BlockArgs(b)...)
		for op := range p.Module.Ops(b) {
			order = append(order, p.Module.ResultValues(op)...)
			for inner := range p.Module.InnerBlocks(op) {
				visit(inner)
			}
		}
	}
	visit(p.Body())
	for _, v := range order {
		if name := p.Names[v]; isIdentifier(name) && !taken[name] && !keywords[name] {
			names[v], taken[name] = name, true
		}
	}
	n := 0
	for _, v := range order {
		if names[v] != "" {
			continue
		}
		for ; taken["v"+itoa(int64(n))]; n++ {
		}
		names[v] = "v" + itoa(int64(n))
		n++
	}
	return names
}

// keywords begin lines and are no names of values.
var keywords = map[string]bool{"lambda": true, "return": true, "shard_map": true}

func (pr *printer) header() {
	p := pr.p
	var axes, ins, outs, donated []string
	for _, a := range p.Mesh.Axes {
		axes = append(axes, a.Name+"="+itoa(a.Size))
	}
	for i, param := range p.Params {
		ins = append(ins, param.Spec.String())
		if param.Donated {
			donated = append(donated, pr.names[pr.m.BlockArgs(p.Body())[i]])
		}
	}
	outs = lists.Map(p.Results, func(r Result) string { return r.Spec.String() })
	fmt.Fprintf(&pr.out, "shard_map @%s mesh=%s manual=%s check=%t\n  in_specs=%s\n  out_specs=%s\n", ir.FormatSymbol(p.Name),
		pyTuple(axes), pyTuple(strings.Split(p.axisNames(p.Manual.Axes(), ","), ",")), p.Check, pyTuple(ins), pyTuple(outs))
	if p.Mesh.DeviceIDs != nil {
		pr.out.WriteString("  device_ids=" + intTuple(p.Mesh.DeviceIDs) + "\n")
	}
	if len(donated) > 0 {
		pr.out.WriteString("  donated=" + pyTuple(donated) + "\n")
	}
}

// pyTuple returns a list as Python writes a tuple.
func pyTuple(parts []string) string {
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// lambda prints a block: its arguments, its equations and what it returns.
func (pr *printer) lambda(b ir.BlockID, indent string) {
	pr.out.WriteString(indent + "lambda")
	for _, v := range pr.m.BlockArgs(b) {
		pr.out.WriteString(" " + pr.declared(v))
	}
	pr.out.WriteString("\n")
	indent += "  "
	for op := range pr.m.Ops(b) {
		if pr.m.Kind(op).IsTerminator() {
			pr.out.WriteString(indent + "return")
			pr.operands(op)
			pr.out.WriteString("\n")
			continue
		}
		pr.equation(op, indent)
	}
}

func (pr *printer) declared(v ir.ValueID) string { return pr.names[v] + ":" + pr.p.FormatTypeOf(v) }

func (pr *printer) equation(op ir.OpID, indent string) {
	pr.out.WriteString(indent)
	for i, v := range pr.m.Results(op) {
		if i > 0 {
			pr.out.WriteString(" ")
		}
		pr.out.WriteString(pr.declared(v))
	}
	if pr.m.NumResults(op) > 0 {
		pr.out.WriteString(" = ")
	}
	pr.out.WriteString(pr.p.OpText(op))
	pr.operands(op)
	if pr.m.NumRegions(op) > 0 {
		pr.out.WriteString(" {" + pr.source(op) + "\n")
		for b := range pr.m.InnerBlocks(op) {
			pr.lambda(b, indent)
		}
		pr.out.WriteString(indent + "}\n")
		return
	}
	pr.out.WriteString(pr.source(op) + "\n")
}

// source returns the place of an op in a source file as a comment.
func (pr *printer) source(op ir.OpID) string {
	l := pr.m.FileLoc(pr.m.OpLoc(op))
	if !pr.opts.Sources || l.Kind != ir.LocFile {
		return ""
	}
	return "  # " + strings.Join(strings.Fields(l.File), " ") + ":" + itoa(int64(l.Line))
}

func (pr *printer) operands(op ir.OpID) {
	for i := range pr.m.NumOperands(op) {
		pr.out.WriteString(" " + pr.names[pr.m.Operand(op, i)])
	}
}

// OpText returns the name and attributes of an op as the text form writes them: psum[axes=(i,)].
func (p *Program) OpText(op ir.OpID) string {
	kind, name := p.Module.Kind(op), p.Module.OpName(op)
	if kind.IsShardMap() {
		name = kind.ShardMapName()
	} else if _, taken := ir.ParseShardMap(localName(kind)); !taken && kind != ir.OpUnregistered {
		name = localName(kind)
	}
	attrs := p.Module.OpAttrs(op)
	if len(attrs) == 0 {
		return name
	}
	var parts []string
	if axes := attrs.Get("axes"); p.Module.Kind(op).IsShardMap() && axes != nil { // axes first, as they matter most
		parts = append(parts, "axes="+p.attrText(op, "axes", axes))
		attrs = attrs.Without("axes")
	}
	for _, e := range attrs {
		if _, unit := e.Value.(ir.UnitAttr); unit {
			parts = append(parts, attrName(e.Name))
			continue
		}
		parts = append(parts, attrName(e.Name)+"="+p.attrText(op, e.Name, e.Value))
	}
	return name + "[" + strings.Join(parts, ", ") + "]"
}

func attrName(name string) string {
	if isIdentifier(strings.ReplaceAll(name, ".", "_")) {
		return name
	}
	return fmt.Sprintf("%q", name)
}

// attrText returns an attribute as the text form has it.
func (p *Program) attrText(op ir.OpID, name string, a ir.Attr) string {
	switch a := a.(type) {
	case ir.Ints:
		return intTuple(a)
	case ir.IntAttr:
		if a == p.Module.I64(a.Value) {
			return itoa(a.Value)
		}
	case ir.EnumAttr:
		if enum, ok := enums[name]; ok && a.Dialect == "stablehlo" && a.Enum == enum {
			return a.Value
		}
	case *ir.DotDims:
		if name == "dot_dimension_numbers" {
			return "((" + intTuple(a.LhsContract) + ", " + intTuple(a.RhsContract) + "), (" + intTuple(a.LhsBatch) + ", " + intTuple(a.RhsBatch) +
				"))"
		}
	case *ir.Dense:
		if p.Module.NumResults(op) == 1 && a.Type == p.Module.Type(p.Module.Result(op, 0)) && a.Resource == "" {
			return strings.TrimSuffix(mlir.FormatAttr(p.Module, a), " : "+p.Module.FormatType(a.Type))
		}
	case *ir.AxesAttr:
		if names, _ := p.namesOf(a); p.Module.Kind(op).IsShardMap() {
			return pyTuple(names)
		}
	case ir.ArrayAttr:
		if s, ok := listText(a); ok && p.Module.Kind(op).IsShardMap() {
			return s
		}
	}
	return mlir.FormatAttr(p.Module, a)
}

// enums are the attributes whose text is the bare value, with the name of their enum.
var enums = map[string]string{"comparison_direction": "comparison_direction", "compare_type": "comparison_type"}

// listText returns a list of names, or of lists of integers, as a tuple.
func listText(a ir.ArrayAttr) (string, bool) {
	var parts []string
	for _, e := range a {
		switch e := e.(type) {
		case ir.StringAttr:
			if !isIdentifier(string(e)) {
				return "", false
			}
			parts = append(parts, string(e))
		case ir.Ints:
			parts = append(parts, intTuple(e))
		default:
			return "", false
		}
	}
	return pyTuple(parts), true
}

func intTuple(list []int64) string {
	return pyTuple(lists.Map(list, itoa))
}

// equation returns an op with the types of its operands, for messages.
func (p *Program) equation(op ir.OpID) string {
	var results []string
	for _, v := range p.Module.Results(op) {
		results = append(results, p.NameOf(v))
	}
	s := p.OpText(op)
	if p.Module.Kind(op).IsTerminator() {
		s = "return"
	}
	if len(s) > 80 {
		s = s[:77] + "..."
	}
	if len(results) > 0 {
		s = strings.Join(results, " ") + " = " + s
	}
	for i := range p.Module.NumOperands(op) {
		s += " " + p.FormatValue(p.Module.Operand(op, i))
	}
	return s
}
