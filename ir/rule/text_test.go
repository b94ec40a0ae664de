package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/rule"
)

// customOp returns a module with one custom call of a target, on tensors of the given shapes.
func customOp(target string, operands, results [][]int64) (*ir.Module, ir.OpID) {
	m := ir.NewModule()
	types := func(shapes [][]int64) (out []ir.TypeID) {
		for _, s := range shapes {
			out = append(out, m.TensorType(dtype.F32, s...))
		}
		return out
	}
	f := m.AddFunc(ir.FuncSpec{Name: "main", Args: types(operands)})
	b := m.BuilderAtEnd(m.Func(f).Body)
	op := b.Op(ir.OpCustomCall, types(results),
		ir.MakeAttrs(ir.NamedAttr{Name: "call_target_name", Value: ir.StringAttr(target)}), m.BlockArgs(m.Func(f).Body)...)
	b.Op(ir.OpReturn, nil, nil)
	return m, op
}

// attention are the shapes of an attention over 8 heads, 16 queries and 32 keys.
var attention = [][]int64{{4, 16, 8, 64}, {4, 32, 8, 64}, {4, 32, 8, 64}}

// TestText reads rules for an operation, or shows where they are wrong.
func TestText(t *testing.T) {
	for _, test := range []struct {
		operands, results [][]int64
		text, want        string
	}{
		{attention, attention[:1], "(b s h d, b t h d, b t h d) -> (b s h d) reduction={t}",
			"([i, j, k, l], [i, m, k, l], [i, m, k, l])->([i, j, k, l]) {i=4, j=16, k=8, l=64, m=32} reduction={m}, custom"},
		{[][]int64{{32}}, [][]int64{{8, 4}}, "((a b)) -> (a b)", "([ij])->([i, j]) {i=8, j=4}, custom"},
		{[][]int64{{32}}, [][]int64{{8}}, "((a=8 b)) -> (a) reduction={b}", "([ij])->([i]) {i=8, j=4} reduction={j}, custom"},
		{[][]int64{{32}}, [][]int64{{32}}, "((a b)) -> ((a b)) b=4", "([ij])->([ij]) {i=8, j=4}, custom"},
		{[][]int64{{6, 24}}, [][]int64{{144}}, "(a (b c)) -> ((a b c)), c=2", "([i, jk])->([ijk]) {i=6, j=12, k=2}, custom"},
		{[][]int64{{8}, {}}, [][]int64{{}}, "(a, ) -> () reduction={a}", "([i], [])->([]) {i=8} reduction={i}, custom"},
		{[][]int64{{8, 4, 2}}, [][]int64{{8, 4, 2}}, "(a b c) -> (a b c) permutation={b} need_replication={c} blocked={c, a}",
			"([i, j, k])->([i, j, k]) {i=8, j=4, k=2} need_replication={k} permutation={j} blocked_propagation={i, k}, custom"},
		{[][]int64{{1, 1}}, [][]int64{{1, 1}}, "(x y_2) -> (x y_2)", "([i, j])->([i, j]) {i=1, j=1}, custom"},

		{[][]int64{{8}}, [][]int64{{8}}, "(a -> (a)", "1:4: expected the name of a factor, found '-'"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a) (a)", "1:5: expected `->`, found '('"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a) -> (a", "1:10: expected `)`, found the end of the rule"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a) -> (a) reductoin={a}", "1:12: unknown list of factors `reductoin`, did you mean `reduction`?"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a) -> (a) blocked={a} blocked={a}", "1:24: `blocked` is given twice"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a) -> (a) reduction={é}", "1:23: expected the name of a factor, found 'é'"},
		{[][]int64{{8}}, [][]int64{{8}}, "(()) -> (a)", "1:2: a dimension has at least one factor"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a=0) -> (a)", "1:4: size of factor `a` must be between 1 and 2^63-1"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a) -> (b) reduction={c}", "1:23: factor `c` is in no operand or result"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a) -> (a) reduction={a}",
			"1:23: reduction factor `a` is in a result: what is summed away has no dimension there"},
		{[][]int64{{8}}, [][]int64{{4}}, "(a) -> (b) reduction={a} permutation={a}", "1:39: factor `a` is in `reduction` and in `permutation`"},
		{[][]int64{{8}}, [][]int64{{4}}, "(a) -> (b) reduction={a a}", "1:25: factor `a` stands twice in `reduction`"},
		{[][]int64{{8}}, [][]int64{{4}}, "(a) -> (b) blocked={a a}", "1:23: factor `a` stands twice in `blocked`"},
		{[][]int64{{8, 8}}, [][]int64{{4}}, "(a a) -> (b)", "1:4: factor `a` stands twice in operand 0"},
		{[][]int64{{8}}, [][]int64{{4}}, "(a) -> (a)", "1:9: factor `a` has size 8, dimension 0 of result 0 has size 4: give it another name"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a b) -> (a)", "1:2: operand 0 has 2 dimensions in the rule, its type is tensor<8xf32>"},
		{[][]int64{{8}}, [][]int64{{8}}, "(a, b) -> (a)", "1:1: rule has 2 operands, the operation has 1"},
		{[][]int64{{32}}, [][]int64{{32}}, "((a b)) -> ((a b))",
			"1:2: the size of factor `a` does not follow from dimension 0 of operand 0 of size 32: add a size such as `a=2`"},
		{[][]int64{{32}}, [][]int64{{32}}, "((a b)) -> ((a b)) a=5",
			"1:2: dimension 0 of operand 0 has size 32, which its factors do not divide into"},
		{[][]int64{{32}}, [][]int64{{32}}, "((a=8 b=8)) -> ((a b))",
			"1:2: dimension 0 of operand 0 has size 32, which its factors do not divide into"},
		{[][]int64{{32}}, [][]int64{{32}}, "(a=8) -> (a=4)", "1:11: factor `a` has size 8 and size 4"},
		{[][]int64{{32}}, [][]int64{{32}}, "((a=32 b)) -> (a)",
			"1:2: dimension 0 of operand 0 has a factor of size 1 beside others: leave it out"},
		{[][]int64{{0}}, [][]int64{{0}}, "(a) -> (a)", "1:2: dimension 0 of operand 0 has size 0, which has no factors"},
		{[][]int64{{ir.Dynamic}}, [][]int64{{8}}, "(a) -> (a)", "1:2: operand 0 has type tensor<?xf32>, a rule is for tensors of known shape"},
	} {
		m, op := customOp("f", test.operands, test.results)
		if got := readRule(t, m, op, test.text); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// readRule returns the rule of a text in Shardy's form, or its error.
func readRule(t *testing.T, m *ir.Module, op ir.OpID, text string) string {
	pos := diag.Position{Line: 1, Col: 1}
	parsed, err := rule.ParseText(text, pos, "")
	if err == nil {
		var r *ir.Rule
		if r, err = parsed.Rule(m, op); err == nil {
			if err := ir.CheckRule(m, op, r); err != nil {
				t.Errorf("%s: the verifier refuses it: %v", text, err)
			}
			return r.Format()
		}
	}
	d := diag.Diagnostics(err)
	if len(d) != 1 || d[0].Source != text || d[0].Code != diag.BadRule {
		t.Errorf("%s: wrong diagnostics %+v", text, d)
	}
	return fmt.Sprintf("%s: %s", d[0].Pos, d[0].Message)
}

// Every rule of factors larger than 1 is read back from its text, whatever the names.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(2, 5), 1, 5).Draw(t, "sizes")
		tensors := func(n int, from []int32) (out [][][]int32) {
			for range n {
				list := rapid.Permutation(from).Draw(t, "factors")
				list = list[:rapid.IntRange(0, len(list)).Draw(t, "used")]
				dims := [][]int32{}
				for len(list) > 0 {
					k := rapid.IntRange(1, len(list)).Draw(t, "joined")
					dims, list = append(dims, list[:k]), list[k:]
				}
				out = append(out, dims)
			}
			return out
		}
		all := []int32{}
		for f := range sizes {
			all = append(all, int32(f))
		}
		in, out := tensors(2, all), tensors(1, all)
		text := "(" + factorText(in) + ") -> (" + factorText(out) + ")"
		for f, size := range sizes {
			if strings.Contains(text, fmt.Sprintf("f%d ", f)) {
				text += fmt.Sprintf(" f%d=%d", f, size)
			}
		}
		shapes := func(tensors [][][]int32) (out [][]int64) {
			for _, dims := range tensors {
				shape := []int64{}
				for _, factors := range dims {
					n := int64(1)
					for _, f := range factors {
						n *= sizes[f]
					}
					shape = append(shape, n)
				}
				out = append(out, shape)
			}
			return out
		}
		m, op := customOp("f", shapes(in), shapes(out))
		parsed, err := rule.ParseText(text, diag.Position{}, "")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		r, err := parsed.Rule(m, op)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		back := renamed(text)
		if want := "(" + factorText(r.Operands) + ") -> (" + factorText(r.Results) + ")"; !strings.HasPrefix(back, want) {
			t.Fatalf("%s becomes %s", back, want)
		}
	})
}

