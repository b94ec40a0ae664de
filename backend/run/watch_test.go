package run_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// looping adds the sum of a row to a carry, three times; then some devices take one branch, the others another one.
const looping = `shard_map @looping mesh=(i=2,)
  in_specs=(P(None, 'i'), P('i'))
  out_specs=(P('i'),)
lambda rows:f32[3,1] which:i1[1]
  zero:f32[1] = constant[value=dense<0.0>]
  total:f32[1] = scan[carries=1, length=3, reverse=false] zero rows {
  lambda carry:f32[1] row:f32[1]
    sum:f32[1] = psum[axes=(i,)] row
    next:f32[1] = add carry sum
    return next
  }
  p:i1[] = reshape which
  y:f32[1] = if p {
  lambda
    minus:f32[1] = negate total
    return minus
  lambda
    return total
  }
  return y
`

// watched runs looping and returns what is seen of it: the name, how often it was seen before, and what each device holds.
func watched(t *testing.T, names ...string) []string {
	t.Helper()
	rows := tensor.FromFloats(dtype.F32, []int64{3, 2}, 0, 1, 2, 3, 4, 5)
	which := tensor.FromInts(dtype.I1, []int64{2}, 0, 1)
	w, err := run.Watch(t.Context(), program(t, looping, typed.Options{}), names, []*tensor.Tensor{&rows, &which}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(w.Outputs[0].Floats()); got != "[15 -15]" {
		t.Errorf("the watched run returns %s", got)
	}
	var out []string
	for _, s := range w.Sights {
		line := fmt.Sprintf("%s %s %d:", s.Probe.Moment, s.Probe.Values[0], s.Time)
		for _, b := range s.Blocks {
			if b == nil {
				line += " -"
			} else {
				line += fmt.Sprint(" ", b[0].Floats()[0])
			}
		}
		out = append(out, line)
	}
	return out
}

// Without names, what collectives read and make is seen, in the order of the run.
func TestWatchCollectives(t *testing.T) {
	want := []string{"before row 0: 0 1", "after sum 0: 1 1", "before row 1: 2 3", "after sum 1: 5 5", "before row 2: 4 5", "after sum 2: 9 9"}
	if got := watched(t); !slices.Equal(got, want) {
		t.Errorf("seen are\n%s", strings.Join(got, "\n"))
	}
}

// Values have the names of the text, inside of loops and branches too; a device that does not come to one is not seen there.
func TestWatchValues(t *testing.T) {
	want := []string{"made which 0: 0 1", "made next 0: 1 1", "made next 1: 6 6", "made next 2: 15 15",
		"made y 0: 15 -15", "made minus 0: - -15"}
	got := watched(t, "next", "minus", "y", "which")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("seen are\n%s", strings.Join(got, "\n"))
	}
}

// A call into Python shows what it reads.
func TestWatchCallbacks(t *testing.T) {
	p := program(t, `shard_map @printing mesh=(i=2,) in_specs=(P('i'),) out_specs=(P('i'),)
lambda x:f32[1]
  custom_call[call_target_name="xla_ffi_python_cpu_callback", has_side_effect=true] x
  return x
`, typed.Options{})
	x := tensor.FromFloats(dtype.F32, []int64{2}, 3, 4)
	w, err := run.Watch(t.Context(), p, nil, []*tensor.Tensor{&x}, run.Options{})
	if err != nil || len(w.Sights) != 1 || w.Sights[0].Probe.Moment != typed.Called || w.Sights[0].Blocks[1][0].Floats()[0] != 4 {
		t.Errorf("%+v, %v", w, err)
	}
}

// A loop that passes a collective too often, and a name that there is not.
func TestWatchErrors(t *testing.T) {
	long := strings.ReplaceAll(strings.ReplaceAll(looping, "f32[3,1]", "f32[501,1]"), "length=3", "length=501")
	which := tensor.FromInts(dtype.I1, []int64{2}, 0, 1)
	rows := tensor.New(dtype.F32, []int64{501, 2})
	_, err := run.Watch(t.Context(), program(t, long, typed.Options{}), nil, []*tensor.Tensor{&rows, &which}, run.Options{})
	if !errors.Is(err, diag.ErrTooLarge) || !strings.Contains(err.Error(), "more than 1000 values") {
		t.Errorf("a long loop: %v", err)
	}
	_, err = run.Watch(t.Context(), program(t, long, typed.Options{}), []string{"totl"}, []*tensor.Tensor{&rows, &which}, run.Options{})
	if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), "no value is named \"totl\", did you mean `total`?") {
		t.Errorf("an unknown name: %v", err)
	}
}
