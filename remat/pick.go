package remat

import (
	"cmp"
	"slices"

	"autoshard/ir"
)

// pick is a value of which ops from a place on are to read another copy.
type pick struct {
	value ir.ValueID
	from  int32
}

// picked is a value that may be made again, with those that have to be made again for that.
type picked struct {
	pick
	values []pick       // itself included
	kept   []ir.ValueID // that are held longer for that
	saved  int64        // bytes where most is held
	takes  int64        // picoseconds
}

// better says which of two saves more bytes, as far as they are needed, for its time.
func better(a, b *picked, need int64) int {
	ratio := func(p *picked) float64 { return float64(min(p.saved, need)) / float64(p.takes+1) }
	return cmp.Or(cmp.Compare(ratio(b), ratio(a)), cmp.Compare(b.saved, a.saved), cmp.Compare(a.value, b.value))
}

// picks returns what may be made again after the op where most is held, the best first.
func (v *view) picks(limit int64) (out []*picked) {
	m := v.written.m
	for op := v.held.Ops[v.at]; op != 0; op = m.ParentOp(op) {
		b := m.OpBlock(op)
		s := &site{view: v, block: b, op: op, at: v.number[op], place: v.written.place[op], lives: map[ir.ValueID]life{}}
		out = append(out, s.picks()...)
		if b == m.MainFunc().Body {
			break
		}
	}
	need := v.peak - limit
	slices.SortStableFunc(out, func(a, b *picked) int { return better(a, b, need) })
	return out
}

// site is an op of a block where most is held.
type site struct {
	*view
	block ir.BlockID
	op    ir.OpID
	at    int32
	place int32
	lives map[ir.ValueID]life
}

// life is when the ops of a site's block read a value.
type life struct {
	def       int32 // number of the op that makes it
	next      int32 // place of the first op behind the site that reads it; -1 for none
	last      int32 // place of the last op that reads it
	lastRead  int32 // its number
	here      bool  // the op of the site reads it
	handedOn  bool  // what ends the block reads it
	bytes     int64 // in memory
	inMemory  bool
	permanent bool // it is held all the time
}

// spans says whether a value is only held at the site, for later.
func (l *life) spans(at int32) bool {
	return l.inMemory && l.def < at && l.next >= 0 && !l.here && !l.handedOn
}

// life returns that of a value of the site's block.
func (s *site) life(x ir.ValueID) life {
	if l, ok := s.lives[x]; ok {
		return l
	}
	m := s.written.m
	l := life{next: -1, last: -1, lastRead: -1, def: -1}
	if by := m.DefiningOp(x); by != 0 {
		l.def = s.number[by]
	} else if s.block == m.MainFunc().Body {
		l.permanent = !m.MainFunc().ArgAttrs[m.Index(x)].Donated()
	}
	if i, ok := s.held.Find(x); ok {
		l.inMemory, l.bytes = s.held.Lives[i].Bytes > 0, m.ValueType(x).Bytes()
	}
	for u := range m.Uses(x) {
		op := m.AncestorIn(u.Op, s.block)
		n, place := s.number[op], s.written.place[op]
		l.last, l.lastRead = max(l.last, place), max(l.lastRead, n)
		l.here = l.here || op == s.op
		l.handedOn = l.handedOn || m.Kind(op).IsTerminator()
		if n > s.at && (l.next < 0 || place < l.next) {
			l.next = place
		}
	}
	s.lives[x] = l
	return l
}

