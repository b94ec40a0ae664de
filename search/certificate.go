package search

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Certificate proves a lower bound on the cost of every solution, and carries the best solution. Package search/certify checks it against
// the JSON of the problem without any code of this package; docs/certificate.md describes the format.
type Certificate struct {
	// Bound is what the certificate proves.
	Bound int64
	// SHA256 is the hash of the problem's uncompressed JSON, to be set before writing: the solver does not know the file.
	SHA256 [32]byte

	cost     int64
	solution []int32
	claim    int64 // as Bound, but solutions that use forbidden entries count too
	root     *proof
}

// newCertificate makes the certificate of a result.
func newCertificate(p *Problem, root *proof, r Result) *Certificate {
	c := &Certificate{cost: r.Cost, solution: r.Solution, root: root}
	c.Bound = min(root.value(-Inf), r.Bound)
	c.claim = min(c.Bound, p.leastForbidden())
	return c
}

// leastForbidden returns a lower bound on the cost of what uses a forbidden entry.
func (p *Problem) leastForbidden() int64 {
	if !slices.Contains(p.Cost, Inf) && !slices.Contains(p.MatVal, Inf) {
		return Inf
	}
	least := Forbidden
	for i := range p.NumNodes() {
		least += min(slices.Min(p.Cost[p.Off[i]:p.Off[i+1]]), 0)
	}
	for _, m := range p.EMat {
		least += min(slices.Min(p.MatVal[p.MatOff[m]:p.MatOff[m+1]]), 0)
	}
	return least
}

// value returns the bound that a proof gives for a model of which bound is known.
func (p *proof) value(bound int64) int64 {
	for i := range p.steps {
		s := &p.steps[i]
		if s.kind == proveTree {
			s.bound = s.tree.value(bound)
		}
		if s.kind >= proveBound {
			bound = max(bound, s.bound)
		}
	}
	if len(p.cases) == 0 {
		return bound
	}
	least := Inf
	for _, c := range p.cases {
		least = min(least, c.value(bound))
	}
	return max(bound, least)
}

// AppendJSON appends the certificate as JSON: the shortest proof of the bound that the records contain.
func (c *Certificate) AppendJSON(b []byte) []byte {
	e := &proofWriter{b: b, target: c.Bound}
	e.text(`{"format":"autoshard-bound-1","sha256":"`)
	e.b = hex.AppendEncode(e.b, c.SHA256[:])
	e.text(`","upper":`)
	e.number(c.cost)
	e.text(`,"solution":`)
	writeNumbers(e, c.solution)
	e.text(",\n")
	e.proof(c.root)
	e.text(",\n\"blocks\":[")
	for i, block := range e.blocks {
		e.separate(i, "\n")
		e.block(block)
	}
	e.text("],\n\"claim\":\"")
	e.number(c.claim)
	e.text("\"}\n")
	return e.b
}

// proofWriter appends a proof as JSON.
type proofWriter struct {
	b      []byte
	target int64
	blocks []*proofBlock
}

func (e *proofWriter) text(s string) { e.b = append(e.b, s...) }

func (e *proofWriter) number(v int64) { e.b = strconv.AppendInt(e.b, v, 10) }

// separate begins element i of a list, after a comma if there is one before.
func (e *proofWriter) separate(i int, space string) {
	if i > 0 {
		e.text(",")
	}
	e.text(space)
}

func writeNumbers[T int32 | int64](e *proofWriter, list []T) {
	e.text("[")
	for i, v := range list {
		e.separate(i, "")
		e.number(int64(v))
	}
	e.text("]")
}

// proof appends the members log and tree: all steps up to the first bound that reaches the target.
func (e *proofWriter) proof(p *proof) {
	e.text("\"log\":[")
	reaches := func(s proofStep) bool { return s.kind >= proveBound && s.bound >= e.target }
	at := slices.IndexFunc(p.steps, reaches)
	count := e.steps(p, at, 0)
	for at >= 0 && p.steps[at].kind == proveTree { // the tree goes on from here
		p = p.steps[at].tree
		at = slices.IndexFunc(p.steps, reaches)
		count = e.steps(p, at, count)
	}
	e.text("],\n\"tree\":")
	if at >= 0 || len(p.cases) == 0 {
		e.text("null")
		return
	}
	e.text(`{"node":`)
	e.number(int64(p.node))
	e.text(`,"split":[`)
	for i, part := range p.parts {
		e.separate(i, "")
		writeNumbers(e, part)
	}
	e.text(`],"child":[`)
	for i, c := range p.cases {
		e.separate(i, "")
		e.text("{")
		e.proof(c)
		e.text("}")
	}
	e.text("]}")
}

// The steps as JSON.
var stepText = [...]string{
	proveRow:      `["d",%d,%d,"row",%d]`,
	proveMemory:   `["d",%d,%d,"mem",%d]`,
	proveDominant: `["d",%d,%d,"dom",%d]`,
	provePair:     `["h",%d,%d,%d,%d,%d]`,
	proveMerge:    `["m",%d,%d]`,
	proveSeparate: `["s",%d,%d]`,
	proveOut:      `["e",%d]`,
	proveImplied:  `["p",%d,%d]`,
	proveFull:     `["f",%d]`,
}

// steps appends the steps of p before the one at last, and that; all if last is negative. count is the number of steps in the list.
func (e *proofWriter) steps(p *proof, last, count int) int {
	emit := func(format string, args ...any) {
		e.separate(count, "\n")
		e.b = fmt.Appendf(e.b, format, args...)
		count++
	}
	for i, s := range p.steps {
		final := i == last
		switch needed := final || i+1 < len(p.steps) && p.steps[i+1].kind == proveFix; {
		case s.kind == proveFix:
			emit(`["c",%d]`, s.cost)
		case s.kind < proveBound:
			var args []any
			for _, v := range s.n[:strings.Count(stepText[s.kind], "%d")] {
				args = append(args, v)
			}
			emit(stepText[s.kind], args...)
		case s.kind == proveBound && needed, s.kind == proveOrder && final:
			if s.kind == proveOrder {
				emit(`["r"]`)
			}
			for _, i := range s.order {
				emit(stepText[proveOut], i)
			}
			emit(`["b",%d]`, len(e.blocks))
			e.blocks = append(e.blocks, s.block)
		}
		if final {
			break
		}
	}
	return count
}

// block appends a block; nil is the one without prices and messages.
func (e *proofWriter) block(b *proofBlock) {
	if b == nil {
		b = &proofBlock{}
	}
	e.b = fmt.Appendf(e.b, `{"q":%d,"lambda":[`, b.q)
	for i, t := range b.times {
		e.separate(i, "")
		writeNumbers(e, []int64{int64(t), b.price[i]})
	}
	e.text(`],"mu":[`)
	count := 0
	for _, a := range b.arcs {
		if slices.ContainsFunc(b.mu[a.toA:a.end], func(v int64) bool { return v != 0 }) {
			e.separate(count, "\n")
			count++
			e.b = fmt.Appendf(e.b, "[%d,%d,", a.a, a.b)
			writeNumbers(e, b.mu[a.toA:a.toB])
			e.text(",")
			writeNumbers(e, b.mu[a.toB:a.end])
			e.text("]")
		}
	}
	e.text("]}")
}
