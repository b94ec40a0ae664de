package mlir

import (
	"slices"

	"autoshard/ir"
)

// controlFormats fills the rows of calls, returns and ops with regions.
func controlFormats() {
	formats[ir.OpReturn] = form(dict, typedValues)
	formats[ir.OpStablehloReturn] = form(space, values(-1), dict, typesIfAny) // with the space also without operands: so MLIR prints it
	formats[ir.OpBranch] = format{parseBranch, printBranch}
	formats[ir.OpCondBranch] = format{parseCondBranch, printCondBranch}
	formats[ir.OpCall] = form(space, attribute("callee", calleeCodec), inParens, dict, types(fnTypes))
	formats[ir.OpCustomCall] = form(space, attribute("call_target_name", targetCodec), inParens, dictWithout(isCustomCallDefault),
		types(fnTypes))
	formats[ir.OpComposite] = form(space, attribute("name", textCodec("name of the composite")), space, values(-1), regionsIfAny,
		dictWithout(isCompositeDefault), types(fnTypes))
	formats[ir.OpWhile] = format{parseWhile, printWhile}
	formats[ir.OpReduce] = format{parseReduce, printReduce}
	formats[ir.OpOptimizationBarrier] = form(dict, barrierValues)
	formats[ir.OpAfterAll] = plain(-1, sameType)
	formats[ir.OpGetTupleElement] = form(space, oneValue, literal("["), attribute("index", int32Codec), literal("]"), dict, types(fnTypes))
}

// typedValues are the operands of a return with their types, if there are any.
var typedValues = part{
	parse: func(p *parser, o *opState) {
		o.operands = p.operands(o.operands)
		typesIfAny.parse(p, o)
	},
	print: func(pr *printer, op ir.OpID) {
		someValues.print(pr, op)
		typesIfAny.print(pr, op)
	},
}

// someValues are operands behind a space, if there are any.
var someValues = part{
	parse: func(p *parser, o *opState) { o.operands = p.operands(o.operands) },
	print: func(pr *printer, op ir.OpID) {
		if pr.m.NumOperands(op) > 0 {
			pr.byte(' ')
			pr.operands(op)
		}
	},
}

// barrierValues are the operands of an optimization barrier, which are its results too, with their types, or () for none.
var barrierValues = part{
	parse: func(p *parser, o *opState) {
		if p.accept(tokLParen) {
			p.expect(tokRParen)
			return
		}
		o.operands = p.operands(o.operands)
		p.colonTypes(o, operandType)
		o.results = append(o.results, o.types...)
	},
	print: func(pr *printer, op ir.OpID) {
		if pr.m.NumOperands(op) == 0 {
			pr.str("()")
			return
		}
		typedValues.print(pr, op)
	},
}

// regionsIfAny are regions in parentheses, which may be absent.
var regionsIfAny = part{
	parse: func(p *parser, o *opState) {
		if p.accept(tokLParen) && !p.accept(tokRParen) {
			p.regions(o)
		}
	},
	print: (*printer).regions,
}

func (p *parser) parenOperands(o *opState) {
	p.expect(tokLParen)
	o.operands = p.operands(o.operands)
	p.expect(tokRParen)
}

func (pr *printer) parenOperands(op ir.OpID) {
	pr.byte('(')
	pr.operands(op)
	pr.byte(')')
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

func isCompositeDefault(e ir.NamedAttr) bool {
	switch v := e.Value.(type) {
	case ir.IntAttr:
		return e.Name == "version" && v.Value == 0
	case ir.DictAttr:
		return e.Name == "composite_attributes" && len(v) == 0
	}
	return false
}

// hasDict says whether the dictionary of an op would print anything.
func (pr *printer) hasDict(op ir.OpID, hidden ...string) bool {
	if pr.opSharding(op) {
		return true
	}
	return slices.ContainsFunc(pr.m.OpAttrs(op), func(e ir.NamedAttr) bool { return !slices.Contains(hidden, e.Name) })
}
