package plan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"autoshard/plan"
)

// The text of a plan is that of encoding/json, whatever its program holds.
func TestJSON(t *testing.T) {
	for _, text := range []string{"", "%0 = \"a\" : tensor<2xf32>\n\t\\", "loc(\"<&>\u2028é\")", "\xff\x00",
		strings.Repeat("é", 1<<17), strings.Repeat("\"é<\n", 1<<17), strings.Repeat("ab\n", 1<<14) + strings.Repeat("é", 1<<17)} {
		p := plan.Plan{Model: "m \"program\": \"\"", Program: text, Mesh: nil}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(&p); err != nil {
			t.Fatal(err)
		}
		if got := p.JSON(); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%.80q: %.500s\nwant %.500s", text, got, &want)
		}
	}
}
