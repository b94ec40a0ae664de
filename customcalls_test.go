package autoshard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// customCallPlans returns the plans of the programs in testdata/linalg by name, such as svd.cuda. They cut batches of
// matrices along x; the plans may cut more.
func customCallPlans(t *testing.T) map[string]*autoshard.Plan {
	t.Helper()
	files, err := filepath.Glob("testdata/linalg/*.mlir.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	plans := map[string]*autoshard.Plan{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".mlir.gz")
		model := readModelGz(t, file)
		if _, err := model.Lint(t.Context(), autoshard.LintOptions{}); err != nil {
			t.Errorf("%s: check: %v", name, err)
		}
		mesh := []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}}
		plans[name] = makePlan(t, model, autoshard.PlanOptions{Mesh: mesh, Hardware: hw, Steps: 100_000})
	}
	return plans
}

func readModelGz(t *testing.T, file string) *autoshard.Model {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := autoshard.ReadModel(t.Context(), filepath.Base(file), text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// recordedArrays returns the file of a program's inputs or outputs, which all platforms share.
func recordedArrays(name, which string) string {
	program, _, _ := strings.Cut(name, ".")
	return "testdata/linalg/" + program + "." + which + ".npz"
}

// Programs with custom calls, lowered for CPUs, CUDA and TPUs, give on four devices what JAX gives, and can be emitted.
func TestCustomCallPrograms(t *testing.T) {
	for name, p := range customCallPlans(t) {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "pure_callback") {
				_, err := lowered(t, p).Run(context.Background(), readArrays(t, recordedArrays(name, "in"), p.Inputs))
				if diag.ExitCode(err) != 4 || !strings.Contains(err.Error(), "a Python callback cannot be run here") {
					t.Errorf("run: %v", err)
				}
				_, err = lowered(t, p).Emit(t.Context(), "jax")
				if diag.ExitCode(err) != 4 || !strings.Contains(err.Error(), "make that an input") {
					t.Errorf("emit: %v", err)
				}
				return
			}
			inputs, want := readArrays(t, recordedArrays(name, "in"), p.Inputs), readArrays(t, recordedArrays(name, "out"), p.Outputs)
			result, err := lowered(t, p).Run(context.Background(), inputs)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range result.Outputs {
				for part, of := range map[string]func(tensor.Tensor) tensor.Tensor{"real": tensor.Real, "imaginary": tensor.Imag} {
					if got.DType.Kind() != dtype.Complex && got.DType.Kind() != dtype.Float {
						of = func(x tensor.Tensor) tensor.Tensor { return x }
					}
					if worst, scale := difference(of(*got), of(*want[i])), largest(*want[i]); !(worst <= 1e-5*scale) {
						t.Errorf("the %s part of output %d is off by %g of %g", part, i, worst, scale)
					}
				}
			}
			verify(t, p, recordedArrays(name, "in"), recordedArrays(name, "out"), 1e-4)
			if strings.HasPrefix(name, "ordered_callback") || strings.HasPrefix(name, "approximate") {
				if _, err := lowered(t, p).Emit(t.Context(), "shardmap"); diag.ExitCode(err) != 4 { // no tokens, no functions
					t.Errorf("emit: %v", err)
				}
				return
			}
			emitAllForms(t, p)
		})
	}
}

// difference returns the largest difference of elements; that of NaN and a number is NaN.
func difference(got, want tensor.Tensor) float64 {
	worst := 0.0
	a, b := got.Floats(), want.Floats()
	for i := range a {
		if a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) {
			worst = max(worst, a[i]-b[i], b[i]-a[i])
		}
	}
	return worst
}

func largest(x tensor.Tensor) float64 {
	out := 0.0
	for _, v := range append(tensor.Real(x).Floats(), tensor.Imag(x).Floats()...) {
		if v == v {
			out = max(out, v, -v)
		}
	}
	return out
}

// Batches of problems are cut wherever the target is known, with the rule that JAX writes and without.
func TestBatchesAreCut(t *testing.T) {
	for call, types := range map[string]string{
		`@lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}`: "8x4x4xf32 -> 8x4x4xf32 8xi32",
		`@cusolver_getrf_ffi(%a) {mhlo.frontend_attributes = {num_batch_dims = "1"}, sdy.sharding_rule = #sdy.op_sharding_rule<` +
			`([i, j, k])->([i, l, m], [i, n], [i]) {i=8, j=4, k=4, l=4, m=4, n=4}, custom>}`: "8x4x4xf32 -> 8x4x4xf32 8x4xi32 8xi32",
		`@LuDecomposition(%a)`:                        "8x4x4xf32 -> 8x4x4xf32 8x4xi32 8x4xi32",
		`@Eigh(%a) {backend_config = "1,1,100,1e-6"}`: "8x4x4xf32 -> 8x4x4xf32 8x4xf32",
		`@Qr(%a)`: "8x5x4xf32 -> 8x5x4xf32 8x4xf32", `@cu_lu_pivots_to_permutation(%a)`: "8x4xi32 -> 8x5xi32",
		`@MoveToDevice(%a)`: "8x4xf32 -> 8x4xf32", `@mhlo.erf(%a)`: "8x4xf32 -> 8x4xf32",
		`@mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, largest = true}}`:                                         "8x4xf32 -> 8x2xf32 8x2xi32",
		`@user_kernel(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, i]) {i=8, j=4, k=2}, custom>}`: "8x4xf32 -> 2x8xf32",
	} {
		left, right, _ := strings.Cut(types, " -> ")
		results := "tensor<" + strings.ReplaceAll(right, " ", ">, tensor<") + ">"
		n := strings.Count(right, " ") + 1
		names := []string{"%r#0", "%r#1", "%r#2"}[:n]
		text := fmt.Sprintf("sdy.mesh @m = <[\"x\"=2]>\nfunc.func @main(%%a: tensor<%s> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}%s]>}) "+
			"-> (%s) {\n"+
			"%%r:%d = stablehlo.custom_call %s : (tensor<%s>) -> (%s)\nreturn %s : %s\n}", left, strings.Repeat(", {}", strings.Count(left, "x")-2),
			results, n, call, left, results, strings.Join(names, ", "), results)
		o := options(t)
		o.Mesh = nil
		p := makePlan(t, parse(t, text), o)
		if len(p.Collectives) > 0 || len(p.Findings) > 0 {
			t.Errorf("%s: %v, %v", call, p.Collectives, p.Findings)
		}
		for _, out := range p.Outputs {
			if !strings.Contains(out.Spec, "'x'") {
				t.Errorf("%s: output %d is %s", call, out.Index, out.Spec)
			}
		}
		if strings.HasPrefix(call, "@user_kernel") {
			continue
		}
		if _, err := lowered(t, p).Verify(context.Background(), zeros(p), nil, autoshard.Tolerance{}); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// zeros returns inputs of a plan in which every element is zero.
func zeros(p *autoshard.Plan) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(p.Inputs))
	for i, in := range p.Inputs {
		name, list, _ := strings.Cut(strings.TrimSuffix(in.Type, "]"), "[")
		var dims []int64
		for _, d := range strings.Split(list, ",") {
			n, _ := strconv.ParseInt(d, 10, 64)
			dims = append(dims, n)
		}
		x := tensor.New(map[string]dtype.Type{"f32": dtype.F32, "i32": dtype.I32}[name], dims)
		out[i] = &x
	}
	return out
}

