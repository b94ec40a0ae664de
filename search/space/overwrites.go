package space

import (
	"slices"

	"autoshard/ir"
)

// An elementwise op writes its result over an operand that nothing needs any more, over the copy of one, or over what is read by what is
// computed as it reads ([ir.Liveness.InPlace]): the result takes memory of its own only behind the op.

// mayOverwrite says whether the result of a node can be written over something that its op reads.
func (s *Space) mayOverwrite(i int32) bool {
	n := &s.nodes[i]
	makesOne := n.op != 0 && len(n.values) == 1 && s.isTensor(n.values[0])
	return makesOne && n.residence == alone && s.computesElements(n.op)
}

// receives says whether the result of an op is written over the copy of a read, if there is one: the first of as many bytes. Where the
// result is written over something whatever the layouts are, that is known.
func (s *Space) receives(t *moments, op, j int32) bool {
	i := t.reads[op][j].to
	if t.over[i] || t.reads[op][j].operand < 0 || !s.mayOverwrite(i) || s.unheld[s.nodes[i].values[0]] {
		return false
	}
	bytes := s.m.ValueType(s.nodes[i].values[0]).Bytes()
	first := slices.IndexFunc(t.reads[op], func(r read) bool {
		return r.to == i && r.operand >= 0 && s.m.ValueType(r.value).Bytes() == bytes
	})
	return first == int(j)
}

// computesElements says whether an op makes each element of those at its place, and is one in the program of a device.
func (s *Space) computesElements(op ir.OpID) bool {
	k := s.m.Kind(op)
	return k.IsElementwise() && !passesOn(k)
}

// findOverwriting finds the nodes whose results are written over what their ops read.
func (p *timing) findOverwriting() {
	p.over = make([]bool, len(p.nodes))
	for i := range p.over {
		p.over[i] = p.mayOverwrite(int32(i)) && p.overwrites(&p.nodes[i], int32(i))
	}
}

// overwrites says whether a result can be written over what the op of another node reads, which is computed with it or is its own. Where no
// solution is known it says so only of what holds for all.
func (p *timing) overwrites(result *node, with int32) bool {
	if !p.computesElements(p.nodes[with].op) {
		return false
	}
	bytes := p.m.ValueType(result.values[0]).Bytes()
	for r := range p.readsOf(p.moments, with) {
		alike, kept, mayFlow := p.m.ValueType(r.value).Bytes() == bytes, p.readAsKept(r), p.own.Flowing[r.value]
		switch {
		case kept && mayFlow && p.flows[r.from]:
			if (alike || p.solution != nil) && p.overwrites(result, r.from) {
				return true
			}
		case !alike:
		case !kept, mayFlow && p.solution != nil: // over the copy, or what is sent
			return true
		case !mayFlow && !p.unheld[r.value] && p.ends[r.from] == result.lo+1 && p.endsWith(r, result):
			return true
		}
	}
	return false
}

// endsWith says whether nothing else may be in the memory of what is read, behind the op that reads it last.
func (p *timing) endsWith(r *read, last *node) bool {
	from := &p.nodes[r.from]
	if from.isInput() {
		return p.donated(r.value)
	}
	return from.residence != within && p.m.OpBlock(from.op) == p.m.OpBlock(last.op)
}
