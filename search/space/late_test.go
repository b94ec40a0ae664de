package space_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// accumulated is the sum of the products of ten rounds, over a batch.
const accumulated = `
func.func @main(%x: tensor<4096x4096xbf16>, %y: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4096x4096xbf16>
  %r:2 = stablehlo.while(%i = %zero, %sum = %zeros) : tensor<i32>, tensor<4096x4096xbf16>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %1 = stablehlo.add %sum, %0 : tensor<4096x4096xbf16>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %1 : tensor<i32>, tensor<4096x4096xbf16>
  }
  return %r#1 : tensor<4096x4096xbf16>
}`

// Products whose batch is cut, and whose sum is whole, are reduced once where loops may reduce what they add up at their end, and in each
// round where programs are prompt. No program goes below the relaxed problem.
func TestSumsOfLoops(t *testing.T) {
	costs := map[bool]int64{}
	var once int64
	for _, prompt := range []bool{false, true} {
		m, mesh, model := read(t, accumulated, subaxis.Axis{Name: "x", Size: 8})
		s := space.New(m, mesh, model)
		s.Serial()
		if prompt {
			s.Prompt()
		}
		for _, arg := range m.BlockArgs(m.MainFunc().Body) {
			s.Pin(arg, parse(t, m, `[{"x"}, {}]`))
		}
		m.Walk(m.MainFunc().Body, func(op ir.OpID) {
			if m.Kind(op) == ir.OpDotGeneral {
				s.Pin(m.Result(op, 0), parse(t, m, `[{}, {}]`))
			}
		})
		s.PinResult(0, parse(t, m, `[{}, {}]`))
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		costs[prompt] = solve(t, p, err).Cost
		p, err = s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
		if least := solve(t, p, err).Cost; least > costs[prompt] {
			t.Errorf("prompt %v: the relaxed problem costs %d, the problem %d", prompt, least, costs[prompt])
		}
		bytes := m.TypeOf(m.MainFunc().ResultTypes[0]).Bytes()
		once = model.Price(collectives.AllReduce, []subaxis.Ref{m.Mesh(mesh).Full(0)}, bytes)
	}
	if more := costs[true] - costs[false]; more != 9*once {
		t.Errorf("reducing in each round costs %d more, want 9 times %d", more, once)
	}
}