// factorText writes factors as f0, f1, …, with a space behind each.
func factorText(tensors [][][]int32) string {
	var parts []string
	for _, dims := range tensors {
		part := ""
		for _, factors := range dims {
			part += "("
			for _, f := range factors {
				part += fmt.Sprintf("f%d ", f)
			}
			part += ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

// renamed numbers the factors of a text in the order in which they come, as a rule does.
func renamed(text string) string {
	index := map[string]int{}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		b.WriteByte(text[i])
		if text[i] == 'f' {
			name := text[i+1 : i+2]
			if _, ok := index[name]; !ok {
				index[name] = len(index)
			}
			b.WriteString(fmt.Sprint(index[name]))
			i++
		}
	}
	return b.String()
}

// TestApplyUser names operations by custom call target, by composite name and by their full name.
func TestApplyUser(t *testing.T) {
	for spec, want := range map[string]string{
		"my_op: (a) -> (a)":                 "([i])->([i]) {i=8}, custom",
		"stablehlo.custom_call: (a) -> (b)": "([i])->([j]) {i=8, j=8}, custom",
		"my_pp: (a) -> (a)":                 "1:1: the model has no operation `my_pp`, did you mean `my_op`?",
		"(a) -> (a)":                        "1:1: rule has no name before it: write NAME: (a b, b c) -> (a c)",
		"my_op: (a) -> (a b)":               "1:16: result 0 has 2 dimensions in the rule, its type is tensor<8xf32>",
	} {
		m, op := customOp("my_op", [][]int64{{8}}, [][]int64{{8}})
		got := ""
		named, err := rule.ParseNamed(spec, diag.Position{File: "", Line: 1, Col: 1})
		if err == nil {
			err = rule.ApplyUser(m, []*rule.Named{named})
		}
		if err != nil {
			d := diag.Diagnostics(err)[0]
			got = fmt.Sprintf("%s: %s", d.Pos, d.Message)
		} else {
			got = rule.Of(m, op, false).Format()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", spec, got, want)
		}
	}
	m, _ := customOp("my_op", [][]int64{{8}}, [][]int64{{8}})
	named, err := rule.ParseNamed("my_op: (a) -> (a)", diag.Position{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rule.ApplyUser(m, []*rule.Named{named, named}); err == nil {
		t.Error("two rules for one operation are accepted")
	}
}

func FuzzText(f *testing.F) {
	f.Add("(b s h d, b t h d, b t h d) -> (b s h d) reduction={t}")
	f.Add("((a=2 b), ) -> (a b) permutation={a} blocked={b}, b=4")
	f.Fuzz(func(t *testing.T, text string) {
		m, op := customOp("f", [][]int64{{8}, {}}, [][]int64{{2, 4}})
		parsed, err := rule.ParseText(text, diag.Position{Line: 1, Col: 1}, "")
		if err != nil {
			return
		}
		r, err := parsed.Rule(m, op)
		if err != nil {
			return
		}
		if err := ir.CheckRule(m, op, r); err != nil {
			t.Fatalf("%q: the verifier refuses the rule: %v", text, err)
		}
	})
}
