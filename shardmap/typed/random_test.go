package typed_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// randomProgram is a program over f32[4] blocks in the form that testdata/jax_peer.py reads.
type randomProgram struct {
	Mesh    [][2]any       `json:"mesh"`
	Inputs  []randomInput  `json:"inputs"`
	Steps   []randomStep   `json:"steps"`
	Outputs []randomOutput `json:"outputs"`

	VJP       bool `json:"vjp"`
	Unchecked bool `json:"unchecked"`
	axes      []subaxis.Axis
}

type randomInput struct {
	Spec []string  `json:"spec"`
	Data []float64 `json:"data"`
}

type randomStep struct {
	Op      string     `json:"op"`
	In      []int      `json:"in,omitempty"`
	Axes    []string   `json:"axes,omitempty"`
	Perm    [][2]int64 `json:"perm,omitempty"`
	Value   float64    `json:"value"`
	Reverse bool       `json:"reverse"`
}

type randomOutput struct {
	Value int      `json:"value"`
	Spec  []string `json:"spec"`
}

var randomMeshes = [][]subaxis.Axis{
	{{Name: "i", Size: 4}},
	{{Name: "i", Size: 2}, {Name: "j", Size: 2}},
	{{Name: "i", Size: 1}, {Name: "j", Size: 4}},
	{{Name: "i", Size: 2}, {Name: "j", Size: 2}, {Name: "k", Size: 2}},
}

// operandsPerOp are the ops of random programs with how many values they take.
var operandsPerOp = map[string]int{"const": 0, "add": 2, "mul": 2, "max": 2, "neg": 1, "where": 3, "flip": 1, "scale": 2, "psum": 1, "pmax": 1, "pmin": 1,
	"pmean": 1, "all_gather": 1, "all_gather_invariant": 1, "psum_scatter": 1, "all_to_all": 1, "ppermute": 1, "axis_index": 1, "cast": 1,
	"scan": 4, "cond": 3, "while": 2, "tanh": 1, "softplus": 1, "div": 2}

var opNames = func() []string {
	var out []string
	for name := range operandsPerOp {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}()

func drawProgram(t *rapid.T) *randomProgram {
	p := &randomProgram{axes: rapid.SampledFrom(randomMeshes).Draw(t, "mesh")}
	for _, a := range p.axes {
		p.Mesh = append(p.Mesh, [2]any{a.Name, a.Size})
	}
	for range rapid.IntRange(1, 3).Draw(t, "inputs") {
		spec := p.drawAxes(t, 0)
		data := rapid.SliceOfN(rapid.Float64Range(-3, 3), int(4*p.size(spec)), int(4*p.size(spec))).Draw(t, "data")
		for k := range data {
			data[k] = math.Round(data[k])
		}
		p.Inputs = append(p.Inputs, randomInput{spec, data})
	}
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		p.Steps = append(p.Steps, p.drawStep(t))
	}
	n := len(p.Inputs) + len(p.Steps)
	for k := range rapid.IntRange(1, 3).Draw(t, "outputs") {
		least := len(p.axes) // mostly every axis, so that the output is not refused
		if rapid.IntRange(0, 3).Draw(t, "some axes") == 0 {
			least = 0
		}
		p.Outputs = append(p.Outputs, randomOutput{max(n-1-k, 0), p.drawAxes(t, least)})
	}
	return p
}

func (p *randomProgram) drawStep(t *rapid.T) randomStep {
	s := randomStep{Op: rapid.SampledFrom(opNames).Draw(t, "op")}
	for range operandsPerOp[s.Op] {
		s.In = append(s.In, rapid.IntRange(0, len(p.Inputs)+len(p.Steps)-1).Draw(t, "operand"))
	}
	switch s.Op {
	case "const":
		s.Value = float64(rapid.IntRange(-2, 2).Draw(t, "value"))
	case "scan":
		s.Reverse = rapid.Bool().Draw(t, "reverse")
	case "psum", "pmax", "pmin", "pmean", "all_gather", "all_gather_invariant", "axis_index", "cast":
		s.Axes = p.drawAxes(t, 1)
	case "psum_scatter", "all_to_all":
		for s.Axes = p.drawAxes(t, 1); p.size(s.Axes) > 4; {
			s.Axes = s.Axes[1:]
		}
	case "ppermute":
		s.Axes = p.drawAxes(t, 1)
		slices.Sort(s.Axes) // names are in mesh order
		n := p.size(s.Axes)
		order := rapid.Permutation(slices.Collect(func(yield func(int64) bool) {
			for k := int64(0); k < n && yield(k); k++ {
			}
		})).Draw(t, "perm")
		for to, from := range order[:rapid.IntRange(1, int(n)).Draw(t, "pairs")] {
			s.Perm = append(s.Perm, [2]int64{from, int64(to)})
		}
	}
	return s
}

