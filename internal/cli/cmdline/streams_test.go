package cmdline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autoshard"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

func newTest() (s *Streams, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return New(strings.NewReader("from stdin"), out, errs), out, errs
}

// A file is replaced as a whole; a failure leaves the old one and nothing beside it.
func TestWrite(t *testing.T) {
	s, out, _ := newTest()
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.json")
	for _, text := range []string{"old and longer", "new"} {
		if err := s.Write(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("file is %q, %v", got, err)
		}
	}
	if err := s.Write(filepath.Join(dir, "gone", "plan.json"), nil); diag.ExitCode(err) != diag.ExitInvalid {
		t.Errorf("error is %v", err)
	}
	if err := s.Write(dir, nil); diag.ExitCode(err) != diag.ExitInvalid {
		t.Errorf("writing to a directory: %v", err)
	}
	if err := s.Write(os.DevNull, []byte("x")); err != nil {
		t.Errorf("writing to a device: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("directory holds %v", entries)
	}
	if err := s.Write("-", []byte("text")); err != nil || out.String() != "text" {
		t.Errorf("standard output is %q, %v", out, err)
	}
}

func TestRead(t *testing.T) {
	s, _, errs := newTest()
	name, text, err := s.Read(t.Context(), "-")
	if err != nil || name != "<stdin>" || string(text) != "from stdin" {
		t.Errorf("read %q, %q, %v", name, text, err)
	}
	s.Fail(diag.Invalid(diag.Syntax, diag.Position{File: name, Line: 1, Col: 6}, "what"))
	if want := "<stdin>:1:6: error: what [AS1001]\n  from stdin\n       ^\n"; errs.String() != want {
		t.Errorf("got %s", errs)
	}
	broken := filepath.Join(t.TempDir(), "m.gz")
	if err := os.WriteFile(broken, []byte("\x1f\x8bgarbage"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Read(t.Context(), broken); diag.ExitCode(err) != diag.ExitInvalid {
		t.Errorf("broken gzip file: %v", err)
	}
}

// A buffer is no terminal: progress needs to be asked for, and comes as lines.
func TestProgress(t *testing.T) {
	s, _, errs := newTest()
	for when, silent := range map[config.Progress]bool{config.Auto: true, config.Never: true, config.Always: false} {
		errs.Reset()
		show, done := s.Progress(when)
		for _, p := range []autoshard.Progress{{Stage: "read"}, {Stage: "search"}, {Stage: "search", Seconds: 2e-6, Bound: 1e-6},
			{Stage: "lower", Seconds: 2e-6, Bound: 1e-6}} {
			show(p)
		}
		done()
		want := "read 0.0 s\nsearch 0.0 s\nlower 0.0 s: cost 2 us, gap 50 %\n"
		if silent {
			want = ""
		}
		if errs.String() != want {
			t.Errorf("%s: progress is %q", when, errs)
		}
	}
	errs.Reset()
	terminal := &meter{w: errs, terminal: true, start: time.Now(), end: make(chan struct{})}
	terminal.show(autoshard.Progress{Stage: "search", Seconds: 2e-6, Bound: 1e-6})
	terminal.done()
	if errs.String() != "\r\x1b[Ksearch 0.0 s: cost 2 us, gap 50 %\r\x1b[K" {
		t.Errorf("progress is %q", errs)
	}
}

// A result that cannot be written where it should go is kept elsewhere, and the error says where.
func TestRescue(t *testing.T) {
	s, out, errs := newTest()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	gone := filepath.Join(dir, "gone")
	err := s.Write(filepath.Join(gone, "plan.json"), []byte("a plan"))
	if code := s.Fail(err); code != diag.ExitInvalid {
		t.Errorf("exit code %d", code)
	}
	_, name, ok := strings.Cut(strings.TrimSpace(errs.String()), "the result is in ")
	if text, err := os.ReadFile(name); !ok || err != nil || string(text) != "a plan" {
		t.Errorf("%s: %q, %v", errs, text, err)
	}
	t.Setenv("TMPDIR", gone)
	err = s.Write(filepath.Join(gone, "plan.json"), []byte("a plan"))
	if note := diag.Diagnostics(err)[0].Notes[0].Message; out.String() != "a plan" || note != "the result is on standard output" {
		t.Errorf("standard output has %q, note %q", out, note)
	}
}
