package propagate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"
	"autoshard/trace"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawGiven returns another sharding for an argument or result: that of another random program over the same mesh.
func drawGiven(t *rapid.T, m *ir.Module) propagate.Given {
	main, _ := m.Main()
	f := m.Func(main)
	args := m.BlockArgs(f.Body)
	i := rapid.IntRange(0, len(args)+len(f.ResultTypes)-1).Draw(t, "value")
	g := propagate.Given{Index: i}
	var shape []int64
	if i < len(args) {
		shape = m.Shape(args[i])
	} else {
		g.Result, g.Index = true, i-len(args)
		shape = m.TypeOf(f.ResultTypes[g.Index]).Dims
	}
	mesh, ok := m.LookupMesh("mesh")
	if !ok || rapid.IntRange(0, 5).Draw(t, "none") == 0 {
		return g
	}
	s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, len(shape))}
	axes := rapid.Permutation(axisNumbers(m.Mesh(mesh))).Draw(t, "axes")
	for d := range s.Dims {
		dim := &s.Dims[d]
		dim.Priority = rapid.SampledFrom([]int32{ir.NoPriority, ir.NoPriority, 0, 1, 2}).Draw(t, "priority")
		if dim.Closed = rapid.Bool().Draw(t, "closed"); len(axes) > 0 && rapid.Bool().Draw(t, "sharded") {
			dim.Axes, axes = ir.ShardAxes{m.Mesh(mesh).Full(axes[0])}, axes[1:]
		}
		if dim.Closed && len(dim.Axes) == 0 {
			dim.Priority = ir.NoPriority
		}
	}
	g.Sharding = &s
	return g
}

func axisNumbers(mesh *ir.MeshDecl) []int {
	var list []int
	for i := range mesh.Axes {
		list = append(list, i)
	}
	return list
}

// answer is what a propagation gives: the program and the trace.
func answer(m *ir.Module, tr *trace.Trace) string {
	return string(mlir.Print(m, mlir.PrintOptions{})) + traceText(m, tr)
}

// TestSessionIsCold: whatever a session was asked before, it answers as a propagation from the start.
func TestSessionIsCold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := mlir.Parse(t.Context(), []byte(randomProgram(rapid.Int64Range(0, 1<<40).Draw(t, "seed"))), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := drawOptions(t)
		s, err := propagate.NewSession(t.Context(), m, o)
		if err != nil {
			t.Skipf("not importable: %v", err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			g := drawGiven(t, m)
			warm, warmTrace, err := s.Run(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			cold, coldTrace, err := coldRun(m, o, g)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(answer(cold, coldTrace), answer(warm, warmTrace)); diff != "" {
				t.Fatalf("(-cold +warm):\n%s", diff)
			}
		}
	})
}

func coldRun(m *ir.Module, o propagate.Options, g propagate.Given) (*ir.Module, *trace.Trace, error) {
	c := m.Clone()
	var id ir.ShardingID
	if g.Sharding != nil {
		id = c.InternSharding(*g.Sharding)
	}
	main, _ := c.Main()
	if g.Result {
		c.Func(main).ResultShardings[g.Index] = id
	} else {
		c.SetSharding(c.BlockArgs(c.Func(main).Body)[g.Index], id)
	}
	if err := propagate.Import(context.Background(), c); err != nil {
		return nil, nil, err
	}
	tr, err := propagate.Run(context.Background(), c, o)
	return c, tr, err
}

// BenchmarkSession compares a session with a propagation from the start, each with one changed argument.
func BenchmarkSession(b *testing.B) {
	file := filepath.Join("..", "examples", "transformer_train_megatron_priorities.mlir")
	if shared := os.Getenv("AUTOSHARD_SHARED"); shared != "" {
		file = filepath.Join(shared, "models", "llama3_8b_train_scan_fsdp_tp.mlir")
	}
	modules := []struct {
		name string
		m    *ir.Module
	}{{"model", readModel(b, file)}, {"chain", chain(3333)}}
	for _, c := range modules {
		mesh, _ := c.m.LookupMesh("mesh")
		rank := len(c.m.Shape(c.m.BlockArgs(c.m.Func(1).Body)[0]))
		given := func(i int) propagate.Given {
			s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, rank)}
			for d := range s.Dims {
				s.Dims[d].Priority = ir.NoPriority
			}
			if rank > 0 {
				s.Dims[i%rank].Axes = ir.ShardAxes{c.m.Mesh(mesh).Full(i % len(c.m.Mesh(mesh).Axes))}
			}
			return propagate.Given{Sharding: &s}
		}
		b.Run(fmt.Sprint(c.name, "/cold"), func(b *testing.B) {
			for i := range b.N {
				if _, _, err := coldRun(c.m, propagate.Options{}, given(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint(c.name, "/session"), func(b *testing.B) {
			s, err := propagate.NewSession(b.Context(), c.m, propagate.Options{})
			if err != nil {
				b.Fatal(err)
			}
			for i := range b.N {
				if _, _, err := s.Run(b.Context(), given(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
