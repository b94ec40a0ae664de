package advice_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/advice"
	"autoshard/shardmap/typed"
)

// products are programs in which a product waits for the collective beside it.
var products = map[string]string{
	"a sum that is scattered": `in_specs=(P(None, 'i'), P('i')) out_specs=(P('i'),)
lambda x:f32[8,2] w:f32[2,4]
  terms:f32[8,4] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] x w
  y:f32[2,4] = psum_scatter[axes=(i,), dim=0] terms
  return y
`,
	"a sum": `in_specs=(P(None, 'i'), P('i')) out_specs=(P(),)
lambda x:f32[8,2] w:f32[2,4]
  terms:f32[8,4] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] x w
  y:f32[8,4] = psum[axes=(i,)] terms
  return y
`,
	"a gather": `in_specs=(P('i'), P()) out_specs=(P(),) check=false
lambda x:f32[2,8] w:f32[8,4]
  whole:f32[8,8] = all_gather[axes=(i,), dim=0] x
  y:f32[8,4] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] whole w
  return y
`,
	"a gather for two products": `in_specs=(P('i'), P(), P()) out_specs=(P(), P()) check=false
lambda x:f32[2,8] w:f32[8,4] v:f32[4,8]
  whole:f32[8,8] = all_gather[axes=(i,), dim=0] x
  y:f32[8,4] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] whole w
  z:f32[4,8] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] v whole
  return y z
`,
}

// Every product becomes a ring, one way and both ways: what moves are chunks, and the outputs are the same.
func TestRings(t *testing.T) {
	for name, text := range products {
		p, err := typed.Parse("shard_map @f mesh=(i=4,) "+text, "")
		if err == nil {
			_, err = p.Elaborate(typed.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		want := outputs(t, p)
		rings := 0
		for _, a := range advice.Find(p) {
			if a.Rule != lint.SerialProduct {
				continue
			}
			better, err := a.Apply()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rings++
			if got := outputs(t, better); got != want {
				t.Errorf("%s: the ring gives %s, want %s", name, got, want)
			}
			if n := len(better.Module.OpsOf(better.Body(), ir.OpShardMapPpermute)); n < 3 || !strings.Contains(a.Message, "directional") {
				t.Errorf("%s: %d permutes, %s", name, n, a.Message)
			}
		}
		if rings != 2 {
			t.Errorf("%s becomes a ring in %d ways, want 2", name, rings)
		}
	}
}

// outputs runs a program on small whole numbers.
func outputs(t *testing.T, p *typed.Program) string {
	t.Helper()
	var inputs []*tensor.Tensor
	for i, param := range p.Params {
		dims := p.Module.TypeOf(param.Type).Dims
		x := tensor.New(dtype.F32, dims)
		for k := range tensor.Elems[float32](x) {
			tensor.Elems[float32](x)[k] = float32((k*5+i)%7) - 3
		}
		inputs = append(inputs, &x)
	}
	result, err := run.Typed(t.Context(), p, inputs, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(result.Outputs)
}
