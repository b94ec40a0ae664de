package autoshard_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/internal/testkit"
	"autoshard/ir/dtype"
)

// exercise is a program of a page, or a link to one of the examples, with the table behind it: inputs, and what the document states about
// the program beside what we give.
var exercise = regexp.MustCompile("(?ms)^(?:```\n(shard_map [^`]*?)^```|\\[`\\w+`\\]\\(../../(examples/shardmap/\\w+.shardmap)\\))\n\n" +
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
		written := 0 // on the page
		current := exercise.ReplaceAllStringFunc(string(text), func(block string) string {
			parts := exercise.FindStringSubmatch(block)
			x := &exerciser{t: t, page: page, text: parts[1], stated: map[string]string{}, used: map[string]bool{}}
			if parts[2] != "" {
				example, err := os.ReadFile(parts[2])
				if err != nil {
					t.Fatal(err)
				}
				x.text = string(example)
			} else {
				written++
			}
			for _, s := range statement.FindAllStringSubmatch(parts[3], -1) {
				x.stated[s[1]] = s[2]
			}
			block = statement.ReplaceAllStringFunc(block, x.answer)
			for name := range x.stated {
				if !x.used[name] && !strings.HasPrefix(x.stated["result"], "E_") {
					t.Errorf("%s: nothing asks for %s of\n%s", page, name, x.text)
				}
			}
			return block
		})
		if blocks := strings.Count(string(text), "```\nshard_map "); written != blocks {
			t.Errorf("%s has %d programs, %d of them with what is stated", page, blocks, written)
		}
		testkit.File(t, page, current)
	}
}

// exerciser answers what a page asks about one program.
type exerciser struct {
	t          *testing.T
	page, text string
	stated     map[string]string
	used       map[string]bool // of what is stated
}

// answer returns a line of the table with our answer, which is to be the one stated.
func (x *exerciser) answer(line string) string {
	x.t.Helper()
	parts := statement.FindStringSubmatch(line)
	name, stated := parts[1], parts[2]
	ours := ""
	switch kind, input, _ := strings.Cut(name, " of "); {
	case name == "result":
		ours = x.result()
	case kind == "transposed":
		ours = x.sends(1, true, input)
	case name == "transposed twice":
		ours = x.sends(2, true, "")
	case name == "unchecked":
		ours = x.sends(1, false, "")
	case name == "unchecked twice":
		ours = x.sends(2, false, "")
	case kind == "cotangent" && input != "":
		ours = x.cotangent(input)
	default: // an input, or the cotangent of the output
		return line
	}
	x.used[name] = true
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
	return listed(x.run(p)[0])
}

// cotangent returns that of an input for the cotangent of the output that the page gives.
func (x *exerciser) cotangent(input string) string {
	x.t.Helper()
	p, err := autoshard.ReadShardMap(x.t.Context(), x.page, []byte(x.text))
	if err == nil {
		p, err = p.Derive(x.t.Context(), autoshard.VJP, []string{input})
	}
	if err != nil {
		x.t.Fatalf("%s: %v", x.page, err)
	}
	x.stated[p.Inputs[0].Name], x.used["cotangent"] = x.stated["cotangent"], true
	return listed(x.run(p)[0])
}

// run runs a program on the inputs that the page gives.
func (x *exerciser) run(p *autoshard.Program) []*tensor.Tensor {
	x.t.Helper()
	var inputs []*tensor.Tensor
	for i := range p.Inputs {
		element, shape, _ := p.Inputs[i].Shape()
		count, _, err := dtype.Size(element, shape)
		if err != nil {
			x.t.Fatal(err)
		}
		x.used[p.Inputs[i].Name] = true
		values, err := elements(x.stated[p.Inputs[i].Name], count)
		if err != nil {
			x.t.Fatalf("%s: input %s of %s: %v", x.page, p.Inputs[i].Name, p.Name, err)
		}
		in := tensor.FromFloats(element, shape, values...)
		inputs = append(inputs, &in)
	}
	result, err := p.Run(x.t.Context(), inputs)
	if err != nil {
		x.t.Fatalf("%s: %v", x.page, err)
	}
	return result.Outputs
}

// formula gives number k of an input: k, k + 1 or (7 k + 3) % 5 - 2.
var formula = regexp.MustCompile(`^(?:k(?: \+ (\d+))?|\((\d+) k \+ (\d+)\) % (\d+) - (\d+))$`)

// elements returns the elements of an input as a page writes them.
func elements(text string, count int64) ([]float64, error) {
	values := make([]float64, count)
	parts := formula.FindStringSubmatch(text)
	if parts == nil {
		return values, json.Unmarshal([]byte(text), &values)
	}
	number := lists.Map(parts[1:], func(s string) int { n, _ := strconv.Atoi(s); return n })
	for k := range values {
		if values[k] = float64(k + number[0]); number[3] > 0 {
			values[k] = float64((number[1]*k+number[2])%number[3] - number[4])
		}
	}
	return values, nil
}

// listed writes an output: all of it where there are few numbers.
func listed(x *tensor.Tensor) string {
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	values, sum := x.Floats(), 0.0
	if len(values) <= 24 {
		return "[" + lists.Joined(values, text) + "]"
	}
	for _, v := range values {
		sum += v
	}
	return fmt.Sprintf("first %s, last %s, sum %s", text(values[0]), text(values[len(values)-1]), text(sum))
}

// sends returns what the transpose in an input sends, the first if it has no name, transposed so many times, with the check on or off.
func (x *exerciser) sends(times int, checked bool, input string) string {
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
		rows, err = p.CompareDerivatives(ctx, autoshard.Transpose, []string{cmp.Or(input, p.Inputs[0].Name)}, cost.Hardware{})
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
