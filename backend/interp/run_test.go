package interp_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

func parse(t testing.TB, src string) (*interp.Interpreter, ir.FuncID) {
	m, err := mlir.Parse(t.Context(), []byte(src), mlir.Options{File: "input"})
	if err != nil {
		t.Fatal(err)
	}
	in, err := interp.New(m, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := m.Main()
	return in, fn
}

const double = `func.func @main(%x: tensor<2xf32>, %y: tensor<?xi32>) -> (tensor<2xf32>, tensor<?xi32>) {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0, %y : tensor<2xf32>, tensor<?xi32>
}`

// Arguments that do not fit a function are refused by name, and those of any size fit what has any size.
func TestArguments(t *testing.T) {
	in, fn := parse(t, double)
	x, y := tensor.FromFloats(dtype.F32, []int64{2}, 1, 2), tensor.FromInts(dtype.I32, []int64{3}, 1, 2, 3)
	short := tensor.Tensor{DType: dtype.F32, Shape: []int64{2}, Data: make([]byte, 4)}
	for _, c := range []struct {
		args []*tensor.Tensor
		want string
	}{
		{[]*tensor.Tensor{&x}, "takes 2 arguments, 1 are given"},
		{[]*tensor.Tensor{&y, &y}, "argument 0 of @main is i32[3], the function takes f32[2]"},
		{[]*tensor.Tensor{&x, &x}, "argument 1 of @main is f32[2], the function takes i32[?]"},
		{[]*tensor.Tensor{nil, &y}, "argument 0 of @main is missing"},
		{[]*tensor.Tensor{&short, &y}, "argument 0 of @main has 4 bytes of data, its type 8"},
	} {
		_, err := in.Run(context.Background(), fn, c.args)
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	out, err := in.Run(context.Background(), fn, []*tensor.Tensor{&x, &y})
	if err != nil || out[0].String() != "f32[2] [2, 4]" || !out[1].Equal(y) {
		t.Errorf("got %v, %v", out, err)
	}
}

// Options that make no sense are refused.
func TestOptions(t *testing.T) {
	if _, err := interp.New(ir.NewModule(), interp.Options{Partitions: -1}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("got %v, want invalid", err)
	}
}

// A loop without end whose body does nothing stops with its context.
func TestCancel(t *testing.T) {
	in, fn := parse(t, `func.func @main() -> tensor<i1> {
  %z = stablehlo.constant dense<true> : tensor<i1>
  %0:1 = stablehlo.while(%i = %z) : tensor<i1>
  cond {
    stablehlo.return %i : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i1>
  }
  return %0 : tensor<i1>
}`)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := in.Run(ctx, fn, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// TestConcurrent shares one interpreter between goroutines.
func TestConcurrent(t *testing.T) {
	in, fn := parse(t, double)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			x, y := tensor.FromFloats(dtype.F32, []int64{2}, float64(n), 2), tensor.New(dtype.I32, []int64{int64(n)})
			out, err := in.Run(context.Background(), fn, []*tensor.Tensor{&x, &y})
			if err != nil || out[0].Floats()[0] != float64(2*n) {
				t.Errorf("got %v, %v", out, err)
			}
		})
	}
	all.Wait()
}

// TestSameBits runs a model on several numbers of cores.
func TestSameBits(t *testing.T) {
	dir, models := recorded(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, model := range models {
		if model.Name != "transformer_train" && model.Name != "convnet_train" {
			continue
		}
		m, fn := load(t, filepath.Join(dir, model.File), model.Entry)
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		args := arrays(t, filepath.Join(dir, model.Inputs), "arg", model.Args)
		var want []*tensor.Tensor
		for _, cores := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(cores)
			got, err := in.Run(context.Background(), fn, args)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !got[i].Equal(*want[i]) {
					t.Errorf("%s: result %d differs on %d cores", model.Name, i, cores)
				}
			}
			want = got
		}
	}
}

// BenchmarkLoop runs a loop of 10,000 steps with a scalar counter and an update in place.
func BenchmarkLoop(b *testing.B) {
	in, fn := parse(b, `func.func @main() -> (tensor<i32>, tensor<10000xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<10000> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %u = stablehlo.constant dense<1.0> : tensor<1xf32>
  %x = stablehlo.iota dim = 0 : tensor<10000xf32>
  %0:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<10000xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_update_slice %v, %u, %i : (tensor<10000xf32>, tensor<1xf32>, tensor<i32>) -> tensor<10000xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<10000xf32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<10000xf32>
}`)
	for b.Loop() {
		if _, err := in.Run(context.Background(), fn, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkModel runs a train step of a small transformer.
func BenchmarkModel(b *testing.B) {
	dir, models := recorded(b)
	for _, model := range models {
		if model.Name != "transformer_train" {
			continue
		}
		m, fn := load(b, filepath.Join(dir, model.File), model.Entry)
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			b.Fatal(err)
		}
		args := arrays(b, filepath.Join(dir, model.Inputs), "arg", model.Args)
		for b.Loop() {
			if _, err := in.Run(context.Background(), fn, args); err != nil {
				b.Fatal(err)
			}
		}
	}
}
