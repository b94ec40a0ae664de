package space_test

import (
	"strings"
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
// round where programs are prompt, whether or not they would be sent with others. No program goes below the relaxed problem.
func TestSumsOfLoops(t *testing.T) {
	costs := map[bool]int64{}
	var once int64
	for how := range 4 {
		prompt, alone := how%2 == 1, how >= 2
		m, mesh, model := read(t, accumulated, subaxis.Axis{Name: "x", Size: 8})
		s := space.New(m, mesh, model)
		s.Serial()
		if prompt {
			s.Prompt()
		}
		if alone {
			s.Alone()
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
		cost := solve(t, p, err).Cost
		if alone && cost != costs[prompt] {
			t.Errorf("prompt %v: it costs %d, and %d alone", prompt, costs[prompt], cost)
		}
		costs[prompt] = cost
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

// So they are where what lies between the product and the sum does not take every layout, and the relaxed problem counts how reductions
// begin.
func TestReshapedSumsOfLoops(t *testing.T) {
	const product = "(tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>\n"
	text := strings.Replace(accumulated, product+"    %1 = stablehlo.add %sum, %0 : tensor<4096x4096xbf16>", product+`
    %flat = stablehlo.reshape %0 : (tensor<4096x4096xbf16>) -> tensor<16777216xbf16>
    %square = stablehlo.reshape %flat : (tensor<16777216xbf16>) -> tensor<4096x4096xbf16>
    %1 = stablehlo.add %sum, %square : tensor<4096x4096xbf16>`, 1)
	for _, alone := range []bool{false, true} {
		m, mesh, model := read(t, text, subaxis.Axis{Name: "x", Size: 8})
		s := space.New(m, mesh, model)
		if alone {
			s.Alone()
		}
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		cost := solve(t, p, err).Cost
		p, err = s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
		if least := solve(t, p, err).Cost; least > cost {
			t.Errorf("alone %v: the relaxed problem costs %d, the problem %d", alone, least, cost)
		}
	}
}
