package mesh_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"

	"go.uber.org/goleak"
)

// errDied is what a device ends with that dies.
var errDied = errors.New("died")

var faults = flag.Int("faults", 400, "how many runs random faults end")

// Whatever happens to a device, and whenever a run is canceled, all devices end in bounded time with the cause: the error of the device
// that died, or the end of the context. No goroutine is left. A third of the runs is in lockstep, where only the
// context ends them.
func TestFaults(t *testing.T) {
	m, fn := parse(t, endless)
	ended := map[string]int{}
	for seed := range uint64(*faults) {
		r := rand.New(rand.NewPCG(seed, 1))
		victim, step, dies, lockstep := r.IntN(3), r.IntN(60), r.IntN(2) == 0, r.IntN(3) == 0
		late := time.Duration(r.IntN(3)) * 50 * time.Microsecond
		end := time.Duration(1+r.IntN(4)) * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), end)
		steps := make([]int, 3)
		options := mesh.Options{Observe: func(device int, _ *interp.Step) error {
			steps[device]++
			if device != victim {
				return nil
			}
			time.Sleep(late)
			if dies && steps[device] > step {
				return errDied
			}
			return nil
		}}
		if lockstep {
			dies, options.Observe = false, nil
		}
		start := time.Now()
		_, _, err := mesh.Run(ctx, m, fn, 3, make([][]*tensor.Tensor, 3), options)
		cancel()
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("seed %d: the run ends after %v", seed, took)
		}
		died := errors.Is(err, errDied)
		if died && !dies || !died && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("seed %d: device %d dies: %t; got %v", seed, victim, dies, err)
		}
		ended[fmt.Sprintf("lockstep %t, died %t", lockstep, died)]++
		if err := goleak.Find(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("runs end as %v", ended)
	if len(ended) != 3 {
		t.Errorf("some faults did not come up: %v", ended)
	}
}

// Where devices wait for one that took another way, the error says who waits for whom, and where.
func TestWhoWaitsForWhom(t *testing.T) {
	m, fn := parse(t, `func.func @main() -> tensor<1xui32> {
  %p = stablehlo.partition_id : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %x = stablehlo.reshape %p : (tensor<ui32>) -> tensor<1xui32>
  %away = stablehlo.compare EQ, %p, %one, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %0 = "stablehlo.if"(%away) ({
    stablehlo.return %x : tensor<1xui32>
  }, {
    %1 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [1, 0], [2, 1]]> : tensor<3x2xi64>}> : (tensor<1xui32>) -> tensor<1xui32>
    stablehlo.return %1 : tensor<1xui32>
  }) : (tensor<i1>) -> tensor<1xui32>
  return %0 : tensor<1xui32>
}`)
	_, _, err := mesh.Run(t.Context(), m, fn, 3, make([][]*tensor.Tensor, 3), mesh.Options{})
	found := diag.Diagnostics(err)
	if !errors.Is(err, diag.ErrInvalid) || len(found) == 0 || found[0].Pos.Line != 9 {
		t.Fatalf("got %v", err)
	}
	const want = "the devices do not take part in the same collectives: device 0 waits at stablehlo.collective_permute (line 9) " +
		"for device 1, which has finished"
	if found[0].Message != want {
		t.Errorf("got %q, want %q", found[0].Message, want)
	}
}
