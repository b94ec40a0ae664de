package certify

import "slices"

const (
	maxWork = 1 << 34 // table entries looked at
	maxSize = 1 << 27 // table entries held at a time
)

// model is what the steps of a certificate work on, at first the problem itself. Strategies keep their numbers; live are those left.
type model struct {
	*problem
	live     [][]int
	at       [][]int // position in live by strategy
	usage    [][]item
	in       [][]*table // the tables of every node
	constant int64
	free     []bool // segments known to be within the limit whatever is chosen
	entries  int    // of all tables
	lost     bool   // there is no solution
	last     *value // of the block just evaluated, nil after other steps
	*scratch
}

// scratch is what copies of a model share.
type scratch struct {
	x      []int // a strategy by node, see each
	work   int
	over   bool // a number left its range: nothing that follows counts
	capped bool // strategies were deleted by cost
}

// item is the usage by strategy in the segments from s up to e.
type item struct {
	s, e int
	use  []int64
}

// table has a cost for every choice of live strategies of some nodes, the last of them being the fastest index.
type table struct {
	of []int   // ascending
	at [][]int // position by strategy, for every node
	k  []int   // number of positions
	v  []int64
}

func (t *table) cost(x []int) int64 {
	at := 0
	for j, i := range t.of {
		at = at*t.k[j] + t.at[j][x[i]]
	}
	return t.v[at]
}

// table returns the table of some nodes, nil if there is none.
func (m *model) table(nodes ...int) *table {
	nodes = slices.Compact(slices.Sorted(slices.Values(nodes)))
	fewest := slices.MinFunc(nodes, func(i, j int) int { return len(m.in[i]) - len(m.in[j]) })
	for _, t := range m.in[fewest] {
		if slices.Equal(t.of, nodes) {
			return t
		}
	}
	return nil
}

// plus adds costs; what is forbidden stays so.
func (m *model) plus(a, b int64) int64 {
	if a == hard || b == hard {
		return hard
	}
	m.over = m.over || a+b <= -largest || a+b >= largest
	return a + b
}

// forbidUnless is the cost that enforces a condition.
func forbidUnless(ok bool) int64 {
	if ok {
		return 0
	}
	return hard
}

// each calls do for all choices of live strategies of some nodes, with the choice in m.x. do may change m.x for other nodes.
func (m *model) each(nodes []int, do func()) {
	if m.work++; len(nodes) == 0 {
		do()
		return
	}
	for _, a := range m.live[nodes[0]] {
		if m.over = m.over || m.work > maxWork; m.over {
			return
		}
		m.x[nodes[0]] = a
		m.each(nodes[1:], do)
	}
}

// build adds a cost to every choice, in m.x, of strategies of some nodes. Tables are never written to: copies of the model share them.
func (m *model) build(nodes []int, cost func() int64) {
	t, size := &table{of: slices.Compact(slices.Sorted(slices.Values(nodes)))}, 1
	for _, i := range t.of {
		t.at, t.k, size = append(t.at, m.at[i]), append(t.k, len(m.live[i])), size*len(m.live[i])
		if m.over = m.over || size > maxSize-m.entries; m.over {
			return
		}
	}
	if len(t.of) == 0 {
		m.constant = m.plus(m.constant, cost())
		m.lost = m.lost || m.constant == hard
		return
	}
	old := m.table(t.of...)
	t.v = make([]int64, 0, size)
	m.each(t.of, func() {
		c := int64(0)
		if old != nil {
			c = old.cost(m.x)
		}
		t.v = append(t.v, m.plus(c, cost()))
	})
	if m.over {
		return
	}
	m.cut(old)
	m.entries += size
	for _, i := range t.of {
		m.in[i] = append(slices.Clip(m.in[i]), t)
	}
	if i := t.of[0]; len(t.of) == 1 && slices.Contains(t.v, hard) {
		m.setLive(i, slices.DeleteFunc(slices.Clone(m.live[i]), func(a int) bool { return t.v[t.at[0][a]] == hard }))
	}
}

func (m *model) setLive(i int, live []int) {
	m.live[i], m.at[i], m.lost = live, make([]int, len(m.at[i])), m.lost || len(live) == 0
	for p, a := range live {
		m.at[i][a] = p
	}
}

func (m *model) cut(t *table) {
	if t != nil {
		for _, i := range t.of {
			m.in[i] = slices.DeleteFunc(slices.Clone(m.in[i]), func(u *table) bool { return u == t })
		}
		m.entries -= len(t.v)
	}
}

// add adds a node with its costs.
func (m *model) add(costs []int64) {
	i, live := len(m.live), make([]int, len(costs))
	for a := range live {
		live[a] = a
	}
	m.live, m.at, m.usage = append(m.live, nil), append(m.at, live), append(m.usage, nil)
	m.in, m.x = append(m.in, nil), append(m.x, 0)
	m.setLive(i, live)
	m.build([]int{i}, func() int64 { return normal(costs[m.x[i]]) })
}

func normal(c int64) int64 {
	if c >= forbidden {
		return hard
	}
	return c
}

