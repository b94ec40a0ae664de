package jax

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/viper"

	"autoshard/internal/diag"
)

func launcher(t *testing.T, form string, l Launch) string {
	t.Helper()
	text, err := Launcher(form, l)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The texts of all launchers, in full.
func TestLaunchers(t *testing.T) {
	datadriven.RunTest(t, "testdata/launcher", func(t *testing.T, d *datadriven.TestData) string {
		l := Launch{Name: "mlp_train", Program: "mlp_train.py"}
		d.ScanArgs(t, "hosts", &l.Hosts)
		d.ScanArgs(t, "devices", &l.Devices)
		text, err := Launcher(d.Cmd, l)
		if err != nil {
			return err.Error() + "\n"
		}
		return string(text)
	})
}

// record writes a Python that prints its arguments, and returns its path.
func record(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(file, []byte("#!/bin/sh\nfor a in \"$@\"; do echo \"$a\"; done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// sh runs a script with arguments and returns what it prints, by line.
func sh(t *testing.T, shell, script string, env []string, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(path, append([]string{"-c", script, "launch"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// The script of a host gives the program its number, and what it is given itself, with spaces and all.
func TestShellLauncher(t *testing.T) {
	script := launcher(t, "shell", Launch{Name: "m", Program: "m.py", Hosts: 2, Devices: 8})
	got := sh(t, "sh", script, []string{"PYTHON=" + record(t)}, "1", "first.host", "--inputs", "a b.npz")
	want := []string{"m.py", "--coordinator", "first.host:8476", "--processes", "2", "--process", "1", "--inputs", "a b.npz"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Under Slurm every process has its number, and process 0 is on the first of the hosts.
func TestSlurmLauncher(t *testing.T) {
	script := launcher(t, "slurm", Launch{Name: "m", Program: "m.py", Hosts: 3, Devices: 6})
	commands := "scontrol() { printf 'n4\\nn5\\nn9\\n'; }\nsrun() { shift; SLURM_PROCID=2 \"$@\"; }\n"
	got := sh(t, "bash", commands+script, []string{"PYTHON=" + record(t), "SLURM_JOB_NODELIST=n[4-5,9]", "PORT=99"}, "--inputs", "a b.npz")
	want := []string{"m.py", "--coordinator", "n4:99", "--processes", "3", "--process", "2", "--inputs", "a b.npz"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The manifests are YAML, and the names in them that must agree do.
func TestKubernetesLauncher(t *testing.T) {
	text := launcher(t, "kubernetes", Launch{Name: "9 Mlp: Train\n", Program: "mlp train.py", Hosts: 2, Devices: 8})
	var kinds []string
	for document := range strings.SplitSeq(text, "\n---\n") {
		v := viper.New()
		v.SetConfigType("yaml")
		if err := v.ReadConfig(strings.NewReader(document)); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, v.GetString("kind"))
		name := v.GetString("metadata.name")
		if name != "mlp--train" {
			t.Errorf("name is %q", name)
		}
		if v.GetString("kind") == "Service" {
			if got := v.GetString("spec.selector.job-name"); got != name {
				t.Errorf("the service selects %q", got)
			}
			continue
		}
		containers := v.Get("spec.template.spec.containers").([]any)
		command := containers[0].(map[string]any)["command"].([]any)
		want := `exec python3 /program/program.py --coordinator mlp--train-0.mlp--train:8476 --processes 2 --process "$JOB_COMPLETION_INDEX"`
		if v.GetString("spec.template.spec.subdomain") != name || v.GetInt("spec.completions") != 2 || v.GetInt("spec.parallelism") != 2 ||
			command[2] != want {
			t.Errorf("the job is\n%s", document)
		}
	}
	if !slices.Equal(kinds, []string{"Service", "Job"}) {
		t.Errorf("kinds are %v", kinds)
	}
}

// Names from a program cannot leave the place where they stand.
func TestLauncherNames(t *testing.T) {
	for _, form := range Launchers() {
		text := launcher(t, form, Launch{Name: "x\"; $(touch y) `z`\n# é", Program: "-a b;$(c)`d`\n'\".py", Hosts: 1, Devices: 1})
		for _, bad := range []string{"touch y)", "$(c", "`"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s contains %q:\n%s", form, bad, text)
			}
		}
	}
	for _, name := range []string{"", "42", "---"} {
		if got := label(name); got != "program" {
			t.Errorf("label(%q) = %q", name, got)
		}
	}
	if got := label(strings.Repeat("ab-", 30)); len(got) > 40 || strings.HasSuffix(got, "-") {
		t.Errorf("label is %q", got)
	}
	if _, err := Launcher("../launcher/shell", Launch{Hosts: 1, Devices: 1}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
