package emit_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/shardmap/emit"
	"autoshard/shardmap/typed"
)

// typedProgram reads a program and inserts its casts.
func typedProgram(text string) (*typed.Program, error) {
	p, err := typed.Parse(text, "")
	if err != nil {
		return nil, err
	}
	_, err = p.Elaborate(typed.Options{})
	return p, err
}

// The golden files hold shard_map programs and the functions that are written for them, "file" the whole text but main.
func TestTypedGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/typed", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := typedProgram(d.Input)
			var example *emit.Example
			if err == nil && d.HasArg("example") {
				example = exampleOf(t, p)
			}
			var text []byte
			if err == nil {
				text, err = emit.Typed(t.Context(), p, example)
			}
			if err != nil {
				var b strings.Builder
				diag.Render(&b, err, func(string) []byte { return []byte(d.Input) })
				return b.String()
			}
			if d.Cmd == "file" {
				whole, _, _ := strings.Cut(string(text), "\n\n\ndef arguments(")
				return whole + "\n"
			}
			return functions(string(text))
		})
	})
}

// typedInputs returns inputs for a program: small numbers, and for some values larger than a half, booleans.
func typedInputs(p *typed.Program) []tensor.Tensor {
	var out []tensor.Tensor
	for i, param := range p.Params {
		typ := p.Module.TypeOf(param.Type)
		v := make([]float64, typ.Elements())
		for k := range v {
			v[k] = float64((5*k+3*i+1)%(7+i)) - 2
			if typ.DType == dtype.I1 {
				v[k] = float64(k % 2)
			}
		}
		out = append(out, tensor.FromFloats(typ.DType, typ.Dims, v...))
	}
	return out
}

// typedRun runs a program here.
func typedRun(t *testing.T, p *typed.Program) (inputs, outputs []*tensor.Tensor) {
	t.Helper()
	given := typedInputs(p)
	for i := range given {
		inputs = append(inputs, &given[i])
	}
	result, err := run.Typed(t.Context(), p, inputs, run.Options{Debug: p.Check})
	if err != nil {
		t.Fatal(err)
	}
	return inputs, result.Outputs
}

func exampleOf(t *testing.T, p *typed.Program) *emit.Example {
	t.Helper()
	inputs, outputs := typedRun(t, p)
	return &emit.Example{Inputs: arrays(inputs...), Outputs: arrays(outputs...)}
}

func arrays(list ...*tensor.Tensor) (out []emit.Array) {
	for _, x := range list {
		out = append(out, emit.Array{DType: x.DType, Dims: x.Shape, Data: x.Data})
	}
	return out
}

// What the files of the golden shard_map programs give on JAX equals what the programs give here.
func TestTypedGoldenRuns(t *testing.T) {
	python, dir := peer(t), t.TempDir()
	type program struct {
		pos, file string
		want      []*tensor.Tensor
	}
	var list []program
	var files []string
	paths, err := filepath.Glob("testdata/typed/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := typedProgram(d.Input)
			if err != nil {
				return d.Expected
			}
			text, err := emit.Typed(t.Context(), p, nil)
			if err != nil {
				return d.Expected
			}
			inputs, results := typedRun(t, p)
			named := make([]npz.Array, len(inputs))
			for i, x := range inputs {
				named[i] = npz.Array{Name: fmt.Sprintf("arg%d", i), Tensor: *x}
			}
			var packed bytes.Buffer
			if err := npz.Write(&packed, named); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, fmt.Sprintf("p%d.py", len(list)))
			if err := os.WriteFile(file, text, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file+".in.npz", packed.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			list, files = append(list, program{d.Pos, file, results}), append(files, file)
			return d.Expected
		})
	}
	runPython(t, python, files)
	for _, p := range list {
		t.Run(filepath.Base(p.pos), func(t *testing.T) {
			got := outputs(t, p.file)
			for i := range p.want {
				if err := agree(&got[i].Tensor, narrow(p.want[i]), p.want[i].DType, 0); err != nil {
					t.Errorf("output %d: %v", i, err)
				}
			}
		})
	}
	t.Logf("%d programs", len(list))
}

