package plan

import (
	"slices"
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Where memory is so short that the batch is computed in parts, plans as people write them are found: blocks of the state, gathered as one.
func TestPartitioned(t *testing.T) {
	source := parse(t, recorded(t, "moe_train.mlir"))
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Make(t.Context(), source, Options{Mesh: axes(t, "2,4"), Hardware: hw, Memory: 120_000})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Microbatches < 2 || plan.Estimate.Seconds > 25e-6 { // 35.4 us without
		t.Errorf("%d microbatches take %g s", plan.Microbatches, plan.Estimate.Seconds)
	}
}

// Layers of which a loop takes one after the other are planned as people write such steps where memory is short: blocks of all state, none
// of which cuts the dimension that counts layers.
func TestFullySharded(t *testing.T) {
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range []int64{0, 10_000_000} {
		o := Options{Mesh: axes(t, "4,2"), Hardware: hw, Memory: 30_000, Steps: steps}
		plan, err := Make(t.Context(), parse(t, "testdata/scan.mlir"), o)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Estimate.Seconds > 130e-6 { // 139.3 us without, 200.4 in the steps
			t.Errorf("a step takes %g s", plan.Estimate.Seconds)
		}
		if spent := plan.Certificate.Steps; steps > 0 && spent > steps { // without, 31 million go by before there is a plan
			t.Errorf("%d steps of %d", spent, steps)
		}
	}
	p, _ := planning(t, "plan/testdata/scan.mlir", "4,2", "tpu-v5p")
	for _, arg := range p.state {
		if arg < 0 {
			continue
		}
		if v := p.args()[arg]; !p.stacked(v) || p.widest(v, p.axes()) == 0 {
			t.Errorf("%v of the state: stacked %v, cut at %d", p.module.Shape(v), p.stacked(v), p.widest(v, p.axes()))
		}
	}
	for _, pin := range p.blockPins(p.axes(), p.axes(), entire) {
		dims := p.module.ShardingOf(pin.sharding).Dims
		cut := slices.IndexFunc(dims, func(d ir.DimSharding) bool { return len(d.Axes) > 0 })
		if batch := slices.Contains(batchInputs(p.module), pin.value); cut < 0 || batch != (cut == 0) {
			t.Errorf("%v is cut at %d, batch %v", p.module.Shape(pin.value), cut, batch)
		}
	}
}

// Inputs are pinned as such plans have them: parts of the batch, blocks of the state by its leading dimension, and its smallest arrays in
// full. What the user wrote stays.
func TestBlockPins(t *testing.T) {
	p, _ := planning(t, "examples/mlp_train.mlir", "2,4", "tpu-v5p")
	all := p.axes()
	along := all[1:]
	small, written := p.smallState(), ir.ValueID(0)
	var blocks, whole, parts int
	for _, pin := range p.blockPins(all, along, entire) {
		s, shape := p.module.ShardingOf(pin.sharding), p.module.Shape(pin.value)
		switch bytes := p.module.ValueType(pin.value).Bytes(); {
		case slices.Contains(batchInputs(p.module), pin.value):
			parts++
			if subaxis.Product(s.Dims[0].Axes) != 8 {
				t.Errorf("the batch of %v is cut along %v", shape, s.Dims[0].Axes)
			}
		case bytes > small:
			blocks, written = blocks+1, pin.value
			if want := subaxis.Dividing(along, shape[0]); !slices.Equal(s.Dims[0].Axes, want) {
				t.Errorf("%v of the state is cut along %v, want %v", shape, s.Dims[0].Axes, want)
			}
		default:
			whole++
			if len(s.Dims[0].Axes) > 0 {
				t.Errorf("%v of the state is cut along %v", shape, s.Dims[0].Axes)
			}
		}
	}
	if blocks == 0 || whole == 0 || parts == 0 {
		t.Errorf("%d inputs are in blocks, %d whole, %d in parts", blocks, whole, parts)
	}
	if pins := p.blockPins(nil, along, entire); len(pins) != blocks+whole {
		t.Errorf("%d pins where nothing is said of the batch, want %d", len(pins), blocks+whole)
	}
	for _, pin := range p.blockPins(nil, along, updated) {
		if cut := len(p.module.ShardingOf(pin.sharding).Dims[0].Axes) > 0; cut && !updated(p.module, pin.value) {
			t.Errorf("%v is cut, which steps do not only update", p.module.Shape(pin.value))
		}
	}
	replica := ir.Sharding{Mesh: p.mesh, Dims: make([]ir.DimSharding, len(p.module.Shape(written)))}
	p.module.SetSharding(written, p.module.InternSharding(replica))
	if pins := p.blockPins(nil, along, entire); len(pins) != blocks+whole-1 {
		t.Errorf("%d pins, want all but the one that the user wrote", len(pins))
	}
}

// What a choice among fewer plans meets does not change what the other one remembers, but for the best and what was left out.
func TestPinnedToRemembersApart(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "2,4", "tpu-v5p")
	b := p.annotationsOnly()
	if err := p.lowerBaseline(t.Context(), &b, s.Planner()); err != nil {
		t.Fatal(err)
	}
	p.Memory = b.lowered.step.Peak - 1
	c := &choice{planner: p, space: s}
	c.crowded = append(make([]*lowered, 0, 2), b.lowered)
	faster := *b.lowered
	faster.step = estimate.Step{Peak: b.lowered.step.Peak + 1}
	other := c.pinnedTo(nil, " among some")
	other.crowd(&faster)
	other.room.refuse("a search", 7)
	if len(other.crowded) != 2 || c.crowded[0] != b.lowered {
		t.Error("a program that one of them remembers has taken the place of another one's")
	}
	other.best, other.spent = &faster, 5
	if c.adopt(other); c.best != &faster || c.spent != 5 {
		t.Error("the best plan is not taken over")
	}
	if said := strings.Join(c.room.said(), ""); !strings.Contains(said, "too little for a search among some, which needs") {
		t.Errorf("of what was left out for want of memory it is said %q", said)
	}
}

