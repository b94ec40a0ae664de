package tensor

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"autoshard/ir/dtype"
)

// exactValues is a file of exact values, which testdata/exact/export.py writes.
var exactValues = flag.String("exact", filepath.Join("testdata", "exact", "exact.txt"), "file of exact values")

// exactFunctions are the functions of that file; the second argument is there for two of them.
var exactFunctions = map[string]func(x, y Tensor) Tensor{
	"exponential": ofOne(Exponential), "exponential_minus_one": ofOne(ExponentialMinusOne), "log": ofOne(Log),
	"log_plus_one": ofOne(LogPlusOne),
	"logistic":     ofOne(Logistic), "sine": ofOne(Sine), "cosine": ofOne(Cosine), "tan": ofOne(Tan), "tanh": ofOne(Tanh), "sinh": ofOne(Sinh),
	"cosh": ofOne(Cosh), "asin": ofOne(Asin), "acos": ofOne(Acos), "atan": ofOne(Atan), "asinh": ofOne(Asinh), "acosh": ofOne(Acosh),
	"atanh": ofOne(Atanh), "sqrt": ofOne(Sqrt), "rsqrt": ofOne(Rsqrt), "cbrt": ofOne(Cbrt), "erf": ofOne(Erf), "erfc": ofOne(Erfc),
	"erf_inv": ofOne(ErfInv), "lgamma": ofOne(Lgamma), "digamma": ofOne(Digamma), "bessel_i1e": ofOne(BesselI1e),
	"power": OpPower.Of, "atan2": OpAtan2.Of,
}

func ofOne(f func(Tensor) Tensor) func(x, _ Tensor) Tensor {
	return func(x, _ Tensor) Tensor { return f(x) }
}

// The error of every function, in units in the last place, is within what docs/numerics.md says of it.
func TestFunctionsAgainstExactValues(t *testing.T) {
	text, err := os.ReadFile(*exactValues)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "numerics.md"))
	if err != nil {
		t.Fatal(err)
	}
	worst, place := map[string]float64{}, map[string][]float64{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		numbers := make([]float64, len(fields)-1)
		for i, f := range fields[1:] {
			if numbers[i], err = strconv.ParseFloat(f, 64); err != nil {
				t.Fatal(err)
			}
		}
		args, high, low := numbers[:len(numbers)-2], numbers[len(numbers)-2], numbers[len(numbers)-1]
		got := exactFunctions[fields[0]](FromFloats(dtype.F64, nil, args[0]), FromFloats(dtype.F64, nil, args[len(args)-1])).Floats()[0]
		unit := math.Nextafter(math.Abs(high), math.Inf(1)) - math.Abs(high)
		if e := math.Abs((got-high)-low) / unit; e >= worst[fields[0]] {
			worst[fields[0]], place[fields[0]] = e, args
		}
	}
	for name := range exactFunctions {
		row := fmt.Sprintf("| `%s` | ", name)
		_, rest, found := strings.Cut(string(page), row)
		bound, _, _ := strings.Cut(rest, " ")
		allowed, err := strconv.ParseFloat(bound, 64)
		if e, seen := worst[name]; !seen || !found || err != nil || e > allowed {
			t.Errorf("%s is up to %.3g units off, docs/numerics.md has %q", name, e, bound)
		}
		t.Logf("%s %.3g at %v", name, worst[name], place[name])
	}
}
