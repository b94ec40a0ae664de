package autoshard_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/internal/testkit"
)

var (
	wildAll    = flag.Bool("wild.all", false, "shard_map programs of testdata/shardmap/wild in all variants: checked, unchecked and gradients")
	wildRandom = flag.Int("wild.random", 100, "random shard_map programs")
	wildSeed   = flag.Int("wild.seed", 0, "seed of the first random shard_map program; 0: as testkit.Seed says")
)

// Programs with shard_map as JAX users write them - sixty about one thing each, with the check on, off, and their gradients in turn - are
// checked, planned and proved, run as they are, written as shard_map and sdy text that is read again, and as Python for JAX: all give what
// JAX makes of them when they are exported.
func TestWild(t *testing.T) {
	if *wildAll {
		testWild(t, "--variant=checked", "--variant=unchecked", "--variant=gradient")
		return
	}
	testWild(t)
}

// Random ones, too: bodies of collectives and local ops among other ops, in loops, branches and each other, along axes that stay automatic.
func TestWildRandom(t *testing.T) {
	seed := testkit.SeedOr(t, "wild.seed", *wildSeed)
	testWild(t, fmt.Sprint("--random=", *wildRandom), fmt.Sprint("--seed=", seed))
}

// The same in the words of GSPMD, and in attributes of artifacts that any reader of StableHLO takes: a program is the same in all three.
func TestWildSpellings(t *testing.T) {
	for k, spelling := range []string{"gspmd", "attributes"} {
		options := []string{"--spelling=" + spelling}
		if !*wildAll {
			const every = 4
			options = append(options, fmt.Sprint("--every=", every), fmt.Sprint("--at=", (testkit.Seed(t)+int64(k))%every))
		}
		t.Run(spelling, func(t *testing.T) { testWild(t, options...) })
	}
}

func testWild(t *testing.T, options ...string) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax")
	}
	dir := t.TempDir()
	script := filepath.Join("testdata", "shardmap", "wild", "export.py")
	if out, err := exec.Command(python, append([]string{"-B", script, dir}, options...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := os.ReadFile(filepath.Join(dir, "programs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var programs []wildProgram
	if err := json.Unmarshal(list, &programs); err != nil || len(programs) == 0 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	count := len(programs)
	programs = slices.DeleteFunc(programs, func(p wildProgram) bool {
		if p.Refused != "" {
			t.Logf("JAX refuses %s: %.200s", p.Name, p.Refused)
		}
		return p.Refused != ""
	})
	if 10*len(programs) < 9*count {
		t.Errorf("JAX takes %d programs of %d", len(programs), count)
	}
	t.Run("programs", func(t *testing.T) {
		for i := range programs {
			p := &programs[i]
			p.base, p.hardware = filepath.Join(dir, p.Name), cost.Profiles()[i%len(cost.Profiles())].Hardware
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				p.test(t)
			})
		}
	})
	var files []string
	for _, p := range programs {
		if p.emitted {
			files = append(files, p.base+".py")
		}
	}
	runEmitted(t, python, files)
	for _, p := range programs {
		if p.emitted {
			p.onJAX(t)
		}
	}
}

// wildProgram is a program that JAX has exported, with its arrays beside it.
type wildProgram struct {
	Name      string
	Tolerance float64
	Refused   string        // by JAX, and why
	base      string        // of its files
	hardware  cost.Hardware // that it is planned for: prices decide which way values move
	program   *autoshard.Program
	emitted   bool // as Python for JAX
}

// onJAX compares what JAX has made of the emitted Python. What cancels may differ by all of it from what JAX made of the
// program itself, which it fused in other ways.
func (p *wildProgram) onJAX(t *testing.T) {
	if text, err := os.ReadFile(p.base + ".py.error"); err == nil {
		t.Errorf("%s on JAX: %s", p.Name, text)
		return
	}
	result := &autoshard.RunResult{Outputs: readArrays(t, p.base+".py.out.npz", p.program.Outputs)}
	check, err := p.program.Compare(t.Context(), result, readArrays(t, p.base+".in.npz", p.program.Inputs),
		readArrays(t, p.base+".out.npz", p.program.Outputs), autoshard.Tolerance{Rel: p.Tolerance})
	if err != nil {
		t.Errorf("%s on JAX: %+v, %v", p.Name, check, err)
	}
}

func (p *wildProgram) test(t *testing.T) {
	text, err := os.ReadFile(p.base + ".mlir")
	if err != nil {
		t.Fatal(err)
	}
	model, err := autoshard.ReadModel(t.Context(), p.Name, text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Lint(t.Context(), autoshard.LintOptions{}); err != nil {
		t.Error(err)
	}
	plan, err := autoshard.MakePlan(t.Context(), model, autoshard.PlanOptions{Hardware: p.hardware})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, plan, p.base+".in.npz", p.base+".out.npz", p.Tolerance)
	program, err := autoshard.ReadProgram(t.Context(), p.Name, text)
	if err != nil {
		t.Fatal(err)
	}
	proved(t, program, p.base, p.Tolerance)
	for _, form := range []string{"shardmap", "sdy"} {
		written, err := program.Emit(t.Context(), form)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		again, err := autoshard.ReadProgram(t.Context(), p.Name+" as "+form, written)
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if same := func(a, b autoshard.Tensor) bool { return a.Type == b.Type }; slices.EqualFunc(again.Inputs, program.Inputs, same) {
			proved(t, again, p.base, p.Tolerance)
		} else if form != "shardmap" { // whose text has tensors as they are stored, padded
			t.Errorf("as %s it takes %v", form, again.Inputs)
		}
	}
	written, err := program.Emit(t.Context(), "jax")
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := os.ReadFile(p.base + ".in.npz")
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{".py": written, ".py.in.npz": inputs} {
		if err := os.WriteFile(p.base+file, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p.program, p.emitted = program, true
}
