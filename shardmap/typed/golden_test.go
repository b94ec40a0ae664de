package typed_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap/typed"
)

// TestGolden runs the files of testdata/golden. The directives take a program as text:
//
//	parse                          prints it again
//	elaborate [casts=operands|outputs] [unsound] [fresh]
//	                               inserts casts and prints it, with warnings
//	run NAME=VALUES ... [debug]    elaborates it, prints it, what it communicates, and its results
//	export                         elaborates it and prints the manual computation
//	import                         takes MLIR and prints the program
//
// VALUES is arange, arange+1, mod:7:3:5:2 for (7k+3)%5-2, or a list of numbers with colons between. Of more than 32 results first, last,
// sum and wsum = sum of v[k]·(1 + k mod 97) are printed.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := golden(t, d)
			if err != nil {
				out += "error: " + err.Error() + "\n"
				for _, note := range diag.Diagnostics(err)[0].Notes {
					out += "note: " + note.Message + "\n"
				}
			}
			return out
		})
	})
}

func golden(t *testing.T, d *datadriven.TestData) (string, error) {
	if d.Cmd == "import" {
		m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{})
		if err != nil {
			return "", err
		}
		p, err := typed.Import(t.Context(), m, typed.ImportOptions{Unchecked: d.HasArg("unchecked")})
		if err != nil {
			return "", err
		}
		return p.String(), nil
	}
	p, err := typed.Parse(d.Input, "")
	if err != nil {
		return "", err
	}
	if d.Cmd == "parse" {
		return p.String(), nil
	}
	opts := typed.Options{Unsound: d.HasArg("unsound"), Fresh: d.HasArg("fresh")}
	if d.HasArg("casts") {
		var casts string
		d.ScanArgs(t, "casts", &casts)
		opts.Casts = map[string]typed.Casts{"operands": typed.CastOperands, "outputs": typed.CastOutputs}[casts]
	}
	report, err := p.Elaborate(opts)
	if err != nil {
		return "", err
	}
	roundTripOptions(t, p, opts)
	out := p.String()
	for _, w := range report.Warnings {
		out += "warning: " + w.Message + " [" + string(w.Code) + "]\n"
	}
	switch d.Cmd {
	case "run":
		text, err := goldenRun(t, p, d)
		return out + text, err
	case "export":
		return string(mlir.Print(p.Export(), mlir.PrintOptions{})), nil
	}
	return out, nil
}

func goldenRun(t *testing.T, p *typed.Program, d *datadriven.TestData) (string, error) {
	out := "communication:"
	for _, c := range p.Communications() {
		out += " " + c.Format(p)
	}
	out += "\n"
	var args []tensor.Tensor
	for _, param := range p.Params {
		var text string
		d.ScanArgs(t, param.Name, &text)
		typ := p.Module.TypeOf(param.Type)
		args = append(args, values(t, text, typ.DType, typ.Dims))
	}
	outputs, err := execute(t.Context(), p, args, run.Options{Debug: d.HasArg("debug")})
	if err != nil {
		return out, err
	}
	for i, r := range outputs {
		out += fmt.Sprintf("result %d: %s\n", i, figures(r))
	}
	return out, nil
}

// values reads the values of an argument.
func values(t *testing.T, text string, d dtype.Type, dims []int64) tensor.Tensor {
	n, _, err := dtype.Size(d, dims)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, n)
	var a, b, m, s float64
	formula, _ := fmt.Sscanf(text, "mod:%f:%f:%f:%f", &a, &b, &m, &s)
	list := strings.Split(text, ":")
	for k := range out {
		switch {
		case text == "arange":
			out[k] = float64(k)
		case text == "arange+1":
			out[k] = float64(k + 1)
		case formula == 4:
			out[k] = math.Mod(a*float64(k)+b, m) - s
		default:
			v, err := strconv.ParseFloat(strings.TrimSpace(list[k%len(list)]), 64)
			if err != nil {
				t.Fatal(err)
			}
			out[k] = v
		}
	}
	return tensor.FromFloats(d, dims, out...)
}

// figures returns a result as the examples of the specification give it.
func figures(x tensor.Tensor) string {
	v := x.Floats()
	if len(v) <= 32 {
		return fmt.Sprintf("%s%v %v", x.DType, x.Shape, v)
	}
	sum, wsum := checksums(x)
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return fmt.Sprintf("%s%v first %s, last %s, sum %s, wsum %s", x.DType, x.Shape, number(v[0]), number(v[len(v)-1]), number(sum),
		number(wsum))
}

func checksums(x tensor.Tensor) (sum, wsum float64) {
	for k, v := range x.Floats() {
		sum += v
		wsum += v * float64(1+k%97)
	}
	return sum, wsum
}
