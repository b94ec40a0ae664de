package mlir

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// seeds returns the programs of the golden files.
func seeds(t testing.TB) [][]byte {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("golden files: %v, %v", files, err)
	}
	var out [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range bytes.Split(data, []byte("\n\n")) {
			input, _, _ := bytes.Cut(part, []byte("\n----"))
			_, input, _ = bytes.Cut(input, []byte("\n"))
			out = append(out, input)
		}
	}
	return out
}

// survives reads a text under limits. It checks that a problem is located and that what was read prints as a text that
// reads as the same program.
func survives(t *testing.T, src []byte) {
	m, err := Parse(t.Context(), src, Options{File: "fuzz", MaxElements: 1 << 16})
	if err != nil {
		var e *diag.Error
		if !errors.As(err, &e) || len(e.Diagnostics) == 0 || e.Diagnostics[0].Pos.Line == 0 || e.Class == diag.ErrInternal {
			t.Fatalf("not a located error: %#v", err)
		}
		return
	}
	printed := Print(m, PrintOptions{DebugInfo: true})
	if err := ir.Verify(t.Context(), m); err != nil {
		return
	}
	again, err := Parse(t.Context(), printed, Options{File: "printed", MaxElements: 1 << 16})
	if err != nil {
		t.Fatalf("printed text is wrong: %v\n%s", err, printed)
	}
	if second := Print(again, PrintOptions{DebugInfo: true}); !bytes.Equal(printed, second) {
		t.Fatalf("printing is not stable:\n%s\n%s", printed, second)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(survives)
}

// FuzzLex cuts any text into tokens: they stand in order, each on the line that it says, with nothing but white space and
// comments between them; and the text of a token alone is that token.
func FuzzLex(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(string(s))
	}
	f.Fuzz(func(t *testing.T, src string) {
		l, end := lexer{src: src, line: 1}, 0
		for l.next(); l.tok.kind != tokEOF; l.next() {
			tok := l.tok
			if tok.start < end || tok.end <= tok.start || tok.end > len(src) {
				t.Fatalf("token at %d to %d, behind one that ends at %d", tok.start, tok.end, end)
			}
			if line := 1 + strings.Count(src[:tok.start], "\n"); line != tok.line || tok.lineStart != strings.LastIndexByte(src[:tok.start],
				'\n')+1 {
				t.Fatalf("token at %d is on line %d, not %d from byte %d on", tok.start, line, tok.line, tok.lineStart)
			}
			between(t, src[end:tok.start])
			end = tok.end
			alone := lexer{src: l.text(), line: 1}
			if alone.next(); tok.kind != tokBad && (alone.tok.kind != tok.kind || alone.tok.end != len(alone.src)) {
				t.Fatalf("%q is %v in the text, and %v alone", alone.src, tok.kind, alone.tok.kind)
			}
		}
		between(t, src[end:])
	})
}

// between fails where a text is not white space and comments.
func between(t *testing.T, text string) {
	for line := range strings.Lines(text) {
		if code, _, _ := strings.Cut(line, "//"); strings.Trim(code, " \t\r\n") != "" {
			t.Fatalf("skipped %q", text)
		}
	}
}

// TestTruncated cuts each program at every third byte, and each model at multiples of 97 bytes: all of them for one
// model and with the flag -large, some for the others.
func TestTruncated(t *testing.T) {
	for _, s := range seeds(t) {
		for n := 0; n < len(s); n += 3 {
			survives(t, s[:n])
		}
	}
	const cuts = 30
	for _, file := range modelFiles(t) {
		src := readModel(t, file)
		step := 97
		if !*large && filepath.Base(file) != "mlp_train_loc.mlir" {
			step *= 1 + len(src)/97/cuts
		}
		for n := 0; n < len(src); n += step {
			survives(t, src[:n])
		}
	}
}

// TestMutations changes up to three tokens of programs at random.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all := seeds(t)
	for range 5000 {
		text := string(all[r.IntN(len(all))])
		for range 1 + r.IntN(3) {
			text = mutate(text, r)
		}
		survives(t, []byte(text))
	}
}

// TestLimits hands in texts that are larger or deeper than allowed, or declare more than they have.
func TestLimits(t *testing.T) {
	deep := strings.Repeat
	const n = 100_000
	function := func(body string) string { return "func.func @f() {\n" + body + "\nreturn\n}\n" }
	attr := func(a string) string { return "func.func private @f() attributes {a.b = " + a + "}" }
	for name, c := range map[string]struct {
		text string
		code diag.Code
	}{
		"regions":     {function(deep(`"a.b"() ({`, n) + deep("}) : () -> ()\n", n)), diag.NestingTooDeep},
		"tuples":      {attr(deep("tuple<", n) + deep(">", n)), diag.NestingTooDeep},
		"functions":   {attr(deep("(", n) + deep(") -> ()", n)), diag.NestingTooDeep},
		"arrays":      {attr(deep("[", n) + deep("]", n)), diag.NestingTooDeep},
		"dicts":       {attr(deep("{a = ", n) + deep("}", n)), diag.NestingTooDeep},
		"locations":   {"module {} " + deep(`loc("a"(`, 1) + deep(`"a"(`, n) + `"a"` + deep(")", n+2), diag.NestingTooDeep},
		"loc aliases": {locChain(n), diag.NestingTooDeep},
		"modules":     {deep("module {", n) + deep("}", n), diag.NestingTooDeep},
		"sharded":     {attr("#sdy.sharding<@m, [" + deep("{", n)), diag.UnknownMesh},
		"bytes":       {deep(" ", 1<<20+1), diag.InputTooLarge},
		"dense":       {function("%0 = stablehlo.constant dense<" + deep("[", n) + deep("]", n) + "> : tensor<1xf32>"), diag.BadConstant},
		"declared":    {function("%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<1000000000xf32>"), diag.InputTooLarge},
		"type":        {function("%0 = stablehlo.constant dense<1.0> : tensor<4294967296x4294967296xf32>"), diag.BadConstant},
		"mesh":        {`sdy.mesh @m = <["x"=9223372036854775807, "y"=2]>`, diag.BadMesh},
		"open opaque": {attr("#a.b" + deep("<", n)), diag.Syntax},
		"nul":         {"module {\x00}", diag.NotText},
		"binary":      {"module {\n  \xff\xfe}", diag.NotText},
		"empty":       {" \n\t", diag.EmptyInput},
	} {
		t.Run(name, func(t *testing.T) {
			opts := Options{File: "f"}
			if c.code == diag.InputTooLarge && name == "bytes" {
				opts.MaxBytes = 1 << 20
			}
			_, err := Parse(t.Context(), []byte(c.text), opts)
			var e *diag.Error
			if !errors.As(err, &e) || e.Diagnostics[0].Code != c.code || e.Diagnostics[0].Pos.Line == 0 {
				t.Fatalf("want a located %s, got %v", c.code, err)
			}
		})
	}
	t.Run("splat of a huge type", func(t *testing.T) {
		survives(t, []byte(function("%0 = stablehlo.constant dense<1.0> : tensor<1000000000xf32>")))
	})
}

// locChain returns a module whose location nests n deep through aliases.
func locChain(n int) string {
	var b strings.Builder
	b.WriteString("#loc0 = loc(unknown)\n")
	for i := range n {
		fmt.Fprintf(&b, "#loc%d = loc(\"a\"(#loc%d))\n", i+1, i)
	}
	fmt.Fprintf(&b, "module {} loc(#loc%d)\n", n)
	return b.String()
}
