package typed_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// eachElaborated calls a function with random programs that have types.
func eachElaborated(t *testing.T, f func(p *typed.Program)) {
	t.Helper()
	seed := randomSeed(t)
	for k := range 60 {
		r := programOf(seed, k)
		if r.refusal != "" {
			continue
		}
		p, err := r.elaborated(typed.Options{})
		if err == nil {
			f(p)
		} else if !r.loose { // the types of a loose program promise too much
			t.Errorf("program %d of seed %d: %v", k, seed, err)
		}
	}
}

// A program that is rebuilt from copies of its ops, their types and names is the same text, and the program itself stays.
func TestRebuiltProgramIsTheSame(t *testing.T) {
	eachElaborated(t, func(p *typed.Program) {
		m, text := p.Module, p.String()
		b, values := typed.Rebuild(p), map[ir.ValueID]ir.ValueID{}
		for i, v := range m.BlockArgs(p.Body()) {
			whole := m.TypeOf(p.Params[i].Type)
			values[v] = b.Param(p.Params[i].Name, whole.DType, whole.Dims, p.Params[i].Spec)
		}
		for op := range m.Ops(p.Body()) {
			if op != p.Return() {
				b.Copy(op, values)
			}
		}
		for i, v := range m.Operands(p.Return()) {
			b.Result(values[v], p.Results[i].Spec)
		}
		q, err := b.Finish()
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for v, copied := range values {
			q.SetVariance(copied, p.VarianceOf(v))
			if name, ok := p.Names[v]; ok {
				b.Name(copied, name)
			}
		}
		if p.String() != text || q.String() != text {
			t.Errorf("rebuilt, (-before +after)\n%s", cmp.Diff(text, q.String()))
		}
	})
}

// Emit writes what Collective reads: beside every collective of a program it adds its twin.
func TestEmittedCollectivesAreTwins(t *testing.T) {
	eachElaborated(t, func(p *typed.Program) {
		m := p.Module
		var ops []ir.OpID
		m.Walk(p.Body(), func(op ir.OpID) { ops = append(ops, op) })
		for _, op := range ops {
			c, err := p.Collective(op)
			if err != nil { // it computes, loops or returns
				if m.Kind(op).Communicates() {
					t.Errorf("%v", err)
				}
				continue
			}
			b := typed.Edit(p, op)
			v := b.Emit(c, m.Operands(op)...)
			if b.Err() != nil {
				t.Fatal(b.Err())
			}
			twin, err := p.Collective(m.DefiningOp(v))
			if d := cmp.Diff(c, twin); err != nil || d != "" || b.Type(v) != m.Type(m.Result(op, 0)) {
				t.Errorf("the twin of %s is %s, %v: %s", p.Describe(op), p.Describe(m.DefiningOp(v)), err, d)
			}
			computes := c.Kind == ir.OpShardMapAxisIndex || c.Kind == ir.OpShardMapPscatter
			if c.IsCast() == (computes || c.Kind.Communicates()) || c.IsCast() && m.Type(m.Operand(op, 0)) != b.Type(v) {
				t.Errorf("%s is a cast: %t", p.Describe(op), c.IsCast())
			}
			checkGroup(t, p, &c)
		}
	})
}

// checkGroup compares a collective's set of axes and the size of its groups with the groups of the mesh.
func checkGroup(t *testing.T, p *typed.Program, c *typed.Collective) {
	t.Helper()
	set, refs := c.Set(), []subaxis.Ref(nil)
	if set.Len() != len(c.Axes) || !set.In(p.Manual) {
		t.Errorf("axes %v as a set are %s, of %s", c.Axes, p.FormatAxes(set), p.FormatAxes(p.Manual))
	}
	for a := range p.Mesh.Axes {
		if set.Has(a) != slices.Contains(c.Axes, a) {
			t.Errorf("axes %v as a set are %s", c.Axes, p.FormatAxes(set))
		}
	}
	for _, a := range c.Axes {
		refs = append(refs, p.Mesh.Full(a))
	}
	if got, want := p.GroupSize(c.Axes), len(p.Mesh.Groups(refs)[0]); got != int64(want) {
		t.Errorf("%d devices along %v, want %d", got, c.Axes, want)
	}
}

// Local finds the types that ops of StableHLO have, and refuses operands that do not fit.
func TestLocalFindsTypes(t *testing.T) {
	found := 0
	eachElaborated(t, func(p *typed.Program) {
		m := p.Module
		var ops []ir.OpID
		m.Walk(p.Body(), func(op ir.OpID) {
			if kind := m.Kind(op); kind.Infers() && !kind.IsShardMap() && m.NumResults(op) == 1 && m.NumRegions(op) == 0 {
				ops = append(ops, op)
			}
		})
		for _, op := range ops {
			b := typed.Edit(p, op)
			if v := b.Local(m.Kind(op), m.OpAttrs(op), m.Operands(op)...); b.Err() != nil || b.Type(v) != m.Type(m.Result(op, 0)) {
				t.Errorf("%s has type %s, %v", p.Describe(op), m.FormatType(b.Type(v)), b.Err())
			}
			found++
		}
	})
	if found == 0 {
		t.Error("no op infers its type")
	}
	b := typed.NewBuilder("f", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "i", Size: 2}}}, typed.Setup{})
	x, y := b.Constant(dtype.F32, []int64{2}, 1), b.Constant(dtype.F32, []int64{3}, 1)
	if v := b.Local(ir.OpAdd, nil, x, y); v != 0 || !errors.Is(b.Err(), diag.ErrInvalid) {
		t.Errorf("the sum of two and three elements is value %d, %v", v, b.Err())
	}
}

