package propagate_test

import (
	"context"
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/propagate"
	"autoshard/subaxis"
	"autoshard/trace"

	"pgregory.net/rapid"
)

// TestChainsReplay: for every dimension of every value, the chain of its axes alone leads from nothing to these axes,
// and without any one of its links it does not.
func TestChainsReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := imported(t)
		skipIf(t, m, manualViews, ir.OpSdyManualComputation)
		o := drawOptions(t)
		start := newReplay(m, o)
		tr := propagated(t, m, o)
		checkChains(t, m, start, tr)
	})
}

// fataler is what tests of both kinds have.
type fataler interface {
	Fatalf(format string, args ...any)
}

func checkChains(t fataler, m *ir.Module, start *replay, tr *trace.Trace) (chains int) {
	h := trace.NewHistory(tr, func(p trace.Place) []subaxis.Ref { return start.axes[p] })
	relations, err := propagate.NewRelations(context.Background(), m)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		id := m.Sharding(v)
		if id == 0 || !alive(m, v) {
			continue
		}
		for d, dim := range m.ShardingOf(id).Dims {
			p, ok := relations.Place(v, d)
			if !ok || p.Value != canonical(m, v) || canonicalOwner(m, v) {
				continue
			}
			if got := h.Axes(p); !slices.Equal(got, dim.Axes) {
				t.Fatalf("the history of %v ends with %v, propagation with %v", p, got, dim.Axes)
			}
			checkChain(t, h, p, dim.Axes)
			chains++
		}
	}
	return chains
}

func checkChain(t fataler, h *trace.History, p trace.Place, axes []subaxis.Ref) {
	links := h.Chain(p, axes)
	if got := replayLinks(links)[p]; !slices.Equal(got, axes) {
		t.Fatalf("the chain of %v leads to %v, propagation to %v:\n%v", p, got, axes, links)
	}
	for i := range links {
		rest := slices.Delete(slices.Clone(links), i, i+1)
		if got := replayLinks(rest)[p]; slices.Equal(got, axes) {
			t.Fatalf("link %d of the chain of %v to %v is not needed: %v", i, p, axes, links)
		}
	}
}

// replayLinks applies links alone, one after the other, to dimensions without axes: a move takes those axes that its
// source has by then.
func replayLinks(links []trace.Link) map[trace.Place][]subaxis.Ref {
	axes := map[trace.Place][]subaxis.Ref{}
	for i := range links {
		l := &links[i]
		parts, list := l.Parts, []subaxis.Ref(nil)
		if !l.Given && l.Kind != trace.Activate {
			parts = trace.Common(parts, axes[l.From])
		}
		if l.Kind == trace.Move {
			list = axes[l.To]
		}
		if len(parts) > 0 || l.Kind == trace.Activate {
			axes[l.To] = trace.Extend(list, parts, l.Apart)
		}
	}
	return axes
}

// TestChainsOfModels checks the chains of all values of the annotated models.
func TestChainsOfModels(t *testing.T) {
	for _, file := range modelFiles(t) {
		m := readModel(t, file)
		if err := propagate.Import(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		start := newReplay(m, propagate.Options{})
		tr, err := propagate.Run(t.Context(), m, propagate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := checkChains(t, m, start, tr); n > 0 {
			t.Logf("%s: %d dimensions", file, n)
		}
	}
}
