package cmdline

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

const tracePage = `user priority 1: 2 steps
  given     "model" at 1 dimension (%arg0[0])
  op priority 2: 2 steps
        1  "model" from %arg0[0] :34 through dot_general
        1  "x":(1)2 is kept from %655[2] :382 in dot_general: used by another dimension ("model")
`

// Colours change no character of a page, and nothing that is no terminal gets any.
func TestPaint(t *testing.T) {
	painted := paint(tracePage)
	if plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(painted, ""); plain != tracePage {
		t.Errorf("without colours the page is\n%s", plain)
	}
	for _, want := range []string{"\x1b[1muser priority 1: 2 steps\x1b[0m", "\x1b[36m\"model\"\x1b[0m", "\x1b[36m\"x\":(1)2\x1b[0m",
		"\x1b[31mis kept from\x1b[0m"} {
		if !strings.Contains(painted, want) {
			t.Errorf("no %q in %q", want, painted)
		}
	}
	var out bytes.Buffer
	if err := New(nil, &out, nil).Page("", tracePage); err != nil || out.String() != tracePage {
		t.Errorf("%v: %q", err, out.String())
	}
}
