package space

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/search"
)

// Build returns the selection problem under a memory limit in bytes per device, 0 for none. It fails with ErrTooLarge
// where the problem would need too much memory, ErrSteps where the effort's steps do not suffice, the context's error
// where that ends, and diag.ErrInfeasible where the pins rule out every way to cut an op.
func (s *Space) Build(ctx context.Context, limit int64, effort *Effort) (*search.Problem, error) {
	return s.build(ctx, limit, effort, false, Moments)
}

// Relaxed returns the problem with costs that the program of a solution surely takes: uses that may share a copy pay
// their part of it, what may overlap with a product costs only what goes beyond the product, one branch of several
// counts, and values that may stay out of memory take no time there. Solutions are those of Build, and the memory
// that they need is what counts of it. It fails like Build.
func (s *Space) Relaxed(ctx context.Context, limit int64, effort *Effort, counts Held) (*search.Problem, error) {
	return s.build(ctx, limit, effort, true, counts)
}

// Likely returns the problem with costs that the program of a solution probably takes: those of Relaxed, but uses pay at least half of a
// copy that solutions so far give them no reason to count on others for, reductions are sent with others only where they were in these, and
// a product hides its own part of a gather, or all of it if products are to be alone in their rings. They are nearer to what programs take,
// but no bound. It fails like Build.
func (s *Space) Likely(ctx context.Context, limit int64, effort *Effort, counts Held, alone bool) (*search.Problem, error) {
	s.likely, s.alone = true, alone
	defer func() { s.likely, s.alone = false, false }()
	return s.build(ctx, limit, effort, true, counts)
}

