package search

import "slices"

// carried are the messages of a model by pair of nodes of the working model it was compiled from. They start the messages of the next model
// after further reductions: any messages give a valid bound, and those of a similar model give a good one at once.
type carried struct {
	mark int // length of the log of the working model that they belong to
	near [][]int32
	ends map[uint64]*ends // by pairKey; used for look-ups only
}

// ends are the messages of an arc to its first and second node, in order of their numbers.
type ends struct{ a, b []float64 }

// to returns the messages to node i of the pair i, j.
func (e *ends) to(i, j int32) *[]float64 {
	if i < j {
		return &e.a
	}
	return &e.b
}

// Messages are where the dual of a search stood. The zero value is that of none.
type Messages struct {
	off    []int32 // of the problem
	prices []pricedTime
	ends   *carried
	loss   []float64 // per strategy: see losses
	best   []int32   // the solution found
	alike  []int32   // nodes of rough searches that are folded into one have equal numbers
	folded *Messages // of the folded problem
}

// keep takes the messages and prices of a model whose nodes are those of a problem, before log changed them.
func (k *Messages) keep(d *ascent, p *Problem, log []step) {
	k.off, k.prices, k.ends = p.Off, d.pricesByTime(), d.msg.carry(d.m.node, p.NumNodes(), 0)
	k.ends.rewind(log)
	k.loss = d.losses(p, log)
}

// take returns the messages and prices if they are of a problem with as many nodes, of which at most a tenth have other numbers of
// strategies now, but for the messages of those, and forgets them unless they are to be kept.
func (k *Messages) take(p *Problem, keep bool) ([]pricedTime, *carried) {
	known := *k
	if keep {
		known.ends = known.ends.clone()
	} else {
		k.off, k.prices, k.ends = nil, nil, nil
	}
	if known.ends == nil || len(known.off) != len(p.Off) {
		return nil, nil
	}
	var other []int32
	for i := range int32(p.NumNodes()) {
		if int(known.off[i+1]-known.off[i]) != p.NumStrategies(int(i)) {
			other = append(other, i)
		}
	}
	if 10*len(other) > p.NumNodes() {
		return nil, nil
	}
	for _, i := range other {
		for _, j := range known.ends.near[i] {
			delete(known.ends.ends, pairKey(i, j))
		}
	}
	return known.prices, known.ends
}

// clone returns an independent copy.
func (c *carried) clone() *carried {
	if c == nil {
		return nil
	}
	out := &carried{mark: c.mark, near: slices.Clone(c.near), ends: make(map[uint64]*ends, len(c.ends))}
	for key, e := range c.ends {
		out.ends[key] = &ends{slices.Clone(e.a), slices.Clone(e.b)}
	}
	for i, near := range out.near {
		out.near[i] = slices.Clip(near)
	}
	return out
}

// rewind brings the messages back to the values before the log. Those to values that are gone are the largest of the node's.
func (c *carried) rewind(log []step) {
	for _, s := range slices.Backward(log) {
		if s.kind != stepRestrict {
			continue
		}
		for _, j := range c.near[s.node] {
			to := c.ends[pairKey(s.node, j)].to(s.node, j)
			*to = restore(*to, s.back, slices.Max(*to))
		}
	}
}

// carry copies the messages. node maps the nodes of the model to those of the working model they will be used with, which has n nodes and a
// log of length mark.
func (s *messages) carry(node []int32, n, mark int) *carried {
	c := &carried{mark: mark, near: make([][]int32, n), ends: make(map[uint64]*ends, len(s.m.arcs))}
	for i := range s.m.arcs {
		e := &s.m.arcs[i]
		a, b := node[e.a], node[e.b]
		c.near[a], c.near[b] = append(c.near[a], b), append(c.near[b], a)
		c.ends[pairKey(a, b)] = &ends{byValue(s.msg[e.toA:][:e.t.ka], e.pa), byValue(s.msg[e.toB:][:e.t.kb], e.pb)}
	}
	return c
}

// byValue returns a copy of messages with one for every value.
func byValue(msg []float64, class []int32) []float64 {
	if class == nil {
		return slices.Clone(msg)
	}
	return pick(msg, class)
}

// follow brings the messages up to date with the log of the working model.
func (c *carried) follow(log []step) {
	for _, s := range log[c.mark:] {
		switch s.kind {
		case stepRestrict:
			for _, j := range c.near[s.node] {
				if e := c.ends[pairKey(s.node, j)]; e != nil {
					to := e.to(s.node, j)
					*to = pick(*to, s.table)
				}
			}
		case stepMerge:
			c.merge(s)
		case stepEliminate:
			for _, j := range c.near[s.node] {
				delete(c.ends, pairKey(s.node, j))
			}
		}
	}
	c.mark = len(log)
}

// merge gives the messages of the merged node to the node that it follows.
func (c *carried) merge(s step) {
	v, u := s.node, s.left
	for _, j := range c.near[v] {
		old := c.ends[pairKey(v, j)]
		if old == nil {
			continue
		}
		delete(c.ends, pairKey(v, j))
		if j == u {
			continue
		}
		toU, toJ := pick(*old.to(v, j), s.table), *old.to(j, v)
		e := c.ends[pairKey(u, j)]
		if e == nil {
			e = &ends{}
			c.ends[pairKey(u, j)] = e
			c.near[u], c.near[j] = append(c.near[u], j), append(c.near[j], u)
			*e.to(u, j), *e.to(j, u) = toU, slices.Clone(toJ)
			continue
		}
		addClasses(*e.to(u, j), toU, nil)
		addClasses(*e.to(j, u), toJ, nil)
	}
}

// load starts the messages of a model compiled from the working model that c has followed.
func (s *messages) load(c *carried) {
	for i := range s.m.arcs {
		e := &s.m.arcs[i]
		if old := c.ends[pairKey(s.m.node[e.a], s.m.node[e.b])]; old != nil {
			classMin(s.msg[e.toA:][:e.t.ka], old.a, e.pa)
			classMin(s.msg[e.toB:][:e.t.kb], old.b, e.pb)
		}
	}
}
