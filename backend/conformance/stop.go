package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// endless are programs that do not end: of whole tensors, and of devices that send each other a value for ever.
var endless = map[string]string{
	"loop": `module @loop {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%a: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xi32> {
    %one = stablehlo.constant dense<1> : tensor<8xi32>
    %0 = stablehlo.while(%v = %a) : tensor<8xi32>
    cond {
      %yes = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %yes : tensor<i1>
    } do {
      %w = stablehlo.add %v, %one : tensor<8xi32>
      stablehlo.return %w : tensor<8xi32>
    }
    return %0 : tensor<8xi32>
  }
}`,
	"exchange": `module @exchange {
  sdy.mesh @mesh = <["x"=8]>
  func.func @main(%a: tensor<8xi32>) -> tensor<8xi32> {
    %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<1xi32>) {
      %0 = stablehlo.while(%v = %b) : tensor<1xi32>
      cond {
        %yes = stablehlo.constant dense<true> : tensor<i1>
        stablehlo.return %yes : tensor<i1>
      } do {
        %w = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1xi32>) -> tensor<1xi32>
        stablehlo.return %w : tensor<1xi32>
      }
      sdy.return %0 : tensor<1xi32>
    } : (tensor<8xi32>) -> tensor<8xi32>
    return %r : tensor<8xi32>
  }
}`,
}

// patience bounds how long a backend takes to end behind its context.
const patience = 10 * time.Second

// stop demands that a run ends with its context, before it starts and in the middle, with the context's error, and that the backend runs
// programs afterwards.
func (s *suite) stop(t *testing.T) {
	x := tensor.FromInts(dtype.I32, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	for name, text := range endless {
		if s.Whole && name == "exchange" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			job := newJob(t, name, []byte(text))
			job.Inputs = []*tensor.Tensor{&x}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := s.one(ended, job).Err; !errors.Is(err, context.Canceled) {
				t.Errorf("of a context that was canceled before: %v", err)
			}
			within := s.Start + 100*time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			start := time.Now()
			if err := s.one(ctx, job).Err; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the end of the context", err)
			}
			if took := time.Since(start); took > within+patience {
				t.Errorf("the run ends %v after its context", took-within)
			}
		})
	}
	p := s.find(t, "products")
	o := s.one(t.Context(), p.job(t))
	if o.Err != nil {
		t.Fatal(o.Err)
	}
	compare(t, o.Outputs, p.want, 0)
}
