package autoshard_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"autoshard"
	"autoshard/internal/diag"
)

// sized are programs that JAX exported for any sizes or several platforms, with the sizes that were recorded.
var sized = []struct {
	name, platform string
	sizes          []string
	memory         int64
}{
	{"attention", "", []string{"b=2,n=8"}, 0},
	{"train", "", []string{"b=16"}, 0},
	{"train", "", []string{"arg1[0]=16"}, 1500},
	{"shapes", "", []string{"b=6", "n=4"}, 0},
	{"half", "", []string{"b=8"}, 0},
	{"windows", "", []string{"b=4,n=7"}, 0},
	{"loops", "", []string{"b=4,n=6"}, 0},
	{"random", "", []string{"b=4", "arg0[1]=6"}, 0},
	{"constraints", "", []string{"h=12"}, 0},
	{"platforms", "1", nil, 0},
	{"both", "cpu", []string{"b=8"}, 0},
}

// Programs of symbolic sizes compute what JAX did, on any devices, and can be emitted.
func TestSizedModels(t *testing.T) {
	for _, c := range sized {
		t.Run(c.name, func(t *testing.T) {
			m, err := readModel(t, "testdata/specialize/"+c.name+".mlir").WithSizes(t.Context(), c.sizes, c.platform)
			if err != nil {
				t.Fatal(err)
			}
			o := options(t)
			o.Memory, o.Steps = c.memory, 100_000
			p := makePlan(t, m, o)
			verify(t, p, "testdata/specialize/"+c.name+".in.npz", "testdata/specialize/"+c.name+".out.npz", 1e-5)
			emitAllForms(t, p)
			if strings.Contains(p.Program, "?") || strings.Contains(p.Program, "get_dimension_size") ||
				strings.Contains(p.Program, "shape_assertion") {
				t.Errorf("the program is not static:\n%s", p.Program)
			}
		})
	}
}

// What is missing, unknown or impossible is said, with the dimensions that it is about.
func TestSizeQuestions(t *testing.T) {
	for _, c := range []struct {
		file, platform string
		sizes          []string
		want           string // part of the rendered error
	}{
		{"specialize/attention", "", nil, "the model is for any b, n: give their sizes, such as b=64,n=128 [AS1403]\n" +
			"note: b decides dimension 0 of argument 0, dimension 0 of argument 1, dimension 0 of argument 2\n" +
			"note: n decides dimension 1 of argument 0, dimension 1 of argument 1, dimension 1 of argument 2\n"},
		{"specialize/attention", "", []string{"n=8"}, "the model is for any b: give its size, such as b=64"},
		{"specialize/shapes", "", []string{"n=8"}, "the model is for any b: give its size"},
		{"specialize/half", "", nil, "b decides dimension 0 of argument 0"},
		{"cases/dynamic", "", nil, "the model is for any arg0[0]: give its size, such as arg0[0]=64 [AS1403]"},
		{"specialize/train", "", []string{"c=8"}, `the model has no dimension "c"; it has b, arg1[0]`},
		{"specialize/train", "", []string{"arg1[1]=9"}, "arg1[1] has size 8, not 9"},
		{"specialize/train", "", []string{"b=8", "b=9"}, `"b" is given two sizes`},
		{"specialize/train", "", []string{"b=-1"}, `"b" cannot have size -1`},
		{"specialize/train", "", []string{"b"}, `"b" is not the size of a dimension, such as b=64`},
		{"specialize/train", "tpu", []string{"b=8"}, `the model is for one platform; "tpu" cannot be chosen`},
		{"specialize/constraints", "", []string{"h=4"},
			"Input shapes do not match the symbolic shape constraint h >= 8. Expected 'h - 8' to be greater or equal to 0, but found -4."},
		{"specialize/constraints", "", []string{"h=10"}, "break an assertion of the model"},
		{"specialize/attention", "", []string{"b=2,n=8,arg1[0]=3"}, "break an assertion of the model"},
		{"specialize/platforms", "2", nil, "platform 2 does not exist: the model is for 2, counted from 0"},
		{"specialize/platforms", "tpu", nil, `the model does not say which of its 2 platforms is "tpu"`},
		{"cases/composite", "", []string{"b=3"}, `the model has no dimension "b": all its sizes are known`},
	} {
		m, err := readModel(t, "testdata/"+c.file+".mlir").WithSizes(t.Context(), c.sizes, c.platform)
		if err == nil {
			_, err = autoshard.MakePlan(context.Background(), m, options(t))
		}
		var text strings.Builder
		diag.Render(&text, err, nil)
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(text.String(), c.want) {
			t.Errorf("%s with %q: %s, want %q", c.file, c.sizes, &text, c.want)
		}
	}
}

// Without a choice the first platform that needs no other hardware is taken, and a finding says so.
func TestPlatformNote(t *testing.T) {
	m, err := readModel(t, "testdata/specialize/platforms.mlir").WithSizes(t.Context(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	p := makePlan(t, m, options(t))
	if len(p.Findings) == 0 || p.Findings[0].Code != "platform-choice" || !strings.Contains(p.Findings[0].Message, "number 0") {
		t.Errorf("findings are %v", p.Findings)
	}
	const text = `
func.func public @main(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %c : tensor<i32>
  }, {
    stablehlo.return %c_0 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  %1 = "stablehlo.case"(%0) ({
    %2 = stablehlo.custom_call @lapack_some(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }, {
    %2 = stablehlo.custom_call @cusolver_some(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}`
	for platform, want := range map[string]string{"": "lapack", "cpu": "lapack", "cuda": "cusolver", "0": "cusolver", "1": "lapack"} {
		m, err := parse(t, text).WithSizes(t.Context(), nil, platform)
		if err != nil {
			t.Fatal(err)
		}
		p := makePlan(t, m, options(t))
		if !strings.Contains(p.Program, want) || len(p.Inputs) != 1 {
			t.Errorf("%q: %s", platform, p.Program)
		}
	}
}
