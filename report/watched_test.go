package report_test

import (
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/program"
	"autoshard/report"
)

// A sum among four devices, as the documents of shard_map show it.
func TestWatched(t *testing.T) {
	p, err := program.ReadShardMap(t.Context(), "sum.shardmap", []byte(`shard_map @f mesh=(i=2, j=2)
  in_specs=(P(('i', 'j')),)
  out_specs=(P('i'),)
lambda x:i32[2]
  y:i32[2] = psum[axes=(j,)] x
  return y
`))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.FromInts(dtype.I32, []int64{8}, 3, 1, 4, 1, 5, 9, 2, 6)
	w, err := p.Watch(t.Context(), []*tensor.Tensor{&x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := report.Watched(w, p.Outputs, true, nil)
	if sights := report.Sights(w, nil); len(sights) != len(w.Sights) || !strings.HasPrefix(got, strings.Join(sights, "")) {
		t.Errorf("sights are %q", sights)
	}
	for _, want := range []string{`BEFORE psum[axes=(j,)] of x
On device 0 at mesh coordinates (i, j) = (0, 0):
[3 1]

On device 1 at mesh coordinates (i, j) = (0, 1):
[4 1]
`, `AFTER psum[axes=(j,)]: y
On device 0 at mesh coordinates (i, j) = (0, 0):
[7 2]
`, `
FINAL RESULT y
[ 7  2  7 15]
`} {
		if !strings.Contains(got, want) {
			t.Errorf("the report is\n%s\nand has no\n%s", got, want)
		}
	}
	if w, err = p.Watch(t.Context(), []*tensor.Tensor{&x}, []string{"y"}); err != nil {
		t.Fatal(err)
	}
	if got := report.Watched(w, p.Outputs, false, nil); !strings.HasPrefix(got, "y\nOn device 0 ") || strings.Contains(got, "FINAL") {
		t.Errorf("of a name the report is\n%s", got)
	}
}

// What jax.debug.print and debug.callback read, device by device, as the format of the Python that they stand in has it. Where that is not
// there, or what stands there is no call of it, elements are shown.
func TestWatchedCalls(t *testing.T) {
	p, err := program.ReadShardMap(t.Context(), "calls.mlir", []byte(`sdy.mesh @mesh = <["i"=2]>
func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} (%x: tensor<2xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%s, %x) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>) -> () loc("user.py":2:4 to :50)
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%s) {has_side_effect = true} : (tensor<f32>) -> () loc("user.py":3:4 to :30)
    sdy.return %x : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
`))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.FromFloats(dtype.F32, []int64{4}, 1, 2, 3, 4)
	w, err := p.Watch(t.Context(), []*tensor.Tensor{&x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const python = "def body(x):\n    jax.debug.print('{x} sum up to {s:.1f}', x=x, s=x.sum())\n    jax.debug.callback(note, x.sum())\n"
	files := map[string]string{"user.py": python}
	for _, c := range []struct{ source, want string }{
		{python, "On device 0 at mesh coordinates (i,) = (0,):\n[1. 2.] sum up to 3.0\n\n" +
			"On device 1 at mesh coordinates (i,) = (1,):\n[3. 4.] sum up to 7.0\n"},
		{"", "On device 0 at mesh coordinates (i,) = (0,):\n3.0\n[1. 2.]\n\nOn device 1 at mesh coordinates (i,) = (1,):\n7.0\n[3. 4.]\n"},
	} {
		files["user.py"] = c.source
		got := report.Watched(w, p.Outputs, false, func(file string) string { return files[file] })
		for _, want := range []string{"CALLBACK at user.py:2 reads ", c.want, "CALLBACK at user.py:3 reads ", "(1,):\n7.0\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("the report is\n%s\nand has no\n%s", got, want)
			}
		}
	}
}
