package autoshard_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard"
	"autoshard/internal/diag"
	"autoshard/report"
)

// TestExplainGolden explains values of the transformers in examples. The command is "explain" with model, value and
// why-not; "values" lists how many there are.
func TestExplainGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/explain", func(t *testing.T, path string) {
		explainers := map[string]*autoshard.Explainer{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var file, value, whyNot string
			d.ScanArgs(t, "model", &file)
			d.ScanArgs(t, "value", &value)
			if d.HasArg("why-not") {
				d.ScanArgs(t, "why-not", &whyNot)
			}
			if explainers[file] == nil {
				explainers[file] = explainer(t, file)
			}
			x, err := explainers[file].Explain(t.Context(), value, whyNot)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return report.Explanation(x)
		})
	})
}

func explainer(t *testing.T, file string) *autoshard.Explainer {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("examples", file))
	if err != nil {
		t.Fatal(err)
	}
	model, err := autoshard.ReadModel(t.Context(), file, src)
	if err != nil {
		t.Fatal(err)
	}
	e, err := autoshard.NewExplainer(context.Background(), model, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExplainEverything asks for every value of two transformers, and for each dimension why each axis is not there: every
// axis of a dimension has links that begin with what a user wrote, and every absence has an answer.
func TestExplainEverything(t *testing.T) {
	for _, file := range []string{"transformer_train_megatron.mlir", "transformer_train_megatron_priorities.mlir"} {
		e := explainer(t, file)
		values := e.Values()
		refused, untied := 0, 0
		for _, value := range values {
			for _, axis := range []string{"data", "model"} {
				x, err := e.Explain(t.Context(), value, axis)
				if err != nil {
					t.Fatalf("%s: %v", value, err)
				}
				for i := range x.Dims {
					d := &x.Dims[i]
					checkLinks(t, value, d)
					switch {
					case d.WhyNot.Present != strings.Contains(d.Axes, axis):
						t.Errorf("%s[%d] along %q: %q is said to be there: %v", value, d.Dim, d.Axes, axis, d.WhyNot.Present)
					case len(d.WhyNot.Refused) > 0:
						refused++
					case !d.WhyNot.Present:
						untied++
					}
				}
				if report.Explanation(x) == "" || !strings.HasPrefix(report.Explanation(x), x.Value) {
					t.Errorf("%s: the text is %q", value, report.Explanation(x))
				}
			}
		}
		t.Logf("%s: %d values, axes refused %d times, and tied to nothing %d times", file, len(values), refused, untied)
		if len(values) < 1000 || refused == 0 && strings.Contains(file, "priorities") {
			t.Errorf("%s: %d values, %d refusals: too few to be all", file, len(values), refused)
		}
	}
}

func checkLinks(t *testing.T, value string, d *autoshard.DimReason) {
	t.Helper()
	if (d.Axes == "") != (len(d.Links) == 0) {
		t.Errorf("%s[%d] is sharded along %q by %d links", value, d.Dim, d.Axes, len(d.Links))
		return
	}
	if len(d.Links) == 0 {
		return
	}
	if first := d.Links[0]; first.Kind != "given" && first.Kind != "activate" || first.Source == "" {
		t.Errorf("%s[%d]: the chain begins with %v", value, d.Dim, first)
	}
}

// Values are found by every name that people see: printed, of an argument or result, of a location, with or without a dimension; where
// no value has a name, the nearest is named.
func TestExplainNames(t *testing.T) {
	const src = `sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {jax.arg_info = "params['w']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {jax.result_info = "out"}) {
  %0 = stablehlo.add %a, %a : tensor<8x4xf32> loc("layer/add")
  %1:2 = stablehlo.optimization_barrier %0, %a : tensor<8x4xf32>, tensor<8x4xf32>
  %2 = stablehlo.tanh %1#0 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}`
	model, err := autoshard.ReadModel(t.Context(), "names.mlir", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	explain := func(value, whyNot string) (*autoshard.Explanation, error) {
		return autoshard.Explain(context.Background(), model, autoshard.ExplainOptions{Value: value, WhyNot: whyNot})
	}
	for value, want := range map[string]string{"%0": "%0", "0": "%0", "layer/add": "%0", "%arg0[1]": "params['w']",
		"params['w'][0]":    "params['w']",
		" params['w'] [0] ": "params['w']", "params[w]": "params['w']", "params[w][1]": "params['w']", `params["w"]`: "params['w']",
		"arg0": "params['w']", "%1#1": "%1#1", "result 0": "out", "result 0[1]": "out", "out": "out", "out[1]": "out", "%2@5": "%2"} {
		x, err := explain(value, "")
		if err != nil || x.Value != want {
			t.Errorf("%q explains %v (%v), want %s", value, x, err, want)
		}
	}
	for value, want := range map[string]string{"%7": "no value is called", "params['v']": "did you mean `params['w']`?",
		"params['v'][0]": "did you mean `params['w']`?", "params['w'][2]": "`params['w']` has 2 dimensions",
		"layer/ad": "did you mean `layer/add`?", "%0[2]": "has 2 dimensions",
		"%0[-1]": "no dimension", "result 1": "there is no result 1", "%2@1": "in line 1", "": "no value"} {
		if _, err := explain(value, ""); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", value, err, want)
		}
	}
	for axis, want := range map[string]string{"z": "unknown axis", "yy": "did you mean `y`?", "x:(1)3": "no part", "x:(0)2": "no part"} {
		if _, err := explain("%0", axis); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("axis %q: error %v, want one with %q", axis, err, want)
		}
	}
	x, err := explain("%2[0]", "x:(2)2")
	if err != nil || !x.Dims[0].WhyNot.Present {
		t.Errorf("a part of an axis that is there: %v, %v", x, err)
	}
	if data, err := json.Marshal(x); err != nil || !strings.Contains(string(data), `"kind":"given"`) {
		t.Errorf("JSON %s, %v", data, err)
	}
}
