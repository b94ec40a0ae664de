package autoshard_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/report"
)

// parse reads a model from text.
func parse(t testing.TB, text string) *autoshard.Model {
	t.Helper()
	m, err := autoshard.ReadModel(t.Context(), "test.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Programs as jax.export writes them, with composites, compute what JAX recorded on any devices, and can be emitted.
func TestExportedComposites(t *testing.T) {
	for _, name := range []string{"exported_composites", "exported_moe"} {
		for _, memory := range []int64{0, 110_000} {
			o := options(t)
			o.Memory, o.Steps = memory, 200_000
			if name == "exported_composites" {
				o.Memory /= 9
			}
			p := makePlan(t, readModel(t, "testdata/cases/"+name+".mlir"), o)
			verify(t, p, "testdata/cases/"+name+".in.npz", "testdata/cases/"+name+".out.npz", 1e-4)
			emitAllForms(t, p)
		}
	}
}

func emitAllForms(t *testing.T, p *autoshard.Plan) {
	t.Helper()
	for _, form := range []string{"jax", "stablehlo", "shardmap", "sdy"} {
		if _, err := lowered(t, p).Emit(t.Context(), form); err != nil {
			t.Errorf("%s as %s: %v", p.Model, form, err)
		}
	}
}

// What a composite stands for is cut: its decomposition like any function, ops of CHLO by rules of their own.
func TestCompositesAreCut(t *testing.T) {
	const program = `
func.func @main(%a: tensor<64x4096xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<64x4096xf32>, tensor<64x4096xf32>, tensor<64x3xf32>, tensor<64x3xi32>) {
  %0 = stablehlo.composite "my.relu" %a {decomposition = @my} : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %1 = stablehlo.composite "chlo.erf" %0 {decomposition = @wrong, version = 1 : i32} : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %2:2 = stablehlo.composite "chlo.top_k" %1 {composite_attributes = {is_stable = true, k = 3 : i64}, decomposition = @none, version = 1 : i32} : (tensor<64x4096xf32>) -> (tensor<64x3xf32>, tensor<64x3xi32>)
  return %0, %1, %2#0, %2#1 : tensor<64x4096xf32>, tensor<64x4096xf32>, tensor<64x3xf32>, tensor<64x3xi32>
}
sdy.mesh @m = <["x"=2]>
func.func private @my(%a: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %0 = stablehlo.composite "my.inner" %a {decomposition = @wrong} : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  stablehlo.return %0 : tensor<64x4096xf32>
}
func.func private @wrong(%a: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %0 = stablehlo.tanh %a : tensor<64x4096xf32>
  return %0 : tensor<64x4096xf32>
}
func.func private @none(%a: tensor<64x4096xf32>) -> (tensor<64x3xf32>, tensor<64x3xi32>)`
	m := parse(t, program)
	o := options(t)
	o.Mesh = nil
	p := makePlan(t, m, o)
	for _, out := range p.Outputs {
		if !strings.HasPrefix(out.Spec, "P('x'") {
			t.Errorf("output %d is %s", out.Index, out.Spec)
		}
	}
	if len(p.Collectives) > 0 || !strings.Contains(p.Program, "chlo.erf") || !strings.Contains(p.Program, "chlo.top_k") {
		t.Errorf("%d collectives in\n%s", len(p.Collectives), p.Program)
	}
	emitAllForms(t, p)
	found, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{})
	if err != nil || found.Outputs[3].Spec != p.Outputs[3].Spec {
		t.Errorf("propagation found %v, %v", found, err)
	}
}

// A composite is only taken for the op that it is named after if it makes that op, in the version that is known.
func TestUnlikeComposites(t *testing.T) {
	for _, attrs := range []string{
		"decomposition = @f, version = 2 : i32",
		"decomposition = @f",
		"composite_attributes = {scale = 2 : i64}, decomposition = @f, version = 1 : i32",
	} {
		m := parse(t, `
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.composite "chlo.erf" %a {`+attrs+`} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}`)
		if p := makePlan(t, m, options(t)); !strings.Contains(p.Program, "tanh") || strings.Contains(p.Program, "erf") {
			t.Errorf("%s:\n%s", attrs, p.Program)
		}
	}
}

// A composite with a rule of the user stays: the rule says how it is propagated, and it runs whole.
func TestCompositeWithRule(t *testing.T) {
	m, err := parse(t, `
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.composite "my.turn" %a {decomposition = @f} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @f(%a: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %0 = call @g(%a) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @g(%a: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  stablehlo.return %0 : tensor<4x8xf32>
}`).WithRules([]string{"my.turn: (a b) -> (b a)"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{})
	if err != nil || found.Outputs[0].Spec != "P(None, 'x')" {
		t.Errorf("%v, %v", found, err)
	}
	o := options(t)
	o.Mesh = nil
	p := makePlan(t, m, o)
	in, want := tensor.New(dtype.F32, []int64{8, 4}), tensor.New(dtype.F32, []int64{4, 8})
	for i := range 32 {
		tensor.Elems[float32](in)[i], tensor.Elems[float32](want)[i%4*8+i/4] = float32(i), float32(i)
	}
	if _, err := lowered(t, p).Verify(context.Background(), []*tensor.Tensor{&in}, []*tensor.Tensor{&want},
		autoshard.Tolerance{}); err != nil {
		t.Error(err)
	}
}

// Composites that cannot be inlined are located.
func TestBadComposites(t *testing.T) {
	for what, text := range map[string]string{
		"no body": `
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.composite "my.op" %a {decomposition = @f} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32>`,
		"itself": `
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.composite "my.op" %a {decomposition = @main} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}`,
	} {
		_, err := autoshard.MakePlan(context.Background(), parse(t, text), options(t))
		if d := diag.Diagnostics(err); len(d) == 0 || d[0].Pos.Line != 3 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Shardings that the user wrote at the border of a function stay when it is inlined.
func TestShardingsOfCalls(t *testing.T) {
	m := parse(t, `
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = call @g(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = call @h(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
func.func private @f(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @g(%a: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %0 = stablehlo.tanh %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @h(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}`)
	found, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"P('x', None)", "P(None, 'x')", "P(None, 'x')"} {
		if found.Outputs[i].Spec != want {
			t.Errorf("output %d is %s, want %s", i, found.Outputs[i].Spec, want)
		}
	}
}

// Approximate maxima order elements by a function of the module. Their runs are proved, the function included in the op; a
// shard_map program has no place for it, which is said with the line of the model.
func TestApproximateMaxima(t *testing.T) {
	p := makePlan(t, readModel(t, "testdata/cases/approx_max_k.mlir"), options(t))
	values := make([]float64, 16*256)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	x := tensor.FromFloats(dtype.F32, []int64{16, 256}, values...)
	inputs := []*tensor.Tensor{&x}
	if check, err := lowered(t, p).Verify(t.Context(), inputs, nil, autoshard.Tolerance{}); err != nil {
		t.Fatalf("%v\n%s", err, report.Check(check))
	}
	_, err := lowered(t, p).Emit(t.Context(), "shardmap")
	found := diag.Diagnostics(err)
	if !errors.Is(err, diag.ErrUnsupported) || len(found) == 0 || !strings.HasSuffix(found[0].Pos.File, "approx_max_k.mlir") ||
		found[0].Pos.Line != 10 {
		t.Errorf("got %v", err)
	}
}
