package typed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/ir"
	"autoshard/shardmap/emit"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
)

// pythonFiles are emitted programs that one process of JAX runs, with what their outputs are compared with.
type pythonFiles struct {
	dir   string
	files []string
	tests map[string]func(t *testing.T, got []tensor.Tensor, problem string)
	older bool // after run: JAX lacks what some programs need
}

// tooOld is what programs say to a JAX that lacks what they need.
const tooOld = "need a newer JAX"

func newPythonFiles(t *testing.T) *pythonFiles {
	return &pythonFiles{dir: t.TempDir(), tests: map[string]func(*testing.T, []tensor.Tensor, string){}}
}

// add writes a program and its inputs, and says what to do with its outputs, or with what went wrong.
func (f *pythonFiles) add(t *testing.T, name string, p *typed.Program, args []tensor.Tensor,
	test func(*testing.T, []tensor.Tensor, string)) {
	t.Helper()
	text, err := emit.Typed(t.Context(), p, nil)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	f.write(t, name, text, args, test)
}

func (f *pythonFiles) write(t *testing.T, name string, text []byte, args []tensor.Tensor, test func(*testing.T, []tensor.Tensor, string)) {
	t.Helper()
	named := make([]npz.Array, len(args))
	for i, x := range args {
		named[i] = npz.Array{Name: fmt.Sprintf("arg%d", i), Tensor: x}
	}
	var packed bytes.Buffer
	if err := npz.Write(&packed, named); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.dir, name+".py")
	for path, data := range map[string][]byte{file: text, file + ".in.npz": packed.Bytes()} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f.files = append(f.files, file)
	f.tests[file] = test
}

// run runs the files with a Python that has JAX, and then their tests.
func (f *pythonFiles) run(t *testing.T, python string, env ...string) {
	t.Helper()
	script, err := filepath.Abs("../emit/testdata/run.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{script}, f.files...)...)
	cmd.Env = append(append(os.Environ(), "JAX_PLATFORMS=cpu"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range f.files {
		_, problem := pythonOutputs(t, file)
		f.older = f.older || strings.Contains(problem, tooOld)
	}
	for _, file := range f.files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			got, problem := pythonOutputs(t, file)
			if strings.Contains(problem, tooOld) {
				t.Skip("the JAX at AUTOSHARD_PYTHON is too old for this program")
			}
			f.tests[file](t, got, problem)
		})
	}
}

// pythonOutputs reads what a file gave, or what went wrong.
func pythonOutputs(t *testing.T, file string) ([]tensor.Tensor, string) {
	t.Helper()
	if text, err := os.ReadFile(file + ".error"); err == nil {
		return nil, string(text)
	}
	data, err := os.ReadFile(file + ".out.npz")
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]tensor.Tensor, len(arrays))
	for i := range arrays {
		out[i] = arrays[i].Tensor
	}
	return out, ""
}

// wants compares outputs with expected ones.
func wants(want []expected) func(*testing.T, []tensor.Tensor, string) {
	return func(t *testing.T, got []tensor.Tensor, problem string) {
		if problem != "" {
			t.Fatal(problem)
		}
		if len(got) != len(want) {
			t.Fatalf("%d outputs, want %d", len(got), len(want))
		}
		for i := range want {
			if err := want[i].compare(got[i]); err != nil {
				t.Errorf("output %d: %v", i, err)
			}
		}
	}
}

// refusal is what the vectors say of JAX and a program with an error.
type refusal struct {
	ID    string
	Error *struct {
		Class   string     `json:"jax_class"`
		Phrase  string     `json:"jax_phrase"`
		Accepts []expected `json:"jax_accepts"`
	}
}

