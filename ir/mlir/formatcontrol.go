package mlir

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// controlFormats fills the rows of calls, returns and ops with regions.
func controlFormats() {
	formats[ir.OpReturn] = format{parseReturn, printReturn}
	formats[ir.OpStablehloReturn] = format{parseRegionReturn, printRegionReturn}
	formats[ir.OpBranch] = format{parseBranch, printBranch}
	formats[ir.OpCondBranch] = format{parseCondBranch, printCondBranch}
	formats[ir.OpCall] = format{parseCall, printCall}
	formats[ir.OpCustomCall] = format{parseCustomCall, printCustomCall}
	formats[ir.OpComposite] = format{parseComposite, printComposite}
	formats[ir.OpWhile] = format{parseWhile, printWhile}
	formats[ir.OpReduce] = format{parseReduce, printReduce}
	formats[ir.OpOptimizationBarrier] = format{parseBarrier, printBarrier}
	formats[ir.OpAfterAll] = format{parseAfterAll, printAfterAll}
	formats[ir.OpGetTupleElement] = format{parseTupleElement, printTupleElement}
}

// parseReturn reads return {…} %0, %1 : A, B.
func parseReturn(p *parser, o *opState) {
	p.optionalAttrDict(o)
	o.operands = p.operands(o.operands)
	if len(o.operands) > 0 {
		p.colonTypes(o, operandType)
	}
}

func printReturn(pr *printer, op ir.OpID) {
	pr.attrDict(op)
	if pr.m.NumOperands(op) > 0 {
		pr.byte(' ')
		pr.operands(op)
		pr.colonTypes(op, operandType)
	}
}

// parseRegionReturn reads stablehlo.return %0, %1 {…} : A, B.
func parseRegionReturn(p *parser, o *opState) {
	o.operands = p.operands(o.operands)
	p.optionalAttrDict(o)
	if len(o.operands) > 0 {
		p.colonTypes(o, operandType)
	}
}

func printRegionReturn(pr *printer, op ir.OpID) {
	pr.byte(' ') // also where there are no operands: so MLIR prints it
	pr.operands(op)
	pr.attrDict(op)
	if pr.m.NumOperands(op) > 0 {
		pr.colonTypes(op, operandType)
	}
}

// parseCall reads call @f(%0) : (A) -> B.
func parseCall(p *parser, o *opState) {
	at := p.tok
	callee, ok := p.attr(0).(ir.SymbolAttr)
	if !ok && p.err == nil {
		p.fail(at, diag.Syntax, "expected the symbol of a function")
	}
	o.attr("callee", callee)
	p.parenOperands(o)
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

func (p *parser) parenOperands(o *opState) {
	p.expect(tokLParen)
	o.operands = p.operands(o.operands)
	p.expect(tokRParen)
}

func printCall(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.attr(pr.m.Attr(op, "callee"), typed)
	pr.parenOperands(op)
	pr.attrDict(op, "callee")
	pr.colonTypes(op, fnTypes)
}

func (pr *printer) parenOperands(op ir.OpID) {
	pr.byte('(')
	pr.operands(op)
	pr.byte(')')
}

// parseCustomCall reads stablehlo.custom_call @target(%0) {…} : (A) -> B.
func parseCustomCall(p *parser, o *opState) {
	o.attr("call_target_name", ir.StringAttr(strings.Clone(p.symbol("name of the target"))))
	p.parenOperands(o)
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

func printCustomCall(pr *printer, op ir.OpID) {
	a := pr.m.OpAttrs(op)
	pr.str(" @")
	pr.str(ir.FormatSymbol(a.Str("call_target_name")))
	pr.parenOperands(op)
	hidden := []string{"call_target_name"}
	for _, e := range a {
		if isCustomCallDefault(e) {
			hidden = append(hidden, e.Name)
		}
	}
	pr.attrDict(op, hidden...)
	pr.colonTypes(op, fnTypes)
}

func isCustomCallDefault(e ir.NamedAttr) bool {
	switch v := e.Value.(type) {
	case ir.IntAttr:
		return e.Name == "api_version" && v.Value == 1
	case ir.BoolAttr:
		return e.Name == "has_side_effect" && !bool(v)
	case ir.ArrayAttr:
		return (e.Name == "called_computations" || e.Name == "output_operand_aliases") && len(v) == 0
	case ir.EnumAttr:
		return e.Name == "custom_call_schedule" && v.Value == "NONE"
	}
	return false
}

// parseComposite reads stablehlo.composite "my.op" %0 ({regions}) {…} : (A) -> B.
func parseComposite(p *parser, o *opState) {
	o.attr("name", ir.StringAttr(strings.Clone(p.str("name of the composite"))))
	o.operands = p.operands(o.operands)
	if p.accept(tokLParen) && !p.accept(tokRParen) {
		p.regions(o)
	}
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

func printComposite(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.attr(pr.m.Attr(op, "name"), typed)
	pr.byte(' ') // also where there are no operands: so MLIR prints it
	pr.operands(op)
	pr.regions(op)
	hidden := []string{"name"}
	if pr.m.OpAttrs(op).Int("version", 0) == 0 {
		hidden = append(hidden, "version")
	}
	if d, ok := pr.m.Attr(op, "composite_attributes").(ir.DictAttr); ok && len(d) == 0 {
		hidden = append(hidden, "composite_attributes")
	}
	pr.attrDict(op, hidden...)
	pr.colonTypes(op, fnTypes)
}

// parseBarrier reads stablehlo.optimization_barrier {…} %0, %1 : A, B, or () without operands.
func parseBarrier(p *parser, o *opState) {
	p.optionalAttrDict(o)
	if p.accept(tokLParen) {
		p.expect(tokRParen)
		return
	}
	o.operands = p.operands(o.operands)
	p.colonTypes(o, operandType)
	o.results = append(o.results, o.types...)
}

func printBarrier(pr *printer, op ir.OpID) {
	pr.attrDict(op)
	if pr.m.NumOperands(op) == 0 {
		pr.str("()")
		return
	}
	pr.byte(' ')
	pr.operands(op)
	pr.colonTypes(op, operandType)
}

// parseAfterAll reads stablehlo.after_all %0, %1 : !stablehlo.token.
func parseAfterAll(p *parser, o *opState) {
	o.operands = p.operands(o.operands)
	p.optionalAttrDict(o)
	p.colonTypes(o, sameType)
}

func printAfterAll(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.operands(op)
	pr.attrDict(op)
	pr.colonTypes(op, sameType)
}

// parseTupleElement reads stablehlo.get_tuple_element %0[0] : (tuple<A>) -> A.
func parseTupleElement(p *parser, o *opState) {
	o.operands = append(o.operands, p.operand())
	p.expect(tokLSquare)
	o.attr("index", p.intAttr(dtype.I32))
	p.expect(tokRSquare)
	p.optionalAttrDict(o)
	p.colonTypes(o, fnTypes)
}

func printTupleElement(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.operands(op)
	pr.byte('[')
	pr.int(pr.m.OpAttrs(op).Int("index", 0))
	pr.byte(']')
	pr.attrDict(op, "index")
	pr.colonTypes(op, fnTypes)
}

// hasDict says whether the dictionary of an op would print anything.
func (pr *printer) hasDict(op ir.OpID, hidden ...string) bool {
	if pr.opSharding(op) {
		return true
	}
	return slices.ContainsFunc(pr.m.OpAttrs(op), func(e ir.NamedAttr) bool { return !hiddenAttr(e.Name, hidden) })
}
