package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page runs the blocks of a page of docs in order, in a folder of its own: a block whose first line names a file is written to
// that file, others are commands. What is left of it are the folder and the environment.
type page struct {
	t    *testing.T
	text string
	dir  string
	env  []string
}

func newPage(t *testing.T, name string) *page {
	t.Helper()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON, a Python with JAX, is not set")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "autoshard"), "autoshard/cmd/autoshard")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// A script, because a link to a Python of a virtual environment leaves the environment.
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", python)
	if err := os.WriteFile(filepath.Join(bin, "python"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return &page{t: t, text: string(text), dir: t.TempDir(), env: env}
}

var (
	block    = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	fileName = regexp.MustCompile(`^# ([\w.]+)\n`)
)

// run runs the blocks and returns what all commands printed.
func (p *page) run() string {
	p.t.Helper()
	var out strings.Builder
	for _, b := range block.FindAllStringSubmatch(p.text, -1) {
		language, text := b[1], b[2]
		if name := fileName.FindStringSubmatch(text); name != nil {
			if err := os.WriteFile(filepath.Join(p.dir, name[1]), []byte(text), 0o666); err != nil {
				p.t.Fatal(err)
			}
			continue
		}
		if language != "sh" {
			p.t.Fatalf("a block of %q names no file:\n%s", language, text)
		}
		printed, err := p.command("bash", "-e", "-c", text)
		if err != nil {
			p.t.Fatalf("%v\n%s\n%s", err, text, printed)
		}
		out.WriteString(printed)
	}
	return out.String()
}

func (p *page) command(name string, args ...string) (string, error) {
	cmd := exec.Command("bash", append([]string{"-c", `exec "$0" "$@"`, name}, args...)...) // which finds it on the page's path
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The blocks of docs/from-jax.md do what the page says.
func TestFromJAX(t *testing.T) {
	p := newPage(t, "from-jax.md")
	out := p.run()
	for _, want := range []string{"params['layers'][0]['up'][1] is ", "result[0]['layers'][1]['down']: f32[64,16]", "outputs pass",
		"\nOK 5 outputs"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page's commands do not print %q:\n%s", want, out)
		}
	}
	if text, err := p.command("python", "serialize_step.py"); err != nil {
		if !strings.Contains(text, "flatbuffers") {
			t.Errorf("%v\n%s", err, text)
		}
		t.Log("JAX serializes nothing without flatbuffers: the artifact of the page is not made")
	} else if text, err := p.command("autoshard", "check", "step.jax"); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// Every cell of the table of docs/running-elsewhere.md is what XLA does.
func TestRunningElsewhere(t *testing.T) {
	p := newPage(t, "running-elsewhere.md")
	if out := p.run(); !strings.HasSuffix(out, "equal\n") {
		t.Errorf("the page's commands print\n%s", out)
	}
	_, table, ok := strings.Cut(p.text,
		"| settings | sdy form of `part` | StableHLO form of `sum` | StableHLO form of `part` |\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("the page has no table of settings")
	}
	cells := 0
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "|") {
			break
		}
		columns := strings.Split(strings.Trim(row, "|\n "), " | ")
		settings := strings.Fields(strings.ReplaceAll(columns[0], "`", ""))
		for i, file := range []string{"part.sdy.mlir", "sum.device.mlir", "part.device.mlir"} {
			want := columns[i+1]
			if quoted := strings.Split(want, "`"); len(quoted) == 3 {
				want = quoted[1]
			}
			name, _, _ := strings.Cut(file, ".")
			out, err := p.command("python", append([]string{"on_xla.py", file, name + ".py"}, settings...)...)
			if (err == nil) != (want == "equal") || !strings.Contains(out, want) {
				t.Errorf("%s with %s: want %s, %v\n%s", file, columns[0], want, err, out)
			}
			cells++
		}
	}
	if cells != 12 {
		t.Errorf("the table has %d outcomes", cells)
	}
}
