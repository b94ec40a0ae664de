package typed_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap/typed"
)

// vector is one program of shardmap_vectors.json; its field "form" explains the notation.
type vector struct {
	ID          string
	Mesh        [][2]any
	Check       bool
	Inputs      []input
	Body        []equation
	Outputs     []output
	Elaborated  []equation
	ElabOutputs []string `json:"elaborated_outputs"`
	Types       map[string]string
	Expected    []expected
	Error       *struct {
		Code       string
		StrictOnly bool `json:"strict_only"`
	}
	Blocks  [][][]float64
	Forward map[string]int `json:"forward_communication"`

	Wrt        []string
	Cotangents []gen
	Grads      []expected
	Pairing    float64
	Transposed *derivative
	Twice      *derivative `json:"transposed_twice"`
	Backward   []derivative
}

type input struct {
	Name, Dtype string
	Shape       []int64
	Spec        [][]string
	Gen         gen
}

type gen struct {
	Arange []float64
	Mod    []float64
	List   []float64
	Fill   *float64
}

type output struct {
	Var                string
	Spec               [][]string
	Unreduced, Reduced []string
}

type expected struct {
	Dtype string
	Shape []int64
	Data  []float64
	Check *struct{ Sum, Wsum, First, Last float64 }
}

type equation struct {
	Op      string
	In, Out []string
	Attrs   attributes
}

type attributes struct {
	Axes                                           []string
	Dim, Split, Concat                             int64
	Tiled                                          *bool
	To                                             string
	Groups                                         [][]int64
	Perm                                           json.RawMessage
	Dtype                                          string
	Shape                                          []int64
	Value                                          json.RawMessage
	Dims                                           []int64
	Dir                                            string
	Sizes, Start, Limit, Strides, Lo, Hi, Interior []int64
	Consts, Carry                                  int
	Length                                         int64
	Reverse                                        bool
	Body, Cond                                     *region
	Branches                                       []region
	LhsContract                                    []int64 `json:"lhs_contract"`
	RhsContract                                    []int64 `json:"rhs_contract"`
	LhsBatch                                       []int64 `json:"lhs_batch"`
	RhsBatch                                       []int64 `json:"rhs_batch"`
}

type region struct {
	Params  []string
	Eqns    []equation
	Results []string
}

