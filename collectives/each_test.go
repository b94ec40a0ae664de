package collectives

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/subaxis"
)

// What is found for many tensors at once on all cores, and before it is asked for, is what is found for each pair alone: along whole axes,
// parts of them, and parts that no common refinement has.
func TestEachIsEveryWay(t *testing.T) {
	x, y := func(pre, size int32) subaxis.Ref { return subaxis.Ref{Axis: 0, Pre: pre, Size: size} }, subaxis.Ref{Axis: 1, Pre: 1, Size: 2}
	mesh := []subaxis.Axis{{Name: "x", Size: 6}, {Name: "y", Size: 2}}
	layouts := []Layout{layout(nil, nil), layout(axes(x(1, 6)), nil), layout(nil, axes(x(1, 6))), layout(axes(y), axes(x(1, 6))),
		layout(axes(x(1, 2)), axes(y)), layout(nil, axes(x(1, 3))), layout(axes(x(1, 3)), nil), layout(axes(x(3, 2), y), axes(x(1, 3)))}
	rapid.Check(t, func(t *rapid.T) {
		p := NewPlanner(ring{}, mesh)
		some := func(name string) []LayoutID {
			var ids []LayoutID
			for _, l := range rapid.SliceOfN(rapid.SampledFrom(layouts), 1, len(layouts)).Draw(t, name) {
				ids = append(ids, p.Intern(l))
			}
			return ids
		}
		var asks []Ask
		for range rapid.IntRange(1, 5).Draw(t, "asks") {
			shape := []int64{12, rapid.SampledFrom([]int64{12, 24}).Draw(t, "columns")}
			asks = append(asks, Ask{p.Tensor(shape, 1<<20), some("from"), some("to")})
		}
		var begins []int // of what is found for each ask
		total := 0
		for _, a := range asks {
			begins = append(begins, total)
			total += len(a.From) * len(a.To)
		}
		together := make([]string, total)
		err := p.Each(context.Background(), asks, func(ask, from, to int, w *Way) {
			together[begins[ask]+from*len(asks[ask].To)+to] = describe(w.Steps())
		})
		if err != nil {
			t.Fatal(err)
		}
		alone := waysOf(p, asks, func(a *Ask) { a.Tensor.Forget() })
		if !slices.Equal(together, alone) {
			t.Fatalf("at once %q, alone %q", together, alone)
		}
		for _, a := range asks {
			a.Tensor.Forget()
		}
		if err := p.Aim(context.Background(), asks); err != nil {
			t.Fatal(err)
		}
		if aimed := waysOf(p, asks, func(*Ask) {}); !slices.Equal(aimed, alone) {
			t.Fatalf("found before %q, alone %q", aimed, alone)
		}
	})
}

// waysOf describes all ways of some asks, each of which is prepared before.
func waysOf(p *Planner, asks []Ask, prepare func(a *Ask)) []string {
	var all []string
	for i := range asks {
		a := &asks[i]
		for _, from := range a.From {
			for _, to := range a.To {
				prepare(a)
				w := p.Way(a.Tensor, from, to)
				all = append(all, describe(w.Steps()))
			}
		}
	}
	return all
}

// A context that has ended ends the work.
func TestEachEnds(t *testing.T) {
	p := NewPlanner(ring{}, []subaxis.Axis{{Name: "x", Size: 2}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	whole := p.Intern(layout(nil, nil))
	ask := Ask{p.Tensor([]int64{4, 4}, 64), []LayoutID{whole}, []LayoutID{whole}}
	err := p.Each(ctx, []Ask{ask}, func(int, int, int, *Way) { t.Error("a way was sought") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := p.Aim(ctx, []Ask{ask}); !errors.Is(err, context.Canceled) {
		t.Errorf("before: got %v", err)
	}
}
