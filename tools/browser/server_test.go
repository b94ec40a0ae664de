package browser

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const root = "../.."

// build compiles the program once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "autoshard-browser")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "autoshard")
	cmd := exec.Command("go", "build", "-o", file, "./cmd/autoshard")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	return file, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if file, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(file))
	}
	os.Exit(code)
}

// run runs the program in the folder of the examples, whose names are in what it writes then.
func run(t *testing.T, args ...string) {
	t.Helper()
	out, err := program(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("autoshard %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, args...)
	cmd.Dir = filepath.Join(root, "examples")
	return cmd
}

// serve starts `autoshard review`, and returns the address that it prints.
func serve(t *testing.T, files ...string) string {
	t.Helper()
	cmd := program(t, append([]string{"review", "--no-open"}, files...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	type answer struct {
		line string
		err  error
	}
	lines := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		lines <- answer{strings.TrimSpace(line), err}
	}()
	select {
	case a := <-lines:
		if a.err != nil {
			t.Fatalf("the server printed no address: %v", a.err)
		}
		return a.line
	case <-time.After(3 * time.Minute):
		t.Fatal("the server printed no address in time")
	}
	return ""
}

// shared returns a file of the folder with models.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("AUTOSHARD_SHARED")
	if dir == "" {
		t.Skip("AUTOSHARD_SHARED is not set")
	}
	return filepath.Join(dir, "models", name)
}

// annotatedLlama returns the unrolled training step with its batch cut along data and its weights along model: 31,554 operations.
func annotatedLlama(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(shared(t, "llama3_8b_train.mlir.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	arguments, body, _ := strings.Cut(rest, ") -> (")
	cut := argument.ReplaceAllStringFunc(arguments, func(arg string) string {
		m := argument.FindStringSubmatch(arg)
		dims := strings.Split(m[2], "x")
		if len(dims) < 3 { // one dimension, and the element type
			return arg
		}
		sharding := "[" + strings.Repeat("{?}, ", len(dims)-2) + `{"model"}]`
		if dims[0] == "64" {
			sharding = `[{"data"}` + strings.Repeat(", {?}", len(dims)-2) + "]"
		}
		attribute := "sdy.sharding = #sdy.sharding<@mesh, " + sharding + ">"
		if m[3] != "" {
			return m[1] + "tensor<" + m[2] + "> {" + attribute + ", "
		}
		return m[1] + "tensor<" + m[2] + "> {" + attribute + "}"
	})
	file := filepath.Join(t.TempDir(), "llama3_8b_train.mlir")
	all := head + "\n  sdy.mesh @mesh = <[\"data\"=16, \"model\"=8]>\n" + cut + ") -> (" + body
	if err := os.WriteFile(file, []byte(all), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

var argument = regexp.MustCompile(`(%arg\d+: )tensor<([^>]*)>( \{)?`)
