package answer_test

import (
	"testing"

	"autoshard/answer"
)

// What Scoped and Line write is cut into file and line again; other texts have none.
func TestCutLine(t *testing.T) {
	for text, want := range map[string]string{"layer_0/dot (model.py:12)": "model.py", "c:/m.py:12": "c:/m.py", "layer_0/dot": "",
		"dot (fast)": "", "": "", "a:b": "", ":3": ""} {
		file, line, ok := answer.CutLine(text)
		if ok != (want != "") || ok && (file != want || line != 12) {
			t.Errorf("%q: %s, %d, %v", text, file, line, ok)
		}
	}
}
