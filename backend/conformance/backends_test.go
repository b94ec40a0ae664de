package conformance_test

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"autoshard"
	"autoshard/backend/conformance"
	"autoshard/backend/jax"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/testkit"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// TestMain has programs run in memory that is full of garbage where nobody may read it, and demands that no goroutine is left.
func TestMain(m *testing.M) {
	code := testkit.InGarbage(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// The interpreter passes the suite on the whole tensors that one device sees.
func TestInterpreter(t *testing.T) {
	t.Parallel()
	conformance.Run(t, conformance.Backend{Whole: true, Checks: true, Run: conformance.Each(interpreted)})
}

// The mesh passes the suite, and counts what collectives send.
func TestMesh(t *testing.T) {
	t.Parallel()
	conformance.Run(t, conformance.Backend{Counts: true, Run: conformance.Each(onMesh)})
}

// JAX passes the suite with the Python files that are emitted of programs.
func TestJAX(t *testing.T) {
	t.Parallel()
	if os.Getenv("AUTOSHARD_PYTHON") == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax that runs the emitted files")
	}
	conformance.Run(t, conformance.Backend{Start: 3 * time.Second, Run: onJAX, Refuses: []string{"reduce_uneven"}})
}

func interpreted(ctx context.Context, job *conformance.Job) conformance.Outcome {
	in, err := job.Model.Interpreter()
	if err != nil {
		return conformance.Outcome{Err: err}
	}
	return outcome(in.Run(ctx, job.Inputs, autoshard.RunOptions{}))
}

func onMesh(ctx context.Context, job *conformance.Job) conformance.Outcome {
	return outcome(job.Program.Run(ctx, job.Inputs))
}

func outcome(r *program.Result, err error) conformance.Outcome {
	if err != nil {
		return conformance.Outcome{Err: err}
	}
	o := conformance.Outcome{Outputs: r.Outputs, Checks: r.Checks, Sent: map[string]int64{}}
	for _, c := range r.Collectives {
		o.Sent[c.Kind] += c.Counted
	}
	return o
}

// several is a file that runs others.
//
//go:embed testdata/several.py
var several string

// onJAX runs the emitted files of all programs in one process.
func onJAX(ctx context.Context, jobs []*conformance.Job) []conformance.Outcome {
	outcomes := make([]conformance.Outcome, len(jobs))
	var texts []string
	var inputs []*tensor.Tensor
	var emitted []int
	devices := int64(1)
	for i, job := range jobs {
		err := job.Program.Takes(job.Inputs)
		var text []byte
		if err == nil {
			text, err = job.Program.Emit(ctx, "jax")
		}
		if err != nil {
			outcomes[i].Err = err
			continue
		}
		texts = append(texts, fmt.Sprintf("(%q, %d, %s)", job.Name, len(job.Inputs), strconv.QuoteToASCII(string(text))))
		inputs, emitted, devices = append(inputs, job.Inputs...), append(emitted, i), max(devices, job.Program.Devices())
	}
	if len(emitted) == 0 {
		return outcomes
	}
	source := strings.Replace(several, "FILES = []", "FILES = ["+strings.Join(texts, ", ")+"]", 1)
	o := jax.Options{Python: os.Getenv("AUTOSHARD_PYTHON"), Devices: int(devices), Env: os.Environ()}
	found, err := jax.Run(ctx, []byte(source), inputs, o)
	for _, i := range emitted {
		if outcomes[i].Err = err; err == nil {
			outcomes[i], found = split(found)
		}
	}
	return outcomes
}

// split takes what a file gave from what all gave: the number of its outputs and these, or a negative number and the text of an error.
func split(found []npz.Array) (o conformance.Outcome, rest []npz.Array) {
	n := found[0].Tensor.Ints()[0]
	if n < 0 {
		o.Err = errors.New(string(bytes.Clone(found[1].Tensor.Data)))
		return o, found[2:]
	}
	for i := range n {
		o.Outputs = append(o.Outputs, &found[1+i].Tensor)
	}
	return o, found[1+n:]
}

// A backend is what runs jobs: here programs of one device, one after the other.
func Example() {
	model, err := autoshard.ReadModel(context.Background(), "sum.mlir", []byte(`func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}`))
	if err != nil {
		panic(err)
	}
	row := conformance.Backend{Whole: true, Run: conformance.Each(interpreted)}
	x := tensor.FromFloats(dtype.F32, []int64{2}, 1, 2)
	outcomes := row.Run(context.Background(), []*conformance.Job{{Name: "sum", Model: model, Inputs: []*tensor.Tensor{&x}}})
	fmt.Println(outcomes[0].Outputs[0])
	// Output: f32[2] [2, 4]
}
