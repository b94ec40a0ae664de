package bytecode_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
	"autoshard/ir/vhlo"
)

// writtenFile is a file for jaxlib to read.
type writtenFile struct {
	Data    []byte `json:"data"`
	Version int    `json:"version"` // of bytecode
	Target  string `json:"target"`  // of an artifact, "" for bytecode
}

// reading is what jaxlib says of a file, and of the one that it writes itself.
type reading struct {
	Text, Error string
	Own         struct{ Text, Error string }
}

// TestJaxlibReadsWhatIsWritten gives jaxlib every program in bytecode of the newest and of the oldest version, and as
// artifacts for the target of JAX's exports and for the oldest one that can say the program. It must read the program,
// as it reads what it writes itself.
func TestJaxlibReadsWhatIsWritten(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax, which reads what is written")
	}
	all := fixtures(t)
	var names []string
	var files [][]writtenFile
	var in bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, err := mlir.Parse(t.Context(), []byte(all[name]), mlir.Options{File: name})
		if err != nil {
			continue
		}
		names, files = append(names, name), append(files, writtenFiles(t, name, m))
		line := struct {
			Text  string        `json:"text"`
			Files []writtenFile `json:"files"`
		}{all[name], files[len(files)-1]}
		if err := json.NewEncoder(&in).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, filepath.Join("testdata", "peerread.py"))
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(bytes.NewReader(out))
	count, refused := 0, 0
	for i, name := range names {
		var list []reading
		if err := answers.Decode(&list); err != nil {
			t.Fatal(err)
		}
		for j, r := range list {
			if r.Own.Error != "" { // no program to jaxlib, not for the target, or it cannot read its own file
				refused++
				continue
			}
			count++
			compareReading(t, name, files[i][j], r)
		}
	}
	t.Logf("jaxlib reads %d files of %d programs; it does not write %d of them", count, len(names), refused)
	if count < 3*len(names) || refused > len(names)/10 {
		t.Errorf("jaxlib reads only %d files of %d programs", count, len(names))
	}
}

func compareReading(t *testing.T, name string, f writtenFile, r reading) {
	if r.Error != "" {
		t.Errorf("%s: target %q: jaxlib: %s", name, f.Target, r.Error)
		return
	}
	got := printed(parsed(t, name, r.Text))
	if m, err := bytecode.Read(t.Context(), f.Data, bytecode.Options{}); err != nil {
		t.Errorf("%s: target %q: %v", name, f.Target, err)
	} else if want := printed(m); got != want {
		t.Errorf("%s: target %q: jaxlib reads another program: %s", name, f.Target, firstDifference(got, want))
	}
	if unknownProperties.MatchString(r.Text+got) && f.Version < 5 {
		return // jaxlib loses the properties of ops that it does not know in old versions
	}
	got = withoutPlaces(parsed(t, name, r.Text))
	if want := withoutPlaces(parsed(t, name, r.Own.Text)); got != want {
		t.Errorf("%s: target %q: jaxlib writes another program: %s", name, f.Target, firstDifference(got, want))
	}
}

// unknownProperties matches ops with properties that jaxlib does not know.
var unknownProperties = regexp.MustCompile(`"interpreter\.|"x\.unregistered_props"`)

// writtenFiles returns a program in the forms that jaxlib is to read.
func writtenFiles(t *testing.T, name string, m *ir.Module) []writtenFile {
	var out []writtenFile
	versions, oldest := []int{6, 0}, 9
	if m.NumOps() > manyOps {
		versions, oldest = versions[:1], 21+vhlo.Newest.Minor
	}
	for _, version := range versions {
		data, err := bytecode.Write(m, bytecode.WriteOptions{Version: version})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out = append(out, writtenFile{data, version, ""})
	}
	for minor := oldest; minor <= 20+vhlo.Newest.Minor; minor++ { // 0.9 to 0.20, 1.0 to the newest
		target := vhlo.Version{Minor: minor}
		if minor > 20 {
			target = vhlo.Version{Major: 1, Minor: minor - 21}
		}
		if data, err := bytecode.WriteArtifact(m, target); err == nil {
			out = append(out, writtenFile{data, target.BytecodeVersion(), target.String()})
			break
		}
	}
	jax := vhlo.Version{Major: 1, Minor: 18}
	if data, err := bytecode.WriteArtifact(m, jax); err == nil {
		out = append(out, writtenFile{data, jax.BytecodeVersion(), jax.String()})
	}
	return out
}
