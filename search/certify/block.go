package certify

import (
	"encoding/json"
	"math/big"
	"slices"
)

// block is a bound in the unit 2^-q: prices by time and, for pairs of nodes, what their table gives to the costs of each of the two.
type block struct {
	Q      uint                 `json:"q"`
	Lambda [][2]int64           `json:"lambda"`
	Mu     [][4]json.RawMessage `json:"mu"` // two nodes and, for each of them, a number for every live strategy
}

// value is an evaluated block: every solution costs at least total.
type value struct {
	q     uint
	total *big.Int
	rest  [][]int64                  // what a node loses above its least by a strategy, by node and position
	given map[*table]map[int][]int64 // messages by table and node
}

// bound returns total in units of cost, rounded up, between -largest and largest.
func (v *value) bound() int64 {
	sum := new(big.Int).Neg(v.total)
	if sum.Neg(sum.Rsh(sum, v.q)); sum.CmpAbs(big.NewInt(largest)) > 0 { // shifting rounds down
		return largest * int64(sum.Sign())
	}
	return sum.Int64()
}

func addProduct(to *big.Int, a, b int64) {
	if a != 0 && b != 0 {
		to.Add(to, new(big.Int).Mul(big.NewInt(a), big.NewInt(b)))
	}
}

// evaluate returns the value of a block, nil if a number of the block is out of range.
func (m *model) evaluate(b *block) *value {
	v := &value{q: b.Q, total: new(big.Int), given: map[*table]map[int][]int64{}}
	price := m.prices(b, v.total)
	if b.Q > 30 || price == nil || !m.give(b, v) {
		return nil
	}
	addProduct(v.total, m.constant, 1<<b.Q)
	for i, live := range m.live {
		sums, rest := make([]*big.Int, len(live)), make([]int64, len(live))
		for p, a := range live {
			sums[p] = new(big.Int)
			for _, it := range m.usage[i] {
				addProduct(sums[p], it.use[a], price[it.e]-price[it.s])
			}
		}
		for _, t := range m.in[i] {
			for p, g := range v.given[t][i] {
				addProduct(sums[p], g, 1)
			}
			for p, a := range live {
				if len(t.of) == 1 {
					addProduct(sums[p], t.v[t.at[0][a]], 1<<b.Q)
				}
			}
			if len(t.of) > 1 && t.of[0] == i {
				_, least := m.reduced(t, v)
				addProduct(v.total, least, 1)
			}
		}
		least := slices.MinFunc(sums, (*big.Int).Cmp)
		v.total.Add(v.total, least)
		for p, sum := range sums {
			if rest[p] = largest; sum.Cmp(new(big.Int).Add(least, big.NewInt(largest))) < 0 {
				rest[p] = new(big.Int).Sub(sum, least).Int64()
			}
		}
		v.rest = append(v.rest, rest)
	}
	return v
}

// prices returns the sums of the prices before every segment, and takes the price of the limit off the total; nil if one is out of range.
func (m *model) prices(b *block, total *big.Int) []int64 {
	price, all := make([]int64, len(m.times)+1), int64(0)
	for _, l := range b.Lambda {
		s, ok := m.segment(int(l[0]))
		if !ok || l[1] < 0 || l[1] > largest-all || m.limit == nil {
			return nil
		}
		price[s+1] += l[1]
		all += l[1]
		addProduct(total, -l[1], *m.limit)
	}
	for t := range m.times {
		price[t+1] += price[t]
	}
	return price
}

// give reads the messages.
func (m *model) give(b *block, v *value) bool {
	for _, parts := range b.Mu {
		var i, j int
		var toI, toJ []int64
		for x, to := range []any{&i, &j, &toI, &toJ} {
			if json.Unmarshal(parts[x], to) != nil {
				return false
			}
		}
		if i < 0 || i >= j || j >= len(m.live) || len(toI) != len(m.live[i]) || len(toJ) != len(m.live[j]) {
			return false
		}
		t := m.table(i, j)
		if t == nil || v.given[t] != nil || slices.ContainsFunc(slices.Concat(toI, toJ),
			func(c int64) bool { return c <= -largest || c >= largest }) {
			return false
		}
		v.given[t] = map[int][]int64{i: toI, j: toJ}
	}
	return true
}

// reduced returns what a table has left after its messages, in the order of each, and the least of that.
func (m *model) reduced(t *table, v *value) (left []int64, least int64) {
	given := v.given[t]
	least = hard
	m.each(t.of, func() {
		c := t.cost(m.x)
		if c < hard {
			m.over = m.over || max(c, -c) > largest>>v.q
			c <<= v.q
			for i, g := range given {
				c -= g[m.at[i][m.x[i]]]
			}
			least = min(least, c)
		}
		left = append(left, c)
	})
	m.lost = m.lost || least == hard
	return left, least
}

// fix deletes the strategies and forbids the pairs of them that, by the block just evaluated, cost more than a solution of a given cost.
func (m *model) fix(cost int64) {
	v, loss := m.last, make([][]int64, len(m.live))
	gap := new(big.Int).Lsh(big.NewInt(cost), v.q)
	if gap.Sub(gap, v.total); gap.CmpAbs(big.NewInt(largest)) >= 0 {
		m.over = true
		return
	}
	for i := range m.live {
		loss[i] = slices.Clone(v.rest[i])
	}
	for i := range m.live {
		for _, t := range m.in[i] {
			if len(t.of) == 2 && t.of[0] == i {
				m.fixPairs(t, loss, gap.Int64())
			}
		}
	}
	for i := range m.live {
		m.build([]int{i}, func() int64 { return forbidUnless(loss[i][m.at[i][m.x[i]]] <= gap.Int64()) })
	}
}

// fixPairs forbids pairs of strategies, and adds to loss what each of them loses by the best partner.
func (m *model) fixPairs(t *table, loss [][]int64, gap int64) {
	left, least := m.reduced(t, m.last)
	low, next := [2][]int64{}, 0
	for x, i := range t.of {
		low[x] = slices.Repeat([]int64{largest}, len(m.live[i]))
	}
	m.build(t.of, func() int64 {
		c := left[next]
		if next++; c == hard {
			return 0
		}
		i, j := t.of[0], t.of[1]
		p, q := m.at[i][m.x[i]], m.at[j][m.x[j]]
		c, a, b := min(c-least, largest), m.last.rest[i][p], m.last.rest[j][q]
		low[0][p], low[1][q] = min(low[0][p], c+b), min(low[1][q], c+a)
		return forbidUnless(c+a+b <= gap)
	})
	for x, i := range t.of {
		for p, c := range low[x] {
			loss[i][p] = min(loss[i][p]+c, largest)
		}
	}
}