// refusals reads them by vector.
func refusals(t *testing.T) map[string]refusal {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(os.Getenv("AUTOSHARD_SHARED"), "spec", "shardmap_vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []refusal }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	out := map[string]refusal{}
	for _, v := range file.Vectors {
		if v.Error != nil {
			out[v.ID] = v
		}
	}
	return out
}

// test expects JAX's error, or the values of a program that only our types refuse.
func (r refusal) test(t *testing.T, got []tensor.Tensor, problem string) {
	switch {
	case r.Error.Accepts != nil:
		wants(r.Error.Accepts)(t, got, problem)
	case problem == "":
		t.Errorf("JAX accepts the program, want %s", r.Error.Class)
	case !strings.Contains(problem, r.Error.Class), !strings.Contains(problem, r.Error.Phrase):
		t.Errorf("want %s with %q, got %s", r.Error.Class, r.Error.Phrase, problem)
	}
}

// plain returns a file for a program that our types do not let anyone build: with at most one collective.
func (v *vector) plain() []byte {
	spec := func(dims [][]string) string {
		var entries []string
		for _, axes := range dims {
			entries = append(entries, fmt.Sprintf("(%s)", quotedNames(axes)))
		}
		return strings.ReplaceAll("P("+strings.Join(entries, ", ")+")", "()", "None")
	}
	body := v.Inputs[0].Name
	for _, e := range v.Body {
		a, axes := e.Attrs, "("+quotedNames(e.Attrs.Axes)+")"
		tiled := map[bool]string{true: "True", false: "False"}[a.Tiled == nil || *a.Tiled]
		body = map[string]string{
			"psum":         fmt.Sprintf("lax.psum(%s, %s)", body, axes),
			"reduce_sum":   fmt.Sprintf("jnp.sum(%s)", body),
			"ppermute":     fmt.Sprintf("lax.ppermute(%s, %s, %s)", body, axes, a.Perm),
			"psum_scatter": fmt.Sprintf("lax.psum_scatter(%s, %s, scatter_dimension=%d, tiled=%s)", body, axes, a.Dim, tiled),
			"all_to_all":   fmt.Sprintf("lax.all_to_all(%s, %s, %d, %d, tiled=%s)", body, axes, a.Split, a.Concat, tiled),
		}[e.Op]
	}
	var names []string
	var sizes []any
	devices := 1.0
	for _, a := range v.Mesh {
		names, sizes, devices = append(names, a[0].(string)), append(sizes, a[1]), devices*a[1].(float64)
	}
	return fmt.Appendf(nil, `import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

gather = save = np.asarray


def inputs(args):
    return list(np.load(args.inputs).values())


def run(values):
    mesh = Mesh(np.array(jax.devices()[:%v]).reshape(%s), (%s))
    return [jax.jit(jax.shard_map(lambda %s: %s, mesh=mesh, in_specs=(%s,), out_specs=%s))(*values)]
`, devices, strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", ", "), "[]"), quotedNames(names), v.Inputs[0].Name, body,
		spec(v.Inputs[0].Spec), spec(v.Outputs[0].Spec))
}

// quotedNames returns the inside of a tuple of strings.
func quotedNames(names []string) string {
	out := ""
	for _, n := range names {
		out += "'" + n + "', "
	}
	return strings.TrimSuffix(out, " ")
}

// The vectors' programs and their gradients, as Python files on real JAX, give the recorded values, with all casts
// explicit. What has an error by the rules that JAX has too, JAX refuses.
func TestPythonVectors(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax that runs the emitted files")
	}
	vectors, refused := loadVectors(t), refusals(t)
	f := newPythonFiles(t)
	valid, invalid, written := 0, 0, 0
	for _, v := range vectors {
		p, _, err := v.build(v.Body, nil)
		if r, ok := refused[v.ID]; ok {
			invalid++
			test := func(t *testing.T, got []tensor.Tensor, problem string) {
				if f.older {
					t.Skip("the JAX at AUTOSHARD_PYTHON is too old to refuse what 0.12 refuses")
				}
				r.test(t, got, problem)
			}
			if err == nil {
				f.add(t, v.ID, p, v.arguments(), test)
			} else {
				written++
				f.write(t, v.ID, v.plain(), v.arguments(), test)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		valid++
		v.addPython(t, f, p)
	}
	t.Logf("%d programs; %d with errors, of which %d are refused here before there is a program to emit", valid, invalid, written)
	if valid < 144 || invalid < 42 || written > 15 {
		t.Errorf("that is not all of %d vectors", len(vectors))
	}
	f.run(t, python, "EXPLICIT=-explicit")
}

// addPython adds a program, and its transpose or the transpose of its derivative.
func (v *vector) addPython(t *testing.T, f *pythonFiles, p *typed.Program) {
	if _, err := p.Elaborate(typed.Options{}); err != nil {
		t.Fatal(err)
	}
	f.add(t, v.ID+casts(p), p, v.arguments(), wants(v.Expected))
	if v.Grads == nil {
		return
	}
	derive, args := transpose.VJP, v.arguments()
	if v.Transposed != nil {
		derive, args = transpose.Linear, v.others()
	}
	q, err := derive(p, v.wrt())
	if err != nil {
		t.Fatal(err)
	}
	f.add(t, v.ID+"-gradients"+casts(q), q, append(v.cotangents(p), args...), wants(v.Grads))
}

// casts marks a program whose text leaves no cast to JAX. Cuts and exchanges of ragged slices do.
func casts(p *typed.Program) string {
	mark := "-explicit"
	p.Module.Walk(p.Body(), func(op ir.OpID) {
		if kind := p.Module.Kind(op); kind == ir.OpShardMapPscatter || kind == ir.OpShardMapRaggedAllToAll {
			mark = ""
		}
	})
	return mark
}