// Quick plans in parts are not searched for further, nor their values made again, where they are far behind that of the whole batch.
func TestPartsBehindTheWhole(t *testing.T) {
	const most = 100
	for _, c := range []struct {
		name           string
		whole, best    *lowered
		trails, faster bool // a program of 30 ps
	}{
		{"nothing of the whole batch", nil, taking(1000, most), false, true},
		{"the whole batch does not fit", taking(10, most+1), taking(1000, most), false, true},
		{"it is far ahead", taking(10, most), taking(200, most), true, true},
		{"it is ahead", taking(10, most), taking(30, most), false, false},
		{"it fits, and nothing in parts", taking(10, most), nil, false, false},
		{"it fits, is slow, and nothing in parts", taking(40, most), nil, false, true},
	} {
		got := &choice{planner: &planner{Options: Options{Memory: most}, unsplit: c.whole}, best: c.best}
		if got.trails() != c.trails || got.faster(taking(30, most+1)) != c.faster {
			t.Errorf("%s: it trails %t, want %t; the other program is faster %t, want %t", c.name, got.trails(), c.trails,
				got.faster(taking(30, most+1)), c.faster)
		}
	}
}

// Of the programs that do not fit those are remembered that no other one outdoes in time and memory: of many the fastest, and those that
// hold the least.
func TestCrowd(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "2,4", "tpu-v5p")
	b := p.annotationsOnly()
	if err := p.lowerBaseline(t.Context(), &b, s.Planner()); err != nil {
		t.Fatal(err)
	}
	p.Memory = b.lowered.inputBytes() + 1
	c := &choice{planner: p, space: s}
	meet := func(ps, more int64) {
		l := *b.lowered
		l.step = estimate.Step{Compute: ps, Peak: p.Memory + more}
		c.crowd(&l)
	}
	check := func(when string, want ...int64) {
		t.Helper()
		var got []int64
		for _, l := range c.crowded {
			got = append(got, l.step.Compute)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s programs of %v ps are remembered, want %v", when, got, want)
		}
	}
	meet(50, 50)
	meet(60, 50)
	meet(40, 0)
	check("behind one that is slower and one that fits", 50)
	meet(40, 60)
	meet(50, 40)
	check("behind one that holds less in the same time", 40, 50)
	for i := range int64(2 * mostCrowded) {
		meet(100+i, 39-i)
	}
	check("of many", 40, 109, 110, 111, 112, 113, 114, 115)
}
