package specialize_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/specialize"
)

// FuzzRun makes any program static for any sizes: it ends without a panic, and what it makes is a program without unknown
// sizes.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("../testdata/specialize/*.mlir")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src), int64(4), int64(7))
	}
	f.Fuzz(func(t *testing.T, text string, a, b int64) {
		m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
		if err != nil || ir.Verify(t.Context(), m) != nil {
			return
		}
		main, ok := m.Main()
		if !ok || m.IsDeclaration(main) {
			return
		}
		var sizes []specialize.Size
		for i, v := range m.BlockArgs(m.Func(main).Body) {
			for d, n := range m.Shape(v) {
				if n == ir.Dynamic {
					name := "arg" + strconv.Itoa(i) + "[" + strconv.Itoa(d) + "]"
					sizes = append(sizes, specialize.Size{Name: name, Value: []int64{a, b}[d%2]})
				}
			}
		}
		if _, err := specialize.Run(t.Context(), m, specialize.Options{Sizes: sizes}); err != nil {
			if len(diag.Diagnostics(err)) == 0 {
				t.Errorf("not located: %v", err)
			}
			return
		}
		for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
			op, typ := m.DefiningOp(v), m.ValueType(v)
			if op != 0 && m.OpBlock(op) != 0 && typ.Kind == ir.TensorKind && !typ.IsStatic() && inMain(m, op) {
				t.Fatalf("the result of `%s` has no size", m.OpName(op))
			}
		}
	})
}

func inMain(m *ir.Module, op ir.OpID) bool {
	return m.AncestorIn(op, m.MainFunc().Body) != 0
}