// Nothing that is not known of a target is cut, and a plan says so.
func TestUnknownCallsStayWhole(t *testing.T) {
	o := options(t)
	o.Mesh = nil
	p := makePlan(t, parse(t, `sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @my_op(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0) {sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
sdy.mesh @maximal = <[], device_ids=[0]>`), o)
	var got []string
	for _, f := range p.Findings {
		got = append(got, fmt.Sprintf("%d: %s", f.Line, f.Message))
	}
	want := []string{"3: custom call `my_op` stays whole on every device, 256 B read and made: no sharding rule says how to cut it",
		"3: dimension 0 of operand 0 of custom call `my_op`, f32[8,4], is gathered along \"x\", 64 B a step to every device: no sharding rule " +
			"says how to cut it",
		"4: the model has device 0 alone make 1 call of a function in Python: every device makes them",
		"4: custom call `xla_ffi_python_cpu_callback` stays whole on every device, 256 B read and made: it calls a function in Python, which " +
			"cannot be run here"}
	if !slices.Equal(got, want) {
		t.Errorf("findings are %q", got)
	}
}

// Tokens hold no elements: a plan leaves them out of its inputs and outputs, and keeps donation right.
func TestTokens(t *testing.T) {
	o := options(t)
	o.Mesh = []subaxis.Axis{{Name: "x", Size: 2}}
	p := makePlan(t, parse(t, `func.func @main(%t: !stablehlo.token, %a: tensor<8x4xf32>, %b: tensor<8x4xf32> {tf.aliasing_output = 2 : i32})
    -> (!stablehlo.token, tensor<8xf32>, tensor<8x4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %a, %b : tensor<8x4xf32>
  %1 = stablehlo.after_all %t, %t : !stablehlo.token
  %2 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  return %1, %2, %0 : !stablehlo.token, tensor<8xf32>, tensor<8x4xf32>
}`), o)
	if len(p.Inputs) != 2 || len(p.Outputs) != 2 || p.Outputs[1].Replaces == nil || *p.Outputs[1].Replaces != 1 {
		t.Fatalf("inputs %v, outputs %v", p.Inputs, p.Outputs)
	}
	if _, err := lowered(t, p).Verify(context.Background(), zeros(p), nil, autoshard.Tolerance{}); err != nil {
		t.Error(err)
	}
	m := readModel(t, "testdata/cases/token.mlir")
	o.Mesh = nil
	if p := makePlan(t, m, o); len(p.Inputs)+len(p.Outputs) != 0 {
		t.Errorf("inputs %v, outputs %v", p.Inputs, p.Outputs)
	}
	found, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{})
	if err != nil || found.Inputs[0].Type != "token" {
		t.Errorf("propagation: %v, %v", found, err)
	}
}

// The emitted files of the programs give on JAX what they gave before they were exported, whatever platform that was for.
func TestCustomCallsOnJAX(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" || testing.Short() {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax that runs the emitted files")
	}
	sample := []string{"approximate.cpu", "eig.cpu", "householder.cpu", "lu.cuda", "qr.tpu", "svd.cuda",
		"triangular_solve.cpu", "updates.cuda"}
	dir := t.TempDir()
	files := map[string]*emitCase{}
	for name, p := range customCallPlans(t) {
		if strings.HasPrefix(name, "pure_callback") || !*emitAll && !slices.Contains(sample, name) {
			continue
		}
		text, err := lowered(t, p).Emit(t.Context(), "jax")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		in, err := os.ReadFile(recordedArrays(name, "in"))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name+".py")
		for path, data := range map[string][]byte{file: text, file + ".in.npz": in} {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		files[file] = &emitCase{name: name, expected: recordedArrays(name, "out")}
	}
	paths := slices.Sorted(maps.Keys(files))
	runEmitted(t, python, paths)
	for _, file := range paths {
		if err := compareFile(file, files[file]); err != nil {
			t.Errorf("%s: %v", files[file].name, err)
		}
	}
}