// picks returns what may be made again behind the site.
func (s *site) picks() (out []*picked) {
	m := s.written.m
	for op := m.FirstOp(s.block); op != s.op; op = m.NextOp(op) {
		if m.NumResults(op) != 1 {
			continue
		}
		x := m.Result(op, 0)
		value, known := s.valueOf(x)
		if !known || !s.canRepeat(s.module.DefiningOp(value)) {
			continue
		}
		l := s.life(x)
		if !l.spans(s.at) || l.next <= s.place {
			continue
		}
		if p := s.best(pick{value, l.next}); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// valueOf returns the value that a value of the written module is, or is a copy of; false for what else was written.
func (s *site) valueOf(x ir.ValueID) (ir.ValueID, bool) {
	if of, ok := s.origin[x]; ok {
		return of, true
	}
	return x, int(x) < s.module.NumValues()
}

// longest bounds the values that are made again for one.
const longest = 96

// best returns what it takes to make a value again from a place on: of the ways to do so, which differ in what they keep for that instead
// of making that again, too, the one that saves most for its time. It is nil where none saves anything.
func (s *site) best(p pick) *picked {
	c := &closure{site: s, pick: p, member: map[ir.ValueID]bool{}, kept: map[ir.ValueID]bool{}}
	c.join(p.value)
	var best *picked
	for len(c.values) <= longest {
		if found := c.price(); found.saved > 0 && (best == nil || better(found, best, found.saved) < 0) {
			best = found
		}
		v := c.largest()
		if v == 0 {
			break
		}
		delete(c.kept, v)
		c.join(v)
	}
	return best
}

// closure is a value that is made again from a place on, with what has to be made again or held for that.
type closure struct {
	*site
	pick
	member map[ir.ValueID]bool
	values []pick
	order  []ir.ValueID // of what was held, as it was found
	kept   map[ir.ValueID]bool
	takes  int64
}

// join makes a value again, and what is needed for it in any case.
func (c *closure) join(v ir.ValueID) {
	if c.member[v] {
		return
	}
	c.member[v] = true
	op := c.module.DefiningOp(v)
	from := c.from
	if x := c.reading(v); x != 0 {
		if l := c.life(x); l.spans(c.at) {
			from = min(from, l.next)
		}
	}
	c.values = append(c.values, pick{v, from})
	c.takes += c.site.price(op, c.Fused)
	for _, w := range c.module.Operands(op) {
		if c.member[w] || c.kept[w] || c.module.BlockOf(w) != c.block || isConstant(c.module, w) {
			continue
		}
		x := c.reading(w)
		switch {
		case x != 0 && c.available(x):
		case c.mayJoin(w) && (x == 0 || c.Unheld[w]):
			c.join(w)
		default:
			c.kept[w] = true
			c.order = append(c.order, w)
		}
	}
}

// reading returns what ops read of a value at the place of the closure, 0 where that would have to be made first.
func (c *closure) reading(v ir.ValueID) ir.ValueID { return c.now(v, c.from) }

// available says whether a value is at hand at the place of the closure, or made behind it and could be made there.
func (c *closure) available(x ir.ValueID) bool {
	l := c.life(x)
	return l.permanent || l.last >= c.from
}

// mayJoin says whether a value may be made again, too.
func (c *closure) mayJoin(v ir.ValueID) bool {
	op := c.module.DefiningOp(v)
	return op != 0 && c.canRepeat(op)
}

// largest returns the largest value that is held for the closure and could be made again instead, 0 for none.
func (c *closure) largest() (v ir.ValueID) {
	most := int64(-1)
	for _, w := range c.order {
		if bytes := c.module.ValueType(w).Bytes(); c.kept[w] && c.mayJoin(w) && bytes > most {
			v, most = w, bytes
		}
	}
	return v
}

// price returns what the closure saves and takes.
func (c *closure) price() *picked {
	p := &picked{pick: c.pick, values: slices.Clone(c.values), takes: c.takes}
	for _, x := range c.values {
		if now := c.reading(x.value); now != 0 {
			if l := c.life(now); l.spans(c.at) {
				p.saved += l.bytes
			}
		}
	}
	for _, v := range c.order {
		if !c.kept[v] {
			continue
		}
		p.kept = append(p.kept, v)
		if l := c.life(c.reading(v)); !l.inMemory || l.lastRead < c.at {
			p.saved -= c.module.ValueType(v).Bytes()
		}
	}
	return p
}
