package mlir

import (
	"math"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// Factors are written i to z; behind them come z_1, z_2, … (specification: shardy.md section 1.9).
const (
	firstFactor  = 'i'
	plainFactors = 'z' - 'i' + 1
)

// shardingRule reads <([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}, custom>.
func (p *parser) shardingRule() ir.Attr {
	rule := &ir.Rule{}
	p.expect(tokLess)
	rule.Operands = p.tensorMappings()
	p.expect(tokArrow)
	rule.Results = p.tensorMappings()
	if p.accept(tokLBrace) {
		p.list(tokRBrace, func() {
			at := p.tok
			factors := p.factors()
			if p.err == nil && (len(factors) != 1 || int(factors[0]) != len(rule.Sizes)) {
				p.fail(at, diag.BadAttribute, "expecting factor symbol `%s`, got: %s", ir.FactorName(int32(len(rule.Sizes))), p.src[at.start:at.end])
			}
			p.expect(tokEqual)
			rule.Sizes = append(rule.Sizes, p.int64())
		})
	}
	p.factorGroups(rule)
	if p.accept(tokComma) {
		p.expectWord("custom")
		rule.Custom = true
	}
	p.expect(tokGreater)
	return &ir.RuleAttr{Rule: rule}
}

// factorGroups reads the optional lists of factors, in their fixed order.
func (p *parser) factorGroups(rule *ir.Rule) {
	for _, g := range rule.Groups() {
		if !p.acceptWord(g.Name) {
			continue
		}
		p.expect(tokEqual)
		p.expect(tokLBrace)
		p.list(tokRBrace, func() {
			at := p.tok
			factors := p.factors()
			if p.err == nil && len(factors) != 1 {
				p.fail(at, diag.BadAttribute, "expecting a single factor symbol, got: %s", p.src[at.start:at.end])
				return
			}
			*g.Factors = append(*g.Factors, factors...)
		})
	}
}

// tensorMappings reads ([i, k], [k, j]).
func (p *parser) tensorMappings() [][][]int32 {
	var out [][][]int32
	p.expect(tokLParen)
	if p.at(tokRParen) {
		p.expected("'['")
		return nil
	}
	p.list(tokRParen, func() {
		dims := [][]int32{}
		p.expect(tokLSquare)
		p.list(tokRSquare, func() { dims = append(dims, p.dimFactors()) })
		out = append(out, dims)
	})
	return out
}

// dimFactors reads the factors of one dimension; none at all is for the verifier to refuse.
func (p *parser) dimFactors() []int32 {
	if p.at(tokComma) || p.at(tokRSquare) {
		return nil
	}
	return p.factors()
}

// factors reads symbols written together, such as ij or zz_1.
func (p *parser) factors() []int32 {
	if !p.at(tokIdent) {
		p.expected("factor symbol")
		return nil
	}
	text := p.text()
	var out []int32
	for i := 0; i < len(text); {
		c := text[i]
		if c < firstFactor || c > 'z' {
			p.fail(p.tok, diag.BadAttribute, "expecting symbol from 'i' to 'z', received: '%c'", c)
			return nil
		}
		i++
		if c != 'z' || i == len(text) || text[i] != '_' {
			out = append(out, int32(c-firstFactor))
			continue
		}
		from := i + 1
		for i = from; i < len(text) && isDigit(text[i]); i++ {
		}
		n, err := strconv.ParseInt(text[from:i], 10, 32)
		switch {
		case i == from:
			p.fail(p.tok, diag.BadAttribute, "expecting integer after 'z_', received: '%s'", clip(text))
			return nil
		case text[from] == '0':
			p.fail(p.tok, diag.BadAttribute, "expecting positive integer without leading zeros after 'z_', received: '%s'", clip(text))
			return nil
		case err != nil || n > math.MaxInt32-plainFactors:
			p.fail(p.tok, diag.BadAttribute, "expecting integer after 'z_', received: '%s'", clip(text))
			return nil
		}
		out = append(out, int32(plainFactors-1+n))
	}
	p.next()
	return out
}
