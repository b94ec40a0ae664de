package propagate_test

import (
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

// imported returns a random program, ready for propagation.
func imported(t *rapid.T) *ir.Module {
	text := randomProgram(rapid.Int64Range(0, 1<<40).Draw(t, "seed"))
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := propagate.Import(t.Context(), m); err != nil {
		t.Skipf("not importable: %v", err)
	}
	return m
}

func propagated(t *rapid.T, m *ir.Module, o propagate.Options) *trace.Trace {
	tr, err := propagate.Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func drawOptions(t *rapid.T) propagate.Options {
	return propagate.Options{
		Strategy: rapid.SampledFrom([]propagate.Strategy{propagate.Aggressive, propagate.Basic, propagate.BasicThenAggressive}).Draw(t,
			"strategy"),
		NoOpPriority:   rapid.Bool().Draw(t, "no op priority"),
		NoUserPriority: rapid.Bool().Draw(t, "no user priority"),
		Conservative:   rapid.Bool().Draw(t, "conservative"),
	}
}

// TestIdempotent: what is propagated again only grows, and soon stays as it is; most programs do at once. Not all, here
// and in Shardy: an op is not looked at again after its own visit, though it may see more then; block arguments of
// computations are told of news from outside only in the next round; a user's rule that is not called custom is gone
// after the first time; and dead ops are.
func TestIdempotent(t *testing.T) {
	const most = 5
	once, programs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := imported(t)
		o := drawOptions(t)
		propagated(t, m, o)
		programs++
		for runs := 1; ; runs++ {
			before, text := m.Clone(), string(mlir.Print(m, mlir.PrintOptions{}))
			propagated(t, m, o)
			diff := cmp.Diff(text, string(mlir.Print(m, mlir.PrintOptions{})))
			switch {
			case diff == "" && runs == 1:
				once++
				return
			case diff == "":
				return
			case runs == most:
				t.Fatalf("after %d times (-before +again):\n%s\n%s", runs, diff, text)
			}
			checkOnlyGrown(t, before, m)
		}
	})
	t.Logf("%d of %d programs settle at once", once, programs)
	if once < programs*3/4 {
		t.Errorf("only %d of %d programs settle at once", once, programs)
	}
}

// TestOnlyGrows: axes that a user gave stay, in their dimensions, and closed dimensions stay as they are.
func TestOnlyGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := imported(t)
		before := m.Clone()
		propagated(t, m, drawOptions(t))
		if err := propagate.Close(t.Context(), m.Clone()); err != nil {
			t.Skipf("not valid any more, and refused: %v", err)
		}
		checkOnlyGrown(t, before, m)
	})
}

func checkOnlyGrown(t *rapid.T, before, m *ir.Module) {
	disjoint := true
	before.Walk(before.Body(), func(op ir.OpID) { disjoint = disjoint && before.Kind(op) != ir.OpSdyManualComputation })
	for v := ir.ValueID(1); int(v) < before.NumValues(); v++ {
		if old := before.Sharding(v); old != 0 && alive(m, v) && !joinsGroup(before, v) {
			checkGrown(t, before.ShardingOf(old), m.ShardingOf(m.Sharding(v)), v, disjoint)
		}
	}
}

// joinsGroup says whether a value is in a sharding group, which may replace the sharding of a member that has no axes
// and no closed dimension by that of the others.
func joinsGroup(m *ir.Module, v ir.ValueID) bool {
	s := m.ShardingOf(m.Sharding(v))
	closed := slices.ContainsFunc(s.Dims, func(d ir.DimSharding) bool { return d.Closed })
	for use := range m.Uses(v) {
		if m.Kind(use.Op) == ir.OpSdyShardingGroup && s.IsReplicated() && !closed {
			return true
		}
	}
	return false
}

// alive says whether a value is still part of the module: values of removed functions and ops keep their ids.
func alive(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	if op == 0 {
		op = m.BlockOp(m.ArgBlock(v))
	}
	for op != 0 && m.OpBlock(op) != 0 {
		op = m.ParentOp(op)
	}
	return op == 0
}

