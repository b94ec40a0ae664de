package ir_test

import (
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// usesOf returns the users of a value by their names, the most recent use first.
func usesOf(m *ir.Module, v ir.ValueID) []string {
	var list []string
	for use := range m.Uses(v) {
		list = append(list, m.OpName(use.Op))
	}
	return list
}

const threeUsers = `func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %arg0 : tensor<4xf32>
  %1 = stablehlo.sine %arg0 : tensor<4xf32>
  %2 = stablehlo.negate %arg1 : tensor<4xf32>
  %3 = stablehlo.add %0, %1 : tensor<4xf32>
  %4 = stablehlo.add %2, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}`

func parseArgs(t *testing.T, text string) (*ir.Module, []ir.ValueID) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	return m, m.BlockArgs(m.Func(main).Body)
}

// TestReplaceUses checks that moved uses keep their order, before those that the value had.
func TestReplaceUses(t *testing.T) {
	m, args := parseArgs(t, threeUsers)
	m.ReplaceUses(args[0], args[1])
	want := []string{"stablehlo.sine", "stablehlo.abs", "stablehlo.negate"}
	if got := usesOf(m, args[1]); !slices.Equal(got, want) || m.HasUses(args[0]) {
		t.Errorf("uses %v, %v left; want %v and none", got, usesOf(m, args[0]), want)
	}
	m.ReplaceUses(args[0], args[1]) // nothing to move
	m.ReplaceUses(args[1], args[1])
	if got := usesOf(m, args[1]); !slices.Equal(got, want) {
		t.Errorf("uses %v, want %v", got, want)
	}
	m.ReplaceUses(args[1], args[0])
	for use := range m.Uses(args[0]) {
		m.SetOperand(use.Op, use.Index, args[1]) // links both ways are right
	}
	if m.HasUses(args[0]) || len(usesOf(m, args[1])) != len(want) {
		t.Errorf("uses %v and %v, want none and three", usesOf(m, args[0]), usesOf(m, args[1]))
	}
}

// TestOrderUses checks that uses come in program order, the last one first.
func TestOrderUses(t *testing.T) {
	m, args := parseArgs(t, threeUsers)
	for use := range m.Uses(args[0]) {
		m.SetOperand(use.Op, use.Index, args[0])
		break
	}
	var first ir.Use
	for use := range m.Uses(args[0]) {
		first = use // of the op that comes first
	}
	m.SetOperand(first.Op, first.Index, args[0])
	if got := usesOf(m, args[0]); !slices.Equal(got, []string{"stablehlo.abs", "stablehlo.sine"}) {
		t.Fatalf("uses %v before they are put in order", got)
	}
	m.OrderUses()
	if got := usesOf(m, args[0]); !slices.Equal(got, []string{"stablehlo.sine", "stablehlo.abs"}) {
		t.Errorf("uses %v, want those of sine and abs", got)
	}
}

// TestSetKind checks that an op of another kind is the same otherwise, and that the module tells that it has the kind.
func TestSetKind(t *testing.T) {
	m, args := parseArgs(t, threeUsers)
	if m.MayHave(ir.OpTanh) || !m.MayHave(ir.OpNegate) {
		t.Error("the module has an op of kind negate, and none of kind tanh")
	}
	for use := range m.Uses(args[1]) {
		m.SetKind(use.Op, ir.OpTanh)
	}
	if got := usesOf(m, args[1]); !slices.Equal(got, []string{"stablehlo.tanh"}) || !m.MayHave(ir.OpTanh) || !m.Clone().MayHave(ir.OpTanh) {
		t.Errorf("uses %v, want one of tanh that the module and its copy tell of", got)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Error(err)
	}
}
