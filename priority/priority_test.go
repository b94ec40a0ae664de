package priority_test

import (
	"fmt"
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/priority"
)

// TestSchedule spells out the five levels of Shardy for every class of ops: which way pass-through factors and other
// factors move.
func TestSchedule(t *testing.T) {
	const N, F, B, X = priority.None, priority.Forward, priority.Backward, priority.Both
	type pair = [2]priority.Direction
	for class, want := range map[priority.Class][priority.Levels]pair{
		priority.Other:        {{N, N}, {N, N}, {X, N}, {X, X}, {X, X}},
		priority.Rearrange:    {{X, X}, {X, X}, {X, X}, {X, X}, {X, X}},
		priority.DynamicSlice: {{F, F}, {F, F}, {X, F}, {X, X}, {X, X}},
		priority.Broadcast:    {{N, N}, {N, N}, {B, N}, {B, B}, {X, X}},
	} {
		for level, w := range want {
			if got := priority.At(class, true, level); got.PassThrough != w[0] || got.Special != w[1] {
				t.Errorf("%s at %d: %v, want %v", class, level, got, w)
			}
		}
		if got := priority.At(class, false, 0); got != (priority.Move{}) {
			t.Errorf("%s at 0 with shared operands moves %v", class, got)
		}
	}
}

// TestLevelsOnlyAdd checks that a later level allows whatever an earlier one does.
func TestLevelsOnlyAdd(t *testing.T) {
	for class := priority.Other; class <= priority.Broadcast; class++ {
		for level := 1; level < priority.Levels; level++ {
			a, b := priority.At(class, true, level-1), priority.At(class, true, level)
			if a.PassThrough&^b.PassThrough != 0 || a.Special&^b.Special != 0 {
				t.Errorf("%s: level %d takes back what level %d allows", class, level, level-1)
			}
		}
	}
}

func TestDirectionNames(t *testing.T) {
	for d := priority.None; d <= priority.Both; d++ {
		if back, ok := priority.ParseDirection(d.String()); !ok || back != d {
			t.Errorf("%v does not survive its text", d)
		}
	}
	if _, ok := priority.ParseDirection("SIDEWAYS"); ok {
		t.Error("unknown direction accepted")
	}
}

// program is func @main(x) { a = tanh x; b = broadcast a; c = add a, a }.
func program() (m *ir.Module, tanh, broadcast, add ir.OpID) {
	m = ir.NewModule()
	small, big := m.TensorType(dtype.F32, 4), m.TensorType(dtype.F32, 2, 4)
	f := m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{small}, Results: []ir.TypeID{small}})
	b := m.BuilderAtEnd(m.Func(f).Body)
	x := m.BlockArgs(m.Func(f).Body)[0]
	tanh = b.Op(ir.OpTanh, []ir.TypeID{small}, nil, x)
	a := m.Result(tanh, 0)
	broadcast = b.Op(ir.OpBroadcastInDim, []ir.TypeID{big}, ir.MakeAttrs(ir.NamedAttr{Name: "broadcast_dimensions", Value: ir.Ints{1}}), a)
	add = b.Op(ir.OpAdd, []ir.TypeID{small}, nil, a, a)
	b.Op(ir.OpReturn, nil, nil, m.Result(add, 0))
	return m, tanh, broadcast, add
}