// A file with an example compares itself with it, and says so where it differs.
func TestSelfCheck(t *testing.T) {
	python, dir := peer(t), t.TempDir()
	p, err := typedProgram(`shard_map @scaled mesh=(i=4,) in_specs=(P('i'), P()) out_specs=(P(),)
lambda x:f32[4] w:f32[4]
  y:f32[4] = multiply x w
  z:f32[4] = psum[axes=(i,)] y
  return z
`)
	if err != nil {
		t.Fatal(err)
	}
	x := exampleOf(t, p)
	var files []string
	for i, name := range []string{"right", "wrong"} {
		values := tensor.Tensor{DType: dtype.F32, Shape: []int64{4}, Data: x.Outputs[0].Data}.Floats()
		values[3] += float64(i)
		out := tensor.FromFloats(dtype.F32, []int64{4}, values...)
		text, err := emit.Typed(t.Context(), p, &emit.Example{Inputs: x.Inputs, Outputs: arrays(&out)})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(dir, name+".py"))
		if err := os.WriteFile(files[i], text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
import runpy, sys
files, sys.argv = sys.argv[1:], ["program"]
for file in files:
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as e:
        print("status", e.code)
`
	cmd := exec.Command(python, append([]string{"-c", script}, files...)...)
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "XLA_FLAGS=--xla_force_host_platform_device_count=4")
	out, err := cmd.CombinedOutput()
	const want = "OK 1 outputs, largest relative difference 0\nstatus 0\nz differs by"
	if err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "from the example\nstatus 1") {
		t.Errorf("got %v:\n%s", err, out)
	}
}

// The arrays of an example are written as ranges, lists or bytes, exactly.
func TestExampleArrays(t *testing.T) {
	p, err := typedProgram(`shard_map @same mesh=(i=2,) in_specs=(P('i'), P(), P(), P()) out_specs=(P('i'), P(), P(), P())
lambda x:f32[4] w:f32[2,2] v:bf16[] u:f32[80]
  return x w v u
`)
	if err != nil {
		t.Fatal(err)
	}
	large := make([]float64, 80)
	for k := range large {
		large[k] = math.Sqrt(float64(k))
	}
	var given []emit.Array
	for _, x := range []tensor.Tensor{
		tensor.FromFloats(dtype.F32, []int64{8}, 3, 4, 5, 6, 7, 8, 9, 10),
		tensor.FromFloats(dtype.F32, []int64{2, 2}, 0.1, -2, math.Inf(1), 1e-30),
		tensor.FromFloats(dtype.BF16, nil, 1.5),
		tensor.FromFloats(dtype.F32, []int64{80}, large...),
	} {
		given = append(given, arrays(&x)...)
	}
	text, err := emit.Typed(t.Context(), p, &emit.Example{Inputs: given, Outputs: given})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"np.arange(3, 11).astype(jnp.float32)", "np.array([0.1, -2.0, jnp.inf, 1e-30], jnp.float32).reshape((2, 2))",
		"np.array([1.5], jnp.bfloat16).reshape(())", "CONSTANT_0,"} {
		if strings.Count(string(text), want) != 2 {
			t.Errorf("the text has %d times %q:\n%s", strings.Count(string(text), want), want, text)
		}
	}
	if _, err := emit.Typed(t.Context(), p, &emit.Example{Inputs: given}); err == nil {
		t.Error("an example without outputs is accepted")
	}
	if strings.Count(string(text), "decode(\n") != 1 {
		t.Error("equal constants are not written once")
	}
}

// Programs that have types become Python or are refused; the same program gives the same bytes.
func FuzzTyped(f *testing.F) {
	paths, err := filepath.Glob("testdata/typed/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\nshard_map ") {
			program, _, _ := strings.Cut(part, "----")
			f.Add("shard_map " + program)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := typedProgram(text)
		if err != nil {
			return
		}
		first, err := emit.Typed(context.Background(), p, nil)
		if second, again := emit.Typed(context.Background(), p, nil); !bytes.Equal(first, second) || (err == nil) != (again == nil) {
			t.Errorf("%v and %v:\n%s\n%s", err, again, first, second)
		}
	})
}

// Bodies may be nested so deep that no comment fits into the line.
func TestTypedNesting(t *testing.T) {
	const depth = 60
	text := "shard_map @deep mesh=(i=2,) in_specs=(P('i'),) out_specs=(P('i'),)\nlambda x0:f32[2]\n"
	for k := range depth {
		text += fmt.Sprintf("y%d:f32[2] = scan[carries=1, length=1, reverse=false] x%d {\nlambda x%d:f32[2]\n", k, k, k+1)
	}
	text += fmt.Sprintf("return x%d\n}\n", depth)
	for k := depth - 1; k > 0; k-- {
		text += fmt.Sprintf("return y%d\n}\n", k)
	}
	p, err := typedProgram(text + "return y0\n")
	if err != nil {
		t.Fatal(err)
	}
	python, err := emit.Typed(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(python), "lax.scan("); n != depth {
		t.Errorf("the text has %d scans of %d", n, depth)
	}
}