// drawAxes draws some axes, in any order.
func (p *randomProgram) drawAxes(t *rapid.T, least int) []string {
	names := make([]string, len(p.axes))
	for i, a := range p.axes {
		names[i] = a.Name
	}
	names = rapid.Permutation(names).Draw(t, "axes")
	return names[:rapid.IntRange(least, len(names)).Draw(t, "number of axes")]
}

func (p *randomProgram) size(axes []string) int64 {
	n := int64(1)
	for _, a := range p.axes {
		if slices.Contains(axes, a.Name) {
			n *= a.Size
		}
	}
	return n
}

// build returns the program and its values, inputs first.
func (p *randomProgram) build(setup typed.Setup, all bool) (*typed.Program, error) {
	b := &ops{typed.NewBuilder("random", subaxis.Mesh{Axes: p.axes}, setup), "", 0}
	var env []ir.ValueID
	spec := func(axes []string) typed.Spec {
		if len(axes) == 0 {
			return typed.P()
		}
		return typed.P(strings.Join(axes, ","))
	}
	for k, in := range p.Inputs {
		env = append(env, b.Param(fmt.Sprint("x", k), dtype.F32, []int64{int64(len(in.Data))}, spec(in.Spec)))
	}
	for k, s := range p.Steps {
		v := p.step(b, s, env)
		env = append(env, b.Name(v, fmt.Sprint("s", k)))
	}
	for _, out := range p.Outputs {
		axes := out.Spec
		if all { // every axis: no output is refused
			for _, a := range p.axes {
				if !slices.Contains(axes, a.Name) {
					axes = append(slices.Clone(axes), a.Name)
				}
			}
		}
		b.Result(env[out.Value], spec(axes))
	}
	return b.Finish()
}

