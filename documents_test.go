package autoshard_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/internal/testkit"
)

// exercise is a program of a page with the table behind it: inputs, and what the document states about the program beside what we give.
var exercise = regexp.MustCompile("(?ms)^```\n(shard_map .*?)^```\n\n" +
	"(\\| \\| stated \\| ours \\|\n\\|---\\|---\\|---\\|\n(?:\\| [^\n]* \\|\n)+)")

// statement is one line of such a table; an input has nothing of ours.
var statement = regexp.MustCompile("(?m)^\\| ([\\w ]+) \\| `([^`\n]*)` \\|(?: `([^`\n]*)`)? \\|$")

// The pages of docs/documents state what documents do; what we give for the same programs stands beside it, and is the same.
func TestDocuments(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("docs", "documents", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		exercises := 0
		current := exercise.ReplaceAllStringFunc(string(text), func(block string) string {
			exercises++
			parts := exercise.FindStringSubmatch(block)
			x := &exerciser{t: t, page: page, text: parts[1], stated: map[string]string{}}
			for _, s := range statement.FindAllStringSubmatch(parts[2], -1) {
				x.stated[s[1]] = s[2]
			}
			return statement.ReplaceAllStringFunc(block, x.answer)
		})
		if blocks := strings.Count(string(text), "```\nshard_map "); exercises != blocks {
			t.Errorf("%s has %d programs, %d of them with what is stated", page, blocks, exercises)
		}
		testkit.File(t, page, current)
	}
}

// exerciser answers what a page asks about one program.
type exerciser struct {
	t          *testing.T
	page, text string
	stated     map[string]string
}

// answer returns a line of the table with our answer, which is to be the one stated.
func (x *exerciser) answer(line string) string {
	x.t.Helper()
	parts := statement.FindStringSubmatch(line)
	name, stated := parts[1], parts[2]
	ours := ""
	switch name {
	case "result":
		ours = x.result()
	case "transposed":
		ours = x.sends(1, true)
	case "transposed twice":
		ours = x.sends(2, true)
	case "unchecked":
		ours = x.sends(1, false)
	case "unchecked twice":
		ours = x.sends(2, false)
	default:
		return line
	}
	if ours != stated {
		x.t.Errorf("%s states that %s is %s, we give %s for\n%s", x.page, name, stated, ours, x.text)
	}
	return fmt.Sprintf("| %s | `%s` | `%s` |", name, stated, ours)
}

// result runs the program on the inputs that the page gives, and returns the elements of its output, or the name of its error.
func (x *exerciser) result() string {
	x.t.Helper()
	p, err := autoshard.ReadShardMap(x.t.Context(), x.page, []byte(x.text))
	if err != nil {
		message := diag.Diagnostics(err)[0].Message
		return strings.TrimSuffix(message[strings.LastIndexByte(message, '(')+1:], ")")
	}
	var inputs []*tensor.Tensor
	for i := range p.Inputs {
		var values []float64
		if err := json.Unmarshal([]byte(x.stated[p.Inputs[i].Name]), &values); err != nil {
			x.t.Fatalf("%s: input %s of %s: %v", x.page, p.Inputs[i].Name, p.Name, err)
		}
		element, shape, _ := p.Inputs[i].Shape()
		in := tensor.FromFloats(element, shape, values...)
		inputs = append(inputs, &in)
	}
	result, err := p.Run(x.t.Context(), inputs)
	if err != nil {
		x.t.Fatalf("%s: %v", x.page, err)
	}
	return "[" + lists.Joined(result.Outputs[0].Floats(), func(v float64) string { return fmt.Sprint(v) }) + "]"
}

// sends returns what the transpose in the first input sends, transposed so many times, with the check on or off.
func (x *exerciser) sends(times int, checked bool) string {
	x.t.Helper()
	ctx := x.t.Context()
	p, err := autoshard.ReadShardMap(ctx, x.page, []byte(x.text))
	if err == nil && !checked {
		p, err = p.WithoutCheck(ctx)
	}
	for range times - 1 {
		if err == nil {
			p, err = p.Derive(ctx, autoshard.Transpose, []string{p.Inputs[0].Name})
		}
	}
	var rows []autoshard.Communication
	if err == nil {
		rows, err = p.CompareDerivatives(ctx, autoshard.Transpose, []string{p.Inputs[0].Name}, cost.Hardware{})
	}
	if err != nil {
		x.t.Fatalf("%s: %v", x.page, err)
	}
	for i := range rows {
		if r := &rows[i]; r.Name == string(autoshard.Transpose) && r.Checked == checked {
			if len(r.Collectives) > 0 {
				return strings.Join(r.Collectives, ", ")
			}
			return "nothing"
		}
	}
	return "no answer"
}
