package reshard_test

import (
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate/reshard"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

// meshes stands before every program of a golden file; it is left out of what is printed.
const meshes = `sdy.mesh @mesh = <["x"=4, "y"=2, "z"=4]>
sdy.mesh @reversed = <["x"=4, "y"=2, "z"=4], device_ids=[31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @other = <["x"=2, "t"=4]>
sdy.mesh @device0 = <[], device_ids=[0]>
sdy.mesh @device1 = <[], device_ids=[1]>
`

// TestGolden runs small programs through Insert (insert, insert full) and VerifyUnreduced (verify). What Insert prints
// is what Shardy makes of the same programs, except where a comment says that it has no answer.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := read(meshes + d.Input)
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			if d.Cmd == "verify" {
				if err := reshard.VerifyUnreduced(m); err != nil {
					return message(err)
				}
				return "accepted\n"
			}
			if err := reshard.Insert(m, reshard.Options{Full: d.HasArg("full")}); err != nil {
				return message(err)
			}
			return body(m)
		})
	})
}

// body returns the functions of a module.
func body(m *ir.Module) string {
	var out strings.Builder
	for line := range strings.Lines(string(mlir.Print(m, mlir.PrintOptions{}))) {
		if text, inside := strings.CutPrefix(line, "  "); inside && !strings.HasPrefix(text, "sdy.mesh") {
			out.WriteString(text)
		}
	}
	return out.String()
}

// message returns an error without its position, which counts the lines of meshes.
func message(err error) string {
	_, text, _ := strings.Cut(err.Error(), ": ")
	return "error: " + text + "\n"
}

// TestGoldenAgainstShardy runs the programs of TestGolden through real Shardy. Those that it rejects or crashes on say
// nothing here.
func TestGoldenAgainstShardy(t *testing.T) {
	var inputs [][2]string
	var outputs []string
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "insert" && !strings.HasPrefix(d.Expected, "error: ") {
				inputs = append(inputs, [2]string{meshes + d.Input, insertPass(d.HasArg("full"))})
				outputs = append(outputs, d.Expected)
			}
			return d.Expected
		})
	})
	compared := 0
	for i, answer := range shardy(t, inputs) {
		if answer[0] == nil {
			continue
		}
		compared++
		m, err := read(*answer[0])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(body(m), outputs[i]); diff != "" {
			t.Errorf("(-Shardy +here):\n%s\nof\n%s", diff, inputs[i][0])
		}
	}
	t.Logf("%d of %d programs compared", compared, len(inputs))
}
