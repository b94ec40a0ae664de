package modelexplorer

import (
	"context"
	"strings"

	"autoshard/cost"
	"autoshard/explain"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/plan"
	"autoshard/program"
)

// Propagation returns node data of a propagation over the graph of the model, as it was read. It fails with diag.ErrInvalid for quantities
// of plans, or with the context's error.
func Propagation(ctx context.Context, model *ir.Module, rec *explain.Recording, q Quantity) (d *Document, err error) {
	defer diag.Recover("review", &err)
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.OfPlans() {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "a propagation takes no time and sends nothing: `%s` is of plans", q)
	}
	m := rec.Module.Clone()
	from := byText(model, m)
	w := newWriter(model, from, q)
	w.layouts(layoutsIn(m, rec.Mesh, model, from))
	return w.d, ctx.Err()
}

// Plan returns node data of a plan over the graph of the model that it was made of, as it was read, priced on a hardware. Errors are those
// of lowering the plan, or the context's; or of class diag.ErrInvalid for what is no quantity.
func Plan(ctx context.Context, model *ir.Module, p *plan.Plan, hardware cost.Hardware, q Quantity) (d *Document, err error) {
	defer diag.Recover("review", &err)
	if err := q.check(); err != nil {
		return nil, err
	}
	m, mesh, err := program.Parse(ctx, p.Program)
	if err != nil {
		return nil, err
	}
	from := placesOf(model).origins(m)
	if !q.OfPlans() {
		w := newWriter(model, from, q)
		w.layouts(layoutsIn(m, mesh, model, from))
		return w.d, ctx.Err()
	}
	lowered, err := p.Lowered(ctx)
	if err != nil {
		return nil, err
	}
	device, costs, err := lowered.Costs(ctx, hardware)
	if err != nil {
		return nil, err
	}
	from = from.through(m, device)
	w := newWriter(model, from, q)
	w.costs(device, costs, from)
	return w.d, ctx.Err()
}

// writer writes a document.
type writer struct {
	d       *Document
	model   *ir.Module
	graphs  []graph
	q       Quantity
	colours map[string]string
}

// newWriter begins a document. Operations of the model that others share their place with are counted.
func newWriter(model *ir.Module, from origins, q Quantity) *writer {
	shared := map[ir.OpID]bool{}
	for _, list := range from {
		if len(list) > 1 {
			for _, op := range list {
				shared[op] = true
			}
		}
	}
	w := &writer{&Document{Graphs: map[string]*Graph{}, Shared: len(shared)}, model, graphsOf(model), q, map[string]string{}}
	for i := range w.graphs {
		g := &Graph{Name: title[q], Results: map[string]Result{}}
		if q == Sharding {
			g.Expanded, g.Counts = true, true
		} else {
			g.Gradient = heat
		}
		w.d.Graphs[w.graphs[i].name] = g
	}
	return w
}

// result says what a node of a graph shows.
func (w *writer) result(graph, node string, r Result) { w.d.Graphs[graph].Results[node] = r }

// title is what Model Explorer calls the node data.
var title = map[Quantity]string{
	Sharding: "sharding",
	Memory:   "bytes per device",
	Time:     "time (us)",
	Sent:     "bytes sent",
}

// layouts writes how values lie.
func (w *writer) layouts(l *layouts) {
	for _, g := range w.graphs {
		for _, n := range g.nodes {
			var specs []string
			var bytes int64
			cut := false
			for _, v := range n.values {
				if one := l.at(v); one != nil {
					specs, bytes, cut = append(specs, strings.Join(one.specs, " or ")), bytes+one.bytes, cut || one.cut
				}
			}
			switch {
			case len(specs) == 0:
			case w.q == Memory:
				w.result(g.name, n.id, Result{Value: bytes})
			default:
				w.result(g.name, n.id, w.spec(strings.Join(specs, "; "), cut))
			}
		}
	}
}

// spec returns a sharding in its colour. What is whole has none.
func (w *writer) spec(text string, cut bool) Result {
	if !cut {
		return Result{Value: text}
	}
	if w.colours[text] == "" {
		w.colours[text] = colour(len(w.colours))
	}
	return Result{text, w.colours[text], ink}
}
