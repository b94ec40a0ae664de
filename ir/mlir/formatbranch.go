package mlir

import (
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// segmentsAttr says in generic form how the operands of a branch divide over its successors. Here the arguments of the
// successors say it.
const segmentsAttr = "operandSegmentSizes"

// parseBranch reads cf.br ^bb1(%0 : T) {…}.
func parseBranch(p *parser, o *opState) {
	p.branchTarget(o)
	p.optionalAttrDict(o)
}

func printBranch(pr *printer, op ir.OpID) {
	pr.byte(' ')
	pr.branchTarget(op, pr.m.Successors(op)[0], 0, pr.m.NumOperands(op))
	pr.attrDict(op, segmentsAttr)
}

// parseCondBranch reads cf.cond_br %0, ^bb1(%1 : T), ^bb2 {…}.
func parseCondBranch(p *parser, o *opState) {
	o.values = append(o.values, p.resolve(p.operand(), p.m.ScalarType(dtype.I1)))
	p.expect(tokComma)
	p.branchTarget(o)
	p.expect(tokComma)
	p.branchTarget(o)
	p.optionalAttrDict(o)
}

func printCondBranch(pr *printer, op ir.OpID) {
	to := pr.m.Successors(op)
	pr.byte(' ')
	pr.value(pr.m.Operand(op, 0))
	n := 1 + len(pr.m.BlockArgs(to[0]))
	pr.str(", ")
	pr.branchTarget(op, to[0], 1, n)
	pr.str(", ")
	pr.branchTarget(op, to[1], n, pr.m.NumOperands(op))
	pr.attrDict(op, segmentsAttr)
}

// branchTarget reads ^bb1(%0, %1 : A, B).
func (p *parser) branchTarget(o *opState) {
	o.branches = append(o.branches, p.successor())
	if !p.accept(tokLParen) {
		return
	}
	uses := p.operands(nil)
	p.expect(tokColon)
	for i, use := range uses {
		if i > 0 {
			p.expect(tokComma)
		}
		o.values = append(o.values, p.resolve(use, p.typ()))
	}
	p.expect(tokRParen)
}

func (pr *printer) branchTarget(op ir.OpID, to ir.BlockID, from, end int) {
	pr.label(to)
	if from == end {
		return
	}
	pr.byte('(')
	pr.values(op, from, end)
	pr.str(" : ")
	for i := from; i < end; i++ {
		if i > from {
			pr.str(", ")
		}
		pr.typ(pr.m.Type(pr.m.Operand(op, i)))
	}
	pr.byte(')')
}

// branchFits says whether a branch has the successors that its pretty form shows, and operands for them.
func (pr *printer) branchFits(op ir.OpID) bool {
	to := pr.m.Successors(op)
	switch {
	case pr.labels == nil || pr.m.NumResults(op) > 0:
		return false
	case pr.m.Kind(op) == ir.OpBranch:
		return len(to) == 1
	}
	return len(to) == 2 && pr.m.NumOperands(op) == 1+len(pr.m.BlockArgs(to[0]))+len(pr.m.BlockArgs(to[1]))
}
