package jax_test

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard/backend/jax"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/emit"
	"autoshard/shardmap/typed"
)

// several is a file that runs others.
//
//go:embed testdata/several.py
var several string

// shardMap is a program of the examples with inputs and what our backend makes of them.
type shardMap struct {
	*typed.Program
	name    string
	inputs  []tensor.Tensor
	results []*tensor.Tensor
}

// shardMaps reads the programs of the examples and runs them here.
func shardMaps(t *testing.T) []*shardMap {
	t.Helper()
	files, err := filepath.Glob("../../examples/shardmap/*.shardmap")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	var out []*shardMap
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := typed.Parse(string(text), file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Elaborate(typed.Options{}); err != nil {
			t.Fatal(err)
		}
		s := &shardMap{Program: p, name: strings.TrimSuffix(filepath.Base(file), ".shardmap")}
		for i, param := range p.Params {
			typ := p.Module.TypeOf(param.Type)
			values := make([]float64, typ.Elements())
			for k := range values {
				values[k] = float64((7*k+3*i+3)%(5+2*i)-2-i) / 4
			}
			s.inputs = append(s.inputs, tensor.FromFloats(dtype.F32, typ.Dims, values...))
		}
		var inputs []*tensor.Tensor
		for i := range s.inputs {
			inputs = append(inputs, &s.inputs[i])
		}
		result, err := run.Typed(t.Context(), p, inputs, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.results = result.Outputs
		out = append(out, s)
	}
	return out
}

// compare demands that results are ours, apart from the order of sums.
func (s *shardMap) compare(t *testing.T, got []npz.Array) {
	t.Helper()
	for i, want := range s.results {
		if !slices.Equal(got[i].Tensor.Shape, want.Shape) {
			t.Fatalf("%s: output %d has shape %v, want %v", s.name, i, got[i].Tensor.Shape, want.Shape)
		}
		values := got[i].Tensor.Floats()
		for k, w := range want.Floats() {
			if math.Abs(values[k]-w) > 1e-5*max(1, math.Abs(w)) {
				t.Fatalf("%s: element %d of output %d is %v, want %v", s.name, k, i, values[k], w)
			}
		}
	}
}

// lowered are the ops that JAX's text has for ours, in the order of OPS in several.py.
var lowered = map[ir.Kind]int{ir.OpShardMapPsum: 0, ir.OpShardMapAllGather: 1, ir.OpShardMapAllGatherInvariant: 1,
	ir.OpShardMapPsumScatter: 2, ir.OpShardMapPpermute: 3, ir.OpShardMapAllToAll: 4}

// The transformer layer and the collective matmuls of the examples give here, in one process of JAX and in two with four
// devices each, the same; JAX's text has the collectives that ours has, whose numbers are tested in shardmap/typed.
func TestShardMaps(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax that runs the emitted files")
	}
	list := shardMaps(t)
	var texts []string
	var inputs []*tensor.Tensor
	for _, s := range list {
		text, err := emit.Typed(t.Context(), s.Program, nil)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, fmt.Sprintf("(%q, %s)", s.name, strconv.QuoteToASCII(string(text))))
		for i := range s.inputs {
			inputs = append(inputs, &s.inputs[i])
		}
	}
	source := strings.Replace(several, "FILES = []", "FILES = ["+strings.Join(texts, ", ")+"]", 1)
	for _, processes := range []int{1, 2} {
		got, err := jax.Run(t.Context(), []byte(source), inputs, jax.Options{Python: python, Devices: 8, Processes: processes, Env: os.Environ()})
		if err != nil {
			diag.Render(os.Stderr, err, nil)
			t.Fatal(err)
		}
		for _, s := range list {
			s.compare(t, got)
			got = got[len(s.results):]
			want := make([]int64, 5)
			for _, c := range s.Communications() {
				want[lowered[c.Kind]]++
			}
			if counts := got[0].Tensor.Ints(); !slices.Equal(counts, want) {
				t.Errorf("%s: JAX's text has %d collectives, want %d", s.name, counts, want)
			}
			got = got[1:]
		}
	}
}
