package propagate_test

import (
	"math/rand"
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"
	"autoshard/subaxis"
	"autoshard/trace"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// shardings returns the shardings of all values that are still there, as text, nothing for those that say nothing.
func shardings(m *ir.Module) []string {
	var out []string
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		text := ""
		if id := m.Sharding(v); id != 0 && alive(m, v) && id != m.Replicated(m.ShardingOf(id).Mesh, len(m.Shape(v)), false) {
			text = m.FormatSharding(id)
		}
		out = append(out, text)
	}
	main, _ := m.Main()
	for _, id := range m.Func(main).ResultShardings {
		text := ""
		if id != 0 {
			text = m.FormatSharding(id)
		}
		out = append(out, text)
	}
	return out
}

// peaceful returns a random program without dead ops, groups, priorities and parts of axes in which propagation refuses
// nothing: there it is the closure of what was given, however it is computed.
func peaceful(t *rapid.T, o propagate.Options) (before, after *ir.Module) {
	before = imported(t)
	skipIf(t, before, "block arguments of computations hear of news from outside in the next round only",
		ir.OpSdyManualComputation, ir.OpSdyNamedComputation)
	ir.EraseDead(before)
	groups := false
	before.Walk(before.Body(), func(op ir.OpID) { groups = groups || before.Kind(op) == ir.OpSdyShardingGroup })
	if groups {
		t.Skip("groups copy whole shardings")
	}
	after = before.Clone()
	events := propagated(t, after, o).Events()
	if countOps(after) < countOps(before) {
		t.Skip("dead ops move axes until they are met")
	}
	for _, e := range events {
		if e.Kind != trace.Move || e.Round > 0 {
			t.Skip("refusals: who comes first wins")
		}
	}
	for id := ir.ShardingID(1); int(id) < after.NumShardings(); id++ {
		s := after.ShardingOf(id)
		for _, d := range s.Dims {
			if slices.ContainsFunc(d.Axes, func(a subaxis.Ref) bool { return !after.Mesh(s.Mesh).IsFull(a) }) {
				t.Skip("parts of axes: what fits depends on what was there before")
			}
		}
	}
	return before, after
}

func countOps(m *ir.Module) int {
	n := 0
	m.Walk(m.Body(), func(ir.OpID) { n++ })
	return n
}

// TestOrderOfVisits: where nothing is refused, the order in which ops are visited does not matter.
func TestOrderOfVisits(t *testing.T) {
	tried := 0
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		o.NoUserPriority = true
		if o.Strategy == propagate.BasicThenAggressive {
			o.Strategy = propagate.Basic
		}
		before, after := peaceful(t, o)
		tried++
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "order")))
		propagate.RunShuffled(before, o, func(ops []ir.OpID) {
			r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
		})
		if diff := cmp.Diff(shardings(after), shardings(before)); diff != "" {
			t.Fatalf("(-in order +shuffled):\n%s\n%s", diff, mlir.Print(after, mlir.PrintOptions{}))
		}
	})
	t.Logf("%d programs", tried)
}

// TestMonotone: where nothing is refused, saying in advance what a value will get changes nothing.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		o.NoUserPriority = true
		before, after := peaceful(t, o)
		var known []ir.ValueID
		for v := ir.ValueID(1); int(v) < before.NumValues(); v++ {
			if id := after.Sharding(v); id != 0 && alive(after, v) && ownHome(before, v) {
				known = append(known, v)
			}
		}
		if len(known) == 0 {
			t.Skip("nothing is sharded")
		}
		v := rapid.SampledFrom(known).Draw(t, "value")
		before.SetSharding(v, before.InternSharding(after.ShardingOf(after.Sharding(v)).Clone()))
		propagated(t, before, o)
		if diff := cmp.Diff(shardings(after), shardings(before)); diff != "" {
			t.Fatalf("with %v of value %d given in advance (-without +with):\n%s", after.FormatSharding(after.Sharding(v)), v, diff)
		}
	})
}

// ownHome says whether a value keeps its sharding itself, and no edge does for it.
func ownHome(m *ir.Module, v ir.ValueID) bool {
	if m.DefiningOp(v) == 0 && m.FuncOf(m.BlockOp(m.ArgBlock(v))) == 0 {
		return false
	}
	return !canonicalOwner(m, v)
}

// TestHigherPriorityStays: what the rounds up to a user priority decide, later ones only extend.
func TestHigherPriorityStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := imported(t)
		o := drawOptions(t)
		o.NoUserPriority = false
		full := m.Clone()
		propagated(t, full, o)
		o.Limited, o.MaxPriority = true, rapid.IntRange(0, 2).Draw(t, "last round")
		given := m.Clone()
		propagated(t, m, o)
		for v := ir.ValueID(1); int(v) < given.NumValues(); v++ {
			if m.Sharding(v) == 0 || !alive(full, v) || !alive(m, v) {
				continue
			}
			for d, dim := range m.ShardingOf(m.Sharding(v)).Dims {
				if now := full.ShardingOf(full.Sharding(v)).Dims[d].Axes; subaxis.PrefixStatus(dim.Axes, now) == subaxis.NotPrefix &&
					!inGroup(given, v) {
					t.Fatalf("value %d dimension %d: %v after round %d, %v at the end", v, d, dim.Axes, o.MaxPriority, now)
				}
			}
		}
	})
}

// inGroup says whether a value is in a sharding group, in which later members replace whole shardings.
func inGroup(m *ir.Module, v ir.ValueID) bool {
	var kinds []ir.Kind
	for use := range m.Uses(v) {
		kinds = append(kinds, m.Kind(use.Op))
	}
	return slices.Contains(kinds, ir.OpSdyShardingGroup)
}
