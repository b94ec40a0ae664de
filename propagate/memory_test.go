package propagate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/priority"
	"autoshard/subaxis"
)

// TestMemory checks that a memory finds each situation again while it grows, and no other.
func TestMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m, known := newMemory(0), map[[5]int32]int32{}
	for range 5000 {
		key := [5]int32{random.Int32N(20), random.Int32N(3)}
		s := situation{plan: key[0], mode: key[1], shardings: make([]ir.ShardingID, random.IntN(3))}
		key[2] = int32(len(s.shardings))
		for i := range s.shardings {
			s.shardings[i] = ir.ShardingID(random.Int32N(12))
			key[3+i] = int32(s.shardings[i])
		}
		id := m.find(s)
		if id != known[key] {
			t.Fatalf("situation %v is known as %d, found as %d", key, known[key], id)
		}
		if id == 0 {
			known[key] = m.add(s, outcome{})
		} else if !m.holds(id, s) {
			t.Fatalf("outcome %d is not of the situation %v that it was found by", id, key)
		}
	}
}

// TestAlikePlans checks for the ops of a model, under random shardings, that the plan that stands for their own gives the
// same outcome, and that factors along which tensors agree may be left out.
func TestAlikePlans(t *testing.T) {
	text, err := os.ReadFile("../examples/transformer_train.mlir")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("model", func(t *testing.T) { checkAlike(t, text, 100) })
	t.Run("products", func(t *testing.T) { checkAlike(t, productsOfAllSizes(), 10) })
}

// productsOfAllSizes returns a program with products in which each of the three tensors is the largest somewhere: which
// one that is decides who gets an axis.
func productsOfAllSizes() []byte {
	var b bytes.Buffer
	b.WriteString("func.func @main() {\n")
	n := 0
	for _, i := range []int{4, 8, 64} {
		for _, j := range []int{4, 8, 64} {
			for _, k := range []int{4, 8, 64} {
				fmt.Fprintf(&b, "%%x%[1]d = stablehlo.custom_call @make() {has_side_effect = true} : () -> tensor<%[2]dx%[4]dxf32>\n"+
					"%%y%[1]d = stablehlo.custom_call @make() {has_side_effect = true} : () -> tensor<%[4]dx%[3]dxf32>\n"+
					"%%z%[1]d = stablehlo.dot_general %%x%[1]d, %%y%[1]d, contracting_dims = [1] x [0] : "+
					"(tensor<%[2]dx%[4]dxf32>, tensor<%[4]dx%[3]dxf32>) -> tensor<%[2]dx%[3]dxf32>\n", n, i, j, k)
				n++
			}
		}
	}
	b.WriteString("return\n}\n")
	return b.Bytes()
}

// checkAlike checks a program in which at least some ops have the plan of others.
func checkAlike(t *testing.T, text []byte, least int) {
	m, err := mlir.Parse(t.Context(), text, mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh := m.AddMesh("grid", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "a", Size: 2}, {Name: "b", Size: 4}, {Name: "c", Size: 3}}}, nil, 0)
	if err := Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t.Context(), m, Options{})
	e.aggressive = true
	random, alike, moved := rand.New(rand.NewPCG(3, 4)), 0, 0
	for op := range e.rows {
		row := &e.rows[op]
		if row.plan == 0 {
			continue
		}
		own := e.plans[row.plan]
		own.whole = false
		for range 20 {
			e.current = e.current[:0]
			for tensor := range row.n {
				e.current = append(e.current, randomSharding(random, m, mesh, len(dimsOf(own.rule, int(tensor)))))
			}
			move := priority.Move{PassThrough: priority.Direction(random.IntN(4)), Special: priority.Direction(random.IntN(4))}
			want, got := e.propagate(row, &own, move), e.propagate(row, &e.plans[own.like], move)
			if !slices.Equal(want.updates, got.updates) || want.moves != got.moves || want.refusals != got.refusals {
				t.Fatalf("%s by its own plan: %+v, by plan %d: %+v", m.OpName(ir.OpID(op)), want, own.like, got)
			}
			moved += len(want.updates)
		}
		if own.like != row.plan {
			alike++
		}
	}
	if alike < least || moved < 10*least {
		t.Errorf("%d ops with the plan of others and %d updates: too few for the test to say anything", alike, moved)
	}
}

// randomSharding returns a sharding with each axis on some dimension, replicated, or nowhere; 0 sometimes.
func randomSharding(random *rand.Rand, m *ir.Module, mesh ir.MeshID, rank int) ir.ShardingID {
	if random.IntN(4) == 0 {
		return 0
	}
	s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, rank)}
	for d := range s.Dims {
		s.Dims[d].Closed, s.Dims[d].Priority = random.IntN(4) == 0, ir.NoPriority
	}
	for i := range m.Mesh(mesh).Axes {
		switch at := random.IntN(rank + 3); {
		case at < rank:
			s.Dims[at].Axes = append(s.Dims[at].Axes, m.Mesh(mesh).Full(i))
		case at == rank && random.IntN(3) == 0:
			s.Replicated = append(s.Replicated, m.Mesh(mesh).Full(i))
		}
	}
	return m.InternSharding(s)
}
