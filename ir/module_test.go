package ir

import (
	"slices"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// usesByScan reads the uses of a value off the ops, the slow way.
func usesByScan(m *Module, v ValueID) map[Use]bool {
	out := map[Use]bool{}
	main, _ := m.Main()
	m.Walk(m.Func(main).Body, func(op OpID) {
		for i := range m.NumOperands(op) {
			if m.Operand(op, i) == v {
				out[Use{op, i}] = true
			}
		}
	})
	return out
}

// The functions and meshes of a module come in its order, those at hand may be erased, and declarations are no definitions.
func TestFuncsAndMeshes(t *testing.T) {
	m := NewModule()
	mesh := m.AddMesh("mesh", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}}}, nil, 0)
	m.AddMesh("", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "y", Size: 2}}}, nil, 0)
	main := m.AddFunc(FuncSpec{Name: "main"})
	declared := m.AddFunc(FuncSpec{Name: "declared", Declaration: true})
	last := m.AddFunc(FuncSpec{Name: "last"})
	if got := slices.Collect(m.Funcs()); !slices.Equal(got, []FuncID{main, declared, last}) {
		t.Errorf("functions %v", got)
	}
	if got := slices.Collect(m.Definitions()); !slices.Equal(got, []FuncID{main, last}) {
		t.Errorf("definitions %v", got)
	}
	for f := range m.Funcs() {
		if f != last {
			m.Erase(m.Func(f).Op)
		}
	}
	if got := slices.Collect(m.Funcs()); !slices.Equal(got, []FuncID{last}) {
		t.Errorf("functions %v are left", got)
	}
	if got := slices.Collect(m.NamedMeshes()); !slices.Equal(got, []MeshID{mesh}) {
		t.Errorf("meshes %v", got)
	}
}

// Any sequence of inserting, rewiring and erasing leaves use chains that agree with the operands.
func TestUsesFollowEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewModule()
		f32 := m.TensorType(dtype.F32, 4)
		main := m.AddFunc(FuncSpec{Name: "main", Args: []TypeID{f32, f32}})
		body := m.Func(main).Body
		values := slices.Clone(m.BlockArgs(body))
		b := m.BuilderAtEnd(body)
		pick := func() ValueID { return rapid.SampledFrom(values).Draw(t, "value") }
		for range rapid.IntRange(1, 30).Draw(t, "edits") {
			switch rapid.IntRange(0, 3).Draw(t, "edit") {
			case 0, 1:
				values = append(values, b.Op1(OpAdd, f32, nil, pick(), pick()))
			case 2:
				m.ReplaceUses(pick(), pick())
			case 3:
				v := pick()
				if op := m.DefiningOp(v); op != 0 && !m.HasUses(v) {
					m.Erase(op)
					values = slices.DeleteFunc(values, func(o ValueID) bool { return o == v })
				}
			}
		}
		for _, v := range values {
			want := usesByScan(m, v)
			n := 0
			for u := range m.Uses(v) {
				if !want[u] {
					t.Fatalf("value %d lists a use %v that no op has", v, u)
				}
				n++
			}
			if n != len(want) || m.HasUses(v) != (n > 0) || m.HasOneUse(v) != (n == 1) {
				t.Fatalf("value %d lists %d uses of %d", v, n, len(want))
			}
			if only, ok := m.OnlyUse(v); ok != (n == 1) || ok && !want[only] {
				t.Fatalf("value %d has %d uses, and %v as the only one", v, n, only)
			}
			readers := map[OpID]bool{}
			for use := range want {
				readers[use.Op] = true
			}
			if reader := m.OnlyReader(v); (reader != 0) != (len(readers) == 1) || reader != 0 && !readers[reader] {
				t.Fatalf("value %d has the readers %v, and %v as the only one", v, readers, reader)
			}
		}
	})
}

// A call chain main -> f -> g, each adding its argument to itself.
func callChain(t *testing.T) *Module {
	t.Helper()
	m := NewModule()
	f32 := m.TensorType(dtype.F32, 4)
	types := []TypeID{f32}
	for _, name := range []string{"main", "f", "g"} {
		id := m.AddFunc(FuncSpec{Name: name, Args: types, Results: types})
		body := m.Func(id).Body
		b := m.BuilderAtEnd(body)
		v := b.Op1(OpAdd, f32, nil, m.BlockArgs(body)[0], m.BlockArgs(body)[0])
		if callee := map[string]string{"main": "f", "f": "g"}[name]; callee != "" {
			v = b.Op1(OpCall, f32, MakeAttrs(NamedAttr{"callee", SymbolAttr{callee}}), v)
		}
		b.Op(OpReturn, nil, nil, v)
	}
	return m
}

func kinds(m *Module, b BlockID) []Kind {
	var out []Kind
	for op := range m.Ops(b) {
		out = append(out, m.Kind(op))
	}
	return out
}

