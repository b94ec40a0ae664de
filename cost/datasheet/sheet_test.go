package datasheet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
)

// The three syntaxes say the same.
func TestSyntaxes(t *testing.T) {
	for file, text := range map[string]string{
		"a.yaml": "rates:\n  fast: {value: 1e14, kind: nominal, source: maker}\n  slow: 2\n" +
			"sources: {maker: a sheet}\nparts: [{size: 3}, {size: 4}]\n",
		"a.json": `{"rates": {"fast": {"value": 1e14, "kind": "nominal", "source": "maker"}, "slow": 2},
			"sources": {"maker": "a sheet"}, "parts": [{"size": 3}, {"size": 4}]}`,
		"a.toml": "rates.fast = {value = 1e14, kind = \"nominal\", source = \"maker\"}\nrates.slow = 2\n[sources]\nmaker = \"a sheet\"\n" +
			"[[parts]]\nsize = 3\n[[parts]]\nsize = 4\n",
	} {
		s, err := Read(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range s.Values {
			got = append(got, strings.TrimSpace(strings.Join([]string{v.Path, v.Text, string(v.Kind), v.Source}, " ")))
		}
		want := []string{"rates.fast 1e14 nominal a sheet", "rates.slow 2", "parts[0].size 3", "parts[1].size 4"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// A list has one provenance.
func TestList(t *testing.T) {
	s, err := Read("a.yaml", []byte("shape: {value: [4, 8], kind: guessed}"))
	if err != nil || len(s.Values) != 2 || s.Values[1].Path != "shape[1]" || s.Values[1].Kind != Guessed {
		t.Errorf("%+v %v", s, err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.txt", "", "a.txt: error: file must end in .yaml"},
		{"a.yaml", "# nothing", "a.yaml: error: the file is empty"},
		{"a.yaml", "- 1", "a.yaml:1:1: error: the file must be a table"},
		{"a.yaml", "a: 1\n\tb: 2", "a.yaml:2:1: error: found a tab character"},
		{"a.yaml", "a: 1\n---\nb: 2\n", "error: the file has a second document"},
		{"a.yaml", "a: 1\nA: 2\n", "a.yaml:2:1: error: \"A\" is given twice"},
		{"a.yaml", "a: &x 1\nb: *x\n", "a.yaml:2:4: error: `b` is an alias"},
		{"a.yaml", "a: {value: 1, kind: known}", "a.yaml:1:21: error: `kind` of `a` must be one of nominal, measured, guessed, not \"known\""},
		{"a.yaml", "a: {value: 1, source: bok}\nsources: {book: b}",
			"a.yaml:1:23: error: source \"bok\" of `a` is not listed in `sources`, did you mean `book`?"},
		{"a.yaml", "a: {value: 1, unit: s}", "a.yaml:1:15: error: \"unit\" of `a` is none of value, kind and source"},
		{"a.yaml", "a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}", "lies deeper than 8"},
		{"a.toml", "a = 1\nb = \n", "a.toml:2:5: error: "},
		{"a.toml", "a = 1\nb = {value = 1, kind = \"x\"}\n", "a.toml:2:17: error: `kind` of `b` must be one of"},
		{"a.yaml", strings.Repeat(" ", 1<<20+1), "the file has 1 MiB, more than"},
	} {
		_, err := Read(c.file, []byte(c.text))
		var got strings.Builder
		if diag.Render(&got, err, nil); !strings.Contains(got.String(), c.want) {
			t.Errorf("%.40q: got %s, want %s", c.text, got.String(), c.want)
		}
	}
}
