// Command clients asks one server by the official clients of Go, Python and TypeScript, over Connect, gRPC and gRPC-Web, and writes a
// table.
//
//	go run ./benchmarks/clients -python venv/bin/python -o benchmarks/results/clients.md
//
// Each client asks for a plan, for the same plan with reports, and for one that cannot be; all have to get the same answers. A client
// that knows no schema asks the server for it first, as grpcurl does. Clients whose language is not installed are left out, and the table
// says so: Python needs the packages connectrpc, protobuf-py and grpcio, TypeScript `npm ci` in web.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"autoshard/api"
	"autoshard/benchmarks/site"
)

func main() {
	out := flag.String("o", "", "file to write the table to; standard output alone if empty")
	python := flag.String("python", os.Getenv("AUTOSHARD_PACKAGE_PYTHON"), "Python with connectrpc, protobuf-py and grpcio")
	flag.Parse()
	site.Exit("clients", run(context.Background(), *out, *python))
}

// answers are what a client got.
type answers struct {
	Client   string
	Protocol string
	Once     string // hash of the plan
	Streamed string
	Reports  bool
	Error    string // code of Connect, and of the diagnostics
	Skipped  string // why nothing was asked
}

func run(ctx context.Context, out, python string) error {
	text, err := os.ReadFile(filepath.Join("examples", "mlp_train.mlir"))
	if err != nil {
		return err
	}
	request, err := json.Marshal(map[string]any{"text": string(text), "fileName": "mlp_train.mlir", "hardware": "cpu", "steps": 100000,
		"mesh": []any{map[string]any{"name": "data", "size": 8}}})
	if err != nil {
		return err
	}
	url, stop, err := serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	all, failed := askInGo(ctx, url, request)
	for _, ask := range []func() ([]answers, error){
		func() ([]answers, error) { return reflected(ctx, url, request) },
		func() ([]answers, error) {
			return script(ctx, "Python", url, request, python, "benchmarks/clients/check.py")
		},
		func() ([]answers, error) { return script(ctx, "TypeScript", url, request, "node", "web/gen/check.mjs") },
	} {
		list, err := ask()
		all, failed = append(all, list...), errors.Join(failed, err)
	}
	report := fmt.Sprintf("# Official clients\n\n%s, commit %s. `go run ./benchmarks/clients`; what is asked stands there.\n\n"+
		"| client | protocol | plan | plan with reports | a wrong request |\n|---|---|---|---|---|\n", site.Machine(), site.Commit())
	for i := range all {
		report += all[i].row(&all[0])
		failed = errors.Join(failed, all[i].check(&all[0]))
	}
	return errors.Join(failed, site.Publish(report, out))
}

// serve starts a server.
func serve(ctx context.Context) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		_ = api.New(api.Options{}).Serve(ctx, l)
		close(done)
	}()
	return "http://" + l.Addr().String(), func() { cancel(); <-done }, nil
}

// script asks by a program in another language, which writes a line for each protocol.
func script(ctx context.Context, client, url string, request []byte, interpreter, file string) ([]answers, error) {
	skip := func(why string) ([]answers, error) { return []answers{{Client: client, Skipped: why}}, nil }
	if interpreter == "" {
		return skip("no interpreter is named: -python or AUTOSHARD_PACKAGE_PYTHON")
	}
	if _, err := exec.LookPath(interpreter); err != nil {
		return skip("`" + filepath.Base(interpreter) + "` is not installed")
	}
	if client == "TypeScript" {
		if _, err := os.Stat(filepath.Join("web", "node_modules", "@connectrpc", "connect-node")); err != nil {
			return skip("`npm ci` was not run in web")
		}
	}
	cmd := exec.CommandContext(ctx, interpreter, file, url)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(request), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var list []answers
	for d := json.NewDecoder(bytes.NewReader(output)); d.More(); {
		a := answers{Client: client}
		if err := d.Decode(&a); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, a)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s says nothing", file)
	}
	return list, nil
}

// row describes answers beside those of the first client.
func (a *answers) row(first *answers) string {
	if a.Skipped != "" {
		return fmt.Sprintf("| %s | | skipped: %s | | |\n", a.Client, a.Skipped)
	}
	same := func(hash string) string {
		return map[bool]string{true: "the same", false: "another one: " + hash}[hash == first.Once]
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", a.Client, a.Protocol, same(a.Once), same(a.Streamed), a.Error)
}

// check says what is otherwise than what the first client got.
func (a *answers) check(first *answers) error {
	if a.Skipped != "" || a.Once == first.Once && a.Once != "" && a.Streamed == first.Once && a.Reports && a.Error == wrong {
		return nil
	}
	return fmt.Errorf("%s over %s: %+v", a.Client, a.Protocol, *a)
}

// wrong is what is to come of a request with a number below 0: the code, and that of the diagnostic.
const wrong = "InvalidArgument AS1401"