// checkGrown compares two shardings of a value. Axes stay disjoint but for manual computations: what they take away at one
// side and add at the other may meet, here and in Shardy, which refuses what it has made then.
func checkGrown(t *rapid.T, old, now *ir.Sharding, v ir.ValueID, disjoint bool) {
	for d := range old.Dims {
		was, is := old.Dims[d], now.Dims[d]
		switch {
		case was.Closed && (!is.Closed || !slices.Equal(was.Axes, is.Axes)):
			t.Fatalf("value %d: closed dimension %d changed from %v to %v", v, d, was, is)
		case subaxis.PrefixStatus(was.Axes, is.Axes) == subaxis.NotPrefix:
			t.Fatalf("value %d: dimension %d lost axes: %v to %v", v, d, was.Axes, is.Axes)
		}
	}
	if !disjoint {
		return
	}
	var used []subaxis.Ref
	for _, d := range now.Dims {
		used = append(used, d.Axes...)
	}
	for i, r := range used {
		if _, twice := subaxis.Overlapping(used[:i], r); twice {
			t.Fatalf("value %d: axis %v shards two dimensions", v, r)
		}
		if _, kept := subaxis.Overlapping(old.Replicated, r); kept {
			t.Fatalf("value %d: axis %v is explicitly replicated", v, r)
		}
	}
}

// skipIf leaves out programs with some kinds of ops.
func skipIf(t *rapid.T, m *ir.Module, why string, kinds ...ir.Kind) {
	m.Walk(m.Body(), func(op ir.OpID) {
		if slices.Contains(kinds, m.Kind(op)) {
			t.Skip(why)
		}
	})
}

// TestTraceReplays: the moves of the trace alone lead from the user's shardings to the final ones.
func TestTraceReplays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := imported(t)
		skipIf(t, m, manualViews, ir.OpSdyManualComputation)
		o := drawOptions(t)
		replay := newReplay(m, o)
		tr := propagated(t, m, o)
		replay.apply(tr)
		replay.check(t, m)
	})
}

const manualViews = "the edges of a manual computation hold what one side sees, and moves tell of both"

// replay holds the axes of every dimension as the trace says.
type replay struct {
	m    *ir.Module
	axes map[trace.Place][]subaxis.Ref
}

// newReplay starts with the user's shardings; with user priorities, only those of priority 0 count at first.
func newReplay(m *ir.Module, o propagate.Options) *replay {
	r := &replay{m: m, axes: map[trace.Place][]subaxis.Ref{}}
	start := func(value int32, id ir.ShardingID) {
		if id == 0 {
			return
		}
		for d, dim := range m.ShardingOf(id).Dims {
			if o.NoUserPriority || dim.Priority <= 0 {
				r.axes[trace.Place{Value: value, Dim: int32(d)}] = slices.Clone(dim.Axes)
			}
		}
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		start(canonical(m, v), m.Sharding(v))
	}
	main, _ := m.Main()
	for i, id := range m.Func(main).ResultShardings {
		start(^int32(i), id)
	}
	return r
}

// canonical returns how the trace calls a value: edges are called by their owners.
func canonical(m *ir.Module, v ir.ValueID) int32 {
	if op := m.DefiningOp(v); op != 0 && m.Kind(op) == ir.OpSdyDataFlowEdge {
		return int32(m.Operand(op, 0))
	}
	return int32(v)
}

func (r *replay) apply(tr *trace.Trace) {
	for _, e := range tr.Events() {
		if e.Kind == trace.Refusal {
			continue
		}
		list := slices.Clone(r.axes[e.To])
		if e.Kind == trace.Activate || e.Kind == trace.Replace {
			list = nil
		}
		for i, a := range tr.Axes(e.Axes) {
			if n := len(list); i == 0 && n > 0 && list[n-1].Axis == a.Axis && list[n-1].Pre == a.Pre {
				list = list[:n-1] // a part grew to one that is no multiple of it
			}
			if i == 0 && !e.Apart {
				list = subaxis.AppendMerge(list, a)
			} else {
				list = append(list, a)
			}
		}
		r.axes[e.To] = list
	}
}

func (r *replay) check(t *rapid.T, m *ir.Module) {
	same := func(value int32, id ir.ShardingID) {
		if id == 0 {
			return
		}
		for d, dim := range m.ShardingOf(id).Dims {
			if got := r.axes[trace.Place{Value: value, Dim: int32(d)}]; !slices.Equal(got, dim.Axes) {
				t.Fatalf("value %d dimension %d: the trace leads to %v, propagation to %v", value, d, got, dim.Axes)
			}
		}
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		edge := len(r.m.Shape(v)) > 0 && m.HasOneUse(v) && canonicalOwner(m, v)
		if alive(m, v) && !edge {
			same(canonical(m, v), m.Sharding(v))
		}
	}
	main, _ := m.Main()
	for i, id := range m.Func(main).ResultShardings {
		same(^int32(i), id)
	}
}

// canonicalOwner says whether an edge speaks for the value.
func canonicalOwner(m *ir.Module, v ir.ValueID) bool {
	for use := range m.Uses(v) {
		if m.Kind(use.Op) == ir.OpSdyDataFlowEdge {
			return true
		}
	}
	return false
}
