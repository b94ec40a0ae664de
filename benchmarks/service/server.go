package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"autoshard/benchmarks/site"
)

// built is the program, and a file of tokens.
type built struct {
	dir, program, tokens string
	clients              int
}

// newBuilt builds the program in a folder, for a number of clients.
func newBuilt(dir string, clients int) (*built, error) {
	b := &built{dir, filepath.Join(dir, "autoshard"), filepath.Join(dir, "tokens"), clients}
	build := exec.Command("go", "build", "-o", b.program, "./cmd/autoshard")
	build.Stderr = os.Stderr
	var tokens strings.Builder
	for i := range clients + 1 {
		fmt.Fprintf(&tokens, "client-%d %s\n", i, secret(i))
	}
	return b, errors.Join(build.Run(), os.WriteFile(b.tokens, []byte(tokens.String()), 0o600))
}

// secret returns the token of a client. The last one is that of hostile clients.
func secret(i int) string { return fmt.Sprintf("secret-%06d", i) }

// server is a server of its own process.
type server struct {
	process        *exec.Cmd
	address, debug string
}

// start starts a server that lets all clients wait.
func (b *built) start(args ...string) (*server, error) {
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--debug-listen", "127.0.0.1:0", "--token-file", b.tokens, "--max-waiting",
		strconv.Itoa(b.clients), "--drain-time", "1s"}, args...)
	process := exec.Command(b.program, all...)
	addresses, err := site.Serve(process, "listening", "metrics and profiles")
	if err != nil {
		return nil, err
	}
	return &server{process, addresses[0], addresses[1]}, nil
}

// stop ends the server as operators do.
func (s *server) stop() error {
	return errors.Join(s.process.Process.Signal(syscall.SIGTERM), s.process.Wait())
}

// kill ends the server as a crash does.
func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// state is what a server says of its process.
type state struct {
	held              int64 // bytes of the heap, after a collection
	goroutines, files int
	seconds           float64 // of processors
}

// metric finds values that Prometheus reads.
var metric = regexp.MustCompile(`(?m)^(go_memstats_heap_alloc_bytes|go_goroutines|process_open_fds|process_cpu_seconds_total) (\S+)$`)

// state asks the server, after a collection.
func (s *server) state() (out state, err error) {
	if _, err := get("http://" + s.debug + "/debug/pprof/heap?gc=1"); err != nil {
		return out, err
	}
	text, err := get("http://" + s.debug + "/metrics")
	if err != nil {
		return out, err
	}
	for _, m := range metric.FindAllStringSubmatch(string(text), -1) {
		x, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return out, err
		}
		switch m[1] {
		case "go_memstats_heap_alloc_bytes":
			out.held = int64(x)
		case "go_goroutines":
			out.goroutines = int(x)
		case "process_open_fds":
			out.files = int(x)
		default:
			out.seconds = x
		}
	}
	return out, nil
}

// get returns what is at an address. Its connection is not kept: it would count.
func get(address string) ([]byte, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Get(address)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	return io.ReadAll(reply.Body)
}
