package plan_test

import (
	"encoding/json"
	"testing"

	"autoshard/plan"
)

// The text of a plan is that of encoding/json, whatever its program holds.
func TestJSON(t *testing.T) {
	for _, text := range []string{"", "%0 = \"a\" : tensor<2xf32>\n\t\\", "loc(\"<&>\u2028é\")", "\xff\x00"} {
		p := plan.Plan{Model: "m \"program\": \"\"", Program: text, Mesh: nil}
		want, err := json.MarshalIndent(&p, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if got := string(p.JSON()); got != string(want)+"\n" {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}
