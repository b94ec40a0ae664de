package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// inputs demands that inputs which do not fit are errors that have a code and name the first one that is wrong.
func (s *suite) inputs(t *testing.T) {
	p := s.find(t, "products")
	wide := tensor.Convert(*p.inputs[1], dtype.F64)
	flat := tensor.Reshape(*p.inputs[1], []int64{32})
	short := tensor.Tensor{DType: p.inputs[1].DType, Shape: p.inputs[1].Shape, Data: p.inputs[1].Data[:4]}
	replaced := func(x *tensor.Tensor) []*tensor.Tensor {
		list := slices.Clone(p.inputs)
		list[1] = x
		return list
	}
	for name, wrong := range map[string]struct {
		inputs []*tensor.Tensor
		says   string
	}{
		"too few":     {p.inputs[:4], "takes 5"},
		"too many":    {append(slices.Clone(p.inputs), p.inputs[0]), "takes 5"},
		"missing":     {replaced(nil), "is missing"},
		"wrong type":  {replaced(&wide), "f64[8,4]"},
		"wrong shape": {replaced(&flat), "f32[32]"},
		"short":       {replaced(&short), "4 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			job := p.job(t)
			job.Inputs = wrong.inputs
			refused(t, s.one(t.Context(), job).Err, autoshard.ErrInvalid, 0, wrong.says)
		})
	}
}

// callback is a program that calls back into the Python that exported it, at line 4.
const callback = `module @callback {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {mhlo.backend_config = {index = 0 : ui64}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}`

// unknown is a program with a kernel that nobody knows, at line 5, behind a token.
const unknown = `module @unknown {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = stablehlo.custom_call @their_kernel(%t, %a) : (!stablehlo.token, tensor<4x8xf32>) -> (!stablehlo.token, tensor<4x8xf32>)
    return %0#1 : tensor<4x8xf32>
  }
}`

// fromHost is a program that waits for what its host sends, at line 5.
const fromHost = `module @from_host {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
    %1 = stablehlo.add %0#0, %a : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}`

// refusals demands that what a backend has no form for is an error at the line of the model, of what no backend runs and of what the
// row says.
func (s *suite) refusals(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		class error
		line  int
		says  string
	}{
		"callback": {callback, autoshard.ErrUnsupported, 4, "a Python callback"},
		"unknown":  {unknown, autoshard.ErrUnsupported, 5, "their_kernel"},
		"infeed":   {fromHost, nil, 5, "infeed"}, // there is none, or nothing in it
	} {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, name, []byte(c.text))
			x := tensor.New(dtype.F32, []int64{4, 8})
			job.Inputs = []*tensor.Tensor{&x}
			refused(t, s.one(t.Context(), job).Err, c.class, c.line, c.says)
		})
	}
	for _, p := range s.sources {
		if s.takes(p) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			err := s.one(t.Context(), p.job(t)).Err
			if found := autoshard.Diagnostics(err); !errors.Is(err, autoshard.ErrUnsupported) || len(found) == 0 || found[0].Pos.Line == 0 {
				t.Errorf("got %v, want the place of what has no form", err)
			}
		})
	}
}

// refused demands an error of a class, if one is given, with a code, at a line, 0 for none, that says something.
func refused(t *testing.T, err, class error, line int, says string) {
	t.Helper()
	found := autoshard.Diagnostics(err)
	switch {
	case class != nil && !errors.Is(err, class) || len(found) == 0:
		t.Errorf("got %v, want %v", err, class)
	case found[0].Code == "" || found[0].Pos.Line != line || line > 0 && found[0].Pos.File == "" || !strings.Contains(found[0].Message, says):
		t.Errorf("got %q at line %d with code %q, want %q at line %d", found[0].Message, found[0].Pos.Line, found[0].Code, says, line)
	}
}
