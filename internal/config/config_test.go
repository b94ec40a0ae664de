package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// load parses args as flags in an empty working directory with the given files.
func load(t *testing.T, files map[string]string, args ...string) (*Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(flags, "mesh", "hardware", "topology", "memory", "steps", "seed", "timeout", "format", "verify", "progress", "serve.listen")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(flags)
}

func mustLoad(t *testing.T, files map[string]string, args ...string) *Config {
	t.Helper()
	c, err := load(t, files, args...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := mustLoad(t, nil)
	if c.Mesh != nil || c.Hardware.Name != "tpu-v5e" || c.Memory != 0 || c.Format != Text || c.Given("format") || c.Priority != -1 ||
		c.Serve.Listen != "127.0.0.1:8080" || c.Serve.MaxRequest != 64<<20 || c.Serve.MaxTime != 5*time.Minute || c.Progress != Auto {
		t.Errorf("defaults are %+v", c)
	}
}

// Each layer hides the next: flags, environment, file, defaults.
func TestLayers(t *testing.T) {
	files := map[string]string{"autoshard.yaml": "seed: 1\nserve:\n  listen: file:1\n"}
	if c := mustLoad(t, files); c.Seed != 1 || c.Serve.Listen != "file:1" {
		t.Errorf("file: seed %d, listen %q", c.Seed, c.Serve.Listen)
	}
	t.Setenv("AUTOSHARD_SEED", "2")
	t.Setenv("AUTOSHARD_SERVE_LISTEN", "env:2")
	if c := mustLoad(t, files); c.Seed != 2 || c.Serve.Listen != "env:2" {
		t.Errorf("environment: seed %d, listen %q", c.Seed, c.Serve.Listen)
	}
	if c := mustLoad(t, files, "--seed", "3", "--listen", "flag:3"); c.Seed != 3 || c.Serve.Listen != "flag:3" {
		t.Errorf("flags: seed %d, listen %q", c.Seed, c.Serve.Listen)
	}
}

// All syntaxes say the same.
func TestSyntaxes(t *testing.T) {
	want := []subaxis.Axis{{Name: "Data", Size: 4}, {Name: "model.x", Size: 2}}
	for name, text := range map[string]string{
		"autoshard.yaml": "mesh: [{name: Data, size: 4}, {name: model.x, size: 2}]\nsteps: 1000000\nmemory: 16GiB\nverify: true\nserve: " +
			"{max-concurrent: 3}\n",
		"autoshard.toml": "mesh = [{name = \"Data\", size = 4}, {name = \"model.x\", size = 2}]\nsteps = 1000000\nmemory = \"16GiB\"\nverify " +
			"= true\n[serve]\nmax-concurrent = 3\n",
		"autoshard.json": `{"mesh": "Data=4,model.x=2", "steps": 1000000, "memory": 17179869184, "verify": true, "serve": {"max-concurrent": 3}}`,
	} {
		c := mustLoad(t, map[string]string{name: text})
		if d := cmp.Diff(want, c.Mesh); d != "" || c.Steps != 1000000 || c.Memory != 16<<30 || !c.Verify || c.Serve.MaxConcurrent != 3 {
			t.Errorf("%s: %+v %s", name, c, d)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		env   [2]string
		args  []string
		want  string
	}{
		{name: "mesh size 0", args: []string{"--mesh", "data=4,model=0"},
			want: "--mesh:1:8: error: mesh axis \"model\" has size 0, must be from 1 to 2147483647 [AS1201]\n  data=4,model=0\n         ^\n"},
		{name: "mesh axis twice", args: []string{"--mesh", "x=4,x=2"},
			want: "--mesh:1:5: error: mesh axis \"x\" is given twice [AS1201]\n  x=4,x=2\n      ^\n"},
		{name: "mesh without size", args: []string{"--mesh", "data"},
			want: "--mesh:1:1: error: mesh axis \"data\" must have the form name=size [AS1201]\n  data\n  ^\n"},
		{name: "mesh size no number", env: [2]string{"AUTOSHARD_MESH", "x=4,y=two"},
			want: "AUTOSHARD_MESH:1:7: error: size of mesh axis \"y\" must be a whole number, not \"two\" [AS1201]\n  x=4,y=two\n        ^\n"},
		{name: "unknown hardware", args: []string{"--hardware", "tpu-v5"},
			want: "--hardware:1:1: error: unknown hardware \"tpu-v5\", did you mean `tpu-v5e`?"},
		{name: "topology", args: []string{"--hardware", "tpu-v5e", "--topology", "4x8:line,rung"},
			want: "--topology:1:10: error: an axis must be a `ring` or a `line`, not \"rung\" [AS1401]\n  4x8:line,rung\n           ^\n"},
		{name: "memory unit", args: []string{"--memory", "16XB"},
			want: "--memory:1:1: error: `memory`: size must be a number with a unit, such as 16GiB or 80GB, not \"16XB\" [AS1401]"},
		{name: "format", args: []string{"--format", "jsno"},
			want: "--format:1:1: error: `format` must be one of text, json, mlir, not \"jsno\", did you mean `json`? [AS1401]"},
		{name: "unknown keys", files: map[string]string{"autoshard.yaml": "seed: 1\nmehs: x=2\nserve:\n  lisen: a\n"},
			want: "autoshard.yaml:2:1: error: unknown option \"mehs\", did you mean `mesh`? [AS1401]\n  mehs: x=2\n  ^\n" +
				"autoshard.yaml:4:3: error: unknown option \"serve.lisen\", did you mean `serve.listen`? [AS1401]\n    lisen: a\n    ^\n"},
		{name: "wrong value in file", files: map[string]string{"autoshard.toml": "seed = 1\nsteps = \"many\"\n"},
			want: "autoshard.toml:2:1: error: `steps` must be a whole number from 0 to 4611686018427387904, not \"many\" [AS1401]\n  steps = " +
				"\"many\"\n  ^\n"},
		{name: "broken file", files: map[string]string{"autoshard.yaml": "seed: 1\n\tmesh: x=2\n"}, want: "autoshard.yaml:2:1: error: "},
		{name: "two files", files: map[string]string{"autoshard.yaml": "", "autoshard.json": "{}"},
			want: "autoshard.json: error: `autoshard.yaml` is a configuration file too"},
		{name: "axis with unknown field", files: map[string]string{"autoshard.yaml": "mesh: [{name: x, sice: 2}]\n"},
			want: "autoshard.yaml:1:1: error: axis 0 of `mesh` must be {name, size}"},
		{name: "missing file", args: []string{"--config", "gone.yaml"}, want: "error: open gone.yaml: no such file or directory [AS1402]"},
		{name: "hardware file", files: map[string]string{"hw.yaml": "name: mine\nvectorflops: 1e12\nwrong: 1\n"},
			args: []string{"--hardware", "hw.yaml"},
			want: "hw.yaml:3:8: error: unknown entry \"wrong\""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.env[0] != "" {
				t.Setenv(test.env[0], test.env[1])
			}
			_, err := load(t, test.files, test.args...)
			var got strings.Builder
			diag.Render(&got, err, nil)
			if diag.ExitCode(err) != diag.ExitInvalid || !strings.HasPrefix(got.String(), test.want) {
				t.Errorf("exit code %d, got\n%s\nwant\n%s", diag.ExitCode(err), got.String(), test.want)
			}
		})
	}
}

func TestHardwareFile(t *testing.T) {
	profile := "name: mine\nmatrix: {bf16: 1.0e14}\nvectorFLOPs: 1.0e12\nhbmBytes: 1.0e10\nhbmBandwidth: 1.0e12\n" +
		"torus: {link: 5.0e10, shape: [4, 4], wrap: full}\n"
	table := "name = \"mine\"\nvectorFLOPs = 1e12\nhbmBytes = 1e10\nhbmBandwidth = 1e12\n[matrix]\nbf16 = 1e14\n" +
		"[torus]\nlink = 5e10\nshape = [4, 4]\nwrap = \"full\"\n"
	for name, text := range map[string]string{"hw.yaml": profile, "hw.toml": table} {
		c := mustLoad(t, map[string]string{name: text}, "--hardware", "./"+name)
		if c.Hardware.Name != "mine" || c.Hardware.Matrix.BF16 != 1e14 || c.Hardware.Torus == nil || c.Hardware.Torus.Shape[1] != 4 {
			t.Errorf("hardware of %s is %+v", name, c.Hardware)
		}
	}
}

func TestTopology(t *testing.T) {
	c := mustLoad(t, nil, "--hardware", "tpu-v5e", "--topology", "4x8:line,ring")
	if s := c.Hardware.Torus.Slice; !slices.Equal(s.Shape, []int64{4, 8}) || !slices.Equal(s.Wrap, []bool{false, true}) {
		t.Errorf("the slice is %+v", s)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "16GiB": 16 << 30, "80GB": 80e9, "1.5 kB": 1500, "2TiB": 2 << 40, "1e3MB": 1e9,
		"4096 B": 4096} {
		if got, err := diag.ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "0", "-1GB", "0.5", "1e30", "16gb", "NaN", "inf", "0x10", "1_000", "16GiBs", "9PiBB"} {
		if got, err := diag.ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

// Every option is documented.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		for _, word := range []string{"`" + keys[i].path + "`", "`" + keys[i].variable() + "`"} {
			if !strings.Contains(string(text), word) {
				t.Errorf("docs/cli.md does not mention %s", word)
			}
		}
	}
}