// LowerDebug adds one comparison for each of its checks, in order, and nothing else. The program of a device has no casts.
func TestLowerDebugOnlyCompares(t *testing.T) {
	compared := 0
	eachElaborated(t, func(p *typed.Program) {
		if !p.Check {
			return
		}
		plain := p.Lower()
		debug, checks := p.LowerDebug()
		m := debug.Module
		var comparisons []ir.OpID
		m.Walk(m.Func(debug.Main).Body, func(op ir.OpID) {
			if m.Kind(op) == ir.OpCheckExpectEq {
				comparisons = append(comparisons, op)
			}
			if c := (typed.Collective{Kind: m.Kind(op)}); c.IsCast() {
				t.Errorf("the program of a device has a cast, %s", m.OpName(op))
			}
		})
		if len(comparisons) != len(checks) {
			t.Errorf("%d comparisons for %d checks", len(comparisons), len(checks))
		}
		for _, op := range comparisons {
			if line := m.OpPos(op).Line; line < 1 || line > len(checks) || checks[line-1] == "" {
				t.Errorf("a comparison stands on line %d and there are %d checks", line, len(checks))
			}
			m.Erase(op)
			compared++
		}
		ir.EraseDead(m)
		ir.EraseDead(plain.Module)
		if d := cmp.Diff(withoutChannels(plain.Module), withoutChannels(m)); d != "" {
			t.Errorf("without comparisons (-Lower +LowerDebug)\n%s\nof\n%s", d, p)
		}
	})
	if compared == 0 {
		t.Error("nothing is compared")
	}
}

// withoutChannels prints a module without the numbers of channels, of which comparisons have some.
func withoutChannels(m *ir.Module) string {
	return regexp.MustCompile(`handle = \d+`).ReplaceAllString(string(mlir.Print(m, mlir.PrintOptions{})), "handle")
}

// parsed reads a program that has types.
func parsed(t *testing.T, text string) *typed.Program {
	t.Helper()
	p, err := typed.Parse(text, "p.shardmap")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// doubled adds blocks of x to themselves.
const doubled = `shard_map @doubled mesh=(i=2, j=2) manual=(i,) check=true in_specs=(P('i'),) out_specs=(P('i'),)
lambda x:f32[2]{i}
  y:f32[2]{i} = add x x
  return y
`

// A program may run when it is valid, and has types that hold where its check is on.
func TestRunnable(t *testing.T) {
	for name, c := range map[string]struct {
		change             func(p *typed.Program)
		validate, runnable string // what the errors name
	}{
		"nothing":                    {func(*typed.Program) {}, "", ""},
		"no types":                   {func(p *typed.Program) { p.Variance = nil }, "", "E_TYPE"},
		"no types without the check": {func(p *typed.Program) { p.Variance, p.Check = nil, false }, "", ""},
		"a wrong type":               {func(p *typed.Program) { p.SetVariance(p.Module.Operand(p.Return(), 0), typed.Variance{}) }, "", "E_TYPE"},
		"no axis":                    {func(p *typed.Program) { p.Manual = 0 }, "E_MESH_EMPTY", "E_MESH_EMPTY"},
		"another size":               {func(p *typed.Program) { p.Mesh.Axes[0].Size = 3 }, "E_DIV", "E_DIV"},
		"an automatic axis":          {func(p *typed.Program) { p.Params[0].Spec = typed.P("j") }, "E_AXIS_UNKNOWN", "E_AXIS_UNKNOWN"},
		"a long spec":                {func(p *typed.Program) { p.Results[0].Spec = typed.P("", "i") }, "E_SPEC_RANK_OUT", "E_SPEC_RANK_OUT"},
		"no inputs":                  {func(p *typed.Program) { p.Params = nil }, "E_TREE", "E_TREE"},
		"no outputs":                 {func(p *typed.Program) { p.Results = nil }, "E_TREE", "E_TREE"},
	} {
		p := parsed(t, doubled)
		c.change(p)
		expectInvalid(t, name+": Validate", p.Validate(), c.validate)
		expectInvalid(t, name+": Runnable", p.Runnable(), c.runnable)
	}
}

// expectInvalid checks that an error is of class diag.ErrInvalid and names a rule; that there is none where the rule is "".
func expectInvalid(t *testing.T, what string, err error, rule string) {
	t.Helper()
	if rule == "" && err != nil || rule != "" && (!errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), rule)) {
		t.Errorf("%s: %v, want %q", what, err, rule)
	}
}

