package typed_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
)

var pythonPrograms = flag.Int("python.programs", 30, "how many random programs TestPythonRandom writes as Python, with their derivatives")

// Random programs and their transposed derivatives compute, as Python files on real JAX, what they compute here.
func TestPythonRandom(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax that runs the emitted files")
	}
	seed, f := randomSeed(t), newPythonFiles(t)
	for k := range *pythonPrograms {
		r := programOf(seed, k)
		if r.refusal != "" || r.TraceOnly {
			continue
		}
		p, err := r.elaborated(typed.Options{})
		if err != nil {
			continue // TestJAX says whether it should be
		}
		name := fmt.Sprintf("program%d", k)
		r.addPython(t, f, name, p, r.arguments())
		if q, args, ok := r.derivative(p); ok {
			r.addPython(t, f, name+"-derivative", q, args)
		}
	}
	if len(f.files) < *pythonPrograms/2 {
		t.Errorf("only %d files of %d programs", len(f.files), *pythonPrograms)
	}
	f.run(t, python, "DEVICES=16")
}

// addPython adds a program, to be compared with a run here.
func (r *randomProgram) addPython(t *testing.T, f *pythonFiles, name string, p *typed.Program, args []tensor.Tensor) {
	outputs, err := execute(t.Context(), p, args, run.Options{})
	if err != nil {
		t.Errorf("%s: %v in\n%s", name, err, p)
		return
	}
	f.add(t, name, p, args, func(t *testing.T, got []tensor.Tensor, problem string) {
		if problem != "" {
			t.Fatalf("%s\n%s", problem, p)
		}
		for i, want := range outputs {
			if err := r.compareArrays(want, got[i].Floats(), 1e-3); err != nil {
				t.Errorf("output %d: %v in\n%s", i, err, p)
			}
		}
	})
}

// derivative returns the transposed derivative of a program by its inputs of floats, with arguments, if it has one.
func (r *randomProgram) derivative(p *typed.Program) (*typed.Program, []tensor.Tensor, bool) {
	var wrt []int
	for k := range r.Inputs {
		if r.values[k].float() {
			wrt = append(wrt, k)
		}
	}
	q, err := transpose.VJP(p, wrt)
	if !r.VJP || err != nil || len(wrt) == 0 {
		return nil, nil, false
	}
	var args []tensor.Tensor
	for _, param := range q.Params[:len(q.Params)-len(r.Inputs)] { // not all outputs depend on inputs
		typ := q.Module.TypeOf(param.Type)
		data := make([]float64, typ.Elements())
		for k := range data {
			data[k] = float64(k*7%5 - 2)
		}
		args = append(args, tensor.FromFloats(typ.DType, typ.Dims, data...))
	}
	return q, append(args, r.arguments()...), true
}