// An op that reads a value twice has it as one operand among those that are distinct, and is its only reader.
func TestDistinctOperands(t *testing.T) {
	m := callChain(t)
	body := m.MainFunc().Body
	arg, add := m.BlockArgs(body)[0], m.FirstOp(body)
	if got := m.DistinctOperands(add); !slices.Equal(got, []ValueID{arg}) || m.NumOperands(add) != 2 {
		t.Errorf("operands %v, of %d", got, m.NumOperands(add))
	}
	if _, once := m.OnlyUse(arg); once || m.OnlyReader(arg) != add {
		t.Errorf("read once: %t, by op %d, want %d alone", once, m.OnlyReader(arg), add)
	}
}

func TestInlineCalls(t *testing.T) {
	m := callChain(t)
	before := m.Clone()
	if err := InlineCalls(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	if got, want := kinds(m, m.Func(main).Body), []Kind{OpAdd, OpAdd, OpAdd, OpReturn}; !slices.Equal(got, want) {
		t.Errorf("main has %v, want %v", got, want)
	}
	if _, ok := m.LookupFunc("g"); ok {
		t.Error("an inlined function is still there")
	}
	if _, ok := before.LookupFunc("g"); !ok {
		t.Error("inlining changed a clone")
	}
}

func TestInlineRecursionFails(t *testing.T) {
	m := callChain(t)
	g, _ := m.LookupFunc("g")
	ret := m.LastOp(m.Func(g).Body)
	arg := m.BlockArgs(m.Func(g).Body)[0]
	m.BuilderBefore(ret).Op1(OpCall, m.Type(arg), MakeAttrs(NamedAttr{"callee", SymbolAttr{"f"}}), arg)
	if err := InlineCalls(t.Context(), m); err == nil {
		t.Error("recursive calls were inlined")
	}
}

func TestEraseDead(t *testing.T) {
	m := callChain(t)
	g, _ := m.LookupFunc("g")
	body := m.Func(g).Body
	b := m.BuilderBefore(m.LastOp(body))
	arg := m.BlockArgs(body)[0]
	b.Op1(OpTanh, m.Type(arg), nil, b.Op1(OpTanh, m.Type(arg), nil, arg))
	b.Op1(OpCustomCall, m.Type(arg), nil, arg)
	EraseDead(m)
	if got, want := kinds(m, body), []Kind{OpAdd, OpCustomCall, OpReturn}; !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

var testMesh = subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}}

func TestShardingsAreInterned(t *testing.T) {
	m := NewModule()
	mesh := m.AddMesh("mesh", testMesh, nil, 0)
	x := testMesh.Full(0)
	s := Sharding{Mesh: mesh, Dims: []DimSharding{{Axes: ShardAxes{x}, Priority: 1}, {Closed: true, Priority: NoPriority}}}
	id := m.InternSharding(s)
	if again := m.InternSharding(s.Clone()); again != id {
		t.Errorf("equal shardings have ids %d and %d", id, again)
	}
	if got, want := m.FormatSharding(id), `<@mesh, [{"x", ?}p1, {}]>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := s.LocalDims([]int64{9, 5}), []int64{3, 5}; !slices.Equal(got, want) {
		t.Errorf("local shape %v, want %v", got, want)
	}
}

// An op that takes the place of another one has its position, unless it has one itself.
func TestInheritPos(t *testing.T) {
	m := NewModule()
	b := m.BuilderAtEnd(m.Body())
	old, made, read := b.Op(OpReturn, nil, nil), b.Op(OpReturn, nil, nil), b.Op(OpReturn, nil, nil)
	m.SetPos(old, diag.Position{File: "a.mlir", Line: 3, Col: 5})
	m.SetPos(read, diag.Position{File: "a.mlir", Line: 7, Col: 1})
	m.InheritPos(made, old)
	m.InheritPos(read, old)
	if m.OpPos(made).Line != 3 || m.OpPos(read).Line != 7 {
		t.Errorf("the ops are at %v and %v", m.OpPos(made), m.OpPos(read))
	}
}

// Conversions of tensors to their own type are erased, with what they pass on handed to whoever read it; those with shardings stay.
func TestEraseIdentities(t *testing.T) {
	m := NewModule()
	mesh := m.AddMesh("mesh", testMesh, nil, 0)
	typ, wide := m.TensorType(dtype.F32, 4), m.TensorType(dtype.F64, 4)
	f := m.Func(m.AddFunc(FuncSpec{Name: "main", Args: []TypeID{typ}, Results: []TypeID{typ, wide}}))
	b, arg := m.BuilderAtEnd(f.Body), m.BlockArgs(f.Body)[0]
	same := b.Op1(OpConvert, typ, nil, arg)
	kept := b.Op1(OpConvert, typ, nil, same)
	m.SetSharding(kept, m.Replicated(mesh, 1, true))
	b.Op(OpReturn, nil, nil, kept, b.Op1(OpConvert, wide, nil, kept))
	EraseIdentities(m)
	left := m.OpsOf(f.Body, OpConvert)
	if len(left) != 2 || m.Operand(left[0], 0) != arg || m.Result(left[0], 0) != kept || m.Operand(left[1], 0) != kept {
		t.Errorf("%d conversions are left", len(left))
	}
}
