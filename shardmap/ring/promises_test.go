package ring_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"

	"pgregory.net/rapid"
)

var ways = []ring.Way{ring.OneWay, ring.BothWays}

// A trial writes rings beside the product of a candidate and changes nothing of what the program computes. In the place of what
// it could replace, such a ring computes the same; where halves of chunks walk both ways, they go to different neighbours.
func TestTrialsStandBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := lower(t, drawExample(t).text, false)
		found := ring.Find(plain)
		if len(found) != 1 {
			t.Fatalf("%d candidates, want one", len(found))
		}
		c := &found[0]
		args := drawArgs(t, plain, plain.Mesh.Devices())
		want := run(t, plain, args)
		for _, way := range ways {
			if !c.Allows(way) {
				continue
			}
			p := plain.Clone()
			m := p.Module
			written := ring.NewTrial(p).Write(c, way)
			if err := ir.Verify(context.Background(), m); err != nil {
				t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
			}
			for _, step := range written.Steps {
				for i, op := range step.Permutes {
					if got, want := shardmap.PermOf(m, op), way.Sends(c.Steps); len(step.Permutes) != len(want) || !slices.Equal(got, want[i]) {
						t.Fatalf("part %d of a chunk goes along %v, want %v", i, got, want)
					}
				}
			}
			if sends := way.Sends(c.Steps); len(sends) > 1 && slices.Equal(sends[0], sends[1]) {
				t.Fatalf("both halves go along %v", sends[0])
			}
			for d, got := range run(t, p, args) {
				if !got[0].Equal(*want[d][0]) {
					t.Fatalf("beside a %s ring the program computes %v, want %v", way, got[0], want[d][0])
				}
			}
			m.ReplaceUses(replaceable(p, c), written.Results[0])
			for d, got := range run(t, p, args) {
				if !near(got[0], want[d][0]) {
					t.Fatalf("a %s ring computes %v, want %v", way, got[0], want[d][0])
				}
			}
		}
	})
}

// replaceable returns the value that a ring stands for: what is scattered, or the product of what is gathered.
func replaceable(p *shardmap.Program, c *ring.Candidate) ir.ValueID {
	if x := &p.Collectives[c.Collective]; x.Kind == collectives.ReduceScatter {
		return p.Module.Result(x.Op, 0)
	}
	return p.Module.Result(ring.Products([]ring.Candidate{*c})[0], 0)
}

func drawArgs(t *rapid.T, p *shardmap.Program, devices int64) [][]*tensor.Tensor {
	args := make([][]*tensor.Tensor, devices)
	for d := range args {
		for _, v := range p.Module.BlockArgs(p.Module.Func(p.Main).Body) {
			args[d] = append(args[d], drawBlock(t, p.Module.ValueType(v), true))
		}
	}
	return args
}

// Rewrite refuses the ways that a candidate does not allow, and no others.
func TestAllowedWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawExample(t).text
		allowed := ring.Find(lower(t, text, false))[0]
		for _, way := range ways {
			asked := text
			for _, other := range ways {
				asked = strings.Replace(asked, `"`+other.String()+`"`, `"`+way.String()+`"`, 1)
			}
			err := ring.Rewrite(context.Background(), lower(t, asked, false))
			if allowed.Allows(way) != (err == nil) || err != nil && !errors.Is(err, diag.ErrInvalid) {
				t.Fatalf("a %s ring of %d chunks of %d: allowed %t, but %v", way, allowed.Steps, allowed.Extent, allowed.Allows(way), err)
			}
		}
	})
}

// Find names the candidates in the order of the program's collectives, and none where others use what is gathered.
func TestFindNeedsTheProductAlone(t *testing.T) {
	gathered := `sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %g = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  %h = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  %d = stablehlo.dot_general %w, %h, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = stablehlo.dot_general %g, %d, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d, %e : tensor<4x4xf32>, tensor<4x4xf32>
}`
	for text, want := range map[string][]int{
		gathered: {0, 1},
		strings.Replace(gathered, "return %d", "return %g", 1):         {1},
		strings.Replace(gathered, "%w, %h", "%h, %h", 1):               {0},
		strings.Replace(gathered, "return %d, %e", "return %g, %h", 1): nil,
	} {
		m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		id, _ := m.LookupMesh("mesh")
		p, err := shardmap.Lower(t.Context(), m, id)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, c := range ring.Find(p) {
			got = append(got, c.Collective)
		}
		if !slices.Equal(got, want) {
			t.Errorf("candidates %v, want %v in\n%s", got, want, text)
		}
	}
}

// Partial products of narrow floats are added up in f32, others in their own type.
func TestSumType(t *testing.T) {
	for product, want := range map[dtype.Type]dtype.Type{dtype.BF16: dtype.F32, dtype.F16: dtype.F32, dtype.F32: dtype.F32,
		dtype.F64: dtype.F64, dtype.I8: dtype.I8, dtype.C64: dtype.C64} {
		if got := ring.SumType(product); got != want {
			t.Errorf("parts of %v are added up in %v, want %v", product, got, want)
		}
	}
}
