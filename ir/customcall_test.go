package ir_test

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

func TestLinalgRoutine(t *testing.T) {
	for target, want := range map[string]string{
		"lapack_sgetrf_ffi": "getrf", "lapack_zungqr_ffi": "orgqr", "lapack_cheevd_ffi": "syevd", "lapack_dgesvd_ffi": "gesdd",
		"cusolver_gesvdj_ffi": "gesdd", "hipsolver_sytrd_ffi": "sytrd", "cusparse_gtsv2_ffi": "gtsv", "cuhybrid_eig_comp": "geev",
		"hiphybrid_geqp3": "geqp3", "hip_lu_pivots_to_permutation": "lu_pivots_to_permutation", "Eigh": "syevd", "Qr": "geqrf",
		// Their sizes and options are bytes.
		"lapack_sgetrf": "", "cusolver_getrf": "", "hipsolver_syevd": "", "cublas_getrf_batched": "",
		"": "", "_ffi": "", "lapack__ffi": "", "lapack_ffi": "", "lapack_s_ffi": "", "my_getrf_ffi": "", "lapack_xgetrf_ffi": "",
	} {
		if got := ir.LinalgRoutine(target); got != want {
			t.Errorf("%q is %q, want %q", target, got, want)
		}
	}
	for target, want := range map[string]bool{"xla_python_cpu_callback": true, "xla_ffi_python_gpu_callback": true,
		"xla_ffi_partitioned_python_cpu_callback": true, "python_cpu_callback": false, "tpu_custom_call": false} {
		if ir.IsPythonCallback(target) != want {
			t.Errorf("%s: %v", target, !want)
		}
	}
}

func TestIndependentDims(t *testing.T) {
	for call, want := range map[string]string{
		`@lapack_sgetrf_ffi(%a)`: "ii..", `@lapack_sgtsv_ffi(%a)`: "iii.", `@MoveToHost(%a)`: "iiii",
		`@mine(%a) {mhlo.frontend_attributes = {num_batch_dims = "1"}}`: "i...", `@mine(%a)`: "",
		`@ApproxTopK(%a) {mhlo.backend_config = {reduction_dim = 1 : i64}}`: "i.ii", `@ApproxTopK(%a)`: "", `@mhlo.topk(%a)`: "iii.",
	} {
		m, err := mlir.Parse(t.Context(), []byte("func.func @f(%a: tensor<2x3x4x5xf32>) {\nstablehlo.custom_call "+call+
			" : (tensor<2x3x4x5xf32>) -> ()\nreturn\n}"), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		independent, got := m.IndependentDims(m.FirstOp(m.Func(1).Body)), ""
		for d := 0; d < 4 && independent != nil; d++ {
			got += map[bool]string{true: "i", false: "."}[independent(d)]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}

func TestDropTokens(t *testing.T) {
	const text = `func.func @main(%arg0: !stablehlo.token, %arg1: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<3xf32>)
    -> (!stablehlo.token, tensor<2xf32>, tensor<3xf32> {my.a = 1 : i32}) {
  %0 = stablehlo.after_all %arg0, %arg0 : !stablehlo.token
  return %0, %arg1, %arg2 : !stablehlo.token, tensor<2xf32>, tensor<3xf32>
}
`
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := m.Clone()
	m.DropTokens(1)
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	const want = `module {
  func.func @main(%arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32> {my.a = 1 : i32}) {
    %0 = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.after_all %0, %0 : !stablehlo.token
    return %arg0, %arg1 : tensor<2xf32>, tensor<3xf32>
  }
}
`
	if got := string(mlir.Print(m, mlir.PrintOptions{})); got != want {
		t.Errorf("printed:\n%s", got)
	}
	if err := ir.Verify(t.Context(), before); err != nil || len(before.BlockArgs(before.Func(1).Body)) != 3 {
		t.Errorf("the module that it was cloned from has changed: %v", err)
	}
}
