package rule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/rule"

	"github.com/cockroachdb/datadriven"
)

// TestGolden derives the rules of small programs. Commands: "rule" for the usual rules, "conservative" for the
// others; the output has a line for each op with its family and rule. "shardable" prints the rule and those of its factors
// that may be cut, with the reduction of partial results.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{})
			if err != nil {
				return err.Error() + "\n"
			}
			if d.Cmd == "shardable" {
				return verdicts(m)
			}
			return describe(m, d.Cmd == "conservative")
		})
	})
}

func describe(m *ir.Module, conservative bool) string {
	var b strings.Builder
	cache := rule.NewCache(conservative)
	main, _ := m.Main()
	for op := range m.Ops(m.Func(main).Body) {
		if m.Kind(op).IsTerminator() {
			continue
		}
		r := rule.Of(m, op, conservative)
		if r == nil {
			fmt.Fprintf(&b, "%s: no rule\n", m.OpName(op))
			continue
		}
		name := "given"
		if f := rule.FamilyOf(m, op); f != nil {
			name = f.Name
		}
		fmt.Fprintf(&b, "%s (%s): %s\n", m.OpName(op), name, r.Format())
		if err := ir.CheckRule(m, op, r); err != nil {
			fmt.Fprintf(&b, "  but: %v\n", err)
		}
		if cached := cache.Of(m, op).Format(); cached != r.Format() {
			fmt.Fprintf(&b, "  but the cache says: %s\n", cached)
		}
	}
	return b.String()
}

func verdicts(m *ir.Module) string {
	var b strings.Builder
	main, _ := m.Main()
	for op := range m.Ops(m.Func(main).Body) {
		r := rule.Computing(m, op)
		if r == nil {
			continue
		}
		parts, reduction := rule.Shardable(m, op, r)
		fmt.Fprintf(&b, "%s: %s\n ", m.OpName(op), r.Format())
		for f, n := range parts {
			switch {
			case n == r.Sizes[f] && n > 1:
				fmt.Fprintf(&b, " %c", 'i'+f)
			case n > 1:
				fmt.Fprintf(&b, " %c by %d", 'i'+f, n)
			}
		}
		fmt.Fprintf(&b, ", %s, padded", reduction)
		for f, padded := range rule.Paddable(m, op, r) {
			if padded {
				fmt.Fprintf(&b, " %c", 'i'+f)
			}
		}
		b.WriteByte('\n')
		for f, n := range r.Sizes {
			if why := rule.Obstacle(m, op, r, int32(f), n); n > 1 && why != "" {
				fmt.Fprintf(&b, "  %c not by %d: %s\n", 'i'+f, n, why)
			}
		}
	}
	return b.String()
}

// Every elementwise op can be cut along all dimensions in plans, whether Shardy propagates through it or not: an op of CHLO
// without a rule is computed whole on every device.
func TestElementwiseOpsAreCut(t *testing.T) {
	quantized := []ir.Kind{ir.OpUniformQuantize, ir.OpUniformDequantize} // may have a scale for each place along a dimension
	for k := range ir.NumKinds {
		if !k.IsElementwise() && !k.IsBroadcasting() && k != ir.OpChloBroadcastSelect || slices.Contains(quantized, k) ||
			k.Dialect() == "sdy" {
			continue
		}
		m, err := mlir.Parse(t.Context(), []byte("func.func @main(%a: tensor<4x8xf32>) { return }"), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		main, _ := m.Main()
		body := m.Func(main).Body
		a := m.BlockArgs(body)[0]
		operands := slices.Repeat([]ir.ValueID{a}, k.MinOperands())
		op := m.DefiningOp(m.BuilderBefore(m.LastOp(body)).Op1(k, m.Type(a), nil, operands...))
		r := rule.Complete(m, op)
		if r == nil {
			t.Errorf("%s has no rule", k)
			continue
		}
		one := "[i, j]"
		want := "(" + strings.Join(slices.Repeat([]string{one}, len(operands)), ", ") + ")->(" + one + ") {i=4, j=8}"
		if parts, _ := rule.Shardable(m, op, r); r.Format() != want || !slices.Equal(parts, r.Sizes) {
			t.Errorf("%s: %s, of which may be cut %v", k, r.Format(), parts)
		}
		if propagates := rule.Of(m, op, false) != nil; propagates != (k.Dialect() == "stablehlo") {
			t.Errorf("%s propagates: %v", k, propagates)
		}
	}
}

// TestFamiliesSayWhy checks that every family can be named and explained.
func TestFamiliesSayWhy(t *testing.T) {
	for k := ir.OpUnregistered; k < ir.NumKinds; k++ {
		f := rule.KindFamily(k)
		if f == nil {
			continue
		}
		if f.Name == "" || f.Why == "" || strings.HasSuffix(f.Why, ".") || strings.Contains(f.Why, "\n") {
			t.Errorf("%s: name %q and reason %q", k, f.Name, f.Why)
		}
	}
}

// TestVerifyRejects checks the conditions on rules one by one.
func TestVerifyRejects(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	op := m.FirstOp(m.Func(main).Body)
	both := func(dims ...[]int32) *ir.Rule {
		return &ir.Rule{Operands: [][][]int32{dims}, Results: [][][]int32{dims}, Sizes: []int64{4, 8}}
	}
	with := func(r *ir.Rule, change func(*ir.Rule)) *ir.Rule {
		change(r)
		return r
	}
	good := func() *ir.Rule { return both([]int32{0}, []int32{1}) }
	if err := ir.CheckRule(m, op, good()); err != nil {
		t.Fatalf("a good rule is rejected: %v", err)
	}
	for name, r := range map[string]*ir.Rule{
		"maps no operands":                         {Results: good().Results, Sizes: []int64{4, 8}},
		"maps too few dimensions":                  both([]int32{0}),
		"has a dimension without factor":           both([]int32{0}, nil),
		"has a factor without size":                both([]int32{0}, []int32{2}),
		"has a factor twice in a tensor":           both([]int32{0}, []int32{1, 0}),
		"has a factor in no dimension":             with(good(), func(r *ir.Rule) { r.Sizes = append(r.Sizes, 2) }),
		"puts a factor of size 1 beside others":    with(both([]int32{0}, []int32{1, 2}), func(r *ir.Rule) { r.Sizes = []int64{4, 8, 1} }),
		"names a special factor that is not there": with(good(), func(r *ir.Rule) { r.Permutation = []int32{7} }),
		"has special factors out of order":         with(good(), func(r *ir.Rule) { r.Blocked = []int32{1, 0} }),
		"has a factor of two kinds":                with(good(), func(r *ir.Rule) { r.NeedReplication, r.Permutation = []int32{0}, []int32{0} }),
		"reduces a factor of a result":             with(good(), func(r *ir.Rule) { r.Reduction = []int32{0} }),
	} {
		if err := ir.CheckRule(m, op, r); err == nil {
			t.Errorf("a rule is accepted that %s", name)
		}
	}
}