func (s *Space) build(ctx context.Context, limit int64, effort *Effort, relaxed bool, counts Held) (*search.Problem, error) {
	effort.ctx = ctx
	s.effort, s.err = effort, nil
	if s.links == nil {
		if err := s.enumerate(); err != nil {
			s.nodes, s.links = nil, nil
			return nil, err
		}
	}
	if relaxed {
		s.affordRelaxed()
	}
	if s.pairing {
		s.findPairs()
	}
	b := search.NewBuilder()
	s.decisions(b, relaxed, counts)
	s.matrices(b, relaxed)
	s.holds(b, counts)
	if s.pairing {
		s.meetInPairs(b)
	}
	if s.err != nil {
		return nil, s.err
	}
	if limit > 0 {
		b.SetLimit(limit)
	}
	p, err := b.Build()
	if errors.Is(err, diag.ErrTooLarge) { // sums of costs
		return nil, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return p, err
}

// decisions adds the nodes with the prices of their strategies.
func (s *Space) decisions(b *search.Builder, relaxed bool, counts Held) {
	b.Grow(s.count, 0)
	var costs, usages []int64
	live, t := s.lives(relaxed, counts), s.moments()
	for i := range s.nodes {
		if !s.charge(0) {
			return
		}
		n := &s.nodes[i]
		costs, usages = costs[:0], usages[:0]
		for j := range n.class.strategies {
			st := &n.class.strategies[j]
			cost := s.costOf(i, st)
			if relaxed {
				cost = s.leastOf(i, st)
			}
			bytes := st.bytes
			if !relaxed || counts == Moments {
				bytes = s.usage(t, int32(i), int32(j))
			}
			costs, usages = append(costs, cost), append(usages, bytes)
		}
		lo, hi := live(int32(i))
		b.AddNode(costs, usages, lo, hi)
	}
}

// enumerate makes the nodes - inputs, ops, results - and their links.
func (s *Space) enumerate() error {
	m := s.m
	s.groups = s.grouped()
	s.count, s.kinds, s.entries, s.layouts, s.known, s.layoutIDs, s.nodes = 0, 0, 0, nil, nil, nil, make([]node, 0, m.NumOps())
	s.later.waysOf, s.later.ways, s.later.parted = map[string]int32{}, nil, nil
	s.adopted, s.classes, s.lists = map[ir.ShardingID]layoutID{}, newClasses(s.classes.apart), newLists()
	s.nodeOf = slices.Repeat([]int32{-1}, m.NumValues())
	s.slotOf = make([]int32, m.NumValues())
	s.followConstraints()
	main, _ := m.Main()
	f := m.Func(main)
	s.setGoals(f)
	once := share{1, 1}
	for _, arg := range m.BlockArgs(f.Body) {
		s.freeNode(0, arg, 1, once)
	}
	s.collect(f.Body, 1, once)
	s.results(main)
	if s.err != nil {
		return s.err
	}
	for i := range s.nodes {
		if len(s.nodes[i].class.strategies) == 0 {
			return diag.Infeasible(diag.NoPlan, diag.Position{}, "no way to cut %s fits the shardings that are required", m.OpName(s.nodes[i].op))
		}
	}
	s.lifetimes()
	s.connect()
	s.measure()
	s.afford()
	s.price()
	s.delays()
	s.findChains()
	s.company()
	return s.err
}

// setGoals finds what the user wrote for results, and which values cross the boundary of the function.
func (s *Space) setGoals(f *ir.Func) {
	s.goals, s.crosses = map[ir.ValueID]ir.ShardingID{}, make([]bool, s.m.NumValues())
	for _, arg := range s.m.BlockArgs(f.Body) {
		s.crosses[arg] = true
	}
	for i, v := range s.m.Operands(s.m.LastOp(f.Body)) {
		switch {
		case s.tied[i] >= 0:
		case s.outPins[i] != 0:
			s.goals[v] = s.outPins[i]
		default:
			s.crosses[v] = true
		}
	}
}

// results adds a node for every result of the function that is pinned; others keep the layout of their value, and
// tied ones that of their input.
func (s *Space) results(main ir.FuncID) {
	m := s.m
	ret := m.LastOp(m.Func(main).Body)
	for i, pin := range s.outPins {
		v := m.Operand(ret, i)
		if pin == 0 || s.tied[i] >= 0 || !s.isTensor(v) {
			continue
		}
		n := node{result: i, operands: []ir.ValueID{v}, runs: 1, sure: share{1, 1}}
		s.sign(resultForm, &n)
		s.classes.key = binary.AppendVarint(s.classes.key, int64(pin))
		n.class = s.class(&n, func(d *draft) {
			layouts := appendNew(s.tensorLayouts(m.Shape(v), false), s.pinned(pin))
			d.free(slices.DeleteFunc(layouts, func(l collectives.Layout) bool { return !s.allows(pin, &l) }))
		})
		s.add(n)
	}
}

// lifetimes sets the interval in which each node's values take memory: from where it is made to its last use,
// counted in ops of the main function. What is read inside a loop lives to the loop's end.
func (s *Space) lifetimes() {
	m := s.m
	l := ir.NewLiveness(m, m.MainFunc().Body)
	for i := range s.nodes {
		if !s.charge(0) {
			return
		}
		n := &s.nodes[i]
		for j, v := range n.values {
			lo, hi := l.Interval(v)
			if j == 0 {
				n.lo = lo
			}
			n.hi = max(n.hi, hi)
		}
		if n.isInput() && !s.donated(n.values[0]) {
			n.hi = l.Len() + 1
		}
	}
	s.places(l)
}

// places finds the nodes whose values are written over those of others.
func (s *Space) places(l *ir.Liveness) {
	of, _ := l.InPlace(s.donated, s.unheld)
	for i := range s.nodes {
		n := &s.nodes[i]
		if len(n.values) != 1 || n.op == 0 {
			continue
		}
		v := n.values[0]
		into := s.m.Rewritten(n.op, s.m.Index(v))
		n.over = cmp.Or(of[v], into)
		if n.over == 0 || s.unheld[n.over] || s.nodeOf[n.over] < 0 {
			continue
		}
		switch keeper := &s.nodes[s.nodeOf[n.over]]; {
		case of[v] == 0:
			n.residence = copying
		case keeper.lo <= n.lo && n.hi <= keeper.hi:
			n.residence = within
		case into != 0 || s.m.Kind(n.op) == ir.OpOptimizationBarrier:
			n.residence = succeeding
		}
	}
}

// donated says whether the caller gives up an input's buffer.
func (s *Space) donated(arg ir.ValueID) bool {
	return s.m.MainFunc().ArgAttrs[s.m.Index(arg)].Donated()
}
