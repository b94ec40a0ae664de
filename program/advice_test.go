package program_test

import (
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/diag"
	"autoshard/internal/lint"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// counted returns inputs of a program whose elements are small whole numbers, so that sums are exact in any order.
func counted(t *testing.T, p *program.Program) (inputs []*tensor.Tensor) {
	t.Helper()
	for i := range p.Inputs {
		element, shape, ok := p.Inputs[i].Shape()
		if !ok {
			t.Fatalf("%s has no shape", p.Inputs[i].Type)
		}
		n, _, err := dtype.Size(element, shape)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]int64, n)
		for k := range values {
			values[k] = int64((k*7+i)%5) - 2
		}
		x := tensor.FromInts(element, shape, values...)
		inputs = append(inputs, &x)
	}
	return inputs
}

// Each example of docs/check.md has its own warning alone. The rewrite saves time and sends no more, leaves nothing to say, and computes
// the same; the products of one are too large to be run here.
func TestAdviceOfExamples(t *testing.T) {
	for _, r := range lint.Programs() {
		p, err := program.ReadShardMap(t.Context(), r.Name, []byte(r.Example))
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.Advise(t.Context(), cost.Hardware{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Name == string(lint.PsumOfInvariant) {
			if len(list) != 0 || len(p.Warnings) != 1 || string(p.Warnings[0].Code) != r.Name {
				t.Errorf("%s: %v, %v", r.Name, list, p.Warnings)
			}
			continue
		}
		if len(list) != 1 || string(list[0].Finding.Code) != r.Name || list[0].Finding.Pos.Line == 0 || len(p.Warnings) != 0 {
			t.Fatalf("%s: %+v, %v", r.Name, list, p.Warnings)
		}
		if a := &list[0]; a.After.Seconds >= a.Before.Seconds || a.After.SentBytes > a.Before.SentBytes {
			t.Errorf("%s saves nothing: %+v, %+v", r.Name, a.Before, a.After)
		}
		better, made, err := p.Improve(t.Context(), cost.Hardware{}, nil)
		if err != nil || len(made) != 1 {
			t.Fatalf("%s: %d rewrites, %v", r.Name, len(made), err)
		}
		if r.Name != string(lint.SerialProduct) {
			if err := p.Agrees(t.Context(), better, counted(t, p), program.Tolerance{}); err != nil {
				t.Errorf("%s: %v", r.Name, err)
			}
		}
		if list, err := p.Advise(t.Context(), cost.Hardware{}, []string{r.Name}); err != nil || len(list) != 0 {
			t.Errorf("%s is not switched off: %v, %v", r.Name, list, err)
		}
	}
}

// What several rewrites make of a program: a gather in two loops goes before both, and of the sum behind them the part is kept.
func TestImprove(t *testing.T) {
	p, err := program.ReadShardMap(t.Context(), "loops.shardmap", []byte(`shard_map @loops mesh=(i=4, j=2)
  in_specs=(P('i', None), P('j'))
  out_specs=(P('j'),)
lambda w:f32[2,8] x:f32[8]
  sum:f32[8] = scan[carries=1, length=3, reverse=false] x {
  lambda outer:f32[8]
    next:f32[8] = scan[carries=1, length=2, reverse=false] outer {
    lambda inner:f32[8]
      whole:f32[8,8] = all_gather_invariant[axes=(i,), dim=0] w
      y:f32[8] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] whole inner
      return y
    }
    return next
  }
  total:f32[8] = psum[axes=(j,)] sum
  part:f32[4] = pscatter[axes=(j,), dim=0] total
  return part
`))
	if err != nil {
		t.Fatal(err)
	}
	better, made, err := p.Improve(t.Context(), cost.Hardware{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := better.Emit(t.Context(), "shardmap")
	if err != nil {
		t.Fatal(err)
	}
	at := func(part string) int { return strings.Index(string(text), part) }
	if len(made) != 3 || at("all_gather_invariant") > at("scan[") || at("psum_scatter[axes=(j,), dim=0]") < 0 || at("= psum[") >= 0 {
		t.Errorf("after %d rewrites the program is\n%s", len(made), text)
	}
	if err := p.Agrees(t.Context(), better, counted(t, p), program.Tolerance{}); err != nil {
		t.Error(err)
	}
}

// Programs that compute other values do not agree.
func TestAgrees(t *testing.T) {
	p := readSquares(t)
	other, err := program.ReadShardMap(t.Context(), "loss.shardmap", []byte(strings.Replace(squares, "multiply y y", "add y y", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Agrees(t.Context(), other, counted(t, p), program.Tolerance{}); !strings.Contains(err.Error(), "differs") ||
		diag.Diagnostics(err)[0].Code == "" {
		t.Errorf("%v", err)
	}
}
