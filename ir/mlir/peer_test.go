package mlir

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/internal/diag"
)

// verdict is what MLIR makes of a program.
type verdict struct{ Pretty, Generic, Locations, Error string }

// askMLIR hands programs to the MLIR inside jaxlib, all in one process.
func askMLIR(t *testing.T, programs []string) []verdict {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax, whose MLIR the reader and printer are compared with")
	}
	in, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "peer.py"))
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []verdict
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		var v verdict
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		verdicts = append(verdicts, v)
	}
	if len(verdicts) != len(programs) {
		t.Fatalf("%d verdicts for %d programs", len(verdicts), len(programs))
	}
	return verdicts
}

// unknownToMLIR matches programs of dialects that jaxlib's MLIR lacks.
var unknownToMLIR = regexp.MustCompile(`(?m)^ *(%.* = )?"?check\.|!quant`)

// peerPrograms returns programs by name that MLIR without the check and quant dialects can read.
func peerPrograms(t *testing.T) (names, texts []string) {
	all := developmentPrograms(t)
	for _, file := range modelFiles(t) {
		if data := readModel(t, file); len(data) < 200_000 {
			all[filepath.Base(file)] = string(data)
		}
	}
	for name, text := range all {
		if !unknownToMLIR.MatchString(text) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		texts = append(texts, all[name])
	}
	return names, texts
}

// TestPrintsAsMLIR compares the printing of programs with MLIR's, read from the pretty and from the generic form.
func TestPrintsAsMLIR(t *testing.T) {
	names, texts := peerPrograms(t)
	for i, v := range askMLIR(t, texts) {
		t.Run(names[i], func(t *testing.T) {
			if v.Error != "" {
				t.Fatalf("MLIR rejects the program: %s", v.Error)
			}
			for _, form := range []string{texts[i], v.Generic, v.Locations} {
				m, err := readAndVerify(form)
				if err != nil {
					t.Fatal(err)
				}
				diffLines(t, v.Pretty, string(Print(m, PrintOptions{})))
				if form == v.Locations {
					diffLines(t, v.Locations, string(Print(m, PrintOptions{DebugInfo: true})))
				}
			}
		})
	}
}

// mutate changes one token of a program: a number counts up or down, another token of the same kind takes its place, it
// goes, or comes twice.
func mutate(text string, r *rand.Rand) string {
	var tokens []token
	l := lexer{src: text, line: 1}
	for l.next(); l.tok.kind != tokEOF; l.next() {
		if k := l.tok.kind; k <= tokString || r.IntN(8) == 0 {
			tokens = append(tokens, l.tok)
		}
	}
	if len(tokens) == 0 {
		return text
	}
	at := tokens[r.IntN(len(tokens))]
	old := text[at.start:at.end]
	replacement := ""
	switch choice := r.IntN(10); {
	case choice == 0:
		replacement = old + " " + old
	case choice == 1:
	case choice < 4 && at.kind == tokInt && len(old) < 10:
		n, _ := strconv.Atoi(old)
		replacement = strconv.Itoa(max(0, n+1-2*r.IntN(2)))
	default:
		var same []string
		for _, o := range tokens {
			if s := text[o.start:o.end]; o.kind == at.kind && s != old {
				same = append(same, s)
			}
		}
		if len(same) > 0 {
			replacement = same[r.IntN(len(same))]
		}
	}
	return text[:at.start] + replacement + text[at.end:]
}

// TestRejectsAsMLIR changes shared programs at random and compares whether they are accepted with what MLIR says.
func TestRejectsAsMLIR(t *testing.T) {
	names, texts := peerPrograms(t)
	judgedAsMLIR(t, names, texts, 1500)
}

// TestRejectsSamplesAsMLIR does the same with the programs of the golden files.
func TestRejectsSamplesAsMLIR(t *testing.T) {
	var names, texts []string
	datadriven.Walk(t, "testdata/print", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if !unknownToMLIR.MatchString(d.Input) {
				names, texts = append(names, d.Pos), append(texts, d.Input)
			}
			return d.Expected
		})
	})
	judgedAsMLIR(t, names, texts, 1000)
}

// judgedAsMLIR makes so many programs by changing a token of others. At least 98 % must be accepted or rejected as MLIR
// does, and every rejection must say where.
func judgedAsMLIR(t *testing.T, names, texts []string, n int) {
	r := rand.New(rand.NewPCG(1, 2))
	var programs, origin []string
	for len(programs) < n {
		i := r.IntN(len(texts))
		if len(texts[i]) < 40_000 {
			programs, origin = append(programs, mutate(texts[i], r)), append(origin, names[i])
		}
	}
	verdicts := askMLIR(t, programs)
	agreed, rejected := 0, 0
	var report strings.Builder
	for i, v := range verdicts {
		_, err := readAndVerify(programs[i])
		if err != nil && slices.Contains(errorPlaces(err), 0) {
			t.Errorf("%s: rejected without a line and column: %v", origin[i], err)
		}
		if v.Error != "" {
			rejected++
		}
		if (err == nil) == (v.Error == "") {
			agreed++
			continue
		}
		fmt.Fprintf(&report, "%s: MLIR: %s\n  here: %v\n", origin[i], clip500(v.Error), err)
	}
	t.Logf("%d of %d judged as MLIR does, which rejects %d\n%s", agreed, len(programs), rejected, report.String())
	if agreed*100 < len(programs)*98 {
		t.Errorf("only %d of %d programs are judged as MLIR judges them", agreed, len(programs))
	}
}

// errorPlaces returns the lines and columns of a problem's diagnostics.
func errorPlaces(err error) []int {
	e, ok := err.(*diag.Error)
	if !ok {
		return []int{0}
	}
	var places []int
	for _, d := range e.Diagnostics {
		places = append(places, d.Pos.Line, d.Pos.Col)
	}
	return places
}

// TestGoldenAsMLIR compares the golden files with MLIR: it prints the same texts, and rejects what is rejected here,
// unless the case says only-here.
func TestGoldenAsMLIR(t *testing.T) {
	var cases []datadriven.TestData
	for _, dir := range []string{"testdata/print", "testdata/errors"} {
		datadriven.Walk(t, dir, func(t *testing.T, path string) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				if !d.HasArg("only-here") {
					cases = append(cases, *d)
				}
				return d.Expected
			})
		})
	}
	inputs := make([]string, len(cases))
	for i := range cases {
		inputs[i] = cases[i].Input
	}
	for i, v := range askMLIR(t, inputs) {
		d := cases[i]
		t.Run(strings.TrimPrefix(d.Pos, "testdata/"), func(t *testing.T) {
			switch {
			case d.Cmd == "errors":
				if v.Error == "" {
					t.Errorf("MLIR accepts the program")
				}
			case v.Error != "":
				t.Errorf("MLIR: %s", v.Error)
			case d.HasArg("locations"):
				diffLines(t, strings.TrimRight(v.Locations, "\n"), strings.TrimRight(d.Expected, "\n"))
			default:
				diffLines(t, strings.TrimRight(v.Pretty, "\n"), strings.TrimRight(d.Expected, "\n"))
			}
		})
	}
}
