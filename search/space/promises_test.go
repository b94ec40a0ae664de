package space_test

import (
	"slices"
	"strings"
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// product is a state that a product updates, on some chips.
func product(t *testing.T, chips int64) (*ir.Module, *space.Space) {
	t.Helper()
	m, mesh, model := read(t, `
func.func @main(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %y : tensor<4096x4096xbf16>
}`, subaxis.Axis{Name: "x", Size: chips})
	return m, space.New(m, mesh, model)
}

func solve(t *testing.T, p *search.Problem, err error) search.Result {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	r, err := search.Solve(t.Context(), p, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A tied result lies as its input does, whatever would cost less.
func TestTie(t *testing.T) {
	for _, tied := range []bool{false, true} {
		m, s := product(t, 8)
		main, _ := m.Main()
		s.Pin(m.BlockArgs(m.Func(main).Body)[0], parse(t, m, `[{}, {}]`))
		if tied {
			s.Tie(0, 0)
		}
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		s.Apply(m, solve(t, p, err).Solution)
		if whole := m.ShardingOf(m.Func(main).ResultShardings[0]).IsReplicated(); whole != tied {
			t.Errorf("tied %v, but the result is %s", tied, m.FormatSharding(m.Func(main).ResultShardings[0]))
		}
	}
}

// The relaxed problem lets a gather run beside its product only where programs are lowered so; either way it costs no more than the
// problem. On two chips, not on eight, the permutes of a ring take what the gather does.
func TestRelaxed(t *testing.T) {
	var least [2]int64
	for i := range least {
		m, s := product(t, 2)
		main, _ := m.Main()
		args := m.BlockArgs(m.Func(main).Body)
		s.Pin(args[0], parse(t, m, `[{"x"}, {}]`))
		s.Pin(args[1], parse(t, m, `[{}, {"x"}]`))
		s.PinResult(0, parse(t, m, `[{"x"}, {}]`))
		if i == 1 {
			s.Serial()
		}
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		dear := solve(t, p, err)
		p, err = s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
		least[i] = solve(t, p, err).Cost
		for _, alone := range []bool{false, true} {
			if p, err = s.Likely(t.Context(), 0, &space.Effort{}, space.Kept, alone); solve(t, p, err).Cost < least[i] {
				t.Errorf("alone %t: likely costs are %d, the relaxed problem says %d", alone, solve(t, p, err).Cost, least[i])
			}
		}
		if least[i] > dear.Cost || s.Floor() > least[i] {
			t.Errorf("the relaxed problem costs %d, the problem %d, the floor %d", least[i], dear.Cost, s.Floor())
		}
	}
	if least[0] >= least[1] {
		t.Errorf("beside each other product and gather cost %d, one after the other %d", least[0], least[1])
	}
}

// A suggestion is a warm start: a solution of the problem that, applied, cuts everything as suggested. One that a pin rules out
// is none.
func TestWarmStarts(t *testing.T) {
	for pin, want := range map[string]int{"": 1, `[{"x"}, {}]`: 1, `[{}, {"x"}]`: 0} {
		m, s := product(t, 8)
		mesh, _ := m.LookupMesh("mesh")
		main, _ := m.Main()
		x := m.BlockArgs(m.Func(main).Body)[0]
		suggested := m.Clone()
		suggested.SetSharding(x, parse(t, suggested, `[{"x"}, {}]`))
		suggested.Func(main).ResultShardings[0] = parse(t, suggested, `[{"x"}, {}]`)
		if err := collectives.Settle(t.Context(), suggested, mesh); err != nil {
			t.Fatal(err)
		}
		assignment, err := collectives.Derive(t.Context(), suggested)
		if err != nil {
			t.Fatal(err)
		}
		s.Suggest(suggested, assignment)
		if pin != "" {
			s.Pin(x, parse(t, m, pin))
		}
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		if err != nil {
			t.Fatal(err)
		}
		starts := s.WarmStarts()
		if len(starts) != want {
			t.Errorf("pinned to %q there are %d warm starts, want %d", pin, len(starts), want)
		}
		for _, start := range starts {
			if cost, _, err := p.Evaluate(start); err != nil || cost >= search.Inf {
				t.Errorf("the warm start costs %d, %v", cost, err)
			}
			s.Apply(m, start)
			for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
				if got, want := m.FormatSharding(m.Sharding(v)), suggested.FormatSharding(suggested.Sharding(v)); got != want {
					t.Errorf("value %d is %s, suggested was %s", v, got, want)
				}
			}
		}
	}
}

// The floor is what the local ops cost where each is cut evenly over all devices: a product whose rows may be cut, and that sends
// nothing, costs just that.
func TestFloor(t *testing.T) {
	_, s := product(t, 8)
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	if r := solve(t, p, err); r.Cost != s.Floor() || s.Floor() <= 0 {
		t.Errorf("the cheapest solution costs %d, the floor is %d", r.Cost, s.Floor())
	}
}

// twoSums are two products, each of which is a sum over the devices where sumsAs pins its operands.
const twoSums = `
func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %z = stablehlo.dot_general %w, %x, contracting_dims = [0] x [1] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %y, %z : tensor<64x64xbf16>, tensor<64x64xbf16>
}`

// sumsAs pins the operands of two sums, and the results that they come to.
func sumsAs(t *testing.T, results ...string) func(m *ir.Module, s *space.Space) {
	return func(m *ir.Module, s *space.Space) {
		args := m.BlockArgs(m.MainFunc().Body)
		s.Pin(args[0], parse(t, m, `[{}, {"x"}]`))
		s.Pin(args[1], parse(t, m, `[{"x"}, {}]`))
		for i, sharding := range results {
			s.PinResult(i, parse(t, m, sharding))
		}
	}
}

// Two sums that nothing needs before both are there can be sent as one, also where each device keeps a block of them, and so can two
// gathers for one op: the relaxed problem, and the problem where it counts on that, cost less by what one of them takes before it sends
// anything; not where they are sent alone.
func TestMerging(t *testing.T) {
	const typ, side = "tensor<64x64xbf16>", 64
	gathers := func(m *ir.Module, s *space.Space) { // results take the place of inputs
		for i, arg := range m.BlockArgs(m.MainFunc().Body) {
			pin := `[{}, {}]`
			if i > 1 {
				pin = `[{"x"}, {}]`
			} else {
				s.Tie(i, i)
			}
			s.Pin(arg, parse(t, m, pin))
		}
	}
	for name, c := range map[string]struct {
		text string
		kind collectives.Kind
		pin  func(m *ir.Module, s *space.Space)
	}{
		"sums":     {twoSums, collectives.AllReduce, sumsAs(t, `[{}, {}]`, `[{}, {}]`)},
		"scatters": {twoSums, collectives.ReduceScatter, sumsAs(t, `[{"x"}, {}]`, `[{}, {"x"}]`)},
		"gathers": {`
func.func @main(%a: ` + typ + `, %b: ` + typ + `, %x: ` + typ + `, %w: ` + typ + `) -> (` + typ + `, ` + typ + `) {
  %y = stablehlo.add %a, %x : ` + typ + `
  %z = stablehlo.add %b, %w : ` + typ + `
  return %y, %z : ` + typ + `, ` + typ + `
}`, collectives.AllGather, gathers},
	} {
		for _, alone := range []bool{false, true} {
			m, mesh, model := read(t, c.text, subaxis.Axis{Name: "x", Size: 8})
			s := space.New(m, mesh, model)
			s.Serial()
			if alone {
				s.Alone()
			}
			c.pin(m, s)
			want := model.Price(c.kind, []subaxis.Ref{m.Mesh(mesh).Full(0)}, 0)
			switch {
			case alone:
				want = 0
			case c.kind == collectives.ReduceScatter: // copies are left
				const bytes = 2 * side * side
				want -= model.Copying(bytes, bytes/8, false, true) + model.Copying(bytes, bytes/8, true, true)
			}
			merges(t, name, s, want)
		}
	}
}

// A sum that a solution reduces alone can wait for a later one, and an earlier one for it: both cost half of what they take before they
// send anything where the problem counts on being sent with those of that solution.
func TestTogetherLater(t *testing.T) {
	m, mesh, model := read(t, twoSums, subaxis.Axis{Name: "x", Size: 8})
	s := space.New(m, mesh, model)
	s.Serial()
	sumsAs(t, `[{}, {}]`, `[{}, {}]`)(m, s)
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	both := solve(t, p, err)
	want, alone := s.Merging(both.Solution), 0
	for i := range both.Solution {
		for k := range p.NumStrategies(i) {
			one := slices.Clone(both.Solution)
			if one[i] = int32(k); s.Merging(one) > 0 {
				continue
			}
			s.Together(one, false)
			q, err := s.Build(t.Context(), 0, &space.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			cost, _, err := q.Evaluate(both.Solution)
			if err != nil {
				t.Fatal(err)
			}
			alone++
			const rounding = 10
			if got := both.Cost - cost; got < want-rounding || got > want+rounding {
				t.Errorf("decision %d as %d: where one sum is reduced, both cost %d less, want %d", i, k, got, want)
			}
		}
	}
	if alone == 0 || want <= 0 {
		t.Errorf("%d solutions reduce one sum; together they cost %d less", alone, want)
	}
}

// Two products that are added up are reduced as one where the problem counts on the summands of a solution: each pays half of a
// reduction, of which it pays half of what that takes before it sends anything already.
func TestSum(t *testing.T) {
	const typ = "tensor<64x64xbf16>"
	added := strings.NewReplacer("("+typ+", "+typ+") {", typ+" {",
		"return %y, %z : "+typ+", "+typ, "%s = stablehlo.add %y, %z : "+typ+"\n  return %s : "+typ)
	m, mesh, model := read(t, added.Replace(twoSums), subaxis.Axis{Name: "x", Size: 8})
	s := space.New(m, mesh, model)
	s.Serial()
	sumsAs(t, `[{}, {}]`)(m, s)
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	both := solve(t, p, err)
	cost := func() int64 {
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		if err != nil {
			t.Fatal(err)
		}
		cost, _, err := p.Evaluate(both.Solution)
		if err != nil {
			t.Fatal(err)
		}
		return cost
	}
	s.Sum(both.Solution) // says nothing: nothing is sent together
	alone := cost()
	s.Together(both.Solution, false)
	together := cost()
	s.Sum(both.Solution)
	axes := []subaxis.Ref{m.Mesh(mesh).Full(0)}
	reduction := model.Price(collectives.AllReduce, axes, 2*64*64)
	want := reduction - model.Start(collectives.AllReduce, axes)/2
	if got := together - cost(); alone != both.Cost || max(got-want, want-got) > 10 {
		t.Errorf("the sum costs %d less, want %d; %d alone, of %d", got, want, alone, both.Cost)
	}
}

// merges checks that two collectives of the best solution of a space cost less together, by so many picoseconds.
func merges(t *testing.T, name string, s *space.Space, want int64) {
	t.Helper()
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	apart := solve(t, p, err)
	const rounding = 10
	near := func(got int64) bool { return got >= want && got <= want+rounding }
	if got := s.Merging(apart.Solution); !near(got) {
		t.Errorf("%s: merging saves %d, want %d", name, got, want)
	}
	s.Together(apart.Solution, false)
	p, err = s.Build(t.Context(), 0, &space.Effort{})
	if got := apart.Cost - solve(t, p, err).Cost; !near(got) {
		t.Errorf("%s: together they cost %d less, want %d", name, got, want)
	}
	p, err = s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
	if err != nil {
		t.Fatal(err)
	}
	if relaxed, _, err := p.Evaluate(apart.Solution); err != nil || !near(apart.Cost-relaxed) {
		t.Errorf("%s: in the relaxed problem they cost %d less, %v, want %d", name, apart.Cost-relaxed, err, want)
	}
}
