package interp_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// shapes are operands and results of one target, by letters for sizes: b for a batch, m, n, k.
var shapes = map[string]string{
	"lapack_spotrf_ffi": "bnn -> bnn b:i32", "lapack_sgetrf_ffi": "bmn -> bmn bk:i32 b:i32", "lapack_sgeqrf_ffi": "bmn -> bmn bk",
	"lapack_sgeqp3_ffi": "bmn bn:i32 -> bmn bn:i32 bk", "lapack_sorgqr_ffi": "bmn bn -> bmn", "lapack_sormqr_ffi": "bmn bn bmk -> bmk",
	"lapack_ssyevd_ffi": "bnn -> bnn bn:real b:i32", "lapack_cgeev_ffi": "bnn -> bn:complex bnn:complex bnn:complex b:i32",
	"lapack_sgeev_ffi": "bnn -> bn bn bnn:complex bnn:complex b:i32", "lapack_sgesdd_ffi": "bmn -> bmn bk:real bmm bnn b:i32",
	"lapack_sgees_ffi": "bnn -> bnn bnn bn bn b:i32 b:i32", "lapack_sgehrd_ffi": "bnn -> bnn bk b:i32",
	"lapack_ssytrd_ffi": "bnn -> bnn bn:real bk:real bk b:i32", "lapack_strsm_ffi": "bnn bnm -> bnm",
	"lapack_sgtsv_ffi": "bn bn bn bnm -> bn bn bn bnm b:i32", "cusparse_gtsv2_ffi": "bn bn bn bnm -> bnm",
	"cu_lu_pivots_to_permutation": "bn:i32 -> bm:i32", "LuDecomposition": "bmn -> bmn bk:i32 bm:i32", "Eigh": "bnn -> bnn bn:real",
	"Qr": "bmn -> bmn bk", "cusolver_gesvdj_ffi": "bmn -> bmn bk:real bmm bnn b:i32", "cusolver_gesvd_ffi": "bmn -> bmn bk:real bnn bmm b:i32",
	"cusolver_syrk_ffi": "bmn bmm s s -> bmm", "cu_cholesky_update_ffi": "nn n -> nn n", "stablehlo.dynamic_top_k": "bn s:i32 -> bk bk:i32",
	"cu_threefry2x32_ffi": "n:ui32 n:ui32 n:ui32 n:ui32 -> n:ui32 n:ui32", "mhlo.topk": "bn -> bk bk:i32",
}

var options = []string{"", "uplo = 76 : ui8", "lower = false", "mode = 65 : ui8", "mode = 83 : ui8", "mode = 86 : ui8, sort = 78 : ui8",
	"low = 1 : i32, high = 3 : i32", "low = -1 : i32, high = 9 : i32", "left = true, transpose = true", "side = 76 : ui8, diag = 85 : ui8",
	"compute_uv = true, full_matrices = true, transposed = true", "compute_left = 86 : ui8, compute_right = 86 : ui8", "transpose = true"}

// TestCustomCallsOfAnyShape gives the targets operands that fit and others, with any values: each runs or says why not.
func TestCustomCallsOfAnyShape(t *testing.T) {
	targets := make([]string, 0, len(shapes))
	for target := range shapes {
		targets = append(targets, target)
	}
	slices.Sort(targets)
	ran := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		target := rapid.SampledFrom(targets).Draw(t, "target")
		text, args := randomCall(t, target)
		m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		results, err := in.Run(context.Background(), ir.FuncID(1), args)
		if err != nil && !strings.Contains(class(err), "invalid") && !strings.Contains(class(err), "support") {
			t.Fatalf("%s: %v", text, err)
		}
		ran[target] = ran[target] || len(results) > 0
	})
	for _, target := range targets {
		if !ran[target] && !testing.Short() {
			t.Logf("%s never fitted", target)
		}
	}
}

