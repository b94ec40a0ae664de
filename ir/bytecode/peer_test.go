package bytecode_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
)

// peerFile is a file that jaxlib wrote, and what it means to jaxlib.
type peerFile struct {
	Kind string
	Data []byte
	Text string
}

// askJaxlib hands programs to the writers and readers inside jaxlib, all in one process.
func askJaxlib(t *testing.T, programs []string, answer func(i int, files []peerFile, refused string)) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax, whose bytecode is read")
	}
	in, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "peer.py"))
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<28)
	i := 0
	for ; lines.Scan(); i++ {
		var v struct {
			Error string
			Files []peerFile
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		answer(i, v.Files, v.Error)
	}
	if i != len(programs) {
		t.Fatalf("%d answers for %d programs", i, len(programs))
	}
}

// programs returns texts by name: those of the repository, and the shared ones where there are any.
func programs(t *testing.T) map[string]string {
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.mlir"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	if shared := os.Getenv("AUTOSHARD_SHARED"); shared != "" {
		models, err := filepath.Glob(filepath.Join(shared, "models", "*.mlir"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, models...)
		maps.Copy(out, developmentPrograms(t, filepath.Join(shared, "conformance", "stablehlo_dev.tar.gz")))
	}
	for _, file := range files {
		if text := read(t, file); len(text) < 200_000 {
			out[filepath.Base(file)] = string(text)
		}
	}
	return out
}

// checks are the lines of a dialect that jaxlib lacks. What they look at stays.
var checks = regexp.MustCompile(`(?m)^ *"?check\..*\n`)

// developmentPrograms returns the self-checking StableHLO programs without the checks.
func developmentPrograms(t *testing.T, path string) map[string]string {
	out := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(read(t, path))); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if _, err := io.Copy(&b, r); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(h.Name, ".mlir") {
			out[filepath.Base(h.Name)] = checks.ReplaceAllString(b.String(), "")
		}
	}
}

func TestReadsWhatJaxlibWrites(t *testing.T) {
	all := programs(t)
	names := slices.Sorted(maps.Keys(all))
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = all[name]
	}
	read, refused := 0, 0
	askJaxlib(t, texts, func(i int, files []peerFile, problem string) {
		if problem != "" {
			refused++
		}
		for _, f := range files {
			read++
			want, err := mlir.Parse(t.Context(), []byte(f.Text), mlir.Options{File: names[i]})
			if err != nil {
				t.Errorf("%s: %s: expected text: %v", names[i], f.Kind, err)
				continue
			}
			got, err := bytecode.Read(t.Context(), f.Data, bytecode.Options{File: names[i]})
			if err != nil {
				t.Errorf("%s: %s: %v", names[i], f.Kind, err)
				continue
			}
			if got, want := printed(got), printed(want); got != want {
				t.Errorf("%s: %s: %s", names[i], f.Kind, firstDifference(got, want))
			}
		}
	})
	t.Logf("read %d files of %d programs; jaxlib refuses %d programs", read, len(names), refused)
	if read < len(names) {
		t.Errorf("read only %d files of %d programs", read, len(names))
	}
}
