package typed_test

import (
	"context"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// TestDebugIsDeterministic runs a program whose blocks differ on several devices: the error is the same on every run,
// whichever device comes to its comparison first.
func TestDebugIsDeterministic(t *testing.T) {
	p, err := typed.Parse(`shard_map @predicate mesh=(i=2, j=4) in_specs=(P('j'), P('i')) out_specs=(P('i', 'j'),)
lambda p:i1[1] x:f32[1,1]
  q:i1[] = reshape p
  r:f32[1,1] = if q {
  lambda
    y:f32[1,1] = add x x
    return y
  lambda
    return x
  }
  return r
`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Elaborate(typed.Options{Unsound: true}); err != nil {
		t.Fatal(err)
	}
	args := []tensor.Tensor{tensor.FromFloats(dtype.I1, []int64{4}, 0, 1, 0, 1), tensor.FromFloats(dtype.F32, []int64{2, 1}, 1, 2)}
	first := ""
	for range 300 {
		_, err := execute(t.Context(), p, args, run.Options{Debug: true})
		if err == nil {
			t.Fatal("the blocks differ and no run says so")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("one run ends with\n%v\nand another one with\n%s", err, first)
		}
	}
}

// execute runs a program on virtual devices.
func execute(ctx context.Context, p *typed.Program, args []tensor.Tensor, o run.Options) (outputs []tensor.Tensor, err error) {
	result, err := run.Typed(ctx, p, pointers(args), o)
	if err != nil {
		return nil, err
	}
	for _, x := range result.Outputs {
		outputs = append(outputs, *x)
	}
	return outputs, nil
}

func pointers(args []tensor.Tensor) (out []*tensor.Tensor) {
	for i := range args {
		out = append(out, &args[i])
	}
	return out
}
