package collectives

import (
	"context"
	"slices"

	"autoshard/internal/parallel"
)

// Ask is for the ways from each of some layouts of a tensor to each of others, as [Planner.Way] takes them.
type Ask struct {
	Tensor   *Tensor
	From, To []LayoutID
}

// Each calls visit with the cheapest way for every pair of layouts of some asks, as [Planner.Way] returns it. It works on all cores: calls
// for asks of one tensor come one after the other, those for different tensors at the same time. The only error is the context's.
func (p *Planner) Each(ctx context.Context, asks []Ask, visit func(ask, from, to int, w *Way)) error {
	groups, err := p.byTensor(ctx, asks, visit)
	if err != nil {
		return err
	}
	inParallel(groups, func(v *visitor) {
		v.aim(ctx)
		v.shared(ctx)
	})
	for _, group := range groups {
		for _, v := range group {
			v.alone(ctx, p)
		}
	}
	return ctx.Err()
}

// Aim finds the ways of some asks, on all cores, before [Planner.Way] is asked for them one by one. That takes a small part of the time
// that finding each alone takes. The only error is the context's.
func (p *Planner) Aim(ctx context.Context, asks []Ask) error {
	groups, err := p.byTensor(ctx, asks, nil)
	if err != nil {
		return err
	}
	inParallel(groups, func(v *visitor) { v.aim(ctx) })
	return ctx.Err()
}

// byTensor returns visitors for some asks, those for the same tensor together.
func (p *Planner) byTensor(ctx context.Context, asks []Ask, visit func(ask, from, to int, w *Way)) ([][]*visitor, error) {
	var groups [][]*visitor
	of := map[*Tensor]int{}
	for i := range asks {
		v := p.visitor(i, &asks[i], visit)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at, ok := of[v.Tensor]
		if !ok {
			at = len(groups)
			of[v.Tensor], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], v)
	}
	return groups, nil
}

func inParallel(groups [][]*visitor, work func(v *visitor)) {
	parallel.Each(len(groups), func(i int) {
		for _, v := range groups[i] {
			work(v)
		}
	})
}

// visitor answers an ask. Its graphs are explored before it does: then it changes nothing but the tables of its tensor.
type visitor struct {
	*Ask
	number int
	visit  func(ask, from, to int, w *Way)
	known  []known               // per layout
	padded bool                  // some layouts do not cut the tensor into equal blocks
	graphs map[parting]*explored // those that hold every layout
}

// explored is a graph with the vertices of an ask's layouts.
type explored struct {
	table        *table
	starts, ends []int32 // of From and To, -1 where the graph is not for ways from or to there
}

// visitor explores the graphs that hold every layout in which an ask's ways are sought.
func (p *Planner) visitor(number int, a *Ask, visit func(ask, from, to int, w *Way)) *visitor {
	v := &visitor{Ask: a, number: number, visit: visit, known: p.layouts, graphs: map[parting]*explored{}}
	divided := func(id LayoutID) bool { return a.Tensor.divided(&p.layouts[id].layout) }
	v.padded = !all(a.From, divided) || !all(a.To, divided)
	ends := v.unlike(a.To)
	for _, from := range v.unlike(a.From) {
		for _, to := range ends {
			key := v.parting(from, to)
			if p.graph(&p.layouts[from], &p.layouts[to]); p.whole[key] != nil {
				v.graphs[key] = v.explore(key, p)
			}
		}
	}
	return v
}

// unlike returns one layout for each list of parts of axes that some layouts name.
func (v *visitor) unlike(layouts []LayoutID) []LayoutID {
	var some []LayoutID
	seen := map[int32]bool{}
	for _, id := range layouts {
		if parts := v.known[id].parts; !seen[parts] {
			seen[parts] = true
			some = append(some, id)
		}
	}
	return some
}

func all(ids []LayoutID, test func(id LayoutID) bool) bool {
	return !slices.ContainsFunc(ids, func(id LayoutID) bool { return !test(id) })
}

// ofItself says whether the way between two layouts is one of the tensor itself, which is not padded for it.
func (v *visitor) ofItself(from, to LayoutID) bool {
	return !v.padded || v.Tensor.divided(&v.known[from].layout) && v.Tensor.divided(&v.known[to].layout)
}

func (v *visitor) parting(from, to LayoutID) parting {
	return parting{len(v.Tensor.sizes), v.known[from].parts, v.known[to].parts}
}

// explore finds the vertices of the layouts that a graph is for, and all that ways from there may pass.
func (v *visitor) explore(key parting, p *Planner) *explored {
	g := p.whole[key]
	vertices := func(list []LayoutID, parts int32) []int32 {
		out := make([]int32, len(list))
		for i, id := range list {
			if out[i] = -1; p.layouts[id].parts == parts {
				out[i] = g.of(id, &p.layouts[id].layout)
			}
		}
		return out
	}
	e := &explored{v.Tensor.table(g, p.pricer), vertices(v.From, key.from), vertices(v.To, key.to)}
	for i, id := range v.From {
		if p.layouts[id].parts == key.from {
			g.reach(e.starts[i])
		}
	}
	return e
}

// aim finds the ways that lie in explored graphs.
func (v *visitor) aim(ctx context.Context) {
	for _, e := range v.graphs {
		if ctx.Err() != nil {
			return
		}
		e.table.aim(e.own(e.starts), e.own(e.ends))
	}
}

// own returns those of some vertices that the graph is for and that divide the tensor.
func (e *explored) own(vertices []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(vertices), func(v int32) bool { return v < 0 || !e.table.divides(v) })
}

// shared visits the ways that lie in explored graphs.
func (v *visitor) shared(ctx context.Context) {
	var last parting
	e := v.graphs[last]
	for i, from := range v.From {
		if ctx.Err() != nil {
			return
		}
		for j, to := range v.To {
			if from == to {
				v.visit(v.number, i, j, &Way{})
				continue
			}
			if key := v.parting(from, to); key != last {
				last, e = key, v.graphs[key]
			}
			if e != nil && v.ofItself(from, to) {
				w, _ := e.table.known(e.starts[i], e.ends[j], v.known[from].layout.Reduction) // there is one where no memory limits it
				v.visit(v.number, i, j, &w)
			}
		}
	}
}

// alone visits the other ways.
func (v *visitor) alone(ctx context.Context, p *Planner) {
	for i, from := range v.From {
		for j, to := range v.To {
			if from == to || v.graphs[v.parting(from, to)] != nil && v.ofItself(from, to) {
				continue
			}
			if ctx.Err() != nil {
				return
			}
			w := p.Way(v.Tensor, from, to)
			v.visit(v.number, i, j, &w)
		}
	}
}