// loadVectors returns the shared programs, or skips the test.
func loadVectors(t *testing.T) []vector {
	t.Helper()
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: no vectors of shard_map programs")
	}
	data, err := os.ReadFile(filepath.Join(shared, "spec", "shardmap_vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

func dtypeOf(name string) dtype.Type {
	if name == "bool" {
		return dtype.I1
	}
	d, ok := dtype.Parse(name)
	if !ok {
		panic("element type " + name)
	}
	return d
}

// arguments makes the inputs of a vector.
func (v *vector) arguments() []tensor.Tensor {
	var out []tensor.Tensor
	for _, in := range v.Inputs {
		out = append(out, in.Gen.tensor(dtypeOf(in.Dtype), in.Shape))
	}
	return out
}

func (g *gen) tensor(d dtype.Type, shape []int64) tensor.Tensor {
	n, _, _ := dtype.Size(d, shape)
	values := make([]float64, n)
	for k := range values {
		switch {
		case g.Arange != nil:
			values[k] = g.Arange[0] + g.Arange[1]*float64(k)
		case g.Mod != nil:
			values[k] = math.Mod(float64(k)*g.Mod[0]+g.Mod[1], g.Mod[2]) - g.Mod[3]
		case g.List != nil:
			values[k] = g.List[k]
		case g.Fill != nil:
			values[k] = *g.Fill
		}
	}
	return tensor.FromFloats(d, shape, values...)
}

// compare checks a result: integers exactly, the rest to 1e-5 relative.
func (x *expected) compare(got tensor.Tensor) error {
	if got.DType != dtypeOf(x.Dtype) || !slices.Equal(got.Shape, x.Shape) {
		return fmt.Errorf("got %s%v, want %s%v", got.DType, got.Shape, x.Dtype, x.Shape)
	}
	values := got.Floats()
	near := func(what string, got, want float64) error {
		if got != want && !(x.Dtype[0] == 'f' && math.Abs(got-want) <= 1e-5*math.Max(math.Abs(want), 1)) {
			return fmt.Errorf("%s is %v, want %v", what, got, want)
		}
		return nil
	}
	if x.Check == nil {
		for k, want := range x.Data {
			if err := near(fmt.Sprint("element ", k), values[k], want); err != nil {
				return err
			}
		}
		return nil
	}
	sum, wsum := 0.0, 0.0
	for k, v := range values {
		sum += v
		wsum += v * float64(1+k%97)
	}
	for _, e := range []error{near("sum", sum, x.Check.Sum), near("wsum", wsum, x.Check.Wsum),
		near("first", values[0], x.Check.First), near("last", values[len(values)-1], x.Check.Last)} {
		if e != nil {
			return e
		}
	}
	return nil
}

// Types, casts, communication and values of the recorded programs are those of JAX, and so are the errors of wrong ones.
func TestVectors(t *testing.T) {
	vectors := loadVectors(t)
	for _, v := range vectors {
		t.Run(v.ID, func(t *testing.T) {
			if v.Error != nil {
				v.testError(t)
				return
			}
			p, alias, err := v.build(v.Body, nil)
			if err != nil {
				t.Fatal(err)
			}
			report, err := p.Elaborate(typed.Options{})
			if err != nil {
				t.Fatal(err)
			}
			v.testTypes(t, p, alias)
			v.testElaborated(t, p, report)
			v.testCommunication(t, p)
			v.testValues(t, p)
			if err := ir.Verify(t.Context(), p.Lower().Module); err != nil {
				t.Error(err)
			}
			roundTrip(t, p)
			v.testManual(t, p)
		})
	}
}

// testError expects the vector's error: in the mode of JAX, where loops and branches get no casts, and of soundness.
func (v *vector) testError(t *testing.T) {
	attempt := func(o typed.Options) error {
		p, _, err := v.build(v.Body, nil)
		if err == nil {
			_, err = p.Elaborate(o)
		}
		return err
	}
	control := v.Error.Code == "E_CARRY" || v.Error.Code == "E_BRANCH"
	opts := typed.Options{}
	if control {
		opts.Casts = typed.CastOperands
		if err := attempt(typed.Options{}); err != nil {
			t.Errorf("casts repair this program, but: %v", err)
		}
	}
	err := attempt(opts)
	if err == nil || !strings.Contains(err.Error(), "("+v.Error.Code+")") {
		t.Fatalf("got %v, want %s", err, v.Error.Code)
	}
	t.Log(err)
	if v.Error.StrictOnly && v.Error.Code != "E_PERM" {
		if err := attempt(typed.Options{Casts: typed.CastOperands, Unsound: true}); err != nil {
			t.Errorf("JAX accepts this program, but: %v", err)
		}
	}
}

func (v *vector) testTypes(t *testing.T, p *typed.Program, alias map[string]string) {
	byName := map[string]ir.ValueID{}
	for value, name := range p.Names {
		byName[name] = value
	}
	named := map[string]bool{}
	for _, e := range v.Elaborated {
		if e.Op == "cast" {
			named[e.Out[0]] = true // inserted: any name, compared by testElaborated
		}
	}
	for name, want := range v.Types {
		if named[name] {
			continue
		}
		for alias[name] != "" {
			name = alias[name]
		}
		value, ok := byName[name]
		if !ok {
			t.Errorf("no value %s", name)
			continue
		}
		if got := strings.Replace(p.FormatTypeOf(value), "i1[", "bool[", 1); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func (v *vector) testElaborated(t *testing.T, p *typed.Program, report typed.Report) {
	if v.Elaborated == nil {
		if report.Casts != 0 {
			t.Errorf("%d casts inserted, want none:\n%s", report.Casts, p)
		}
		return
	}
	q, _, err := v.build(v.Elaborated, v.ElabOutputs)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := q.Elaborate(typed.Options{Casts: typed.CastOutputs}); err != nil || r.Casts != 0 {
		t.Fatalf("the elaborated body lacks %d casts: %v", r.Casts, err)
	}
	if got, want := canonical(p), canonical(q); got != want {
		t.Errorf("elaborated to\n%s\nwant\n%s", got, want)
	}
}

// canonical returns the body with casts, broadcasts of scalars and constants inside the equations that use them, so
// that their order and names do not matter.
func canonical(p *typed.Program) string {
	m := p.Module
	var out strings.Builder
	names := map[ir.ValueID]string{}
	name := func(v ir.ValueID) string {
		if names[v] == "" {
			names[v] = fmt.Sprint("_", len(names))
		}
		return names[v]
	}
	var walk func(b ir.BlockID)
	walk = func(b ir.BlockID) {
		for _, v := range m.BlockArgs(b) {
			name(v)
		}
		for op := range m.Ops(b) {
			text := p.OpText(op)
			for _, v := range m.Operands(op) {
				text += " " + name(v)
			}
			inline := m.Kind(op) == ir.OpConstant || p.Module.Kind(op) == ir.OpShardMapPvary ||
				m.Kind(op) == ir.OpBroadcastInDim && len(m.Shape(m.Operand(op, 0))) == 0
			if inline {
				names[m.Result(op, 0)] = "(" + text + ")"
				continue
			}
			fmt.Fprintln(&out, text)
			for _, v := range m.ResultValues(op) {
				fmt.Fprintln(&out, "  ", name(v))
			}
			for _, r := range m.Regions(op) {
				for _, inner := range m.Blocks(r) {
					walk(inner)
				}
			}
		}
	}
	walk(p.Body())
	return out.String()
}

// jaxNames are the names that listings of JAX use for collectives.
func jaxName(p *typed.Program, c *typed.Communication) string {
	s := c.Format(p)
	if c.Kind == ir.OpShardMapPsum && p.Check {
		return strings.Replace(s, "psum", "psum_invariant", 1)
	}
	return strings.Replace(s, "psum_scatter", "reduce_scatter", 1)
}

func (v *vector) testCommunication(t *testing.T, p *typed.Program) {
	if v.Forward == nil {
		return
	}
	got := map[string]int{}
	for _, c := range p.Communications() {
		got[jaxName(p, &c)]++
	}
	if fmt.Sprint(got) != fmt.Sprint(v.Forward) {
		t.Errorf("communication %v, want %v", got, v.Forward)
	}
}

func (v *vector) testValues(t *testing.T, p *typed.Program) {
	args := v.arguments()
	outputs, err := execute(t.Context(), p, args, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range v.Expected {
		if err := want.compare(outputs[i]); err != nil {
			t.Errorf("output %d: %v", i, err)
		}
	}
	result, err := run.Typed(t.Context(), p, pointers(args), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, blocks := range v.Blocks {
		for d, want := range blocks {
			if got := result.Blocks[d][i].Floats(); !slices.Equal(got, want) {
				t.Errorf("output %d on device %d is %v, want %v", i, d, got, want)
			}
		}
	}
	debug, err := execute(t.Context(), p, args, run.Options{Debug: true})
	if err != nil {
		t.Fatalf("with types compared: %v", err)
	}
	for i := range outputs {
		if !outputs[i].Equal(debug[i]) {
			t.Errorf("output %d differs when types are compared", i)
		}
	}
}

// testManual expects that the program read back from a manual computation communicates and computes the same.
func (v *vector) testManual(t *testing.T, p *typed.Program) {
	if strings.HasPrefix(v.ID, "U") || !v.Check && v.Error != nil {
		return // reduced axes have no form in Shardy
	}
	text := mlir.Print(p.Export(), mlir.PrintOptions{})
	m, err := mlir.Parse(t.Context(), text, mlir.Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	q, err := typed.Import(t.Context(), m, typed.ImportOptions{Unchecked: !v.Check})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	outputs, err := execute(t.Context(), q, v.arguments(), run.Options{Debug: true})
	if err != nil {
		t.Fatalf("%v in\n%s", err, q)
	}
	for i, want := range v.Expected {
		if err := want.compare(outputs[i]); err != nil {
			t.Errorf("imported: output %d: %v", i, err)
		}
	}
	before, after := map[string]int{}, map[string]int{}
	for _, c := range p.Communications() {
		before[c.Format(p)]++
	}
	for _, c := range q.Communications() {
		after[c.Format(q)]++
	}
	if v.ID != "C28-ragged" && fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("communication %v, exported and imported %v", before, after)
	}
}
