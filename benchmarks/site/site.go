// Package site is what the measurements share: where one was made, on which machine and of which commit; the files that it
// reads and the report that it writes; the fastest of several rounds.
package site

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Machine says how many cores the run could use, and of which processor.
func Machine() string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores, %s, %s", runtime.NumCPU(), model, runtime.Version())
}

// Commit returns the commit of the working tree, with a plus sign if files differ from it.
func Commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	id := strings.TrimSpace(string(out))
	if exec.Command("git", "diff", "--quiet", "HEAD", "--", "*.go").Run() != nil {
		id += "+"
	}
	return id
}

// Shared returns the paths of the shared files whose names match a pattern, such as models/*.mlir*.
func Shared(pattern string) ([]string, error) {
	root := os.Getenv("AUTOSHARD_SHARED")
	if root == "" {
		return nil, errors.New("AUTOSHARD_SHARED is not set: it names the folder with models and instances")
	}
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no %s in %s", pattern, root)
	}
	return files, err
}

// Python returns the Python with JAX that the peers run in.
func Python() (string, error) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		return "", errors.New("AUTOSHARD_PYTHON is not set: it names a Python with jax, in which the peer is")
	}
	return python, nil
}

// ReadText returns the text of a file, unpacked if its name ends in .gz.
func ReadText(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(file, ".gz") {
		return data, err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Publish writes a report to standard output, and to a file unless its name is empty.
func Publish(report, file string) error {
	if _, err := os.Stdout.WriteString(report); err != nil || file == "" {
		return err
	}
	return os.WriteFile(file, []byte(report), 0o644)
}

// Exit ends a command that failed with an error.
func Exit(name string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Fastest returns the smaller of the best time so far in seconds, 0 for none, and the time since start.
func Fastest(best float64, start time.Time) float64 {
	if t := time.Since(start).Seconds(); best == 0 || t < best {
		return t
	}
	return best
}

// Milliseconds writes a time in seconds as a cell of a table.
func Milliseconds(seconds float64) string { return fmt.Sprintf("%.1f ms", seconds*1e3) }