// newModel makes an auxiliary node of every edge of three or more nodes: its strategies are the combinations, and further edges tie them.
func newModel(p *problem) *model {
	m := &model{problem: p, free: make([]bool, len(p.times)), scratch: &scratch{}}
	for i, costs := range p.costs {
		s, _ := slices.BinarySearch(p.times, p.intervals[i][0])
		e, _ := slices.BinarySearch(p.times, p.intervals[i][1])
		if m.add(costs); s < e && p.limit != nil {
			m.usage[i] = []item{{s, e, p.usages[i]}}
		}
	}
	for e, ends := range p.ends {
		costs, aux, stride := p.tables[e], len(m.live), len(p.tables[e])
		if len(ends) > 2 {
			m.add(costs)
		}
		var nodes, strides []int
		for _, end := range ends {
			i, k := int(end), len(p.costs[end])
			stride /= k
			nodes, strides = append(nodes, i), append(strides, stride)
			if len(ends) > 2 {
				m.build([]int{i, aux}, func() int64 { return forbidUnless(m.x[aux]/stride%k == m.x[i]) })
			}
		}
		if len(ends) <= 2 {
			m.build(nodes, func() int64 {
				at := 0
				for j, i := range nodes {
					at += strides[j] * m.x[i]
				}
				return normal(costs[at])
			})
		}
	}
	return m
}

// use returns what node i uses in segment t by strategy, and the least and the most of it over the live ones.
func (m *model) use(i, t int) (sum []int64, least, most int64) {
	m.work += len(m.usage[i])
	for _, it := range m.usage[i] {
		if it.s <= t && t < it.e {
			if sum == nil {
				sum = make([]int64, len(it.use))
			}
			for _, a := range m.live[i] {
				sum[a] += it.use[a]
			}
		}
	}
	if sum == nil {
		return nil, 0, 0
	}
	least = hard
	for _, a := range m.live[i] {
		least, most = min(least, sum[a]), max(most, sum[a])
	}
	return sum, least, most
}

// full reports whether, in segment t, a choice for some nodes exceeds the limit when all others use their least.
func (m *model) full(t int, choice map[int]int) bool {
	total := int64(0)
	for i := range m.live {
		use, least, _ := m.use(i, t)
		if a, found := choice[i]; found && use != nil {
			least = use[a]
		}
		total += least
	}
	return m.limit != nil && total > *m.limit
}

// loose reports whether all nodes are within the limit in segment t even with their most usage. What is within it stays so.
func (m *model) loose(t int) bool {
	if m.free[t] || m.limit == nil {
		return true
	}
	change := make([]int64, len(m.times)+1) // of the most that all nodes use
	for i, items := range m.usage {
		var ends []int
		for _, it := range items {
			ends = append(ends, it.s, it.e)
		}
		slices.Sort(ends)
		for x := 1; x < len(ends); x++ {
			_, _, most := m.use(i, ends[x-1])
			change[ends[x-1]] += most
			change[ends[x]] -= most
		}
	}
	m.free = slices.Clone(m.free)
	most := int64(0)
	for s := range m.times {
		most += change[s]
		m.free[s] = m.free[s] || most <= *m.limit
	}
	return m.free[t]
}

// implied reports whether no choice uses more in segment t than in segment k, and then relies on the limit in k alone.
func (m *model) implied(t, k int) bool {
	total := int64(0)
	for i, items := range m.usage {
		var more []int64
		m.work += len(items)
		for _, it := range items {
			now, then := it.s <= t && t < it.e, it.s <= k && k < it.e
			if now != then && more == nil {
				more = make([]int64, len(it.use))
			}
			for p := 0; p < len(m.live[i]) && now != then; p++ {
				if a := m.live[i][p]; now {
					more[a] += it.use[a]
				} else {
					more[a] -= it.use[a]
				}
			}
		}
		if more != nil {
			most := int64(-hard)
			for _, a := range m.live[i] {
				most = max(most, more[a])
			}
			total += most
		}
	}
	m.free = slices.Clone(m.free)
	m.free[t] = m.free[t] || total <= 0 && t != k
	return m.free[t]
}

// lighter reports whether node i never uses more with strategy a than with b, but where the limit cannot be exceeded.
func (m *model) lighter(i, a, b int) bool {
	more := make([]int64, len(m.times)+1)
	for _, it := range m.usage[i] {
		more[it.s] += it.use[a] - it.use[b]
		more[it.e] -= it.use[a] - it.use[b]
	}
	m.work += len(more)
	for t := range m.times {
		if more[t] > 0 && !m.loose(t) {
			return false
		}
		more[t+1] += more[t]
	}
	return true
}

// clone returns an independent copy: what the slices of a model hold is replaced, never written to.
func (m *model) clone() *model {
	c := *m
	c.live, c.at, c.usage, c.in = slices.Clone(m.live), slices.Clone(m.at), slices.Clone(m.usage), slices.Clone(m.in)
	m.work += len(m.live)
	return &c
}
