package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// program reads a program and finds its types.
func program(t *testing.T, text string, opts typed.Options) *typed.Program {
	t.Helper()
	p, err := typed.Parse(text, "")
	if err == nil {
		_, err = p.Elaborate(opts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const scaled = `shard_map @scaled mesh=(i=2, j=2) in_specs=(P('i'),) out_specs=(P('i'),)
lambda x:f32[2]
  y:f32[2] = add x x
  return y
`

// Inputs are cut and outputs joined by the specs of a program, which every device runs.
func TestTyped(t *testing.T) {
	p := program(t, scaled, typed.Options{})
	devices := map[int]bool{}
	result, err := run.Typed(t.Context(), p, []*tensor.Tensor{counted(4)}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(result.Outputs[0].Floats()); got != "[0 2 4 6]" {
		t.Errorf("the output is %s", got)
	}
	for d, want := range []string{"[0 2]", "[0 2]", "[4 6]", "[4 6]"} {
		if got := fmt.Sprint(result.Blocks[d][0].Floats()); got != want {
			t.Errorf("device %d returns %s, want %s", d, got, want)
		}
		devices[d] = true
	}
	if len(result.Blocks) != len(devices) {
		t.Errorf("%d devices returned blocks", len(result.Blocks))
	}
}

// Inputs whose blocks lie in order are not copied, nor are outputs; what is returned twice has its own memory each time.
func TestBlocksInOrder(t *testing.T) {
	p := program(t, `shard_map @twice mesh=(i=2, j=2) in_specs=(P(('i', 'j')),) out_specs=(P(('i', 'j')), P(('i', 'j')), P(('j', 'i')), P(('i', 'j')))
lambda x:f32[1]
  y:f32[1] = add x x
  return y y y x
`, typed.Options{})
	whole := counted(4)
	result, err := run.Typed(t.Context(), p, []*tensor.Tensor{whole}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[0 2 4 6]", "[0 2 4 6]", "[0 4 2 6]", "[0 1 2 3]"} {
		if got := fmt.Sprint(result.Outputs[i].Floats()); got != want {
			t.Errorf("output %d is %s, want %s", i, got, want)
		}
		clear(result.Outputs[i].Data)
	}
	if fmt.Sprint(result.Blocks[3][0].Floats()) != "[0]" || fmt.Sprint(whole.Floats()) != "[0 1 2 3]" {
		t.Errorf("the first output has blocks of its own, or the input is written to: %v, %v", result.Blocks[3][0], whole)
	}
}

// A program that was prepared gives the same again and again, and leaves its inputs and what it returned before as they are.
func TestPrepared(t *testing.T) {
	prepared, err := run.Prepare(program(t, scaled, typed.Options{}).Lower(), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := counted(4)
	var before *run.Result
	for range 20 {
		result, err := prepared.Run(t.Context(), []*tensor.Tensor{in})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*run.Result{before, result} {
			if r != nil && fmt.Sprint(r.Outputs[0].Floats(), in.Floats()) != "[0 2 4 6] [0 1 2 3]" {
				t.Fatalf("the output is %v of %v", r.Outputs[0], in)
			}
		}
		before = result
	}
}

// What does not fit a program, or has too many devices for one process, is refused before it runs.
func TestTypedErrors(t *testing.T) {
	p := program(t, scaled, typed.Options{})
	untyped, err := typed.Parse(scaled, "")
	if err != nil {
		t.Fatal(err)
	}
	large := program(t, strings.Replace(scaled, "j=2", "j=4096", 1), typed.Options{})
	other := tensor.FromFloats(dtype.F64, []int64{4}, 1, 2, 3, 4)
	for _, c := range []struct {
		p      *typed.Program
		inputs []*tensor.Tensor
		class  error
		text   string
	}{
		{p, nil, diag.ErrInvalid, "the program takes 1 arguments, 0 are given"},
		{p, []*tensor.Tensor{&other}, diag.ErrInvalid, "input 0 (x, spec P('i')) is f64[4], the program takes f32[4]"},
		{untyped, []*tensor.Tensor{counted(4)}, diag.ErrInvalid, "the program has no types yet"},
		{large, []*tensor.Tensor{counted(4)}, diag.ErrTooLarge, "the program runs on 8192 devices, the limit is 4096"},
	} {
		if _, err := run.Typed(t.Context(), c.p, c.inputs, run.Options{}); !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("got %v, want %q", err, c.text)
		}
	}
}

// Inputs are checked one by one: each is there, of the type that the program takes, with all of its data.
func TestCheckInputs(t *testing.T) {
	p := program(t, scaled, typed.Options{})
	in := counted(4)
	short := tensor.Tensor{DType: dtype.F32, Shape: []int64{4}, Data: in.Data[:8]}
	if err := run.CheckInputs(p, []*tensor.Tensor{in}); err != nil {
		t.Error(err)
	}
	for want, err := range map[string]error{
		"input 0 (x, spec P('i')) is missing":      run.CheckInputs(p, []*tensor.Tensor{nil}),
		"it is f32[4], the program takes f32[2,2]": run.CheckInput("it", in, dtype.F32, []int64{2, 2}),
		"it has 8 bytes of data, its type 16":      run.CheckInput("it", &short, dtype.F32, []int64{4}),
	} {
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Types that JAX takes promise too much here: the loop runs another number of rounds on each device.
func TestReplicationViolated(t *testing.T) {
	p := program(t, `shard_map @rounds mesh=(i=2,) in_specs=(P('i'),) out_specs=(P(),)
lambda x:i32[1]
  n:i32[] = reshape x
  zero:i32[] = constant[value=dense<0>]
  a:i32[] b:i32[] = while zero n {
  lambda k:i32[] m:i32[]
    more:i1[] = compare[comparison_direction=LT] k m
    return more
  lambda j:i32[] o:i32[]
    one:i32[] = constant[value=dense<1>]
    next:i32[] = add j one
    return next o
  }
  return a
`, typed.Options{Unsound: true})
	input := tensor.FromFloats(dtype.I32, []int64{2}, 1, 3)
	_, err := run.Typed(t.Context(), p, []*tensor.Tensor{&input}, run.Options{})
	if !errors.Is(err, diag.ErrFinding) || !strings.Contains(err.Error(),
		"replication violated: output 0, a:i32[]{} with spec P(), differs between devices 0 and 1") {
		t.Errorf("got %v", err)
	}
	_, err = run.Typed(t.Context(), p, []*tensor.Tensor{&input}, run.Options{Debug: true})
	if !errors.Is(err, diag.ErrFinding) || !strings.Contains(err.Error(),
		"replication violated: ") {
		t.Errorf("with every value compared: %v", err)
	}
}

func ExampleTyped() {
	p, err := typed.Parse(`shard_map @mean mesh=(i=4,) in_specs=(P('i'),) out_specs=(P(),)
lambda x:f32[1]
  m:f32[1] = pmean[axes=(i,)] x
  return m
`, "mean.shardmap")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		panic(err)
	}
	x := tensor.FromFloats(dtype.F32, []int64{4}, 1, 2, 3, 10)
	result, err := run.Typed(context.Background(), p, []*tensor.Tensor{&x}, run.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Outputs[0].Floats())
	// Output: [4]
}