func TestDirectionOf(t *testing.T) {
	m, tanh, broadcast, add := program()
	r := &ir.Rule{Sizes: []int64{4, 2}, Reduction: []int32{1}, Blocked: []int32{2}}
	for _, c := range []struct {
		name   string
		op     ir.OpID
		rule   *ir.Rule
		factor int32
		level  int
		want   priority.Direction
	}{
		{"single use", tanh, r, 0, 0, priority.Both},
		{"operand used twice by one op", add, r, 0, 0, priority.None},
		{"use count no longer matters", add, r, 0, 1, priority.Both},
		{"broadcast waits", broadcast, r, 0, 1, priority.None},
		{"broadcast backward", broadcast, r, 0, 2, priority.Backward},
		{"reduced factor waits", broadcast, r, 1, 2, priority.None},
		{"broadcast both", broadcast, r, 0, 4, priority.Both},
		{"blocked factor never", tanh, r, 2, 4, priority.None},
		{"no rule: all factors pass through", broadcast, nil, 1, 2, priority.Backward},
	} {
		if got := directionOf(m, c.op, c.rule, c.factor, c.level); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRounds(t *testing.T) {
	m, tanh, _, _ := program()
	if got := priority.Rounds(m); len(got) != 1 || got[0] != 0 {
		t.Errorf("without priorities: %v", got)
	}
	dim := func(p int32) ir.ShardingID {
		return m.InternSharding(ir.Sharding{Dims: []ir.DimSharding{{Priority: p}}})
	}
	m.SetSharding(m.Result(tanh, 0), dim(7))
	main, _ := m.Main()
	m.Func(main).ResultShardings[0] = dim(2)
	if got := priority.Rounds(m); len(got) != 3 || got[1] != 2 || got[2] != 7 {
		t.Errorf("rounds %v, want 0, 2, 7", got)
	}
}

// TestClasses checks one op of each class, and the custom calls that move values between memories.
func TestClasses(t *testing.T) {
	m, tanh, broadcast, add := program()
	main, _ := m.Main()
	b, x := m.BuilderAtEnd(m.Func(main).Body), m.BlockArgs(m.Func(main).Body)[0]
	typ := []ir.TypeID{m.Type(x)}
	call := func(target string) ir.OpID {
		return b.Op(ir.OpCustomCall, typ, ir.MakeAttrs(ir.NamedAttr{Name: "call_target_name", Value: ir.StringAttr(target)}), x)
	}
	for _, c := range []struct {
		op    ir.OpID
		class priority.Class
		name  string
		each  bool
	}{
		{tanh, priority.Rearrange, "rearrange", true},
		{add, priority.Rearrange, "rearrange", true},
		{broadcast, priority.Broadcast, "broadcast", false},
		{b.Op(ir.OpTranspose, typ, nil, x), priority.Rearrange, "rearrange", false},
		{b.Op(ir.OpDynamicSlice, typ, nil, x), priority.DynamicSlice, "dynamic slice", false},
		{b.Op(ir.OpReverse, typ, nil, x), priority.Other, "other", false},
		{b.Op(ir.OpBitcastConvert, typ, nil, x), priority.Rearrange, "rearrange", true},
		{call("MoveToHost"), priority.Rearrange, "rearrange", false},
		{call("elsewhere"), priority.Other, "other", false},
	} {
		if got := priority.Of(m, c.op); got != c.class || got.String() != c.name {
			t.Errorf("%s is of class %s", m.OpName(c.op), got)
		}
		if got := priority.IsElementwise(m, c.op); got != c.each {
			t.Errorf("%s is elementwise: %t", m.OpName(c.op), got)
		}
	}
}

// XLA has a reshape for a broadcast that adds dimensions of one element and nothing else.
func TestReplacedClasses(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%a: tensor<8x4xf32>, %b: tensor<f32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
  %1 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<8x4xf32>) -> tensor<8x2x4xf32>
  %2 = stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<8x4xf32>) -> tensor<4x1x8xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %4 = stablehlo.tanh %a : tensor<8x4xf32>
  return
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []priority.Class{priority.Rearrange, priority.Broadcast, priority.Broadcast, priority.Rearrange, priority.Rearrange}
	op := m.FirstOp(m.MainFunc().Body)
	for i, class := range want {
		if got := priority.OfReplaced(m, op); got != class {
			t.Errorf("op %d is of class %s, want %s", i, got, class)
		}
		op = m.NextOp(op)
	}
}

func Example() {
	for level := range priority.Levels {
		move := priority.At(priority.Broadcast, true, level)
		fmt.Println(level, move.PassThrough, move.Special)
	}
	// Output:
	// 0 NONE NONE
	// 1 NONE NONE
	// 2 BACKWARD NONE
	// 3 BACKWARD BACKWARD
	// 4 BOTH BOTH
}

// directionOf returns how a factor moves through an op at an op priority: not at all where the rule blocks it, else
// as the schedule says. Without a rule all factors pass through.
func directionOf(m *ir.Module, op ir.OpID, r *ir.Rule, factor int32, level int) priority.Direction {
	move := priority.At(priority.Of(m, op), priority.SingleUse(m, op), level)
	switch {
	case r == nil:
		return move.PassThrough
	case slices.Contains(r.Blocked, factor):
		return priority.None
	case priority.IsPassThrough(r, factor):
		return move.PassThrough
	}
	return move.Special
}
