package plan

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/padding"
	"autoshard/program"
	"autoshard/propagate"
)

// annotate returns the annotated program of an example's plan before it is thinned.
func annotate(t *testing.T, name, mesh string, memory int64) *annotation {
	t.Helper()
	p, err := Make(t.Context(), parse(t, "../examples/"+name+".mlir"), Options{Mesh: axes(t, mesh), Memory: memory, Steps: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := program.Parse(t.Context(), p.Program)
	if err != nil {
		t.Fatal(err)
	}
	a := &annotation{m: m}
	if err := a.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	ir.ForgetTrips(m)
	padding.Forget(m)
	return a
}

// What is left of the constraints makes propagation cut every value as the plan does, and each of them is needed for that.
func TestThin(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory int64
	}{{"mlp_train", 50_000}, {"transformer_train", 500_000}, {"llama_train", 300_000}} {
		a := annotate(t, c.name, "4,2", c.memory)
		n := &thinning{annotation: a, kept: make([]bool, len(a.constraints)), at: places(a.constraints), trials: 1000}
		for i := range a.constraints {
			n.kept[i] = a.constraints[i].moves
		}
		if err := n.add(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if wrong, err := n.differing(t.Context(), n.kept); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %d values are cut otherwise than in the plan, %v", c.name, len(wrong), err)
		}
		left := 0
		for i, kept := range n.kept {
			if !kept {
				continue
			}
			if left++; a.constraints[i].moves {
				continue
			}
			n.kept[i] = false
			if wrong, err := n.differing(t.Context(), n.kept); err != nil || len(wrong) == 0 {
				t.Errorf("%s: constraint %d is needless, %v", c.name, i, err)
			}
			n.kept[i] = true
		}
		t.Logf("%s: %d of %d constraints are left", c.name, left, len(a.constraints))
		if 4*left > len(a.constraints) {
			t.Errorf("%s: %d of %d constraints are left", c.name, left, len(a.constraints))
		}
	}
}

// What a loop carries round whole stays whole, although an operation in the loop reads a block of it: no other one reads the result of the
// loop, where the plan says how the loop carries it.
func TestCarriesStayAsPlanned(t *testing.T) {
	m, _, err := program.Parse(t.Context(), `sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %w: tensor<16x16xf32> {
    sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
  %whole = sdy.all_gather [{"model"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<16x16xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %out:4 = stablehlo.while(%i = %zero, %b = %whole, %y = %x, %sum = %w)
    : tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32> attributes {
    sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"model"}, {}]>]>}
    cond {
      %end = stablehlo.constant dense<12> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %z = stablehlo.dot_general %y, %b, contracting_dims = [1] x [0] {
        sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %block = sdy.all_slice [{"model"}, {}] %b out_sharding=<@mesh, [{"model"}, {}]> : tensor<16x16xf32>
      %more = stablehlo.add %sum, %block {
        sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model"}, {}]>]>} : tensor<16x16xf32>
      stablehlo.return %next, %b, %z, %more : tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    }
  return %out#2, %out#3 : tensor<16x16xf32>, tensor<16x16xf32>
}`)
	if err != nil {
		t.Fatal(err)
	}
	a := &annotation{m: m}
	if err := a.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.thin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := propagate.Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := propagate.Run(t.Context(), m, propagate.Options{}); err != nil {
		t.Fatal(err)
	}
	propagate.Disconnect(m)
	loop := m.OpsOf(m.MainFunc().Body, ir.OpWhile)[0]
	if id := dataflow.ShardingOf(m, m.Result(loop, 1)); !alikeCut(m, id, 0) {
		t.Errorf("the loop carries its weights as %v", m.ShardingOf(id))
	}
}
