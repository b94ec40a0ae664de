package cli_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"autoshard/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"autoshard": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// Each script is a story of commands with their output and exit codes.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := filepath.Abs(filepath.Join("..", "..", "ir", "jaxexport", "testdata", "step.jaxexport"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			env.Setenv("CASES", filepath.Join(filepath.Dir(examples), "testdata", "cases"))
			env.Setenv("ARTIFACT", artifact)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":  code,
			"gzip":  pack,
			"head":  head,
			"lines": lines,
		},
	})
}

// code runs autoshard and demands an exit code: code N ARGS.
func code(ts *testscript.TestScript, neg bool, args []string) {
	want := args[0]
	err := ts.Exec("autoshard", args[1:]...)
	got := "exit status 0"
	if err != nil {
		got = err.Error()
	}
	if got != "exit status "+want {
		ts.Fatalf("autoshard ends with %q, want exit status %s", got, want)
	}
}

// pack compresses a file: gzip FROM TO.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	w := gzip.NewWriter(f)
	_, err = io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(f.Close())
}

// lines demands that a file or stream has at most so many lines: lines FILE N.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	most, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n := strings.Count(ts.ReadFile(args[0]), "\n"); n > most {
		ts.Fatalf("%s has %d lines, at most %d are wanted", args[0], n, most)
	}
}

// head copies the first half of a file: head FROM TO.
func head(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text[:len(text)/2]), 0o644))
}

// An interrupt ends a command that waits for standard input, with code 130.
func TestInterrupt(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	var stderr strings.Builder
	done := make(chan int)
	go func() { done <- cli.Main([]string{"plan", "-", "--mesh", "x=2"}, in, io.Discard, &stderr) }()
	if _, err := out.Write([]byte("{")); err != nil { // the command reads, so it has set up its signals
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-done:
		if got != 130 || stderr.String() != "error: canceled\n" {
			t.Errorf("exit code %d, %q", got, stderr.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the command does not end")
	}
}

// The service answers a plain POST, and SIGTERM drains it with exit code 0.
func TestServe(t *testing.T) {
	logs, stderr := io.Pipe()
	done := make(chan int)
	go func() {
		done <- cli.Main([]string{"serve", "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	lines := bufio.NewScanner(logs)
	address := ""
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "address=")
	}
	go func() {
		for lines.Scan() {
		}
	}()
	body := `{"text": "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n return %a : tensor<8xf32>\n}", "mesh": [{"name": "x", "size": 2}]}`
	response, err := http.Post("http://"+address+"/autoshard.v1.AutoshardService/Plan", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(reply), `"schema":"autoshard.plan/v1"`) {
		t.Errorf("reply is %s: %s, %v", response.Status, reply, err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-done:
		if got != 0 {
			t.Errorf("exit code %d", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the service does not end")
	}
}
