package conformance

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

var all = flag.Bool("all", false, "run all self-checking programs, and recorded models with all expert plans, not a sample")

// every is the part of the self-checking programs that a backend runs which takes time to start and to compile: one of so many.
const every = 12

// refuted are programs that expect what no exact computation gives: docs/numerics.md has how far each is from it.
var refuted = []string{"cumprod_complex64_8_9", "fft_float32_14_15_16_17", "triangular_solve_float32_2_8_8_float32_2_10_8"}

// shared returns the folder that AUTOSHARD_SHARED names, or skips the test.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("AUTOSHARD_SHARED")
	if dir == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with self-checking programs and recorded models")
	}
	return dir
}

// selfChecks returns the self-checking programs by name.
func selfChecks(t *testing.T) map[string][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join(shared(t), "conformance", "stablehlo_dev.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return programs
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutSuffix(filepath.Base(h.Name), ".mlir"); ok {
			programs[name] = data
		}
	}
}

// checks demands that the self-checking programs hold, but where what they expect is refuted: as they are on a backend that executes
// checks, else as programs that return both sides.
func (s *suite) checks(t *testing.T) {
	programs := selfChecks(t)
	names := slices.Sorted(maps.Keys(programs))
	if s.Checks {
		s.executeChecks(t, names, programs)
		return
	}
	var jobs []*Job
	var tolerances [][]float64
	for i, name := range names {
		if !*all && s.Start > 0 && i%every != 0 || slices.Contains(refuted, name) {
			continue
		}
		text, limits := returnChecks(t, name, programs[name])
		if len(limits) == 0 {
			continue
		}
		switch job, err := lowered(t.Context(), name, text); {
		case errors.Is(err, autoshard.ErrUnsupported):
			t.Logf("%s: %v", name, err)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			jobs, tolerances = append(jobs, job), append(tolerances, limits)
		}
	}
	held := 0
	for i, o := range s.Run(t.Context(), jobs) {
		if errors.Is(o.Err, autoshard.ErrUnsupported) {
			t.Logf("%s: %v", jobs[i].Name, o.Err)
			continue
		}
		if t.Run(jobs[i].Name, func(t *testing.T) { compareSides(t, o, jobs[i].Program.Outputs, tolerances[i]) }) {
			held++
		}
	}
	t.Logf("%d of %d programs hold", held, len(jobs))
	if held < len(jobs)*3/4 {
		t.Errorf("%d of %d programs have a form", held, len(jobs))
	}
}

// executeChecks runs programs with their checks in them.
func (s *suite) executeChecks(t *testing.T, names []string, programs map[string][]byte) {
	held := 0
	for _, name := range names {
		model, err := autoshard.ReadModel(t.Context(), name+".mlir", programs[name])
		if err != nil {
			t.Fatal(err)
		}
		o := s.one(t.Context(), &Job{Name: name, Model: model})
		switch wrong := slices.Contains(refuted, name); {
		case wrong && errors.Is(o.Err, autoshard.ErrFinding):
		case wrong || o.Err != nil:
			t.Errorf("%s: expects something wrong: %t, gives %v", name, wrong, o.Err)
		case o.Checks == 0:
			t.Errorf("%s executes no check", name)
		default:
			held++
		}
	}
	t.Logf("%d of %d programs hold", held, len(names))
}

// compareSides demands that outputs are equal in pairs, in the types that the program has.
func compareSides(t *testing.T, o Outcome, outputs []autoshard.Tensor, tolerances []float64) {
	if o.Err != nil || len(o.Outputs) != 2*len(tolerances) {
		t.Fatalf("%d outputs of %d checks: %v", len(o.Outputs), len(tolerances), o.Err)
	}
	for i, tolerance := range tolerances {
		typ, _, ok := dtype.ParseTensor(outputs[2*i+1].Type)
		if !ok {
			t.Fatalf("check %d compares %s", i, outputs[2*i+1].Type)
		}
		want := inType(o.Outputs[2*i+1], typ)
		if err := differ(o.Outputs[2*i], want, tolerance); err != nil {
			t.Errorf("check %d: %v", i, err)
		}
	}
}

// returnChecks returns a program whose main function returns what its checks compare, in pairs, in place of its results, and whose
// constants are cut in halves where that goes. It returns the tolerance of each check, 0 where none is given.
func returnChecks(t *testing.T, name string, text []byte) (out []byte, tolerances []float64) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), text, mlir.Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	f := m.MainFunc()
	end := m.LastOp(f.Body)
	var values []ir.ValueID
	for op := range m.Ops(f.Body) {
		if !isCheck(m, op) {
			continue
		}
		tolerance := 0.0
		if a, ok := m.Attr(op, "tolerance").(ir.FloatAttr); ok {
			tolerance = dtype.Decode(m.TypeOf(a.Type).DType, a.Bits)
		}
		tolerances = append(tolerances, tolerance)
		values = append(values, m.Operand(op, 0))
		if m.NumOperands(op) == 2 {
			values = append(values, m.Operand(op, 1))
			continue
		}
		d := m.Attr(op, "value").(*ir.Dense)
		values = append(values, m.BuilderBefore(end).Op1(ir.OpConstant, d.Type, ir.MakeAttrs(ir.NamedAttr{Name: "value", Value: d})))
	}
	m.BuilderBefore(end).Op(ir.OpReturn, nil, nil, values...)
	m.Erase(end)
	f.ResultTypes, f.ResultAttrs, f.ResultShardings = m.TypesOf(values), make([]ir.Attrs, len(values)), make([]ir.ShardingID, len(values))
	for op := range m.Ops(f.Body) {
		if isCheck(m, op) {
			m.Erase(op)
		}
	}
	cutConstants(m)
	return mlir.Print(m, mlir.PrintOptions{}), tolerances
}

// isCheck says whether an op compares two values.
func isCheck(m *ir.Module, op ir.OpID) bool {
	name := m.OpName(op)
	if m.Kind(op) == ir.OpCustomCall {
		name = m.OpAttrs(op).Str("call_target_name")
	}
	return strings.HasPrefix(name, "check.expect") && !strings.HasSuffix(name, "serialized_eq")
}

// cutConstants cuts the first dimension of constants in two, where it is even.
func cutConstants(m *ir.Module) {
	pair := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}}}
	mesh := m.AddMesh("mesh", pair, nil, 0)
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if m.Kind(op) != ir.OpConstant {
			return
		}
		v := m.Result(op, 0)
		if dims := m.Shape(v); len(dims) > 0 && dims[0] > 0 && dims[0]%2 == 0 {
			cut := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, len(dims))}
			cut.Dims[0].Axes = pair.All()
			m.SetSharding(v, m.InternSharding(cut))
		}
	})
}
