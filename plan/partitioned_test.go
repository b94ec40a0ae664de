package plan

import (
	"slices"
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

// Inputs are pinned as such plans have them: parts of the batch, blocks of the state by its leading dimension, and its smallest arrays in
// full. What the user wrote stays.
func TestBlockPins(t *testing.T) {
	p, _ := planning(t, "examples/mlp_train.mlir", "2,4", "tpu-v5p")
	all := p.axes()
	along := all[1:]
	small, written := p.smallState(), ir.ValueID(0)
	var blocks, whole, parts int
	for _, pin := range p.blockPins(all, along) {
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
	if pins := p.blockPins(nil, along); len(pins) != blocks+whole {
		t.Errorf("%d pins where nothing is said of the batch, want %d", len(pins), blocks+whole)
	}
	replica := ir.Sharding{Mesh: p.mesh, Dims: make([]ir.DimSharding, len(p.module.Shape(written)))}
	p.module.SetSharding(written, p.module.InternSharding(replica))
	if pins := p.blockPins(nil, along); len(pins) != blocks+whole-1 {
		t.Errorf("%d pins, want all but the one that the user wrote", len(pins))
	}
}

// What a choice among fewer plans meets does not change what the other one remembers, but for the best.
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
	faster.step = estimate.Step{Peak: b.lowered.step.Peak}
	other := c.pinnedTo(nil)
	other.crowd(&faster)
	if len(other.crowded) != 2 || c.crowded[0] != b.lowered {
		t.Error("a program that one of them remembers has taken the place of another one's")
	}
	other.best, other.spent = &faster, 5
	if c.adopt(other); c.best != &faster || c.spent != 5 {
		t.Error("the best plan is not taken over")
	}
}
