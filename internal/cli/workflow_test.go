package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what the test reads of a workflow file.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Env   map[string]string
		Steps []struct{ ID, If, Run, Uses string }
	}
}

// step is a model of two products, of which the sharding of the first weight is to be filled in.
const step = `sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %w1: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [W1]>} loc("w1"),
    %w2: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("w2")) -> tensor<64x256xf32> {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x512xf32>) -> tensor<64x512xf32> loc("REPO/train.py":12:7)
  %1 = stablehlo.dot_general %0, %w2, contracting_dims = [1] x [0] : (tensor<64x512xf32>, tensor<512x256xf32>) -> tensor<64x256xf32> loc("REPO/train.py":13:7)
  return %1 : tensor<64x256xf32>
}
`

const teamConfig = `hardware: cpu
check:
  limit: [no-replicate > 64KiB, axis-unused]
`

// A change that makes a weight whole on every device fails the workflow of deploy/ci with an annotation at the line that uses the weight,
// and its comment shows the plan before and after. The commands are those of the file.
func TestWorkflow(t *testing.T) {
	for _, tool := range []string{"git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "ci", "plan.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	bin, repo, temp := t.TempDir(), t.TempDir(), t.TempDir()
	shell := func(dir, command string, env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", command)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(dir, command string) string {
		out, err := shell(dir, command)
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return strings.TrimSpace(out)
	}
	must(".", "go build -o "+bin+"/autoshard autoshard/cmd/autoshard")
	commit := func(sharding string) string {
		for name, content := range map[string]string{"autoshard.yaml": teamConfig, "step.txt": strings.Replace(step, "W1", sharding, 1)} {
			if err := os.WriteFile(filepath.Join(repo, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		must(repo, "git add -A && git -c user.name=a -c user.email=a@b commit -qm change")
		return must(repo, "git rev-parse HEAD")
	}
	must(repo, "git init -q")
	base := commit(`{}, {"model"}`)
	commit(`{}, {}`)

	job := w.Jobs["plan"]
	env := []string{"MODEL=step.mlir", `EXPORT=sed "s:REPO:$PWD:" step.txt > step.mlir`, "INSTALL=true", "OPTIONS=", "BASE=" + base,
		"NUMBER=7", "RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary.md"), "PATH=" + bin + ":" + os.Getenv("PATH")}
	for name := range job.Env {
		if !regexp.MustCompile("(?m)^"+name+"=").MatchString(strings.Join(env, "\n")) && name != "GH_TOKEN" {
			t.Errorf("the workflow sets %s, which the test does not", name)
		}
	}
	ran := map[string]string{}
	var failed string
	for _, s := range job.Steps {
		if s.Run == "" || s.If != "" {
			continue // other people's actions, and what needs GitHub
		}
		out, err := shell(repo, s.Run, env...)
		ran[s.ID] = out
		if err != nil {
			failed = s.ID
			break
		}
	}
	if failed != "check" {
		t.Fatalf("the step %q failed: %s", failed, ran[failed])
	}
	if want := "::error file=train.py,line=12,col=7,title=no-replicate::input w1, f32[256,512], is whole on every device, 512 KiB"; !strings.
		Contains(ran["check"], want) {
		t.Errorf("no annotation %s in\n%s", want, ran["check"])
	}
	for file, want := range map[string]string{"comment.md": "| w1 ", "summary.md": "### Plan of `step.mlir`", "autoshard.sarif": `"startLine": 12`} {
		text, err := os.ReadFile(filepath.Join(temp, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s: %v\n%s", file, want, err, text)
		}
	}
	commit(`{}, {"model"}`)
	if out, err := shell(repo, `bash -c "$EXPORT"; autoshard plan "$MODEL" -o p.json && autoshard check p.json`, env...); err != nil {
		t.Errorf("where the weight is cut: %v\n%s", err, out)
	}
}