// The cotangent of a spec is cut alike, with unreduced and reduced axes swapped, and so is its variance.
func TestCotangentSpecs(t *testing.T) {
	p := parsed(t, strings.Replace(doubled, "manual=(i,)", "manual=(i, j)", 1))
	cut := typed.P("", "i").Dims
	for text, s := range map[string]typed.Spec{
		"{} {}": typed.P(), "{i} {i}": typed.P("", "i"), "{i,j} {i,j}": typed.P("j,i"),
		"{i, U:j} {i, R:j}":     {Dims: cut, Unreduced: []string{"j"}},
		"{i, R:j} {i, U:j}":     {Dims: cut, Reduced: []string{"j"}},
		"{U:i, R:j} {U:j, R:i}": {Unreduced: []string{"i"}, Reduced: []string{"j"}},
	} {
		c := s.Cotangent()
		if got := p.FormatVariance(p.SpecVariance(s)) + " " + p.FormatVariance(p.SpecVariance(c)); got != text {
			t.Errorf("%s and its cotangent vary like %s, want %s", s, got, text)
		}
		if back := c.Cotangent(); !back.Equal(s) || !slices.EqualFunc(c.Dims, s.Dims, slices.Equal) {
			t.Errorf("the cotangent of %s is %s, and that of this %s", s, c, back)
		}
	}
	p.Check = false
	if v := p.SpecVariance(typed.P("i")); v != (typed.Variance{}) {
		t.Errorf("without the check something varies along %s", p.FormatVariance(v))
	}
}

// Messages show values and ops by name and type; a value without a name has its number.
func TestMessagesNameValues(t *testing.T) {
	p := parsed(t, `shard_map @total mesh=(i=2, j=2) manual=(i, j) check=true in_specs=(P('i'),) out_specs=(P(),)
lambda x:f32[2]{i}
  y:f32[2]{} = psum[axes=(i,)] x
  return y
`)
	y := p.Module.Operand(p.Return(), 0)
	if got, want := p.Describe(p.Module.DefiningOp(y)), "y = psum[axes=(i,)] x:f32[2]{i}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.Describe(p.Return())+" along "+p.FormatAxes(p.Manual), "return y:f32[2]{} along {i,j}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	delete(p.Names, y)
	if got := p.NameOf(y); !strings.HasPrefix(got, "_") || !strings.HasPrefix(p.FormatValue(y), got+":f32[2]") {
		t.Errorf("a value without a name is %q, with its type %q", got, p.FormatValue(y))
	}
}

// ScanOf reads what Scan wrote, also from text.
func TestScanRoundTrip(t *testing.T) {
	for _, want := range []typed.ScanInfo{{Carries: 1, Length: 3}, {Carries: 1, Length: 3, Reverse: true}} {
		b := typed.NewBuilder("sums", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "i", Size: 2}}}, typed.Setup{Unchecked: true})
		x := b.Param("x", dtype.F32, []int64{3, 4}, typed.P("", "i"))
		_, sums := b.Scan([]ir.ValueID{b.Constant(dtype.F32, []int64{2}, 0)}, []ir.ValueID{x}, want.Length, want.Reverse,
			func(carry, row []ir.ValueID) (next, out []ir.ValueID) {
				sum := b.Binary(ir.OpAdd, carry[0], row[0])
				return []ir.ValueID{sum}, []ir.ValueID{sum}
			})
		b.Result(sums[0], typed.P("", "i"))
		p, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*typed.Program{p, parsed(t, p.String())} {
			if got := p.ScanOf(p.Module.DefiningOp(p.Module.Operand(p.Return(), 0))); got != want {
				t.Errorf("%+v is read as %+v in\n%s", want, got, p)
			}
		}
	}
}

// A value takes the place and the name of another one; what is erased leaves no names.
func TestNamesFollowValues(t *testing.T) {
	p := parsed(t, `shard_map @f mesh=(i=2) manual=(i,) check=false in_specs=(P(), P()) out_specs=(P(),)
lambda x:f32[2] y:f32[2]
  a:f32[2] = negate x
  b:f32[2] = exponential a
  c:f32[2] = scan[carries=1, length=3, reverse=false] b {
    lambda d:f32[2]
      e:f32[2] = tanh d
      return e
  }
  return b
`)
	m := p.Module
	ops := slices.Collect(m.Ops(p.Body()))
	p.Erase(ops[2])
	p.Bypass(ops[0])
	x, y := m.BlockArgs(p.Body())[0], m.BlockArgs(p.Body())[1]
	if got := m.Operand(ops[1], 0); got != x {
		t.Errorf("exponential takes %s", p.NameOf(got))
	}
	p.Replace(m.Result(ops[1], 0), y)
	if got := m.Operand(p.Return(), 0); got != y {
		t.Errorf("the program returns %s", p.NameOf(got))
	}
	if d := cmp.Diff(map[ir.ValueID]string{x: "x", y: "b"}, p.Names); d != "" {
		t.Errorf("names (-want +got)\n%s", d)
	}
}
