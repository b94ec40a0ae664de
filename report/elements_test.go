package report_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/report"
)

// Small arrays, and one that is too long to be shown whole.
func TestElements(t *testing.T) {
	counting := func(n int64) []int64 { return lists.Range[int64](n) }
	for _, c := range []struct {
		x    tensor.Tensor
		want string
	}{
		{tensor.FromInts(dtype.I32, []int64{4}, 3, 1, 41, -1), "[ 3  1 41 -1]"},
		{tensor.FromFloats(dtype.F32, []int64{2, 2}, 1, 2.5, -0.1, 0), "[[ 1.   2.5]\n [-0.1  0. ]]"},
		{tensor.FromFloats(dtype.F32, []int64{2}, 1e-5, 1), "[1.e-05 1.e+00]"},
		{tensor.FromFloats(dtype.F64, []int64{3}, math.NaN(), math.Inf(-1), 1.5), "[ nan -inf  1.5]"},
		{tensor.FromInts(dtype.I1, []int64{2}, 1, 0), "[ True False]"},
		{tensor.FromFloats(dtype.F32, nil, 7), "7.0"},
		{tensor.FromFloats(dtype.F32, nil, 1e-5), "1e-05"},
		{tensor.FromInts(dtype.I32, []int64{0, 3}), "[]"},
		{tensor.FromInts(dtype.I32, []int64{1001}, counting(1001)...), "[   0    1    2 ...  998  999 1000]"},
	} {
		if got := report.Elements(&c.x); got != c.want {
			t.Errorf("%v is printed as\n%s\nwant\n%s", c.x, got, c.want)
		}
	}
}

// printArrays prints the arrays of a JSON list as NumPy does.
const printArrays = `
import json, sys
import numpy as np
def value(q):
    x = np.array([float(v) for v in q['Elements']]).astype(q['Type'])
    return str(x.reshape(q['Shape']))
print(json.dumps([value(q) for q in json.load(sys.stdin)]))
`

// Arrays of all kinds are printed as NumPy prints them.
func TestElementsAgainstNumPy(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: no NumPy to compare with")
	}
	type query struct {
		Type     string
		Shape    []int64
		Elements []string
	}
	rng := rand.New(rand.NewPCG(1, 2))
	types := map[string]dtype.Type{"float32": dtype.F32, "float64": dtype.F64, "int32": dtype.I32, "uint8": dtype.UI8, "bool": dtype.I1}
	shapes := [][]int64{{1}, {7}, {40}, {3, 5}, {2, 3, 4}, {1500}, {40, 30}, {2, 700}, {0}, {2, 1, 3, 2}, {11, 11, 11}}
	scales := []float64{1, 1e-3, 1e3, 1e9, 100}
	var queries []query
	var tensors []tensor.Tensor
	for _, name := range []string{"float32", "float64", "int32", "uint8", "bool"} {
		for _, shape := range shapes {
			for _, scale := range scales {
				values := lists.Of(int(lists.Product(shape)), func(int) float64 { return number(rng, name, scale) })
				x := tensor.FromFloats(types[name], shape, values...)
				texts := lists.Map(x.Floats(), func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
				tensors, queries = append(tensors, x), append(queries, query{name, shape, texts})
			}
		}
	}
	in, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", printArrays)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for i := range tensors {
		if got := report.Elements(&tensors[i]); got != want[i] {
			t.Errorf("%s of shape %v is printed as\n%s\nby NumPy as\n%s", queries[i].Type, queries[i].Shape, got, want[i])
		}
	}
}

// number draws an element; some are whole, some have few digits, some are not finite.
func number(rng *rand.Rand, name string, scale float64) float64 {
	switch {
	case name == "bool":
		return float64(rng.IntN(2))
	case name == "uint8":
		return float64(rng.IntN(256))
	case name == "int32":
		return math.Round(rng.NormFloat64() * scale)
	}
	switch rng.IntN(40) {
	case 0:
		return math.Inf(1)
	case 1:
		return math.NaN()
	case 2:
		return 0
	case 3:
		return math.Inf(-1)
	}
	if rng.IntN(2) == 0 {
		return math.Round(rng.NormFloat64()*8) / 8 * scale
	}
	return rng.NormFloat64() * scale
}
