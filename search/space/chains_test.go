package space_test

import (
	"math/rand/v2"
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// A normalization reduces the squares of what its mean is taken from.
const normalization = `
func.func @main(%x: tensor<262144x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mean = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<262144x8xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<8xf32>) -> tensor<262144x8xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<262144x8xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<262144x8xf32>
  %var = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<262144x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %mean, %var : tensor<8xf32>, tensor<8xf32>
}`

// Moments may be reduced together.
const moments = `
func.func @main(%x: tensor<262144x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %first = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<262144x8xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.multiply %x, %x : tensor<262144x8xf32>
  %second = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<262144x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %first, %second : tensor<8xf32>, tensor<8xf32>
}`

// What comes of a reduction never shares what that takes before it sends anything, however long that may wait.
func TestChainsArePaid(t *testing.T) {
	for _, x := range []struct {
		text   string
		starts int64
	}{{normalization, 2}, {moments, 1}} {
		m, mesh, model := read(t, x.text, subaxis.Axis{Name: "x", Size: 8})
		s := space.New(m, mesh, model)
		s.Serial()
		m.Walk(m.MainFunc().Body, func(op ir.OpID) {
			for _, v := range m.Results(op) {
				switch len(m.Shape(v)) {
				case 1:
					s.Pin(v, parse(t, m, `[{}]`))
				case 2:
					s.Pin(v, parse(t, m, `[{"x"}, {}]`))
				}
			}
		})
		s.Pin(m.BlockArgs(m.MainFunc().Body)[0], parse(t, m, `[{"x"}, {}]`))
		p, err := s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
		start := model.Start(collectives.AllReduce, []subaxis.Ref{m.Mesh(mesh).Full(0)})
		if cost := solve(t, p, err).Cost; cost < x.starts*start || cost >= (x.starts+1)*start {
			t.Errorf("the relaxed problem costs %d, want %d times %d and what is sent", cost, x.starts, start)
		}
	}
}

// An op comes of the one before it in its chain, and each that comes of any is in a chain behind one.
func TestChainsAreOfWhatOpsNeed(t *testing.T) {
	behind := 0
	for seed := range uint64(20) {
		m, mesh, model := read(t, layers(rand.New(rand.NewPCG(seed, 2)), 12), subaxis.Axis{Name: "x", Size: 2})
		s := space.New(m, mesh, model)
		if _, err := s.Build(t.Context(), 0, &space.Effort{}); err != nil {
			t.Fatal(err)
		}
		chains := s.Chains()
		for op, before := range chains {
			needs := needed(m, op)
			if before != 0 && !needs[before] {
				t.Errorf("seed %d: op %d does not need op %d", seed, op, before)
			}
			if before != 0 {
				behind++
			}
		}
	}
	if behind < 50 {
		t.Errorf("%d ops come of others", behind)
	}
}

// needed returns the ops of which an op comes.
func needed(m *ir.Module, op ir.OpID) map[ir.OpID]bool {
	out := map[ir.OpID]bool{}
	var follow func(ir.OpID)
	follow = func(op ir.OpID) {
		for _, v := range m.Operands(op) {
			if by := m.DefiningOp(v); by != 0 && !out[by] {
				out[by] = true
				follow(by)
			}
		}
	}
	follow(op)
	return out
}

// The most that is paid at once is the most of any set of which none comes of another.
func TestMostAtOnce(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		comesOf, parts := make([]int32, 9), make([]int64, 9)
		for i := range comesOf {
			comesOf[i], parts[i] = int32(r.IntN(i+1))-1, int64(r.IntN(10))
		}
		want := int64(0)
		for set := range 1 << len(parts) {
			if sum, ok := apart(comesOf, parts, set); ok {
				want = max(want, sum)
			}
		}
		if most := space.MostOf(comesOf, parts); most != want {
			t.Errorf("%v, that come of %v, are %d at once, want %d", parts, comesOf, most, want)
		}
	}
}

// apart returns the sum of some parts, and whether none comes of another.
func apart(comesOf []int32, parts []int64, set int) (sum int64, ok bool) {
	for i := range parts {
		if set>>i&1 == 0 {
			continue
		}
		sum += parts[i]
		for j := comesOf[i]; j >= 0; j = comesOf[j] {
			if set>>j&1 > 0 {
				return 0, false
			}
		}
	}
	return sum, true
}
