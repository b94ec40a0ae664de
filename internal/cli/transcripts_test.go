package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"autoshard/internal/cli"
	"autoshard/internal/testkit"
)

// transcript is a block of a page that shows a command on an example and what it prints; a last line of three dots stands for the rest.
var transcript = regexp.MustCompile("(?ms)^```\n\\$ autoshard ((?:estimate |hardware |[^\n]*examples/)[^\n]*)\n(.*?)^```$")

// What pages show of commands is what these print.
func TestTranscripts(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	printed := map[string]string{}
	for _, page := range []string{"README.md", filepath.Join("docs", "cli.md")} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		current := transcript.ReplaceAllStringFunc(string(text), func(block string) string {
			shown++
			parts := transcript.FindStringSubmatch(block)
			if _, ok := printed[parts[1]]; !ok {
				var out bytes.Buffer
				cli.Main(words(parts[1]), strings.NewReader(""), &out, &out)
				printed[parts[1]] = out.String()
			}
			lines := strings.SplitAfter(printed[parts[1]], "\n")
			if before := strings.SplitAfter(parts[2], "\n"); len(before) > 1 && before[len(before)-2] == "...\n" {
				lines = append(lines[:len(before)-2], "...\n")
			}
			return "```\n$ autoshard " + parts[1] + "\n" + strings.Join(lines, "") + "```"
		})
		if shown == 0 {
			t.Errorf("%s shows no command", page)
		}
		testkit.File(t, page, current)
	}
}

// words splits a command line as a shell does that knows single quotes.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}
