package program_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// squares is a loss over rows that four devices share.
const squares = `shard_map @loss mesh=(i=4,)
  in_specs=(P(), P('i', None))
  out_specs=(P(),)
lambda w:f32[3] x:f32[2,3]
  y:f32[2] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] x w
  square:f32[2] = multiply y y
  zero:f32[] = constant[value=dense<0.0>]
  sum:f32[] = reduce[dimensions=(0,)] square zero {
  lambda a:f32[] b:f32[]
    c:f32[] = add a b
    return c
  }
  loss:f32[] = psum[axes=(i,)] sum
  return loss
`

func readSquares(t *testing.T) *program.Program {
	t.Helper()
	p, err := program.ReadShardMap(t.Context(), "loss.shardmap", []byte(squares))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What JEP 17111 is about: without types the gradient sums once more than it has to; where each device differentiates by its own rows,
// types save all communication. Both compute the same.
func TestCompareDerivatives(t *testing.T) {
	p := readSquares(t)
	w, x := tensor.FromFloats(dtype.F32, []int64{3}, 1, -2, 3), tensor.New(dtype.F32, []int64{8, 3})
	for i, v := range x.Floats() {
		tensor.Elems[float32](x)[i] = float32(v) + float32(i%5)
	}
	inputs := []*tensor.Tensor{&w, &x}
	for by, want := range map[string]string{"w": "[psum(i)] [psum(i)] [psum(i)] [2 psum(i)]", "x": "[psum(i)] [psum(i)] [] [psum(i)]"} {
		rows, err := p.CompareDerivatives(t.Context(), program.Gradient, []string{by}, cost.Hardware{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range rows {
			got = append(got, fmt.Sprint(rows[i].Collectives))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("by %s: %v, want %s", by, got, want)
		}
		if rows[2].Estimate.SentBytes >= rows[3].Estimate.SentBytes || rows[2].Estimate.Seconds >= rows[3].Estimate.Seconds {
			t.Errorf("by %s: types save nothing: %+v, %+v", by, rows[2].Estimate, rows[3].Estimate)
		}
		unchecked, err := p.WithoutCheck(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var results []string
		for _, of := range []*program.Program{p, unchecked} {
			gradient, err := of.Derive(t.Context(), program.Gradient, []string{by})
			if err != nil {
				t.Fatal(err)
			}
			result, err := gradient.Run(t.Context(), inputs)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, result.Outputs[0].String())
		}
		if results[0] != results[1] {
			t.Errorf("by %s the gradient is %s, without types %s", by, results[0], results[1])
		}
	}
}

// The derivative in a direction takes tangents, the one backward cotangents; both are the gradient times one number here.
func TestDerive(t *testing.T) {
	p := readSquares(t)
	x := tensor.FromFloats(dtype.F32, []int64{8, 3}, make([]float64, 24)...)
	tensor.Elems[float32](x)[0] = 2 // the loss is the square of twice the first weight
	w, one := tensor.FromFloats(dtype.F32, []int64{3}, 3, 0, 0), tensor.FromFloats(dtype.F32, []int64{3}, 1, 0, 0)
	ct := tensor.FromFloats(dtype.F32, nil, 10)
	for d, c := range map[program.Derivative]struct {
		inputs []*tensor.Tensor
		want   string
	}{
		program.Gradient: {[]*tensor.Tensor{&w, &x}, "f32[3] [24, 0, 0]"},
		program.JVP:      {[]*tensor.Tensor{&w, &x, &one}, "f32[] 24"},
		program.VJP:      {[]*tensor.Tensor{&ct, &w, &x}, "f32[3] [240, 0, 0]"},
	} {
		of, err := p.Derive(t.Context(), d, []string{"w"})
		if err != nil {
			t.Fatal(err)
		}
		result, err := of.Run(t.Context(), c.inputs)
		if err != nil || result.Outputs[0].String() != c.want {
			t.Errorf("%s: %v, %v, want %s", d, result.Outputs, err, c.want)
		}
	}
}

// A program whose check is off stays as it is; the table says that there is none with types.
func TestWithoutCheck(t *testing.T) {
	p, err := readSquares(t).WithoutCheck(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Emit(t.Context(), "shardmap")
	if err != nil || !strings.Contains(string(text), "check=false") || strings.Contains(string(text), "pvary") {
		t.Errorf("%v in\n%s", err, text)
	}
	if again, err := p.WithoutCheck(t.Context()); err != nil || again != p {
		t.Errorf("an unchecked program becomes another one, %v", err)
	}
	const varies = "shard_map @f mesh=(i=2,)\n  in_specs=(P('i'),)\n  out_specs=(P(),)\n" +
		"lambda x:f32[4]%s\n  y:f32[4]%s = negate x\n  return y\n"
	x := tensor.New(dtype.F32, []int64{8})
	for _, braces := range []string{"", "{i}"} { // JAX's check would refuse it, whether its types are written or found
		p, err := program.ReadUnchecked(t.Context(), "varies", fmt.Appendf(nil, varies, braces, braces))
		if err != nil || len(p.Notes) != 1 {
			t.Fatalf("%v, notes %q", err, p.Notes)
		}
		if _, err := p.Run(t.Context(), []*tensor.Tensor{&x}); err != nil {
			t.Error(err)
		}
	}
	rows, err := p.CompareDerivatives(t.Context(), program.VJP, []string{"w"}, cost.Hardware{})
	if err != nil || rows[0].Problem == "" || rows[1].Problem != "" || rows[2].Problem == "" || rows[3].Problem != "" {
		t.Errorf("%+v, %v", rows, err)
	}
}