func (p *randomProgram) step(b *ops, s randomStep, env []ir.ValueID) ir.ValueID {
	x := make([]ir.ValueID, len(s.In))
	for i, k := range s.In {
		x[i] = env[k]
	}
	zero := func() ir.ValueID { return b.Constant(dtype.F32, nil, 0) }
	sum := func(v ir.ValueID) ir.ValueID { return b.Reduce(ir.OpAdd, v, 0) }
	switch s.Op {
	case "const":
		return b.Constant(dtype.F32, []int64{4}, s.Value)
	case "add":
		return b.add(x[0], x[1])
	case "mul":
		return b.Binary(ir.OpMultiply, x[0], x[1])
	case "max":
		return b.Binary(ir.OpMaximum, x[0], x[1])
	case "tanh":
		return b.Unary(ir.OpTanh, x[0])
	case "softplus":
		e := b.Unary(ir.OpExponential, b.Binary(ir.OpDivide, x[0], b.Constant(dtype.F32, nil, 8)))
		return b.Unary(ir.OpLog, b.add(e, b.Constant(dtype.F32, nil, 1)))
	case "div":
		return b.Binary(ir.OpDivide, x[0], b.add(b.Binary(ir.OpMultiply, x[1], x[1]), b.Constant(dtype.F32, nil, 1)))
	case "neg":
		return b.Unary(ir.OpNegate, x[0])
	case "where":
		return b.Select(b.Compare("GT", x[0], zero()), x[1], x[2])
	case "flip":
		return b.Op(ir.OpReverse, b.Type(x[0]), ir.MakeAttrs(ir.NamedAttr{Name: "dimensions", Value: ir.Ints{0}}), x[0])
	case "scale":
		return b.Binary(ir.OpMultiply, x[0], sum(x[1]))
	case "psum":
		return b.Psum(x[0], s.Axes...)
	case "pmax":
		return b.Pmax(x[0], nil, s.Axes...)
	case "pmin":
		return b.Pmin(x[0], nil, s.Axes...)
	case "pmean":
		return b.Pmean(x[0], s.Axes...)
	case "all_gather", "all_gather_invariant":
		to := map[string]typed.Gathered{"all_gather": typed.ToVarying, "all_gather_invariant": typed.ToInvariant}[s.Op]
		y := b.AllGather(x[0], 0, true, to, nil, s.Axes...)
		return b.Slice(y, []int64{min(2, 4*p.size(s.Axes)-4)}, []int64{min(6, 4*p.size(s.Axes))}, nil)
	case "psum_scatter":
		y := b.PsumScatter(x[0], 0, true, nil, s.Axes...)
		return b.Concatenate(0, slices.Repeat([]ir.ValueID{y}, int(p.size(s.Axes)))...)
	case "all_to_all":
		return b.AllToAll(x[0], 0, 0, true, nil, s.Axes...)
	case "ppermute":
		return b.Ppermute(x[0], s.Perm, s.Axes...)
	case "axis_index":
		return b.add(x[0], b.Convert(b.AxisIndex(s.Axes...), dtype.F32))
	case "cast":
		return b.Cast(x[0], s.Axes...)
	case "scan":
		last, ys := b.Scan(x[:2], []ir.ValueID{b.Reshape(x[3], 4, 1)}, 4, s.Reverse, func(c, row []ir.ValueID) (next, out []ir.ValueID) {
			return []ir.ValueID{b.add(c[1], x[2]), c[0]}, []ir.ValueID{b.Binary(ir.OpMultiply, c[0], b.Reshape(row[0]))}
		})
		if ys == nil {
			return 0
		}
		return b.add(b.add(last[0], last[1]), b.Reshape(b.Slice(ys[0], []int64{0, 0}, []int64{4, 1}, nil), 4))
	case "cond":
		return b.Cond(b.Compare("GT", sum(x[0]), zero()), func() []ir.ValueID { return []ir.ValueID{x[2]} },
			func() []ir.ValueID { return []ir.ValueID{b.add(x[1], b.Constant(dtype.F32, nil, 1))} })[0]
	}
	return b.While([]ir.ValueID{b.i32(0), x[0]}, func(c []ir.ValueID) ir.ValueID { return b.Compare("LT", c[0], b.i32(3)) },
		func(c []ir.ValueID) []ir.ValueID { return []ir.ValueID{b.add(c[0], b.i32(1)), b.add(c[1], x[1])} })[1]
}

func (p *randomProgram) arguments() []tensor.Tensor {
	var out []tensor.Tensor
	for _, in := range p.Inputs {
		out = append(out, tensor.FromFloats(dtype.F32, []int64{int64(len(in.Data))}, in.Data...))
	}
	return out
}

// The blocks of every value of a random program are equal along the axes that its type leaves out. Its text, its
// manual computation, and the same program with a cast before every use and without types compute the same.
func TestTypesHold(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawProgram(t)
		p, err := r.build(typed.Setup{}, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Elaborate(typed.Options{}); err != nil {
			refused++
			if s := err.Error(); !strings.Contains(s, "(E_MIXED)") && !strings.Contains(s, "(E_CAST)") {
				t.Fatal(err)
			}
			t.SkipNow()
		}
		want := r.run(t, p, typed.RunOptions{})
		r.same(t, p, want, typed.RunOptions{Debug: true})
		q, err := typed.Parse(p.String(), "")
		if err != nil {
			t.Fatalf("%v in\n%s", err, p)
		}
		if q.String() != p.String() {
			t.Fatalf("printed\n%s\nread and printed\n%s", p, q)
		}
		r.same(t, q, want, typed.RunOptions{})
		for _, o := range []typed.Options{{Fresh: true}, {Unsound: true}} {
			f, _ := r.build(typed.Setup{}, true)
			if _, err := f.Elaborate(o); err != nil {
				t.Fatal(err)
			}
			r.same(t, f, want, typed.RunOptions{Debug: !o.Unsound})
		}
		u, err := r.build(typed.Setup{Unchecked: true}, true)
		if err != nil {
			t.Fatal(err)
		}
		r.same(t, u, want, typed.RunOptions{})
		i, err := typed.Import(p.Export(), typed.ImportOptions{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, mlir.Print(p.Export(), mlir.PrintOptions{}))
		}
		r.same(t, i, want, typed.RunOptions{Debug: true})
	})
	t.Logf("%d programs refused", refused)
}

