package cmdline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"autoshard/internal/diag"
)

// missing explains why a file cannot be opened, with the nearest name in its folder where there is none of that name.
func missing(file string, err error) error {
	out := diag.Invalid(diag.BadFile, diag.Position{}, "%v", err)
	if !errors.Is(err, fs.ErrNotExist) {
		return out
	}
	dir := filepath.Dir(file)
	entries, listErr := os.ReadDir(dir)
	if listErr != nil {
		return out.WithNote(diag.Position{}, "there is no folder %s", dir)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if near := diag.Nearest(filepath.Base(file), names); near != "" {
		return out.WithNote(diag.Position{}, "did you mean `%s`?", filepath.Join(dir, near))
	}
	return out
}

// directory is the error about a folder in the place of a file. It names some files in it that can be meant.
func directory(dir string) error {
	err := diag.Invalid(diag.BadFile, diag.Position{File: dir}, "this is a folder, give one file")
	var inside []string
	for _, pattern := range []string{"*.mlir", "*.mlir.gz", "*.json", "*.npz"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are right
		inside = append(inside, found...)
	}
	slices.Sort(inside)
	const shown = 3
	for i, name := range inside {
		if i == shown {
			return err.WithNote(diag.Position{}, "and %d more", len(inside)-shown)
		}
		err = err.WithNote(diag.Position{}, "such as %s", name)
	}
	return err
}

// CheckOutput fails where a file cannot be written, before there is anything to write: its folder is not there or not
// writable, or a folder has its name.
func CheckOutput(file string) error {
	if file == "" || file == "-" {
		return nil
	}
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return diag.Invalid(diag.BadFile, diag.Position{File: file}, "this is a folder; `--output` needs the name of a file in it, such as %s",
			filepath.Join(file, "out"))
	case err == nil && !info.Mode().IsRegular():
		return nil // a device or a pipe
	}
	dir := filepath.Dir(file)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return diag.Invalid(diag.BadFile, diag.Position{File: file}, "cannot be written: there is no folder %s", dir)
	}
	probe, err := os.CreateTemp(dir, "."+filepath.Base(file)+".*")
	if err != nil {
		return diag.Invalid(diag.BadFile, diag.Position{File: file}, "cannot be written: %v", errors.Unwrap(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// rescue keeps what could not be written: in a temporary file, or in standard output where there is room for none.
func (s *Streams) rescue(data []byte, err error) error {
	out := diag.Invalid(diag.BadFile, diag.Position{}, "%v", err)
	if len(data) == 0 {
		return out
	}
	if name, err := temporary(data); err == nil {
		return out.WithNote(diag.Position{}, "the result is in %s", name)
	}
	if _, err := s.Out.Write(data); err == nil {
		return out.WithNote(diag.Position{}, "the result is on standard output")
	}
	return out
}

// temporary writes data to a new file and returns its name.
func temporary(data []byte) (string, error) {
	f, err := os.CreateTemp("", "autoshard-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return f.Name(), errors.Join(err, f.Close())
}
