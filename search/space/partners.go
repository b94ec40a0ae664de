package space

import (
	"math"
	"slices"
)

// Products that read one gather may be one ring (package shardmap/ring), which sends each chunk while all of them are computed: of the
// ring's sending shows what goes beyond what they compute together. No link knows how the other products are cut. So the relaxed problem
// charges each its part of what is sent less what its product hides, also below zero, but gives back no more than the others are charged
// at most, which is where their products are cut finest.
//
// That is no more than what shows of any rings and gathers. Of the links of one ring, if one gives back all that the others are charged at
// most, they are charged nothing together. Else they are charged no more than all that is sent less all that is hidden. The links of
// one gather without a ring are charged no more than their parts of it.

// anything is what products behind a constraint may compute while their operands are sent.
var anything = work{time: math.MaxInt64 / 2}

// partners are the links that can be in one ring.
type partners struct {
	of [][]int32 // per copy: its links of products
	id []int32   // per link: equal for links beside which equal ones are
}

// findPartners finds them.
func (s *Space) findPartners() {
	s.partners = partners{make([][]int32, len(s.links)), make([]int32, len(s.links))}
	of := s.partners.of
	for i := range s.links {
		if l := &s.links[i]; l.mayRing() {
			of[l.copy] = append(of[l.copy], int32(i))
		}
	}
	ids := map[string]int32{"": 0}
	for i := range s.links {
		var key []int32
		for _, j := range of[s.links[i].copy] {
			if x := &s.links[j]; int(j) != i {
				key = append(key, x.cols, x.workList(), s.copies.id[j])
			}
		}
		text := keyOf(key)
		if _, ok := ids[text]; !ok {
			ids[text] = int32(len(ids))
		}
		s.partners.id[i] = ids[text]
	}
}

// mayRing says whether what a link gathers may be part of a ring.
func (l *link) mayRing() bool { return l.product != nil || l.fed }

// workList returns the list of what the strategies of a link's product compute, -1 where that is anything.
func (l *link) workList() int32 {
	if l.product == nil {
		return -1
	}
	return l.product.product
}

// due is what a link pays for a value in a layout that it reads.
type due struct {
	layout layoutID
	copy   int64  // its part of a copy that all uses share, of wholeCopy
	ring   int64  // its part of a ring of its product and others
	others []peer // which those are
}

// peer is another link of a ring: its part, and the least time that its product takes.
type peer struct{ part, time int64 }

// dues returns those of a link for the layouts that it reads.
func (s *Space) dues(i int) []due {
	l := &s.links[i]
	layouts := s.lists.all[l.cols].unique
	out := make([]due, len(layouts))
	for k := range out {
		out[k].layout, out[k].copy = layouts[k], s.copyPart(i, k)
	}
	if !l.mayRing() {
		return out
	}
	for _, j := range s.partners.of[l.copy] {
		if int(j) == i {
			continue
		}
		read, times := s.lists.all[s.links[j].cols].unique, s.leastTimes(&s.links[j])
		for k, layout := range layouts {
			if at, ok := slices.BinarySearch(read, layout); ok {
				out[k].others = append(out[k].others, peer{s.copyPart(int(j), at), times[at]})
			}
		}
	}
	for k := range out {
		out[k].share()
	}
	return out
}

// share divides a ring as those whom it may have divide a copy.
func (d *due) share() {
	all := max(1, d.copy)
	for _, x := range d.others {
		all += x.part
	}
	d.ring = d.copy * wholeCopy / all
	for j := range d.others {
		d.others[j].part = d.others[j].part * wholeCopy / all
	}
}

// copyPart returns the part of a copy that a link pays, in a layout of those that it reads.
func (s *Space) copyPart(i, layout int) int64 {
	parts := s.copies.parts[i]
	switch {
	case parts == nil:
		return wholeCopy
	case s.likely && parts[layout] <= wholeCopy/s.links[i].uses:
		return max(parts[layout], wholeCopy/2)
	}
	return parts[layout]
}

// leastTimes returns the least that the product of a link computes, for each layout in which it reads.
func (s *Space) leastTimes(l *link) []int64 {
	read := &s.lists.all[l.cols]
	out := slices.Repeat([]int64{anything.time}, len(read.unique))
	if l.product == nil {
		return out
	}
	for strategy, w := range s.lists.work[l.product.product] {
		at := read.at[strategy]
		out[at] = min(out[at], w.time)
	}
	return out
}

// least returns what a program surely takes for a reshard that a link needs while a product works: its part of a copy that all uses share
// or, at the end of that, of a ring.
func (s *Space) least(l *link, p *price, d *due, w work) int64 {
	whole := max(0, p.least-p.gathered+portion(p.gathered, s.gatherPart(l, gatherOf{d.layout, p.meets})))
	gather, shape := int64(0), s.m.TypeOf(l.typ).Dims
	if l.mayRing() && p.last > 0 && s.overlaps.all[p.last-1].allows(shape) {
		gather = min(whole, s.overlaps.all[p.last-1].Price)
	}
	least := portion(whole-gather, d.copy)
	if gather > 0 {
		least += min(portion(gather, d.copy), s.inRing(l, &s.overlaps.all[p.last-1], d, w))
	}
	return l.sure.of(least)
}

// inRing returns what a link is charged for a ring that its product is part of.
func (s *Space) inRing(l *link, o *overlap, d *due, w work) int64 {
	if l.contracted>>o.dim&1 == 0 {
		w.adding = 0
	}
	hides, longer := o.Beside(w.time, w.adding)
	if s.likely {
		part := d.copy
		if s.alone {
			part = wholeCopy
		}
		return longer + portion(o.Starts, part) + max(0, portion(o.Hidden, part)-hides)
	}
	others := int64(0)
	for _, x := range d.others {
		hidden, _ := o.Beside(x.time, 0)
		others += max(0, portion(o.Hidden, x.part)-hidden)
	}
	return max(-others, longer+portion(o.Starts, d.ring)+max(-others, portion(o.Hidden, d.ring)-hides))
}
