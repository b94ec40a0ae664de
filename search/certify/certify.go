package certify

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
)

// Result is what a certificate proves. Every solution costs at least Bound. If HasCost is set the attached solution is valid and costs
// Cost.
type Result struct {
	Bound   int64
	Cost    int64
	HasCost bool
}

// certificate is the format of docs/certificate.md.
type certificate struct {
	Format   string  `json:"format"`
	SHA256   string  `json:"sha256"`
	Upper    *int64  `json:"upper"`
	Solution []int   `json:"solution"`
	Blocks   []block `json:"blocks"`
	Claim    string  `json:"claim"`
	proof
}

// proof is a list of steps and, if it goes on by cases, a tree.
type proof struct {
	Log  [][]any `json:"log"`
	Tree *tree   `json:"tree"`
}

// tree splits the strategies of a node into cases with a proof each.
type tree struct {
	Node  int     `json:"node"`
	Split [][]int `json:"split"`
	Child []proof `json:"child"`
}

const maxBytes = 1 << 30 // of an unpacked certificate

// Verify replays a certificate, plain or compressed by gzip, on a problem, the uncompressed JSON of the contest, with integers only. It
// fails with diag.ErrInvalid if anything does not fit: the problem's hash, a step's condition, the solution, or a claim above the result.
func Verify(problem, certified []byte) (Result, error) {
	if gz, err := gzip.NewReader(bytes.NewReader(certified)); err == nil {
		if certified, err = io.ReadAll(io.LimitReader(gz, maxBytes)); err != nil {
			return Result{}, invalid("certificate: gzip: %v", err)
		}
	}
	c := &certificate{}
	d := json.NewDecoder(bytes.NewReader(certified))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(c); err != nil || d.More() {
		return Result{}, invalid("certificate: not JSON of the format: %v", err)
	}
	if sum := sha256.Sum256(problem); c.Format != "autoshard-bound-1" || c.SHA256 != hex.EncodeToString(sum[:]) {
		return Result{}, invalid("certificate: of format %q for a problem with hash %q", c.Format, c.SHA256)
	}
	p, err := readProblem(problem)
	if err != nil {
		return Result{}, err
	}
	m, r := newModel(p), Result{}
	if r.HasCost = c.Upper != nil; r.HasCost {
		if r.Cost = m.cost(c.Solution); r.Cost != *c.Upper {
			return Result{}, invalid("certificate: the solution does not have cost %d within the limit", *c.Upper)
		}
	}
	if r.Bound, err = m.prove(c, &c.proof, -hard); err != nil {
		return Result{}, err
	}
	if r.Bound = min(r.Bound, p.floor); m.capped {
		r.Bound = min(r.Bound, r.Cost)
	}
	if claim, err := strconv.ParseInt(c.Claim, 10, 64); err != nil || claim > r.Bound || m.over {
		return Result{}, invalid("certificate: claims %q, proves %d", c.Claim, r.Bound)
	}
	return r, nil
}

// cost returns the cost of a choice for all nodes of the untouched model, or hard if it is no solution.
func (m *model) cost(x []int) int64 {
	if len(x) != len(m.live) {
		return hard
	}
	total, use := m.constant, make([]int64, len(m.times)+1)
	for i, a := range x {
		if !slices.Contains(m.live[i], a) {
			return hard
		}
		for _, it := range m.usage[i] {
			use[it.s] += it.use[a]
			use[it.e] -= it.use[a]
		}
	}
	for t := range m.times {
		if m.limit != nil && use[t] > *m.limit {
			return hard
		}
		use[t+1] += use[t]
	}
	for i := range x {
		for _, t := range m.in[i] {
			if t.of[0] == i {
				total = m.plus(total, t.cost(x))
			}
		}
	}
	return total
}

// prove returns a lower bound on the solutions of the model, hard if there are none.
func (m *model) prove(c *certificate, p *proof, bound int64) (int64, error) {
	for s, step := range p.Log {
		if m.lost || m.over {
			break
		}
		kind, n, ok := m.parse(step, len(c.Blocks))
		if !ok || !m.apply(kind, n, c) {
			return 0, invalid("certificate: step %d, %q: the numbers or the condition are wrong", s, step)
		}
		if kind == "b" {
			bound = max(bound, m.last.bound())
		}
	}
	if m.lost {
		return hard, nil
	}
	if p.Tree == nil || m.over {
		return bound, nil
	}
	i, least := p.Tree.Node, int64(hard)
	if i < 0 || i >= len(m.live) || len(p.Tree.Child) != len(p.Tree.Split) {
		return 0, invalid("certificate: the tree at node %d is malformed", i)
	}
	for _, a := range m.live[i] {
		if !slices.ContainsFunc(p.Tree.Split, func(part []int) bool { return slices.Contains(part, a) }) {
			return 0, invalid("certificate: no case has strategy %d of node %d", a, i)
		}
	}
	for x, part := range p.Tree.Split {
		sub := m
		if x < len(p.Tree.Split)-1 {
			sub = m.clone()
		}
		sub.build([]int{i}, func() int64 { return forbidUnless(slices.Contains(part, m.x[i])) })
		b, err := sub.prove(c, &p.Tree.Child[x], bound)
		if err != nil {
			return 0, err
		}
		least = min(least, b)
	}
	return max(bound, least), nil
}