func (r *randomProgram) run(t *rapid.T, p *typed.Program, o typed.RunOptions) []tensor.Tensor {
	run, err := p.Run(t.Context(), r.arguments(), o)
	if err != nil {
		t.Fatalf("%v in\n%s", err, p)
	}
	return run.Results
}

func (r *randomProgram) same(t *rapid.T, p *typed.Program, want []tensor.Tensor, o typed.RunOptions) {
	for k, got := range r.run(t, p, o) {
		if !got.Equal(want[k]) {
			t.Fatalf("result %d is %v, want %v in\n%s", k, got.Floats(), want[k].Floats(), p)
		}
	}
}

var jaxPrograms = flag.Int("jax.programs", 100, "how many random programs TestJAX compares")

// Random programs are typed as JAX types them, refused where JAX refuses them, and compute the same.
func TestJAX(t *testing.T) {
	ask, programs := startJAX(t), *jaxPrograms
	refused := 0
	for seed := range programs {
		r := rapid.Custom(drawProgram).Example(seed)
		question, answer := ask(r)
		if answer.Error != "" {
			refused++
		}
		if err := r.compare(t, answer); err != nil {
			t.Errorf("program %d: %v\n%s", seed, err, question)
		}
	}
	t.Logf("%d programs, %d of them refused by both", programs, refused)
	if refused > programs*3/4 {
		t.Error("too few programs run")
	}
}

// startJAX runs the peer until the test ends. The function that it returns asks it about a program.
func startJAX(t *testing.T) func(*randomProgram) ([]byte, *jaxAnswer) {
	t.Helper()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax 0.12")
	}
	cmd := exec.Command(python, "testdata/jax_peer.py")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, stderr.String())
		}
	})
	return func(r *randomProgram) ([]byte, *jaxAnswer) {
		question, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(in, "%s\n", question)
		if !lines.Scan() {
			t.Fatalf("JAX ended: %v\n%s", lines.Err(), stderr.String())
		}
		answer := &jaxAnswer{}
		if err := json.Unmarshal(lines.Bytes(), answer); err != nil {
			t.Fatal(err)
		}
		return question, answer
	}
}

type jaxAnswer struct {
	Error   string
	Types   [][]string
	Results [][]float64
	Grads   [][]float64
}

func (r *randomProgram) compare(t *testing.T, want *jaxAnswer) error {
	p, err := r.build(typed.Setup{}, false)
	if err == nil {
		_, err = p.Elaborate(typed.Options{Casts: typed.CastOperands, Unsound: true})
	}
	if (err != nil) != (want.Error != "") {
		return fmt.Errorf("got error %v, JAX %q", err, want.Error)
	}
	if err != nil {
		return nil
	}
	byName := map[string]ir.ValueID{}
	for v, name := range p.Names {
		byName[name] = v
	}
	for k, axes := range want.Types {
		name := fmt.Sprint("s", k-len(r.Inputs))
		if k < len(r.Inputs) {
			name = fmt.Sprint("x", k)
		}
		if v, ok := byName[name]; ok {
			if got := p.FormatVariance(p.VarianceOf(v)); got != "{"+strings.Join(axes, ",")+"}" {
				return fmt.Errorf("%s varies over %s, in JAX over %v", name, got, axes)
			}
		}
	}
	run, err := p.Run(t.Context(), r.arguments(), typed.RunOptions{})
	if err != nil {
		if strings.Contains(err.Error(), "replication violated") {
			return nil // JAX takes a copy without looking
		}
		return err
	}
	for k, result := range run.Results {
		for e, got := range result.Floats() {
			if w := want.Results[k][e]; math.Abs(got-w) > 1e-4*math.Max(1, math.Abs(w)) {
				return fmt.Errorf("element %d of result %d is %v, in JAX %v", e, k, got, w)
			}
		}
	}
	return nil
}
