package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"autoshard/internal/cli"
	"autoshard/internal/testkit"
)

// transcript is a block of a page that shows a command on an example and what it prints; a last line of three dots stands for the rest.
var transcript = regexp.MustCompile("(?ms)^```\n\\$ autoshard ((?:estimate |hardware |show |[^\n]*examples/)[^\n]*)\n(.*?)^```$")

// What pages show of commands is what these print.
func TestTranscripts(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	printed := map[string]string{}
	for _, name := range []string{"README.md", "docs/cli.md", "docs/shardmap.md", "docs/backends.md", "docs/estimate.md",
		"docs/review.md"} {
		page := filepath.FromSlash(name)
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

// estimates is the page of the book's answers.
var estimates = filepath.Join("docs", "estimate.md")

// stated is what a page says that the book states: a number with its unit, or a type, and the name that it has in JSON.
var stated = regexp.MustCompile("(?s)\\*\\*([^*]+)\\*\\*\\s\\(`([\\w.]+)`(?:,\\swithin\\s(\\d+)\\s%)?\\)")

// What the book states is what the commands below it print by the book's conventions.
func TestStatedAnswers(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text, err := os.ReadFile(estimates)
	if err != nil {
		t.Fatal(err)
	}
	checked, from := 0, 0
	for _, at := range transcript.FindAllSubmatchIndex(text, -1) {
		said, command := text[from:at[0]], string(text[at[2]:at[3]])
		from = at[1]
		answers := stated.FindAllStringSubmatch(string(said), -1)
		if len(answers) == 0 {
			continue
		}
		var out bytes.Buffer
		if code := cli.Main(append(words(command), "--format", "json"), strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("%s ends with %d: %s", command, code, out.String())
		}
		for _, a := range answers {
			checked++
			if problem := compare(out.Bytes(), a[1], a[2], a[3]); problem != "" {
				t.Errorf("%s: %s", command, problem)
			}
		}
	}
	if checked < 40 {
		t.Errorf("%d answers were compared", checked)
	}
}

// compare says how a value of a JSON document differs from a stated one, "" if it does not by more than some percent.
func compare(document []byte, want, name, percent string) string {
	var at any
	if err := json.Unmarshal(document, &at); err != nil {
		return err.Error()
	}
	for part := range strings.SplitSeq(name, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return "there is no " + name
			}
			at = v[i]
		}
	}
	got, ok := at.(float64)
	if !ok {
		if at != want {
			return fmt.Sprintf("%s is %v, the book has %s", name, at, want)
		}
		return ""
	}
	tolerance := 2.0
	if percent != "" {
		tolerance, _ = strconv.ParseFloat(percent, 64) // digits
	}
	number, unit, _ := strings.Cut(want, " ")
	value, err := strconv.ParseFloat(number, 64)
	value *= map[string]float64{"": 1, "B": 1, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "GFLOP": 1e9}[unit]
	if err != nil || math.Abs(got-value) > tolerance/100*value {
		return fmt.Sprintf("%s is %v, the book has %s", name, got, want)
	}
	return ""
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
