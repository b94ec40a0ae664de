package space

import (
	"maps"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// draft is a class that is being made for the first of its nodes. Strategies get their prices once the problem is known not to be too
// large.
type draft struct {
	*Space
	node           node
	class          *class
	base           *draft // whose strategies come first, nil for none
	count          int    // of strategies
	cuts           []cut
	of             []int32      // per strategy its cut; none of a value that is only kept
	operands, kept [][]layoutID // by port and strategy
	seen           map[string]bool
	key            []byte
}

// cut is a way to cut an op: the layouts in which it reads its operands and makes its results.
type cut struct {
	factors        collectives.Factors
	operands, made []layoutID
}

func (s *Space) draft(n *node) *draft {
	return &draft{Space: s, node: *n, seen: map[string]bool{}, operands: make([][]layoutID, len(n.operands)),
		kept: make([][]layoutID, max(1, len(n.values)))}
}

// extend returns a draft for another node that begins with the strategies of d.
func (d *draft) extend(n *node) *draft {
	c := *d
	c.node, c.base, c.seen, c.key, c.of, c.cuts = *n, d, maps.Clone(d.seen), nil, slices.Clip(d.of), slices.Clip(d.cuts)
	c.operands, c.kept = slices.Clone(d.operands), slices.Clone(d.kept)
	for _, ports := range [][][]layoutID{c.operands, c.kept} {
		for i := range ports {
			ports[i] = slices.Clip(ports[i])
		}
	}
	return &c
}

// end makes the class, which has no prices yet.
func (d *draft) end() *class {
	d.class = &class{strategies: make([]strategy, d.count), product: -1}
	d.kinds += d.count
	for x, i := range d.of {
		d.class.strategies[x].factors = d.cuts[i].factors
	}
	for _, ids := range d.operands {
		d.class.operands = append(d.class.operands, d.lists.intern(ids))
	}
	for _, ids := range d.kept {
		d.class.kept = append(d.class.kept, d.lists.intern(ids))
	}
	d.classes.drafts = append(d.classes.drafts, d)
	return d.class
}

// free adds strategies that keep the value in each of some layouts at no cost, and read all operands in the same one.
func (d *draft) free(layouts []collectives.Layout) {
	if !d.bounded(len(layouts)*len(layouts), maxEntries, smallEntries) { // what reads the value does so in about as many
		return
	}
	d.count += len(layouts)
	for _, l := range layouts {
		id := d.intern(l)
		for j := range d.operands {
			d.operands[j] = append(d.operands[j], id)
		}
		d.kept[0] = append(d.kept[0], id)
	}
}

// ruled adds every way to cut an op by its rule, times every way to keep its results.
func (d *draft) ruled(r *ir.Rule, parts []int64, reduction ir.Reduction) {
	var uncut []bool
	if len(r.Results) == 1 {
		uncut = d.uncut(d.node.values[0], r, parts)
	}
	d.factorings(r, parts, rule.Paddable(d.m, d.node.op, r), func(factors collectives.Factors) {
		if results, ok := d.cut(r, reduction, factors); ok {
			for _, kept := range d.keeps(d.node.values, results, uncut) {
				d.once(kept)
			}
		}
	})
}

// cut adds a way to cut an op, and returns the layouts in which it makes its results. There may be none.
func (d *draft) cut(r *ir.Rule, reduction ir.Reduction, factors collectives.Factors) (results []collectives.Layout, ok bool) {
	operands, results, ok := collectives.Project(r, factors, reduction)
	ok = ok && rule.Near(d.m, d.node.op, r, func(f int32) []subaxis.Ref { return factors[f] })
	if ok {
		d.cuts = append(d.cuts, cut{factors, d.internAll(operands), d.internAll(results)})
	}
	return results, ok
}

// once adds a strategy of the last cut if it respects the pins and is not there yet.
func (d *draft) once(kept []collectives.Layout) {
	if !d.respects(d.node.values, kept) {
		return
	}
	d.key = d.key[:0]
	c, ids := &d.cuts[len(d.cuts)-1], d.internAll(kept)
	for _, list := range [][]layoutID{c.operands, c.made, ids} {
		for _, id := range list {
			d.key = append(d.key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
		}
	}
	if !d.seen[string(d.key)] {
		d.seen[string(d.key)] = true
		d.add(ids)
	}
}

// add adds the strategy that cuts an op in the last way and sends its results to where they are kept.
func (d *draft) add(kept []layoutID) {
	if !d.charge(layoutWork) || !d.bounded(d.Space.count+d.count, maxStrategiesInAll, smallStrategies) ||
		!d.need(classBytes*int64(d.kinds+d.count)) {
		return
	}
	last := len(d.cuts) - 1
	d.count++
	d.of = append(d.of, int32(last))
	for j, id := range d.cuts[last].operands {
		d.operands[j] = append(d.operands[j], id)
	}
	for j, id := range kept {
		d.kept[j] = append(d.kept[j], id)
	}
}

func (s *Space) internAll(layouts []collectives.Layout) []layoutID {
	out := make([]layoutID, len(layouts))
	for i := range layouts {
		out[i] = s.intern(layouts[i])
	}
	return out
}
