package mlir

import (
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// propagationEdges reads <[{step-2 = [{"y" = operand-1 -> [operand-0, result-0]}]}]>.
func (p *parser) propagationEdges() ir.Attr {
	at := p.tok
	edges := ir.PropagationEdges{}
	p.expect(tokLess)
	p.expect(tokLSquare)
	p.list(tokRSquare, func() {
		p.expect(tokLBrace)
		p.expectWord("step")
		p.expect(tokMinus)
		step := ir.PropagationStep{Step: p.int64()}
		p.expect(tokEqual)
		p.expect(tokLSquare)
		p.list(tokRSquare, func() { step.Edges = append(step.Edges, p.propagationEdge()) })
		p.expect(tokRBrace)
		edges = append(edges, step)
	})
	p.expect(tokGreater)
	if err := edges.Check(); err != nil {
		p.fail(at, diag.BadAttribute, "%s", err)
	}
	return edges
}

func (p *parser) propagationEdge() (e ir.PropagationEdge) {
	p.expect(tokLBrace)
	a := p.axis()
	e.Name = strings.Clone(a.name)
	e.Axis = a.String()
	p.expect(tokEqual)
	e.Source = p.valueRef()
	p.expect(tokArrow)
	p.expect(tokLSquare)
	p.list(tokRSquare, func() { e.Targets = append(e.Targets, p.valueRef()) })
	p.expect(tokRBrace)
	return e
}

// valueRef reads operand-0 or result-0.
func (p *parser) valueRef() (r ir.ValueRef) {
	switch {
	case p.acceptWord("operand"):
	case p.acceptWord("result"):
		r.Result = true
	default:
		p.expected("operand-N or result-N")
	}
	p.expect(tokMinus)
	r.Index = p.int64()
	return r
}