// randomCall returns a program that calls a target, most often with types that fit it, and its inputs.
func randomCall(t *rapid.T, target string) (text string, args []*tensor.Tensor) {
	element := rapid.SampledFrom([]string{"f32", "f32", "f64", "complex<f32>", "complex<f64>", "bf16", "i32"}).Draw(t, "element")
	sizes := map[rune]int{}
	for _, letter := range "bmn" {
		sizes[letter] = rapid.IntRange(0, 4).Draw(t, string(letter))
	}
	sizes['k'] = min(sizes['m'], sizes['n'])
	if rapid.IntRange(0, 3).Draw(t, "k") == 0 {
		sizes['k'] = max(0, sizes['n']-1)
	}
	batched := rapid.Bool().Draw(t, "batched")
	typeOf := func(form string) (string, []int64, string) {
		letters, kind, _ := strings.Cut(form, ":")
		e := map[string]string{"": element, "i32": "i32", "ui32": "ui32", "real": strings.NewReplacer("complex<", "", ">", "").Replace(element),
			"complex": "complex<" + strings.NewReplacer("complex<", "", ">", "").Replace(element) + ">"}[kind]
		var dims []int64
		for _, letter := range letters {
			if letter != 's' && (letter != 'b' || batched) {
				dims = append(dims, int64(sizes[letter]))
			}
		}
		if rapid.IntRange(0, 40).Draw(t, "odd") == 0 {
			dims = append(dims, 2)
		}
		out := "tensor<"
		for _, d := range dims {
			out += fmt.Sprint(d, "x")
		}
		return out + e + ">", dims, e
	}
	left, right, _ := strings.Cut(shapes[target], " -> ")
	var params, names, ins, outs []string
	for i, form := range strings.Fields(left) {
		full, dims, e := typeOf(form)
		params, names, ins = append(params, fmt.Sprintf("%%a%d: %s", i, full)), append(names, fmt.Sprintf("%%a%d", i)), append(ins, full)
		args = append(args, randomTensor(t, e, dims))
	}
	for _, form := range strings.Fields(right) {
		full, _, _ := typeOf(form)
		outs = append(outs, full)
	}
	results := strings.Join(outs, ", ")
	return fmt.Sprintf("func.func @f(%s) -> (%s) {\n%%r:%d = \"stablehlo.custom_call\"(%s) {call_target_name = %q, "+
		"mhlo.backend_config = {%s}, mhlo.attributes = {k = 2}} : (%s) -> (%s)\nreturn %s : %s\n}",
		strings.Join(params, ", "), results, len(outs), strings.Join(names, ", "), target, rapid.SampledFrom(options).Draw(t, "options"),
		strings.Join(ins, ", "), results, resultNames(len(outs)), results), args
}

func resultNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%%r#%d", i)
	}
	return strings.Join(names, ", ")
}

func randomTensor(t *rapid.T, element string, dims []int64) *tensor.Tensor {
	dt := map[string]dtype.Type{"f32": dtype.F32, "f64": dtype.F64, "complex<f32>": dtype.C64, "complex<f64>": dtype.C128,
		"bf16": dtype.BF16, "i32": dtype.I32, "ui32": dtype.UI32}[element]
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = rapid.SampledFrom([]float64{0, 1, -1, 2, 0.5, 3, 1e-30, 1e30, math.NaN(), math.Inf(1)}).Draw(t, "value")
		if rapid.IntRange(0, 3).Draw(t, "plain") > 0 {
			values[i] = float64(rapid.IntRange(-5, 5).Draw(t, "small"))
		}
	}
	x := tensor.FromFloats(dt, dims, values...)
	return &x
}

// Calls into Python are skipped where nothing needs their results, and refused where something does.
func TestCallbacks(t *testing.T) {
	const format = `func.func @f(%%a: tensor<2xf32>) -> tensor<2xf32> {
  %%t = stablehlo.create_token : !stablehlo.token
  %%u = stablehlo.custom_call @xla_ffi_python_cpu_callback(%%t, %%a) {has_side_effect = true} : (!stablehlo.token, tensor<2xf32>) -> !stablehlo.token
  stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%%a) {has_side_effect = true} : (tensor<2xf32>) -> ()
  %s
}`
	run := func(last string) ([]*tensor.Tensor, error) {
		m, err := mlir.Parse(t.Context(), []byte(fmt.Sprintf(format, last)), mlir.Options{File: "in"})
		if err != nil {
			t.Fatal(err)
		}
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := tensor.FromFloats(dtype.F32, []int64{2}, 1, 2)
		return in.Run(context.Background(), ir.FuncID(1), []*tensor.Tensor{&x})
	}
	if out, err := run("return %a : tensor<2xf32>"); err != nil || out[0].Floats()[1] != 2 {
		t.Errorf("callbacks without results: %v, %v", out, err)
	}
	_, err := run("%r = stablehlo.custom_call @xla_python_gpu_callback(%a) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %r : tensor<2xf32>")
	if diag.ExitCode(err) != 4 || !strings.Contains(err.Error(), "in:5:8") || !strings.Contains(err.Error(), "make that an input") {
		t.Errorf("a callback with a result: %v", err)
	}
}
