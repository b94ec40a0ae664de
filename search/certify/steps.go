package certify

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// roles names the numbers of every kind of step: n is a node, a a live strategy of the node before, t a time, b a block, c a cost.
var roles = map[string]string{"d row": "nan", "d mem": "nat", "d dom": "naa", "h": "nanat", "m": "nn", "s": "nn", "e": "n", "p": "tt",
	"f": "t",
	"r": "", "b": "b", "c": "c"}

// parse returns kind and numbers of a step such as ["d", 1, 2, "row", 3], times as segments; false if one is not what it should be.
func (m *model) parse(step []any, blocks int) (kind string, n []int, ok bool) {
	for _, part := range step {
		switch part := part.(type) {
		case string:
			kind += " " + part
		case json.Number:
			v, err := part.Int64()
			if err != nil {
				return kind, nil, false
			}
			n = append(n, int(v))
		}
	}
	kind = strings.TrimPrefix(kind, " ")
	want, ok := roles[kind]
	ok = ok && len(want) == len(n)
	for x, node := 0, 0; ok && x < len(n); x++ {
		switch want[x] {
		case 'n':
			node, ok = n[x], n[x] >= 0 && n[x] < len(m.live)
		case 'a':
			ok = slices.Contains(m.live[node], n[x])
		case 't':
			n[x], ok = m.segment(n[x])
		case 'b':
			ok = n[x] >= 0 && n[x] < blocks
		}
	}
	return kind, n, ok
}

func (m *model) segment(t int) (int, bool) {
	s, found := slices.BinarySearch(m.times, int64(t))
	if !found {
		s--
	}
	return s, s >= 0 && s < len(m.times)-1
}

// apply takes a step, and reports whether its condition holds.
func (m *model) apply(kind string, n []int, c *certificate) (holds bool) {
	choice := map[int]int{} // what the step forbids
	switch kind {
	case "h":
		choice[n[2]] = n[3]
		fallthrough
	case "d row", "d mem", "d dom":
		choice[n[0]] = n[1]
	}
	switch kind {
	case "d row":
		holds = m.excluded(n[0], n[1], n[2])
	case "d dom":
		holds = n[1] != n[2] && m.lighter(n[0], n[2], n[1]) && m.cheaper(n[0], n[2], n[1])
	case "c":
		if holds = m.last != nil && c.Upper != nil && int64(n[0]) >= *c.Upper; holds {
			m.capped = true
			m.fix(int64(n[0]))
		}
	case "d mem", "h":
		holds = m.full(n[len(n)-1], choice)
	case "m":
		holds = m.merge(n[0], n[1])
	case "s":
		holds = m.separate(n[0], n[1])
	case "e":
		holds = m.eliminate(n[0])
	case "r": // from here on only the costs count
		m.usage, holds = make([][]item, len(m.live)), true
	case "p":
		holds = !m.free[n[1]] && m.implied(n[0], n[1])
	case "f":
		holds = m.full(n[0], nil)
		m.lost = holds
	case "b":
		m.last = m.evaluate(&c.Blocks[n[0]])
		return m.last != nil
	}
	m.last = nil
	if holds && len(choice) > 0 {
		m.build(slices.Collect(maps.Keys(choice)), func() int64 {
			for i, a := range choice {
				if m.x[i] != a {
					return 0
				}
			}
			return hard
		})
	}
	return holds
}

// excluded reports whether strategy a of node i forbids all those of node j.
func (m *model) excluded(i, a, j int) bool {
	t := m.table(i, j)
	holds := t != nil && i != j
	for _, b := range m.live[j] {
		m.x[i], m.x[j] = a, b
		holds = holds && t.cost(m.x) == hard
	}
	return holds
}

// cheaper reports whether node i costs at most as much with strategy a as with b, whatever its neighbours do.
func (m *model) cheaper(i, a, b int) bool {
	sum := int64(0)
	for _, t := range m.in[i] {
		worst := int64(-largest)
		m.each(slices.DeleteFunc(slices.Clone(t.of), func(j int) bool { return i == j }), func() {
			m.x[i] = b
			if old := t.cost(m.x); old < hard {
				m.x[i] = a
				worst = max(worst, m.plus(t.cost(m.x), -old))
			}
		})
		if worst == -largest {
			return true // b is impossible
		}
		sum = m.plus(sum, worst)
	}
	return sum <= 0
}

// merge replaces node v by the only strategy that each strategy of u leaves to it.
func (m *model) merge(u, v int) bool {
	t, f := m.table(u, v), make([]int, len(m.at[u]))
	if t == nil || u == v {
		return false
	}
	for _, a := range m.live[u] {
		allowed := 0
		m.each([]int{v}, func() {
			if m.x[u] = a; t.cost(m.x) < hard {
				f[a] = m.x[v]
				allowed++
			}
		})
		if allowed != 1 {
			return false
		}
	}
	for _, t := range m.in[v] {
		m.cut(t)
		nodes := slices.DeleteFunc(append([]int{u}, t.of...), func(i int) bool { return i == v })
		m.build(nodes, func() int64 {
			m.x[v] = f[m.x[u]]
			return t.cost(m.x)
		})
	}
	for _, it := range m.usage[v] {
		use := make([]int64, len(f))
		for a, b := range f {
			use[a] = it.use[b]
		}
		m.usage[u] = append(slices.Clip(m.usage[u]), item{it.s, it.e, use})
	}
	m.usage[v] = nil
	return true
}

// separate moves a table that is the sum of a cost of i and one of j to these.
func (m *model) separate(i, j int) bool {
	t := m.table(i, j)
	if t == nil || i == j {
		return false
	}
	at := func(a, b int) int64 {
		m.x[i], m.x[j] = a, b
		return t.cost(m.x)
	}
	a0, b0 := m.live[i][0], m.live[j][0]
	row := func(a int) int64 { return m.plus(at(a, b0), -at(a0, b0)) }
	for _, a := range m.live[i] {
		for _, b := range m.live[j] {
			if at(a, b) == hard || at(a, b) != row(a)+at(a0, b) {
				return false
			}
		}
	}
	m.cut(t)
	m.build([]int{i}, func() int64 { return row(m.x[i]) })
	m.build([]int{j}, func() int64 { return at(a0, m.x[j]) })
	return true
}

// eliminate minimises over node i, whose usage must not matter, for every choice of its neighbours.
func (m *model) eliminate(i int) bool {
	for _, a := range m.live[i] {
		if !m.lighter(i, a, m.live[i][0]) || !m.lighter(i, m.live[i][0], a) {
			return false
		}
	}
	tables, nodes := m.in[i], []int(nil)
	for _, t := range tables {
		m.cut(t)
		nodes = append(nodes, t.of...)
	}
	m.build(slices.DeleteFunc(nodes, func(j int) bool { return i == j }), func() int64 {
		least := int64(hard)
		m.each([]int{i}, func() {
			sum := int64(0)
			for _, t := range tables {
				sum = m.plus(sum, t.cost(m.x))
			}
			least = min(least, sum)
		})
		return least
	})
	return true
}
