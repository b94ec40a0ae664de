package conformance

import (
	"embed"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

//go:embed testdata/programs
var files embed.FS

// source is a program of testdata.
type source struct {
	name    string
	text    string
	inputs  []*tensor.Tensor
	differs bool             // devices compute what differs: it has a manual computation
	sent    map[string]int64 // bytes that its collectives send, by kind; nil where the partitioner chooses them
	want    []*tensor.Tensor // outputs of XLA
	derived bool             // or, where XLA does not run it, what definitions say
	types   []*ir.Type       // of the outputs
}

// sources returns the programs of testdata.
func sources(t *testing.T) (all []*source) {
	t.Helper()
	names, err := fs.Glob(files, "testdata/programs/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		datadriven.RunTestFromString(t, string(text), func(t *testing.T, d *datadriven.TestData) string {
			all = append(all, read(t, d))
			return d.Expected
		})
	}
	return all
}

// read reads a program with the kinds and bytes of its collectives, and the outputs, if there are some yet.
func read(t *testing.T, d *datadriven.TestData) *source {
	t.Helper()
	p := &source{name: d.CmdArgs[0].Key, text: d.Input}
	for _, arg := range d.CmdArgs[1:] {
		if arg.Key == "derived" {
			p.derived = true
			continue
		}
		n, err := strconv.ParseInt(arg.Vals[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if p.sent == nil {
			p.sent = map[string]int64{}
		}
		p.sent[arg.Key] = n
	}
	m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{File: p.name})
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	f := m.MainFunc()
	for i, v := range m.BlockArgs(f.Body) {
		p.inputs = append(p.inputs, counted(m.ValueType(v), i))
	}
	for _, id := range f.ResultTypes {
		p.types = append(p.types, m.TypeOf(id))
	}
	for op := range m.Ops(f.Body) {
		p.differs = p.differs || m.Kind(op) == ir.OpSdyManualComputation
	}
	p.want = parseTensors(t, d.Expected)
	return p
}

// counted returns small numbers, positive and negative, whose sums are exact, in another order for each input.
func counted(t *ir.Type, input int) *tensor.Tensor {
	span := int64(11 + 2*input)
	values := make([]float64, t.Elements())
	for k := range values {
		v := (7*int64(k) + 3*int64(input) + 3) % span
		switch t.DType.Kind() {
		case dtype.Float:
			values[k] = float64(v-span/2) / 4
		case dtype.Signed:
			values[k] = float64(v - span/2)
		case dtype.Bool:
			values[k] = float64(v % 2)
		default:
			values[k] = float64(v)
		}
	}
	x := tensor.FromFloats(t.DType, t.Dims, values...)
	return &x
}

// twice are programs that run twice: with inputs that outputs may overwrite, with sums, and with generators.
var twice = []string{"donated", "reduce_axes", "products", "generators"}

// programs runs the programs of testdata, a few of them twice, and compares with the outputs of XLA and the bytes that are said.
func (s *suite) programs(t *testing.T) {
	once := func(p *source) bool { return !slices.Contains(twice, p.name) }
	ran := slices.Concat(s.sources, slices.DeleteFunc(slices.Clone(s.sources), once))
	ran = slices.DeleteFunc(ran, func(p *source) bool { return !s.takes(p) })
	given := lists.Map(ran, func(p *source) []*tensor.Tensor { return cloned(p.inputs) })
	jobs := lists.Map(ran, func(p *source) *Job { return p.job(t) })
	first := map[string][]*tensor.Tensor{}
	for i, o := range s.Run(t.Context(), jobs) {
		p := ran[i]
		t.Run(p.name, func(t *testing.T) {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			if !slices.EqualFunc(p.inputs, given[i], equal) {
				t.Error("the inputs are others after the run")
			}
			compare(t, o.Outputs, p.want, 0)
			if before := first[p.name]; before != nil && !slices.EqualFunc(before, o.Outputs, equal) {
				t.Error("the outputs of a second run are others")
			}
			if first[p.name] = o.Outputs; s.Counts && p.sent != nil && !maps.Equal(o.Sent, p.sent) {
				t.Errorf("collectives send %v, want %v", o.Sent, p.sent)
			}
		})
	}
}

// job returns the program with its inputs, to run.
func (p *source) job(t *testing.T) *Job {
	t.Helper()
	job := newJob(t, p.name, []byte(p.text))
	job.Inputs = p.inputs
	return job
}

func cloned(list []*tensor.Tensor) []*tensor.Tensor {
	return lists.Map(list, func(x *tensor.Tensor) *tensor.Tensor { c := x.Clone(); return &c })
}

func equal(x, y *tensor.Tensor) bool { return x.Equal(*y) }
