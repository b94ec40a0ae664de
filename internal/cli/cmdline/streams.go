package cmdline

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"autoshard/internal/diag"
)

// Streams are the standard streams of a command. They remember what was read, for showing source lines in errors.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	sources  map[string][]byte
}

// New returns streams.
func New(in io.Reader, out, err io.Writer) *Streams {
	return &Streams{In: in, Out: out, Err: err, sources: map[string][]byte{}}
}

// Terminal says whether standard error is a terminal.
func (s *Streams) Terminal() bool {
	f, ok := s.Err.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Stdin is the name of standard input in errors.
const Stdin = "<stdin>"

// Name returns the name of a file argument in errors.
func Name(file string) string {
	if file == "-" {
		return Stdin
	}
	return file
}

// maxInput bounds the bytes of a text, unpacked.
const maxInput = 1 << 30

// Read returns the text of a file, or of standard input for "-", unpacked if it is a gzip file, and the name for
// errors. Errors are of class diag.ErrInvalid or diag.ErrTooLarge, or that of ctx.
func (s *Streams) Read(ctx context.Context, file string) (name string, text []byte, err error) {
	if file == "-" {
		name = Stdin
		if text, read := s.sources[Stdin]; read {
			return name, text, nil // it comes once
		}
		text, err = s.readStdin(ctx)
	} else {
		name = file
		text, err = readFile(file)
	}
	if err == nil && bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		text, err = unpack(text, name)
	}
	s.sources[name] = text
	return name, text, err
}

func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, missing(file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return nil, directory(file)
	}
	if err != nil || info.Size() > maxInput {
		return readLimited(f, file)
	}
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // no larger than the file: constants stay in it
	if _, err := text.ReadFrom(io.LimitReader(f, maxInput+1)); err != nil {
		return nil, unreadable(file, err)
	}
	return withinLimit(text.Bytes(), file)
}

// readStdin reads standard input, which may never end, until ctx ends.
func (s *Streams) readStdin(ctx context.Context) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readLimited(s.In, Stdin)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func readLimited(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return withinLimit(text, name)
}

func unreadable(name string, err error) error {
	return diag.Invalid(diag.BadFile, diag.Position{File: name}, "cannot be read: %v", err)
}

func withinLimit(text []byte, name string) ([]byte, error) {
	if len(text) > maxInput {
		return nil, diag.TooLarge(diag.InputTooLarge, diag.Position{File: name}, "input has more than %s", diag.Bytes(maxInput))
	}
	return text, nil
}

func unpack(packed []byte, name string) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, diag.Invalid(diag.BadFile, diag.Position{File: name}, "not a gzip file: %v", err)
	}
	return readLimited(r, name)
}

// fileError classifies an error of the file system, whose message names the file.
func fileError(err error) error {
	return diag.Invalid(diag.BadFile, diag.Position{}, "%v", err)
}

// Write writes data to a file, or to standard output for "" and "-". The file appears with all its content or not at
// all: it is written under another name beside its place first. What cannot be written there is kept elsewhere, and the
// error says where.
func (s *Streams) Write(file string, data []byte) error {
	if file == "" || file == "-" {
		if _, err := s.Out.Write(data); err != nil {
			return fileError(err)
		}
		return nil
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return s.rescue(data, err)
		}
		return nil
	}
	if err := writeAtomically(file, data); err != nil {
		return s.rescue(data, err)
	}
	return nil
}

func writeAtomically(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// Note writes a line to standard error.
func (s *Streams) Note(format string, args ...any) { fmt.Fprintf(s.Err, format+"\n", args...) }

// Source returns the text of a file that was read, nil for others.
func (s *Streams) Source(file string) []byte { return s.sources[file] }

// Fail prints an error to standard error and returns its exit code.
func (s *Streams) Fail(err error) int {
	code := diag.ExitCode(err)
	switch code {
	case diag.ExitCanceled:
		err = errors.New("canceled")
	case diag.ExitDeadline:
		text, _, more := strings.Cut(err.Error(), ": "+context.DeadlineExceeded.Error())
		if err = errors.New("no result within the time of --timeout"); more {
			err = fmt.Errorf("%w: %s", err, text)
		}
	}
	diag.Render(s.Err, err, s.Source)
	return code
}

// Interrupted says whether ctx ended because the user asked for it.
func Interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// WritePacked is Write of data that is compressed where the name of the file asks for that.
func (s *Streams) WritePacked(file string, data []byte) error {
	data, err := packed(file, data)
	if err != nil {
		return err
	}
	return s.Write(file, data)
}

// packed returns data compressed where the name of its file asks for that.
func packed(file string, data []byte) ([]byte, error) {
	if !strings.HasSuffix(file, ".gz") {
		return data, nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, diag.Internal(diag.Bug, diag.Position{}, "pack %s: %v", file, err)
	}
	return out.Bytes(), nil
}
